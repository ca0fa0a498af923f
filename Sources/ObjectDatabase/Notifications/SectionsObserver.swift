// SectionsObserver.swift: reports the changes of sectioned results, and of one section; `observe`
// on both.

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
    // The key of an element can depend on properties that no key path names.
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

  /// Reports a key that cannot be read: a value of a newer program.
  private func stop(_ error: Realm.Error) {
    end()
    fail(error)
  }

  /// The sections of the round's newer version.
  private func sections(_ round: NotificationRound) -> Sections<Key> {
    // The live version is the newer one, unless an open transaction has changed it.
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
  /// Calls a block with the current sections, and then with each change.
  ///
  /// It is called at the times described at `observe` of collections. For one section only the
  /// changes of that section are reported, with its positions among all sections.
  /// - Parameters:
  ///   - keyPaths: Properties whose changes are modifications, also through links, as `owner.name`;
  ///     nil for all properties of the objects and of objects reached through up to four links.
  ///     Elements that change their section are always reported.
  ///   - queue: A serial queue to call on; nil for the realm's own thread, queue or actor.
  ///   - block: Called with the change.
  /// - Returns: A token; the calls end when it is released.
  /// - Complexity: Per call: that of the results, plus O(elements) to compute their keys.
  public func observe(
    keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
    _ block: @escaping (SectionedResultsChange<Self>) -> Void
  ) -> NotificationToken {
    Self._observation(keyPaths).observation.start(self, on: queue, block)
  }

  /// Calls a block on an actor with the current sections, and then with each change.
  /// - Parameters:
  ///   - keyPaths: Properties whose changes are modifications, as without an actor.
  ///   - actor: The actor on which the block runs; its sections belong to a realm of that actor.
  ///   - isolation: The actor of this realm.
  ///   - block: Called with the actor and the change.
  /// - Returns: A token; the calls end when it is released.
  public func observe<Owner: Actor>(
    keyPaths: [String]? = nil, on actor: Owner,
    isolation: isolated (any Actor)? = #isolation,
    _ block: @escaping @Sendable (isolated Owner, SectionedResultsChange<Self>) -> Void
  ) async -> NotificationToken {
    await Self._observation(keyPaths).observation.start(self, for: actor, block)
  }
}

extension RealmSectionedResult where Element: ObjectBase {
  /// Calls a block with the current section, and then with each change of it.
  /// - Parameters:
  ///   - keyPaths: Properties of the elements whose changes are modifications.
  ///   - queue: A serial queue to call on; nil for the realm's own thread, queue or actor.
  ///   - block: Called with the change.
  /// - Returns: A token; the calls end when it is released.
  public func observe(
    keyPaths: [PartialKeyPath<Element>], on queue: DispatchQueue? = nil,
    _ block: @escaping (SectionedResultsChange<Self>) -> Void
  ) -> NotificationToken {
    observe(keyPaths: keyPaths.map { Element.name(of: $0) }, on: queue, block)
  }
}

extension RealmSectionedResult
where Element: RealmSectionedResult, Element.Element: ObjectBase {
  /// Calls a block with the current sections, and then with each change.
  /// - Parameters:
  ///   - keyPaths: Properties of the elements whose changes are modifications.
  ///   - queue: A serial queue to call on; nil for the realm's own thread, queue or actor.
  ///   - block: Called with the change.
  /// - Returns: A token; the calls end when it is released.
  public func observe(
    keyPaths: [PartialKeyPath<Element.Element>], on queue: DispatchQueue? = nil,
    _ block: @escaping (SectionedResultsChange<Self>) -> Void
  ) -> NotificationToken {
    observe(keyPaths: keyPaths.map { Element.Element.name(of: $0) }, on: queue, block)
  }
}
