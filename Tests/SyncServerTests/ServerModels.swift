// ServerModels.swift: the classes of a server's realm, drawn transactions of them, and a second
// apply of operations, which shares no code with SyncCore's.

import FoundationEssentials
import ObjectDatabase
import SyncCore

class Dog: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var age: Int
  @Persisted var name: String?
  @Persisted var born: Date
  @Persisted var any: AnyRealmValue
  @Persisted var owner: Owner?
  @Persisted var collar: Collar?
  @Persisted var toys: List<String>
  @Persisted var friends: List<Dog>
  @Persisted var collars: List<Collar>
  @Persisted var tags: MutableSet<String>
  @Persisted var counts: Map<String, Int>
}

class Owner: Object {
  @Persisted(primaryKey: true) var name: String
}

class Collar: EmbeddedObject {
  @Persisted var size: Int
  @Persisted var maker: Owner?
}

/// Numbers from a seed.
struct TestRandom: RandomNumberGenerator {
  private var state: UInt64
  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var word = state
    word = (word ^ (word >> 30)) &* 0xbf58_476d_1ce4_e5b9
    word = (word ^ (word >> 27)) &* 0x94d0_49bb_1331_11eb
    return word ^ (word >> 31)
  }

  mutating func below(_ end: Int) -> Int { Int.random(in: 0..<end, using: &self) }
}

/// Operations on dogs and owners.
struct DogDraw {
  private(set) var random: TestRandom

  init(seed: UInt64) { random = TestRandom(seed: seed) }

  static func dog(_ id: Int) -> SyncObject { SyncObject("Dog", .int(Int64(id))) }

  static func owner(_ name: String) -> SyncObject { SyncObject("Owner", .text(SyncText(name))) }

  static func field(_ object: SyncObject, _ name: SyncText) -> SyncField {
    SyncField(object, [], name)
  }

  /// A new dog with a value for each property.
  static func make(_ dog: SyncObject, age: Int = 0) -> [SyncOperation] {
    [
      .create(dog), .change(field(dog, "age"), .setDefault(.int(Int64(age)))),
      .change(field(dog, "name"), .setDefault(.null)),
      .change(field(dog, "born"), .setDefault(.date(seconds: 0, nanoseconds: 5))),
      .change(field(dog, "any"), .setDefault(.null)),
      .change(field(dog, "owner"), .setDefault(.null)),
      .change(field(dog, "collar"), .setDefault(.null)),
    ]
  }

  /// The content of a new collar.
  static func fill(_ dog: SyncObject, _ step: SyncStep, size: Int) -> [SyncOperation] {
    [
      .change(SyncField(dog, [step], "size"), .set(.int(Int64(size)))),
      .change(SyncField(dog, [step], "maker"), .set(.null)),
    ]
  }

  /// A transaction on what its author sees.
  mutating func draw(_ state: SyncState) -> [SyncOperation] {
    let dog = Self.dog(random.below(5))
    guard let node = state.objects[dog] else {
      return Self.make(dog, age: random.below(9)) + toy(dog, count: 0)
    }
    switch random.below(14) {
    case 0: return cut(dog, state) + [.delete(dog)]
    case 1, 2: return [.change(Self.field(dog, "age"), .increment(1))]
    case 3:
      let name = SyncText("n\(random.below(9))")
      return [.change(Self.field(dog, "name"), .set(random.below(3) == 0 ? .null : .text(name)))]
    case 4: return [.change(Self.field(dog, "any"), .set(any()))]
    case 5:
      let owner = Self.owner(["a", "b"][random.below(2)])
      let made: [SyncOperation] = state.objects[owner] == nil ? [.create(owner)] : []
      return made + [.change(Self.field(dog, "owner"), .set(.link(owner)))]
    case 6:
      return [.change(Self.field(dog, "collar"), .set(.embedded))]
        + Self.fill(dog, SyncStep("collar"), size: random.below(9))
    case 7: return collars(dog, count: node["collars"].list.count)
    case 8:
      let other = Self.dog(random.below(5))
      guard state.objects[other] != nil else { return toy(dog, count: node["toys"].list.count) }
      return [.change(Self.field(dog, "friends"), .listInsert(at: 0, [.link(other)]))]
    case 9:
      let tag = SyncValue.text(SyncText("t\(random.below(3))"))
      let isMember = node["tags"].set.contains(tag)
      return [.change(Self.field(dog, "tags"), isMember ? .setErase(tag) : .setInsert(tag))]
    case 10:
      let value = SyncValue.int(Int64(random.below(9)))
      let key = SyncText("k\(random.below(2))")
      return [.change(Self.field(dog, "counts"), .dictionarySet(key, value))]
    default: return toy(dog, count: node["toys"].list.count)
    }
  }

  private mutating func any() -> SyncValue {
    switch random.below(4) {
    case 0: .int(7)
    case 1: .text("x")
    case 2: .double(bits: 0x7ff8_0000_0000_0001)
    default: .null
    }
  }

  private mutating func toy(_ dog: SyncObject, count: Int) -> [SyncOperation] {
    let toys = Self.field(dog, "toys")
    switch count == 0 ? 0 : random.below(4) {
    case 1: return [.change(toys, .listErase(at: random.below(count), count: 1))]
    case 2: return [.change(toys, .listMove(from: random.below(count), to: random.below(count)))]
    default:
      let toy = SyncValue.text(SyncText("toy\(random.below(99))"))
      return [.change(toys, .listInsert(at: random.below(count + 1), [toy]))]
    }
  }

