// MixedCollectionsTarget.swift: bytes → choices → transactions over objects whose mixed values hold
// lists and dictionaries of lists and dictionaries. Invariants checked after each transaction, also
// a cancelled one: every value reads as a model of plain trees has it; queries by keys, indexes and
// `[*]` find what the model finds; the file has one row for each collection, and none besides.

import Engine
import Fuzz
import ObjectDatabase
import QueryReference

/// What the target changes.
final class FuzzedShelf: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var value: AnyRealmValue
  @Persisted var list: List<AnyRealmValue>

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// What a mixed value holds, without a database.
private indirect enum Tree: Equatable {
  case number(Int)
  case list([Tree])
  case entries([String: Tree])

  init(_ random: inout ReferenceRandom, depth: Int) {
    switch random.below(depth > 0 ? 4 : 2) {
    case 0, 1: self = .number(random.below(5))
    case 2: self = .list((0..<random.below(4)).map { _ in Tree(&random, depth: depth - 1) })
    default:
      var entries: [String: Tree] = [:]
      for _ in 0..<random.below(4) { entries[Tree.key(&random)] = Tree(&random, depth: depth - 1) }
      self = .entries(entries)
    }
  }

  /// As it is read from a realm.
  init?(read value: AnyRealmValue) {
    switch value {
    case .int(let number): self = .number(number)
    case .list(let list):
      let trees = list.compactMap { Tree(read: $0) }
      guard trees.count == list.count else { return nil }
      self = .list(trees)
    case .dictionary(let map):
      let trees = map.asKeyValueSequence().compactMap { entry in
        Tree(read: entry.value).map { (entry.key, $0) }
      }
      guard trees.count == map.count else { return nil }
      self = .entries(Dictionary(trees) { $1 })
    default: return nil
    }
  }

  static func key(_ random: inout ReferenceRandom) -> String { ["a", "b", "c"][random.below(3)] }

  var value: AnyRealmValue {
    switch self {
    case .number(let number): .int(number)
    case .list(let trees): .fromArray(trees.map(\.value))
    case .entries(let trees): .fromDictionary(trees.mapValues(\.value))
    }
  }

  /// Those that it holds directly.
  var members: [Tree] {
    switch self {
    case .number: []
    case .list(let trees): trees
    case .entries(let trees): Array(trees.values)
    }
  }

  var collectionCount: Int {
    if case .number = self { return 0 }
    return members.reduce(1) { $0 + $1.collectionCount }
  }

  func member(_ index: Int) -> Tree? {
    if case .list(let trees) = self, index < trees.count { trees[index] } else { nil }
  }

  func member(_ key: String) -> Tree? {
    if case .entries(let trees) = self { trees[key] } else { nil }
  }

  /// Changes a collection at a chosen place, here and in the realm.
  mutating func change(_ value: AnyRealmValue, _ random: inout ReferenceRandom) {
    if let list = value.listValue, case .list(let trees) = self {
      self = .list(Tree.changed(trees, list, &random))
    } else if let map = value.dictionaryValue, case .entries(var trees) = self {
      let key = Tree.key(&random)
      switch random.below(3) {
      case 0:
        trees[key] = nil
        map[key] = nil
      case 1:
        let new = Tree(&random, depth: 2)
        trees[key] = new
        map[key] = new.value
      default: if let old = map[key] { trees[key]?.change(old, &random) }
      }
      self = .entries(trees)
    }
  }

  static func changed(
    _ trees: [Tree], _ list: List<AnyRealmValue>, _ random: inout ReferenceRandom
  ) -> [Tree] {
    var trees = trees
    let choice = trees.isEmpty ? 0 : random.below(6)
    let index = trees.isEmpty ? 0 : random.below(trees.count)
    switch choice {
    case 0, 1:
      let new = Tree(&random, depth: 2)
      trees.insert(new, at: index)
      list.insert(new.value, at: index)
    case 2:
      let new = Tree(&random, depth: 2)
      trees[index] = new
      list[index] = new.value
    case 3:
      trees.remove(at: index)
      list.remove(at: index)
    case 4:
      trees.swapAt(0, index)
      list.swapAt(0, index)
    default: trees[index].change(list[index], &random)
    }
    return trees
  }
}

enum MixedCollectionsTarget {
  static let target = FuzzTarget(
    name: "mixed-collections",
    judges: "choices of changes in nested collections of mixed values: a realm against plain trees",
    smokeCount: 100, seeds: { FuzzTarget.choiceSeeds("mixed-collections") }, run: { run($0) }
  ).with { $0.sizeMax = 256 }

  private struct Shelf: Equatable {
    var value = Tree.number(0)
    var list: [Tree] = []
  }

