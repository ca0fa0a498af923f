// Elements.swift: the source of results: where the elements come from, and the operations applied
// to them. The content is computed on first access, and cached until the realm's content may have
// changed. For objects only the keys are cached.

import Engine
import Synchronization

/// Elements of a realm, live and lazy.
final class Elements {
  /// The source of the elements.
  enum Origin {
    case table(_TableAccess)
    case collection(_Row)
    case backlinks(_TableAccess, key: Int64, origin: _TableAccess, property: Int)
  }

  /// The operations on the elements, in order.
  enum Step {
    case sorted([SortDescriptor])
    case distinct([String])
    case selected(Filter)
  }

  /// The computed content.
  enum Content {
    case keys([Int64])
    case values([Value])

    var count: Int {
      switch self {
      case .keys(let keys): keys.count
      case .values(let values): values.count
      }
    }
  }

  let origin: Origin
  let steps: [Step]
  /// The class of the elements; nil for values.
  let access: _TableAccess?
  private var known: (stamp: UInt64, content: Content)?
  private var knownCount: (stamp: UInt64, count: Int)?

  init(_ origin: Origin, _ steps: [Step] = []) {
    self.origin = origin
    self.steps = steps
    access =
      switch origin {
      case .table(let access): access
      case .collection(let row): row.elementAccess
      case .backlinks(_, _, let origin, _): origin
      }
  }

  func adding(_ step: Step) -> Elements { Elements(origin, steps + [step]) }

  var core: _RealmCore {
    switch origin {
    case .table(let access): access.core
    case .collection(let row): row.core
    case .backlinks(let target, _, _, _): target.core
    }
  }

  /// A value among the elements, or of one of their properties, as a type of the program's.
  func made<Made: RealmCollectionValue>(
    _ type: Made.Type, of value: Value, _ property: String? = nil
  ) -> Made {
    if let made = Made._makeIfFits(from: value, in: core) { return made }
    var place = access.flatMap { access in property.map { "\(access.name).\($0)" } }
    if place == nil, case .collection(let row) = origin { place = row.name }
    core.misfit(value, Made.self, place: place)
    return ._default()
  }

  var isInvalidated: Bool {
    switch origin {
    case .table(let access): access.isInvalidated
    case .collection(let row): row.isInvalidated
    case .backlinks(let target, let key, _, _): target.isInvalidated || !target.contains(key)
    }
  }

  /// The same elements of another realm on the same database.
  func moved(to core: _RealmCore) -> Elements? {
    switch origin {
    case .table(let access): return Elements(.table(core.access(access.info)), steps)
    case .collection(let row):
      let access = core.access(row.access.info)
      guard access.contains(row.key) else { return nil }
      return Elements(
        .collection(_Row(access: access, key: row.key, property: row.property)), steps)
    case .backlinks(let target, let key, let origin, let property):
      let access = core.access(target.info)
      guard access.contains(key) else { return nil }
      return Elements(
        .backlinks(access, key: key, origin: core.access(origin.info), property: property), steps)
    }
  }

  // MARK: finding

  /// The elements as the realm has them now.
  var content: Content {
    Misuse.unthrowing { () throws(EngineError) in try readContent() }
  }

  /// The current elements, for callers that can report an error.
  func readContent() throws(EngineError) -> Content {
    core.checkThread()
    if let known, known.stamp == core.contentStamp { return known.content }
    let found = try find()
    // A frozen realm's elements are shared by threads, and are not cached.
    if !core.isFrozen { known = (core.contentStamp, found) }
    return found
  }

  /// Whether the content of the version that is read is cached.
  var isContentKnown: Bool { known.map { $0.stamp == core.contentStamp } ?? false }

  /// Caches the content that an observer found for a version, if the realm reads that version.
  func adopt(_ content: Content, of snapshot: Snapshot) {
    if core.write == nil, core.heldSnapshot === snapshot { known = (core.contentStamp, content) }
  }

  var count: Int {
    if steps.isEmpty {
      switch origin {
      case .table(let access): return access.count
      case .collection(let row): return row.count
      case .backlinks: break
      }
    }
    return foundCount() ?? content.count
  }

  /// The filter and its class, when the elements are what it finds among all objects of the class.
  var wholeFilter: (filter: Filter, access: _TableAccess)? {
    guard steps.count == 1, case .selected(let filter) = steps[0], case .table(let access) = origin
    else { return nil }
    return (filter, access)
  }

  /// Runs a filter that was added last, and keeps what it finds where that is the content.
  /// - Throws: `Realm.Error` with code `.invalidValue` when it costs more than the bound.
  func check(_ filter: Filter, stepsMax: Int?) throws(Realm.Error) {
    guard let access else { return }
    let found = try filter.check(access, stepsMax: stepsMax)
    guard !core.isFrozen, wholeFilter != nil, !access.isInvalidated else { return }
    switch found {
    case .count(let count): knownCount = (core.contentStamp, count)
    case .keys(let keys): known = (core.contentStamp, .keys(keys))
    }
  }

  /// The number of rows that a filter of a whole class finds, without their keys; nil for anything
  /// else.
  private func foundCount() -> Int? {
    guard let (filter, access) = wholeFilter else { return nil }
    core.checkThread()
    if let known, known.stamp == core.contentStamp { return known.content.count }
    if let knownCount, knownCount.stamp == core.contentStamp { return knownCount.count }
    let count = filter.count(access)
    if !core.isFrozen { knownCount = (core.contentStamp, count) }
    return count
  }

