// ModelTests.swift: random programs over objects, links, lists and embedded objects, beside a model
// of plain arrays and dictionaries; after each transaction, committed or cancelled, both agree, and
// the engine verifies its file.

import Engine
import FoundationEssentials
import Testing

@testable import ObjectDatabase

private class Node: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var text: String
  @Persisted var next: Node?
  @Persisted var children: List<Node>
  @Persisted var numbers: MutableSet<Int>
  @Persisted var names: Map<String, Node?>
  @Persisted var leaf: Leaf?
  @Persisted(originProperty: "children") var parents: LinkingObjects<Node>

  convenience init(id: Int, text: String) {
    self.init()
    self.id = id
    self.text = text
  }
}

private class Leaf: EmbeddedObject {
  @Persisted var value: Int
}

/// What the realm must hold.
private struct Model: Equatable {
  struct Entry: Equatable {
    var text = ""
    var next: Int?
    var children: [Int] = []
    var numbers: Set<Int> = []
    var names: [String: Int?] = [:]
    var leaf: Int?
  }

  var entries: [Int: Entry] = [:]

  /// What the other one has and this one has not, for messages.
  func difference(from other: Model) -> [String] {
    Set(entries.keys).union(other.entries.keys).sorted().compactMap { id in
      let (left, right) = (entries[id], other.entries[id])
      return left == right
        ? nil : "\(id): \(left.map { "\($0)" } ?? "none") != \(right.map { "\($0)" } ?? "none")"
    }
  }

  /// Deleting takes links along: single ones and values of maps become nil, those in lists go.
  mutating func delete(_ id: Int) {
    entries[id] = nil
    for other in entries.keys {
      if entries[other]?.next == id { entries[other]?.next = nil }
      entries[other]?.children.removeAll { $0 == id }
      for (name, target) in entries[other]?.names ?? [:] where target == id {
        entries[other]?.names[name] = .some(nil)
      }
    }
  }
}

private struct Random: RandomNumberGenerator {
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

@Suite("random programs")
struct ModelTests {
  private func read(_ realm: Realm) -> Model {
    var model = Model()
    for node in realm.objects(Node.self) {
      var entry = Model.Entry()
      entry.text = node.text
      entry.next = node.next?.id
      entry.children = node.children.map(\.id)
      entry.numbers = Set(node.numbers)
      for item in node.names { entry.names[item.key] = .some(item.value?.id) }
      entry.leaf = node.leaf?.value
      model.entries[node.id] = entry
    }
    return model
  }

  /// One random change of both.
  private func step(_ realm: Realm, _ model: inout Model, _ random: inout Random) {
    let ids = model.entries.keys.sorted()
    let pick = random.below(10)
    guard let id = ids.isEmpty || pick == 0 ? nil : ids[random.below(ids.count)],
      let node = realm.object(ofType: Node.self, forPrimaryKey: id)
    else {
      let new = random.below(60)
      realm.add(Node(id: new, text: "new \(new)"), update: .modified)
      model.entries[new] = Model.Entry(text: "new \(new)")
      return
    }
    let other = ids[random.below(ids.count)]
    let target = realm.object(ofType: Node.self, forPrimaryKey: other)
    switch pick {
    case 1:
      realm.delete(node)
      model.delete(id)
    case 2:
      node.text = "text \(other)"
      model.entries[id]?.text = "text \(other)"
    case 3:
      node.next = target
      model.entries[id]?.next = other
    case 4, 5:
      guard let target else { return }
      let place = random.below(node.children.count + 1)
      node.children.insert(target, at: place)
      model.entries[id]?.children.insert(other, at: place)
    case 6:
      guard let count = model.entries[id]?.children.count, count > 0 else { return }
      let place = random.below(count)
      node.children.remove(at: place)
      model.entries[id]?.children.remove(at: place)
    case 7:
      node.numbers.insert(other)
      model.entries[id]?.numbers.insert(other)
    case 8:
      node.names["n\(other % 5)"] = .some(target)
      model.entries[id]?.names["n\(other % 5)"] = .some(other)
    default:
      let leaf = Leaf()
      leaf.value = other
      node.leaf = leaf
      model.entries[id]?.leaf = other
    }
  }

  @Test("realm and model agree after every transaction", arguments: [1, 2, 3] as [UInt64])
  func agreement(seed: UInt64) throws {
    let folder = try Folder()
    let realm = try folder.realm([Node.self])
    var random = Random(seed: seed)
    var model = Model()
    var frozen: (realm: Realm, model: Model)?
    for round in 0..<60 {
      var draft = model
      realm.beginWrite()
      for _ in 0..<random.below(12) { step(realm, &draft, &random) }
      let within = read(realm).difference(from: draft)
      #expect(within.isEmpty, "seed \(seed), round \(round), within the transaction")
      if random.below(4) == 0 {
        realm.cancelWrite()
      } else {
        try realm.commitWrite()
        model = draft
      }
      let after = read(realm).difference(from: model)
      #expect(after.isEmpty, "seed \(seed), round \(round)")
      let leaves = model.entries.values.filter { $0.leaf != nil }.count
      #expect(realm.objects(Leaf.self).count == leaves, "seed \(seed), round \(round)")
      if let frozen {
        let difference = read(frozen.realm).difference(from: frozen.model)
        #expect(difference.isEmpty, "seed \(seed), frozen before round \(round)")
      }
      if round % 10 == 0 { frozen = (realm.freeze(), model) }
      for (id, entry) in model.entries.sorted(by: { $0.key < $1.key }).prefix(3) {
        let node = realm.object(ofType: Node.self, forPrimaryKey: id)
        let parents = model.entries.filter { $0.value.children.contains(id) }.keys.sorted()
        #expect(Set(node?.parents.map(\.id) ?? []).sorted() == parents && node?.text == entry.text)
      }
    }
    _ = try realm.core.store.database.verify()
  }

  @Test("the comparison notices a wrong realm")
  func control() throws {
    let folder = try Folder()
    let realm = try folder.realm([Node.self])
    var model = Model()
    var random = Random(seed: 9)
    try realm.write { for _ in 0..<40 { step(realm, &model, &random) } }
    #expect(read(realm) == model)
    let node = try #require(realm.objects(Node.self).first { !$0.children.isEmpty })
    try realm.write { node.children.removeLast() }
    #expect(read(realm) != model)
  }
}