  private static func run(_ input: [UInt8]) -> FuzzOutcome {
    var random = ReferenceRandom(bytes: input)
    do {
      let realm = try Realm(
        configuration: .init(
          inMemoryIdentifier: "fuzzed mixed collections", objectTypes: [FuzzedShelf.self]))
      // A run that was stopped in its middle has left nothing either.
      try realm.write { realm.deleteAll() }
      var shelves: [Int: Shelf] = [:]
      for number in 0..<(2 + random.below(3)) {
        var changed = shelves
        realm.beginWrite()
        for _ in 0...random.below(5) { change(&changed, realm, &random) }
        if random.below(5) == 0 {
          realm.cancelWrite()
        } else {
          try realm.commitWrite()
          shelves = changed
        }
        if let problem = try problem(shelves, realm) {
          return .finding("after transaction \(number): \(problem)")
        }
      }
      return .accepted
    } catch { return .finding("\(error)") }
  }

  private static func change(
    _ shelves: inout [Int: Shelf], _ realm: Realm, _ random: inout ReferenceRandom
  ) {
    let id = random.below(3)
    guard let object = realm.object(ofType: FuzzedShelf.self, forPrimaryKey: id),
      var shelf = shelves[id]
    else {
      let value = Tree(&random, depth: 3)
      realm.create(FuzzedShelf.self, value: ["id": id, "value": value.value])
      shelves[id] = Shelf(value: value)
      return
    }
    switch random.below(7) {
    case 0:
      realm.delete(object)
      shelves[id] = nil
      return
    case 1:
      shelf.value = Tree(&random, depth: 3)
      object.value = shelf.value.value
    case 2:
      // A copy, of another object's value or of its own.
      let other = random.below(3)
      if let source = realm.object(ofType: FuzzedShelf.self, forPrimaryKey: other) {
        shelf.value = shelves[other]?.value ?? shelf.value
        object.value = source.value
      }
    case 3, 4: shelf.list = Tree.changed(shelf.list, object.list, &random)
    default: shelf.value.change(object.value, &random)
    }
    shelves[id] = shelf
  }

  private static func problem(_ shelves: [Int: Shelf], _ realm: Realm) throws -> String? {
    let objects = realm.objects(FuzzedShelf.self).sorted(byKeyPath: "id")
    guard objects.map(\.id) == shelves.keys.sorted() else { return "objects \(objects.map(\.id))" }
    for object in objects {
      let list = object.list.compactMap { Tree(read: $0) }
      guard let shelf = shelves[object.id], Tree(read: object.value) == shelf.value,
        list == shelf.list, object.list.count == list.count
      else {
        return "object \(object.id) reads \(object), expected "
          + "\(String(describing: shelves[object.id]))"
      }
    }
    let snapshot = try realm.engineSnapshot()
    let rows = snapshot.hasTable("__mixed") ? try snapshot.count(of: "__mixed") : 0
    let collections = shelves.values.reduce(0) { count, shelf in
      count + shelf.value.collectionCount + shelf.list.reduce(0) { $0 + $1.collectionCount }
    }
    guard rows == collections else { return "\(rows) rows for \(collections) collections" }
    return try queryProblem(shelves, objects)
  }

  /// The queries, with what the model finds.
  private static let queries: [(text: String, finds: @Sendable (Shelf, Tree) -> Bool)] = [
    ("value == %@", { $0.value == $1 }),
    ("ANY value[*] == %@", { $0.value.members.contains($1) }),
    ("value['a'] == %@", { $0.value.member("a") == $1 }),
    ("value[0] == %@", { $0.value.member(0) == $1 }),
    ("value['b']['a'] == %@", { $0.value.member("b")?.member("a") == $1 }),
    ("value[1]['c'] == %@", { $0.value.member(1)?.member("c") == $1 }),
    ("ANY value['a'][*] == %@", { $0.value.member("a")?.members.contains($1) ?? false }),
    (
      "ANY value[*][*] == %@",
      { shelf, number in shelf.value.members.contains { $0.members.contains(number) } }
    ),
  ]

  private static func queryProblem(
    _ shelves: [Int: Shelf], _ objects: Results<FuzzedShelf>
  ) throws -> String? {
    for number in 0..<3 {
      for (text, finds) in queries {
        let found = try objects.filtered(by: text, arguments: [number]).map(\.id)
        let expected = shelves.keys.sorted().filter { id in
          shelves[id].map { finds($0, .number(number)) } ?? false
        }
        guard found == expected else {
          return "\(text) with \(number) finds \(found), expected \(expected)"
        }
      }
    }
    return nil
  }
}
