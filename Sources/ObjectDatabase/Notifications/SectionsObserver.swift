// SectionsObserver.swift: tells of the changes of results in sections, and of one section;
// `observe` on both.

import Dispatch
import Engine

/// An observer of results in sections, or of the section with one key.
final class SectionsObserver<Collection, Key: Hashable, Element: RealmCollectionValue>: Observer {
  private let collection: Collection
  private let source: SectionSource<Key, Element>
  /// The section that is observed; nil for all.
  private let key: Key?
  private let filter: KeyPathFilter?
  private let body: (SectionedResultsChange<Collection>) -> Void
  private var known: (tracker: ElementsTracker, sections: Sections<Key>)?

  init(
    _ collection: Collection, _ source: SectionSource<Key, Element>, _ key: Key?,
    _ keyPaths: [String]?, _ body: @escaping (SectionedResultsChange<Collection>) -> Void
  ) {
    self.collection = collection
    self.source = source
    self.key = key
    let elements = source.results.content
    filter = keyPaths.flatMap { paths in elements.access.map { KeyPathFilter(paths, $0) } }
    self.body = body
    super.init(elements.core)
  }

  override var hasInitial: Bool { true }

  override func begin() throws(EngineError) {
    guard let base else { return }
    let elements = source.results.content
    guard !elements.isInvalidated else { return end() }
    let tracker = try ElementsTracker(elements, filter, base)
    let (sections, error) = core.catchingMisfits { source.sections }
    if let error { return stop(error) }
    known = (tracker, sections)
    body(.initial(collection))
  }

  override func follow(_ round: NotificationRound) throws(EngineError) {
    _ = try changes(in: round)
  }

  override func advance(_ round: NotificationRound) throws(EngineError) {
    guard let changes = try changes(in: round), !changes.isEmpty else { return }
    body(changes.change(of: collection))
  }

  private func changes(in round: NotificationRound) throws(EngineError) -> SectionChanges? {
    guard let (oldTracker, old) = known else { return nil }
    known = nil
    var tracker = oldTracker
    // The key of an element can change with what no key path names.
    guard tracker.dependsOnChange(round) else {
      known = (tracker, old)
      return nil
    }
    let changes = try tracker.advance(round)
    let (new, error) = core.catchingMisfits { sections(round) }
    if let error {
      stop(error)
      return nil
    }
    known = (tracker, new)
    if tracker.isOver { end() }
    let found = SectionChanges(from: old, to: new, changes)
    return key.map { found.of(old.numbers[$0], new.numbers[$0]) } ?? found
  }

  /// Tells of a key that cannot be read: a value of a newer program.
  private func stop(_ error: Realm.Error) {
    end()
    fail(error)
  }

  /// The sections of the round's newer version.
  private func sections(_ round: NotificationRound) -> Sections<Key> {
    // What is live is the newer version, unless others have changed it in an open transaction.
    if core.write == nil { return source.results.isInvalidated ? Sections([]) : source.sections }
    return source.moved(to: round.newerCore)?.sections ?? Sections([])
  }

  override func fail(_ error: Realm.Error) { body(.error(error)) }
}

/// How something in sections is observed; for this module.
public struct _SectionsObservation<Observed: ThreadConfined> {
  let observation: Observation<Observed, SectionedResultsChange<Observed>>

  init<Key: Hashable, Element: RealmCollectionValue>(
    _ keyPaths: [String]?,
    of parts: @escaping (Observed) -> (source: SectionSource<Key, Element>, key: Key?)
  ) {
    observation = Observation {
      .error($0)
    } makeObserver: { observed, block in
      let (source, key) = parts(observed)
      return SectionsObserver(observed, source, key, keyPaths, block)
    }
  }
}

extension RealmSectionedResult {
  /// Has a block called with the sections as they are, and then with each change.
  ///
  /// When it is called is what `observe` of collections says. Of one section only what happened to
  /// that section is told, with the places that it has among all sections.
  /// - Parameters:
  ///   - keyPaths: Properties whose changes are modifications, also behind links as `owner.name`;
  ///     nil for all properties of the objects and of those that they lead to by up to four links.
  ///     What changes its section is told whichever they are.
  ///   - queue: A serial queue to be called on; nil for the realm's own thread, queue or actor.
  ///   - block: Called with the change.
  /// - Returns: A token; the calls end when it is let go.
  /// - Complexity: Of each call: that of the results', and O(elements), with the key of each.
  public func observe(
    keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
    _ block: @escaping (SectionedResultsChange<Self>) -> Void
  ) -> NotificationToken {
    Self._observation(keyPaths).observation.start(self, on: queue, block)
  }

  /// Has a block called for an actor with the sections as they are, and then with each change.
  /// - Parameters:
  ///   - keyPaths: Properties whose changes are modifications, as without an actor.
  ///   - actor: Whose code the block is; the sections it gets are of a realm of the actor.
  ///   - isolation: The actor of this realm.
  ///   - block: Called with the actor and the change.
  /// - Returns: A token; the calls end when it is let go.
  public func observe<Owner: Actor>(
    keyPaths: [String]? = nil, on actor: Owner,
    isolation: isolated (any Actor)? = #isolation,
    _ block: @escaping @Sendable (isolated Owner, SectionedResultsChange<Self>) -> Void
  ) async -> NotificationToken {
    await Self._observation(keyPaths).observation.start(self, for: actor, block)
  }
}

extension RealmSectionedResult where Element: ObjectBase {
  /// Has a block called with the section as it is, and then with each change of it.
  /// - Parameters:
  ///   - keyPaths: Properties of the elements whose changes are modifications.
  ///   - queue: A serial queue to be called on; nil for the realm's own thread, queue or actor.
  ///   - block: Called with the change.
  /// - Returns: A token; the calls end when it is let go.
  public func observe(
    keyPaths: [PartialKeyPath<Element>], on queue: DispatchQueue? = nil,
    _ block: @escaping (SectionedResultsChange<Self>) -> Void
  ) -> NotificationToken {
    observe(keyPaths: keyPaths.map { Element.name(of: $0) }, on: queue, block)
  }
}

extension RealmSectionedResult
where Element: RealmSectionedResult, Element.Element: ObjectBase {
  /// Has a block called with the sections as they are, and then with each change.
  /// - Parameters:
  ///   - keyPaths: Properties of the elements whose changes are modifications.
  ///   - queue: A serial queue to be called on; nil for the realm's own thread, queue or actor.
  ///   - block: Called with the change.
  /// - Returns: A token; the calls end when it is let go.
  public func observe(
    keyPaths: [PartialKeyPath<Element.Element>], on queue: DispatchQueue? = nil,
    _ block: @escaping (SectionedResultsChange<Self>) -> Void
  ) -> NotificationToken {
    observe(keyPaths: keyPaths.map { Element.Element.name(of: $0) }, on: queue, block)
  }
}
