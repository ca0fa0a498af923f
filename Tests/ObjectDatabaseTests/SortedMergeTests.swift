// SortedMergeTests.swift: sorted objects in a newer version, made of the order in the older one,
// are what a sort of the newer version gives, whatever changed; and what is told of them makes the
// one order the other.

import Engine
import Testing

@testable import ObjectDatabase

/// An object to sort by each kind of property.
class Sortable: Object {
  @Persisted var age: Int
  @Persisted var weight: Double
  @Persisted var rank: Int?
  @Persisted var name: String
  @Persisted var note: String
  @Persisted var owner: Person?
}

@Suite("sorted objects from version to version")
struct SortedMergeTests {
  /// Many are equal; some have no order of their own.
  private static let weights = [Double.nan, -0.0, 0, 1.5, -2, .infinity, -.infinity]

  private static func set(_ object: Sortable, _ random: inout TestRandom) {
    switch random.below(6) {
    case 0: object.age = random.below(8) - 4
    case 1: object.weight = weights[random.below(weights.count)]
    case 2: object.rank = random.below(3) == 0 ? nil : random.below(4)
    case 3: object.name = "n\(random.below(12))"
    case 4: object.note = "\(random.below(100))"
    default: object.age = random.below(1000)
    }
  }

  private static func add(_ realm: Realm, _ count: Int, _ random: inout TestRandom) {
    for _ in 0..<count {
      let object = Sortable()
      for _ in 0..<6 { set(object, &random) }
      realm.add(object)
    }
  }

  /// Changes up to so many objects.
  private static func change(_ realm: Realm, _ most: Int, _ random: inout TestRandom) {
    for _ in 0..<random.below(most) {
      let objects = realm.objects(Sortable.self)
      switch random.below(6) {
      case 0: add(realm, 1, &random)
      case 1: realm.delete(objects[random.below(objects.count)])
      default: set(objects[random.below(objects.count)], &random)
      }
    }
  }

  private static let orders: [[SortDescriptor]] = [
    [SortDescriptor(keyPath: "age")],
    [SortDescriptor(keyPath: "weight", ascending: false)],
    [SortDescriptor(keyPath: "rank"), SortDescriptor(keyPath: "age", ascending: false)],
    [SortDescriptor(keyPath: "name", ascending: false), SortDescriptor(keyPath: "weight")],
  ]

  private static func keys(_ content: Elements.Content) throws -> [Int64] {
    guard case .keys(let keys) = content else { throw Failure("objects have keys") }
    return keys
  }

  @Test("the merged order is the sorted one, and what is told leads to it", arguments: 1...4)
  func random(seed: Int) throws {
    var random = TestRandom(UInt64(seed))
    let folder = try Folder()
    let realm = try folder.realm([Sortable.self])
    try realm.write { Self.add(realm, 500, &random) }
    var movedCount = 0
    for step in 0..<40 {
      let core = realm.core
      let access = core.access(to: Sortable.self)
      let older = try core.currentSnapshot()
      let sorted = Self.orders.map { Elements(.table(access), [.sorted($0)]) }
      let before = try sorted.map { try Self.keys($0.content) }
      try realm.write { Self.change(realm, 12, &random) }
      let round = try NotificationRound(
        core, from: older, to: try core.currentSnapshot(), MixedOwners())
      for (number, elements) in sorted.enumerated() {
        let place: Comment = "seed \(seed), step \(step), order \(number)"
        let merge = try #require(try SortedMerge(before[number], elements, round), place)
        let after = try Ordering(Self.orders[number], access).sorted(access.keys)
        #expect(merge.keys == after, place)
        movedCount += check(merge, before[number], after, round, Self.orders[number], place)
      }
    }
    #expect(movedCount > 100)
  }