  private mutating func collars(_ dog: SyncObject, count: Int) -> [SyncOperation] {
    let collars = Self.field(dog, "collars")
    if count > 0, random.below(3) == 0 {
      return [.change(collars, .listErase(at: random.below(count), count: 1))]
    }
    let index = random.below(count + 1)
    let step = SyncStep("collars", .element(index))
    return [.change(collars, .listInsert(at: index, [.embedded]))]
      + Self.fill(dog, step, size: random.below(9))
  }

  /// What a recorder says before a delete.
  private func cut(_ dog: SyncObject, _ state: SyncState) -> [SyncOperation] {
    var found: [SyncOperation] = []
    for object in state.objects.keys.sorted() where object.type == "Dog" && object != dog {
      let list = state.objects[object]?["friends"].list ?? []
      for index in list.indices.reversed() where list[index].value == .link(dog) {
        found.append(.change(Self.field(object, "friends"), .listErase(at: index, count: 1)))
      }
    }
    return found
  }
}

// MARK: a second apply

/// An object as a plain tree of values: the second opinion on what entries do.
indirect enum PlainValue: Equatable {
  case plain(SyncValue)
  case object([SyncText: PlainValue])
  case list([PlainValue])
  case members([SyncValue])
  case entries([SyncText: PlainValue])
}

/// Folds entries as they are exported.
struct PlainRealm: Equatable {
  typealias Content = [SyncText: PlainValue]
  private(set) var objects: [SyncObject: Content] = [:]

  mutating func fold(_ entry: SyncEntry) {
    for sourced in entry.effect { fold(sourced.operation) }
  }

  private mutating func fold(_ operation: SyncOperation) {
    switch operation {
    case .create(let object): objects[object] = [:]
    case .delete(let object): objects[object] = nil
    case .change(let field, let change):
      guard var content = objects[field.object] else { return }
      Self.fold(change, field.property, field.steps[...], into: &content)
      objects[field.object] = content
    }
  }

  private static func fold(
    _ change: SyncChange, _ name: SyncText, _ steps: ArraySlice<SyncStep>,
    into content: inout Content
  ) {
    guard let step = steps.first else {
      let old = content[name]
      content[name] = changed(old, change)
      return
    }
    let rest = steps.dropFirst()
    func inner(_ value: PlainValue?) -> PlainValue {
      guard case .object(var inside)? = value else { return .object([:]) }
      fold(change, name, rest, into: &inside)
      return .object(inside)
    }
    switch (step.place, content[step.property]) {
    case (.value, let value): content[step.property] = inner(value)
    case (.element(let index), .list(var list)?):
      list[index] = inner(list[index])
      content[step.property] = .list(list)
    case (.entry(let key), .entries(var entries)?):
      entries[key] = inner(entries[key])
      content[step.property] = .entries(entries)
    default: return
    }
  }

  private static func value(_ value: SyncValue) -> PlainValue {
    value == .embedded ? .object([:]) : .plain(value)
  }

  private static func changed(_ old: PlainValue?, _ change: SyncChange) -> PlainValue? {
    switch change {
    case .set(let new), .setDefault(let new): return value(new)
    case .increment(let amount):
      guard case .plain(.int(let number))? = old else { return old }
      return .plain(.int(number &+ amount))
    case .setInsert(let new):
      guard case .members(let members)? = old else { return .members([new]) }
      return .members(members + [new])
    case .setErase(let gone):
      guard case .members(let members)? = old else { return old }
      let rest = members.filter { $0 != gone }
      return rest.isEmpty ? nil : .members(rest)
    case .dictionarySet(let key, let new):
      guard case .entries(var entries)? = old else { return .entries([key: value(new)]) }
      entries[key] = value(new)
      return .entries(entries)
    case .dictionaryRemove(let key):
      guard case .entries(var entries)? = old else { return old }
      entries[key] = nil
      return entries.isEmpty ? nil : .entries(entries)
    default:
      var list: [PlainValue] = []
      if case .list(let elements)? = old { list = elements }
      change.fold(into: &list)
      return list.isEmpty ? nil : .list(list)
    }
  }

  /// The same of a server's rows, members in one order.
  init(_ state: SyncState) {
    for (object, node) in state.objects { objects[object] = Self.content(node) }
    self = sorted
  }

  init() {}

  private static func content(_ node: SyncNode) -> Content {
    var content: Content = [:]
    for (name, found) in node.fields {
      if let slot = found.value { content[name] = plain(slot) }
      if !found.list.isEmpty { content[name] = .list(found.list.map { plain($0) }) }
      if !found.set.isEmpty { content[name] = .members(Array(found.set)) }
      if !found.dictionary.isEmpty {
        content[name] = .entries(found.dictionary.mapValues { plain($0) })
      }
    }
    return content
  }

  private static func plain(_ slot: SyncSlot) -> PlainValue {
    slot.embedded.map { .object(content($0)) } ?? .plain(slot.value)
  }

  /// With the members of each set in one order.
  var sorted: PlainRealm {
    var copy = self
    for (object, content) in objects {
      copy.objects[object] = content.mapValues { value in
        guard case .members(let members) = value else { return value }
        return .members(members.sorted { "\($0)" < "\($1)" })
      }
    }
    return copy
  }
}

extension SyncChange {
  fileprivate func fold(into list: inout [PlainValue]) {
    func plain(_ values: [SyncValue]) -> [PlainValue] {
      values.map { $0 == .embedded ? .object([:]) : .plain($0) }
    }
    switch self {
    case .listInsert(let index, let values): list.insert(contentsOf: plain(values), at: index)
    case .listErase(let index, let count): list.removeSubrange(index..<index + count)
    case .listMove(let from, let to): list.insert(list.remove(at: from), at: to)
    case .listSet(let index, let value): list[index] = plain([value])[0]
    case .listClear: list = []
    case .listAssign(let values), .listFill(let values): list = plain(values)
    default: return
    }
  }
}
