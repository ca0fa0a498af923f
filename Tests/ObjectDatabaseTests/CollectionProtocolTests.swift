// CollectionProtocolTests.swift: code that is generic over collections, collections of a hidden
// kind, their equality, and operations on unmanaged ones.

import Foundation
import ObjectDatabase
import Testing

private class Tree: Object {
  @Persisted var n = 0
  @Persisted var tags: List<String>
  @Persisted var numbers: List<Int>
  @Persisted var kids: List<Tree>
  @Persisted var set: MutableSet<Int>
  @Persisted var map: Map<String, Int>
}

@Suite("collections of any kind")
struct CollectionProtocolTests {
  private func realm(_ name: String = #function) throws -> Realm {
    try Realm(configuration: .init(inMemoryIdentifier: name, objectTypes: [Tree.self]))
  }

  private func frozen<C: RealmCollection>(_ collection: C) -> C { collection.freeze() }

  private func thawed<C: RealmCollection>(_ collection: C) -> C? { collection.thaw() }

  private func watch<C: RealmCollection>(
    _ collection: C, _ body: @escaping () -> Void
  ) -> NotificationToken {
    collection.observe { _ in body() }
  }

  @Test("generic code freezes, thaws and observes")
  func generic() throws {
    let realm = try realm()
    let tree = try realm.write { realm.create(Tree.self, value: ["tags": ["a"], "set": [1]]) }
    let (tags, set, trees) = (tree.tags, tree.set, realm.objects(Tree.self))
    #expect(frozen(tags).isFrozen && frozen(set).isFrozen && frozen(trees).isFrozen)
    #expect(thawed(frozen(tags)) == tags && thawed(frozen(trees)) == trees)
    var calls = 0
    let tokens = [
      watch(tags) { calls += 1 }, watch(set) { calls += 1 },
      watch(AnyRealmCollection(trees)) { calls += 1 },
    ]
    realm.refresh()
    #expect(calls == 3)
    for token in tokens { token.invalidate() }
  }

  @Test("the hidden kind of a collection does what the collection does")
  func anyCollection() throws {
    let realm = try realm()
    let tree = try realm.write {
      realm.create(Tree.self, value: ["tags": ["b", "a"], "kids": [["n": 1], ["n": 2]]])
    }
    let tags = AnyRealmCollection(tree.tags)
    #expect(Array(tags) == ["b", "a"] && Array(tags.sorted()) == ["a", "b"])
    let kids = AnyRealmCollection(tree.kids)
    #expect(kids.filter("n > 1").count == 1 && kids.realm == realm && !kids.isInvalidated)
    #expect(kids.freeze().isFrozen && kids == AnyRealmCollection(tree.kids))
    let unmanaged = AnyRealmCollection(Tree(value: ["numbers": [3, 4]]).numbers)
    #expect(unmanaged.sum() == 7 && unmanaged.realm == nil)
  }

  @Test("collections are equal as RealmSwift's are")
  func equality() throws {
    let realm = try realm()
    let (one, other) = (Tree(value: ["tags": ["a"]]), Tree(value: ["tags": ["a"]]))
    #expect(one.tags == other.tags && one.map == other.map)
    other.tags.append("b")
    #expect(one.tags != other.tags)
    other.tags.removeLast()
    try realm.write { realm.add([one, other]) }
    #expect(one.tags == one.tags && one.tags != other.tags, "two owners, two lists")
    #expect(one.map != other.map && one.map == one.map)
    let trees = realm.objects(Tree.self)
    #expect(trees == realm.objects(Tree.self) && trees != trees.filter("n > 0"))
    #expect(trees.sectioned(by: \.n) == trees.sectioned(by: \.n))
    #expect(trees.freeze() == trees.freeze() && trees.freeze() != trees)
  }

  @Test("unmanaged collections are summed up, searched and changed by name")
  func unmanaged() {
    let tree = Tree(value: ["numbers": [3, 1], "kids": [["n": 1], ["n": 4]], "map": ["a": 2]])
    #expect(tree.numbers.min() == 1 && tree.numbers.max() == 3 && tree.numbers.sum() == 4)
    let average: Double? = tree.numbers.average()
    #expect(average == 2)
    let sum: Int = tree.kids.sum(ofProperty: "n")
    #expect(sum == 5 && tree.kids.max(of: \.n) == 4)
    #expect(tree.map.sum() == 2 && tree.map.max() == 2)
    #expect(Tree().numbers.min() == nil && Tree().numbers.sum() == 0)
    tree.kids.setValue(7, forKey: "n")
    #expect(tree.kids.value(forKey: "n") as? [Int] == [7, 7])
  }

  @Test("averages come in the type that the program asks for")
  func averages() throws {
    let realm = try realm()
    try realm.write { for n in [1, 2] { realm.create(Tree.self, value: ["n": n]) } }
    let trees = realm.objects(Tree.self)
    let double: Double? = trees.average(ofProperty: "n")
    let decimal: Decimal128? = trees.average(ofProperty: "n")
    let float: Float? = trees.average(ofProperty: "n")
    #expect(double == 1.5 && decimal == 1.5 && float == 1.5)
    let none: Decimal128? = trees.filter("n > 9").average(ofProperty: "n")
    #expect(none == nil)
  }

  @Test("elements move from offsets as in views, for all sets of offsets and destinations")
  func offsets() {
    for mask in 0..<32 {
      let offsets = IndexSet((0..<5).filter { mask >> $0 & 1 == 1 })
      for destination in 0...5 {
        let tree = Tree(value: ["numbers": [0, 1, 2, 3, 4]])
        tree.numbers.move(fromOffsets: offsets, toOffset: destination)
        let rest = (0..<5).filter { !offsets.contains($0) }
        let expected =
          rest.filter { $0 < destination } + Array(offsets) + rest.filter { $0 >= destination }
        #expect(Array(tree.numbers) == expected, "\(Array(offsets)) to \(destination)")
      }
    }
  }

  @Test("ranges are assigned and removed, maps merged")
  func names() {
    let tree = Tree(value: ["numbers": [0, 1, 2, 3, 4], "map": ["a": 1]])
    tree.numbers[1..<3] = Tree(value: ["numbers": [7]]).numbers[0..<1]
    #expect(Array(tree.numbers) == [0, 7, 3, 4])
    tree.numbers.removeFirst(1)
    tree.numbers.removeLast(2)
    #expect(Array(tree.numbers) == [7])
    let other: Map<String, Int> = ["a": 5, "b": 6]
    tree.map.merge(other) { old, new in old + new }
    #expect(tree.map["a"] == 6 && tree.map["b"] == 6)
    #expect(tree.map.contains { key, value in key == "b" && value == 6 })
    #expect(tree.map.asKeyValueSequence().map(\.key) == ["a", "b"])
  }
}