  /// - Returns: How many objects moved.
  private func check(
    _ merge: SortedMerge, _ before: [Int64], _ after: [Int64], _ round: NotificationRound,
    _ order: [SortDescriptor], _ place: Comment
  ) -> Int {
    var replayed = before
    for position in merge.deletions.reversed() { replayed.remove(at: position) }
    for position in merge.insertions { replayed.insert(after[position], at: position) }
    #expect(replayed == after, place)
    // No object counts as moved but those with another value; and no more than the naive
    // difference has, unless that takes objects for moved that did not change.
    let table = round.changes.tables.first { $0.name == "Sortable" }
    let changed = Set(
      (table?.modifications ?? []).filter { row in order.contains { row.changes($0.keyPath) } }
        .map(\.key) + (table?.deletions ?? []))
    let gone = merge.deletions.map { before[$0] }
    #expect(changed.isSuperset(of: gone), place)
    let naive = SequenceDifference(from: before, to: after)
    #expect(merge.deletions.count >= naive.deletions.count, place)
    if changed.isSuperset(of: naive.deletions.map({ before[$0] })) {
      #expect(merge.deletions.count == naive.deletions.count, place)
    }
    let some = Set(after.filter { $0 % 3 == 0 })
    let inserted = Set(merge.insertions)
    #expect(
      merge.positions(of: some)
        == after.indices.filter { some.contains(after[$0]) && !inserted.contains($0) }, place)
    let deleted = Set(table?.deletions ?? [])
    return gone.filter { !deleted.contains($0) }.count
  }

  @Test("what cannot be merged is sorted again")
  func refusals() throws {
    let folder = try Folder()
    let realm = try folder.realm([Sortable.self])
    var random = TestRandom(9)
    try realm.write { Self.add(realm, 100, &random) }
    let core = realm.core
    let access = core.access(to: Sortable.self)
    let byAge = [SortDescriptor(keyPath: "age")]
    func merge(
      _ steps: [Elements.Step], _ change: (WriteTransaction) throws -> Void
    ) throws -> SortedMerge? {
      let elements = Elements(.table(access), steps)
      let (older, old) = (try core.currentSnapshot(), try Self.keys(elements.content))
      let write = try core.store.database.beginWrite()
      try change(write)
      try write.commit()
      realm.refresh()
      return try SortedMerge(
        old, elements,
        NotificationRound(core, from: older, to: try core.currentSnapshot(), MixedOwners()))
    }
    func setAge(_ write: WriteTransaction, _ count: Int) throws {
      for key in access.keys.prefix(count) {
        try write.set(.int(77), in: "Sortable", key: key, column: "age")
      }
    }
    let few = try merge([.sorted(byAge)]) { try setAge($0, 3) }
    #expect(few?.keys.count == 100)
    let many = try merge([.sorted(byAge)]) { write in
      for key in access.keys.prefix(60) {
        try write.set(.int(key % 7 + 200), in: "Sortable", key: key, column: "age")
      }
    }
    #expect(many == nil)
    let linked = try merge([.sorted([SortDescriptor(keyPath: "owner.name")])]) { write in
      try setAge(write, 1)
    }
    #expect(linked == nil)
    let twice = try merge([.sorted(byAge), .sorted([SortDescriptor(keyPath: "name")])]) { write in
      try setAge(write, 1)
    }
    #expect(twice == nil)
    let remade = try merge([.sorted(byAge)]) { write in
      try write.removeColumn("age", from: "Sortable")
      try write.addColumn(ColumnSchema(name: "age", type: .int), to: "Sortable")
    }
    #expect(remade == nil)
  }

  @Test("keys in a set are found, and others are not")
  func keySet() {
    var random = TestRandom(3)
    for count in [0, 1, 2, 7, 1000] {
      var keys = (0..<count).map { _ in Int64(bitPattern: random.next() >> UInt64(random.below(60)))
      }
      if count > 2 { keys[0] = .min }
      let (set, known) = (KeySet(keys), Set(keys))
      #expect(set.isEmpty == keys.isEmpty)
      #expect(keys.allSatisfy { set.contains($0) })
      for key in Int64(0)..<2000 { #expect(set.contains(key) == known.contains(key)) }
      #expect(set.contains(.min) == known.contains(.min))
    }
  }
}
