// SectionedResults.swift: results in sections: groups of elements with one key each. Lazy and live
// like results: the sections are computed on access, and again when the realm's content may have
// changed. Sections are in the order of the first occurrence of their keys, elements in that of the
// results.

import Foundation

/// The sections of one version.
struct Sections<Key: Hashable> {
  private(set) var keys: [Key] = []
  /// The positions of each section's elements in the results, ascending.
  private(set) var positions: [[Int]] = []
  private(set) var numbers: [Key: Int] = [:]

  /// Takes the keys of all elements in the order of the results.
  init<Elements: Sequence>(_ keysOfElements: Elements) where Elements.Element == Key {
    for (position, key) in keysOfElements.enumerated() {
      if let number = numbers[key] {
        positions[number].append(position)
      } else {
        numbers[key] = keys.count
        keys.append(key)
        positions.append([position])
      }
    }
  }

  func positions(of key: Key) -> [Int] { numbers[key].map { positions[$0] } ?? [] }
}

/// Results and the key of each of their elements; shared by the sections of one view.
final class SectionSource<Key: Hashable, Element: RealmCollectionValue> {
  let results: Results<Element>
  let key: (Element) -> Key
  private var known: (stamp: UInt64, sections: Sections<Key>)?

  init(_ results: Results<Element>, _ key: @escaping (Element) -> Key) {
    self.results = results
    self.key = key
  }

  /// The current sections.
  var sections: Sections<Key> {
    let core = results.content.core
    core.checkThread()
    if let known, known.stamp == core.contentStamp { return known.sections }
    let found = Sections(results.lazy.map(key))
    // Frozen sections are shared by threads, so they are not cached.
    if !core.isFrozen { known = (core.contentStamp, found) }
    return found
  }

  /// The same of another realm on the same database; nil when the results' owner is not there.
  func moved(to core: _RealmCore) -> SectionSource? {
    results.content.moved(to: core).map { SectionSource(Results($0), key) }
  }
}

/// The common part of sectioned results and their sections.
public protocol RealmSectionedResult: RandomAccessCollection, Equatable, ThreadConfined
where Index == Int {
  /// How this is observed.
  static func _observation(
    _ keyPaths: [String]?
  ) -> _SectionsObservation<Self>
}

/// Results in sections.
public struct SectionedResults<Key: Hashable, SectionElement: RealmCollectionValue>:
  RealmSectionedResult
{
  /// A section.
  public typealias Element = ResultsSection<Key, SectionElement>
  /// The number of a section.
  public typealias Index = Int

  let source: SectionSource<Key, SectionElement>

  init(_ results: Results<SectionElement>, _ key: @escaping (SectionElement) -> Key) {
    source = SectionSource(results, key)
  }

  private init(_ source: SectionSource<Key, SectionElement>) { self.source = source }

  /// The realm.
  public var realm: Realm? { source.results.realm }
  /// Whether the realm was invalidated, or the owner of the underlying collection was deleted.
  public var isInvalidated: Bool { source.results.isInvalidated }
  /// Whether the realm is frozen.
  public var isFrozen: Bool { source.results.isFrozen }

  /// The keys of the sections, in their order.
  /// - Complexity: O(elements) after each change, and at each use of a frozen one.
  public var allKeys: [Key] { source.sections.keys }

  /// Zero.
  public var startIndex: Int { 0 }
  /// The number of sections.
  public var endIndex: Int { source.sections.keys.count }
  /// The number of sections.
  public var count: Int { endIndex }

  /// A section; an index out of bounds stops the process.
  public subscript(index: Int) -> ResultsSection<Key, SectionElement> {
    let keys = source.sections.keys
    guard keys.indices.contains(index) else {
      Misuse.stop(
        "section \(index) of sectioned results is out of bounds; the count is \(keys.count)")
    }
    return ResultsSection(source, keys[index])
  }

  /// An element by the index of its section and its index in it; an index out of bounds stops the
  /// process.
  public subscript(section: Int, item: Int) -> SectionElement { self[section][item] }

  /// An element by its place; one out of bounds stops the process.
  public subscript(indexPath: IndexPath) -> SectionElement {
    self[indexPath.section][indexPath.item]
  }

  /// Whether both have the same elements of the same version, in the same sections.
  public static func == (left: SectionedResults, right: SectionedResults) -> Bool {
    left.source.results == right.source.results && left.allKeys == right.allKeys
  }

  /// The same in another realm on the same database; nil when it is not there.
  public func _moved(to core: _RealmCore) -> SectionedResults? {
    source.moved(to: core).map { SectionedResults($0) }
  }

  /// How sectioned results are observed.
  public static func _observation(_ keyPaths: [String]?) -> _SectionsObservation<Self> {
    _SectionsObservation(keyPaths) { ($0.source, nil) }
  }
}