  private func find() throws(EngineError) -> Content {
    var content: Content
    var rest = steps[...]
    switch (origin, steps.first) {
    case (.table(let access), .selected(let filter)):
      content = .keys(try filter.keys(access))
      rest.removeFirst()
    case (.table(let access), _): content = .keys(try access.readKeys())
    case (.collection(let row), _):
      content = access == nil ? .values(try row.readElements()) : .keys(try row.readLinkedKeys())
    case (.backlinks(let target, let key, let origin, let property), _):
      content = .keys(try target.backlinks(to: key, from: origin.info, property))
    }
    for step in rest { content = try apply(step, content) }
    return content
  }

  /// If there is more than one element per this many objects of the class, the whole class is
  /// queried, with its indexes and scans.
  private static let wholeShare = 16

  private func select(
    _ keys: [Int64], _ filter: Filter, _ access: _TableAccess
  ) throws(EngineError) -> [Int64] {
    guard keys.count > access.count / Self.wholeShare else {
      return try filter.keys(access, among: keys)
    }
    let known = Set(try filter.keys(access))
    return keys.filter { known.contains($0) }
  }

  /// The first key of each value of an int or text of the objects themselves; nil when the values
  /// have to be read one by one.
  private func firstOfEach(
    _ keys: [Int64], _ path: PathReader, _ access: _TableAccess
  ) throws(EngineError) -> [Int64]? {
    guard let number = path.ownNumber, path.property.type == .int || path.property.type == .string,
      let numbers = try access.numbers(keys, number, areTextsRanked: true)
    else { return nil }
    var seen: Set<Int64> = []
    var hasNull = false
    return keys.indices.filter { index in
      guard numbers.nulls.isEmpty || numbers.nulls[index] == 0 else {
        defer { hasNull = true }
        return !hasNull
      }
      return seen.insert(numbers.words[index]).inserted
    }.map { keys[$0] }
  }

  private func apply(_ step: Step, _ content: Content) throws(EngineError) -> Content {
    switch (step, content, access) {
    case (.sorted(let descriptors), .keys(let keys), .some(let access)):
      return .keys(try Ordering(descriptors, access).sorted(keys))
    case (.sorted(let descriptors), .values(let values), _):
      let isAscending = descriptors.first?.ascending ?? true
      return .values(Ordering.sorted(values, ascending: isAscending))
    case (.distinct(let names), .keys(let keys), .some(let access)):
      let paths = names.map { PathReader($0, access) }
      if paths.count == 1, let kept = try firstOfEach(keys, paths[0], access) {
        return .keys(kept)
      }
      var seen: Set<[Value]> = []
      var kept: [Int64] = []
      for key in keys {
        let values = try paths.map { path throws(EngineError) in try path.value(key).byValue }
        if seen.insert(values).inserted { kept.append(key) }
      }
      return .keys(kept)
    case (.distinct, .values(let values), _):
      var seen: Set<Value> = []
      return .values(values.filter { seen.insert($0.byValue).inserted })
    case (.selected(let filter), .keys(let keys), .some(let access)):
      return .keys(try select(keys, filter, access))
    default:
      Misuse.stop("values are sorted and made distinct as they are; only objects have properties")
    }
  }
}

/// Reads a property, or one reached through links: `owner.name`.
struct PathReader {
  private let access: _TableAccess
  private let numbers: [(access: _TableAccess, number: Int)]
  let property: Property

  /// An invalid path stops the process.
  init(_ path: String, _ access: _TableAccess) {
    self.access = access
    var numbers: [(access: _TableAccess, number: Int)] = []
    var current: _TableAccess? = access
    var last: Property?
    for name in path.split(separator: ".", omittingEmptySubsequences: false) {
      guard let here = current, let number = here.info.number(of: String(name)) else {
        Misuse.stop(
          "the key path \"\(path)\" leads to no property of \(access.name): \"\(name)\" is none of "
            + (current?.info.properties.map(\.name).joined(separator: ", ") ?? "nothing"))
      }
      let property = here.info.properties[number]
      guard property.collection == .none, property.type != .linkingObjects else {
        Misuse.stop("the key path \"\(path)\" of \(access.name) leads through a collection")
      }
      numbers.append((here, number))
      last = property
      current = property.objectClassName.flatMap { name in
        here.core.access(named: name)
          ?? (here.info.isDynamic ? here.core.dynamicAccess(named: name) : nil)
      }
    }
    guard let last else { Misuse.stop("an empty key path leads nowhere") }
    self.numbers = numbers
    property = last
  }

  /// The position of the property, if it is the object's own.
  var ownNumber: Int? { numbers.count == 1 ? numbers[0].number : nil }

  /// The value for a row; null if a link on the path is null.
  func value(_ key: Int64) throws(EngineError) -> Value {
    var key = key
    for (position, step) in numbers.enumerated() {
      let value = try step.access.readValue(key, step.number)
      guard position + 1 < numbers.count else { return value }
      guard case .link(let next) = value else { return .null }
      key = next
    }
    return .null
  }
}