/// The elements with one key; live, so it may become empty.
public struct ResultsSection<Key: Hashable, SectionElement: RealmCollectionValue>:
  RealmSectionedResult, Identifiable
{
  /// An element.
  public typealias Element = SectionElement
  /// The number of an element.
  public typealias Index = Int

  let source: SectionSource<Key, SectionElement>
  /// The common key of the elements.
  public let key: Key

  fileprivate init(_ source: SectionSource<Key, SectionElement>, _ key: Key) {
    self.source = source
    self.key = key
  }

  /// The key, which identifies the section.
  public var id: Key { key }
  /// The realm.
  public var realm: Realm? { source.results.realm }
  /// Whether the realm was invalidated, or the owner of the underlying collection was deleted.
  public var isInvalidated: Bool { source.results.isInvalidated }
  /// Whether the realm is frozen.
  public var isFrozen: Bool { source.results.isFrozen }
  /// Zero.
  public var startIndex: Int { 0 }
  /// The number of elements.
  public var endIndex: Int { source.sections.positions(of: key).count }
  /// The number of elements.
  public var count: Int { endIndex }

  /// An element; an index out of bounds stops the process.
  public subscript(index: Int) -> SectionElement {
    let positions = source.sections.positions(of: key)
    guard positions.indices.contains(index) else {
      Misuse.stop(
        "index \(index) of the section \(key) is out of bounds; the count is \(positions.count)")
    }
    return source.results[positions[index]]
  }

  /// A loop over the elements that there are now.
  public func makeIterator() -> AnyIterator<SectionElement> {
    let results = source.results
    var positions = source.sections.positions(of: key)[...]
    return AnyIterator { positions.popFirst().map { results[$0] } }
  }

  /// Whether both are the same section of the same elements of the same version.
  public static func == (left: ResultsSection, right: ResultsSection) -> Bool {
    left.key == right.key && left.source.results == right.source.results
  }

  /// The same in another realm on the same database; nil when it is not there.
  public func _moved(to core: _RealmCore) -> ResultsSection? {
    source.moved(to: core).map { ResultsSection($0, key) }
  }

  /// How a section is observed.
  public static func _observation(_ keyPaths: [String]?) -> _SectionsObservation<Self> {
    _SectionsObservation(keyPaths) { ($0.source, $0.key) }
  }
}

extension RealmCollection {
  /// The elements in sections, by a key of each.
  /// - Parameters:
  ///   - sectionBlock: Returns the key of an element; always the same one for an element, live or
  ///     frozen.
  ///   - sortDescriptors: The order of the elements, and thereby of the sections.
  /// - Returns: The sections, as live as results.
  public func sectioned<Key: Hashable>(
    by sectionBlock: @escaping (Element) -> Key, sortDescriptors: [SortDescriptor] = []
  ) -> SectionedResults<Key, Element> {
    let elements = elements
    return SectionedResults(
      Results(sortDescriptors.isEmpty ? elements : elements.adding(.sorted(sortDescriptors))),
      sectionBlock)
  }
}

extension RealmCollection {
  /// The values in sections, sorted by themselves.
  /// - Parameters:
  ///   - sectionBlock: Returns the key of a value.
  ///   - ascending: Whether small values come first.
  /// - Returns: The sections, as live as results.
  public func sectioned<Key: Hashable>(
    by sectionBlock: @escaping (Element) -> Key, ascending: Bool
  ) -> SectionedResults<Key, Element> {
    sectioned(
      by: sectionBlock, sortDescriptors: [SortDescriptor(keyPath: "self", ascending: ascending)])
  }
}

extension RealmCollection where Element: ObjectBase {
  /// The objects in sections, by a persisted property, sorted by it.
  /// - Parameters:
  ///   - keyPath: The property.
  ///   - ascending: Whether small values come first.
  /// - Returns: The sections, as live as results.
  public func sectioned<Key: Hashable>(
    by keyPath: KeyPath<Element, Key>, ascending: Bool = true
  ) -> SectionedResults<Key, Element> {
    sectioned(
      by: { $0[keyPath: keyPath] },
      sortDescriptors: [SortDescriptor(keyPath: name(of: keyPath), ascending: ascending)])
  }

  /// The objects in sections, by any property.
  /// - Parameters:
  ///   - keyPath: The property, persisted or computed.
  ///   - sortDescriptors: The order of the objects, and thereby of the sections.
  /// - Returns: The sections, as live as results.
  public func sectioned<Key: Hashable>(
    by keyPath: KeyPath<Element, Key>, sortDescriptors: [SortDescriptor]
  ) -> SectionedResults<Key, Element> {
    sectioned(by: { $0[keyPath: keyPath] }, sortDescriptors: sortDescriptors)
  }
}
