// BatchTests.swift: objects added one after the other are added as one by one, whatever is read
// in between; what is read from columns is what the objects say.

import Testing

@testable import ObjectDatabase

class Plain: Object {
  @Persisted var number = 7
  @Persisted var real: Double
  @Persisted var text: String
  @Persisted var flag: Bool
  @Persisted var small: Int8
  @Persisted var maybe: Int?
  @Persisted var maybeReal: Double?
}

class Keyed: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var text: String

  convenience init(_ id: Int, _ text: String = "") {
    self.init()
    self.id = id
    self.text = text
  }
}

private struct Draw: RandomNumberGenerator {
  var state: UInt64
  mutating func next() -> UInt64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return state ^ state >> 29
  }
  mutating func below(_ end: Int) -> Int { Int.random(in: 0..<end, using: &self) }
}

@Suite("batches and columns")
struct BatchTests {
  private static func plain(_ random: inout Draw) -> Plain {
    let made = Plain()
    if random.below(5) > 0 { made.number = random.below(9) * (random.below(30) == 0 ? 1 << 50 : 1) }
    made.real = [0, -0.0, 1.5, -3, .nan, .infinity, -.infinity, 1e-300][random.below(8)]
    made.text = "text \(random.below(4))"
    made.flag = random.below(2) == 0
    made.small = Int8(random.below(200) - 100)
    made.maybe = random.below(3) == 0 ? nil : random.below(5) - 2
    made.maybeReal = random.below(3) == 0 ? nil : Double(random.below(5)) / 2
    return made
  }

  private static func text(_ object: Plain) -> String {
    "\(object.number) \(object.real) \(object.text) \(object.flag) \(object.small) "
      + "\(String(describing: object.maybe)) \(String(describing: object.maybeReal))"
  }

  // MARK: adding

  @Test("objects are what was added, and managed at once", arguments: [1, 2, 3] as [UInt64])
  func adding(seed: UInt64) throws {
    let folder = try Folder()
    let realm = try folder.realm([Plain.self, Keyed.self, Dog.self, Person.self])
    var random = Draw(state: seed)
    var expected: [String] = []
    var nextID = 0
    for _ in 0..<12 {
      try realm.write {
        for _ in 0..<random.below(60) {
          let made = Self.plain(&random)
          expected.append(Self.text(made))
          realm.add(made)
          switch random.below(12) {
          case 0: #expect(Self.text(made) == expected[expected.count - 1])
          case 1: #expect(realm.objects(Plain.self).count == expected.count)
          case 2:
            nextID += 1
            realm.add(Keyed(nextID))
          case 3: realm.add(Dog(name: "between"))
          case 4:
            made.text = "changed"
            expected[expected.count - 1] = Self.text(made)
          case 5: #expect(!made.isInvalidated && made.realm == realm)
          default: break
          }
        }
      }
      #expect(realm.objects(Plain.self).map(Self.text) == expected)
      #expect(realm.objects(Keyed.self).map(\.id) == Array(1..<nextID + 1))
    }
    try realm.write { realm.delete(realm.objects(Plain.self).filter("flag == true")) }
    let kept = realm.objects(Plain.self).map(Self.text)
    try realm.write { for _ in 0..<5 { realm.add(Plain()) } }
    #expect(realm.objects(Plain.self).map(Self.text).prefix(kept.count) == kept[...])
    #expect(realm.objects(Plain.self).last?.number == 7, "the default of the class")
  }

  @Test("results made before follow objects that wait")
  func live() throws {
    let folder = try Folder()
    let realm = try folder.realm([Plain.self])
    try realm.write {
      let all = realm.objects(Plain.self)
      let sevens = all.filter("number == 7")
      for count in 1...5 {
        realm.add(Plain())
        #expect(all.count == count && sevens.count == count && Array(sevens).count == count)
      }
      for _ in 1...5 { realm.add(Plain()) }
      #expect(Array(all).count == 10 && sevens.count == 10)
      for _ in 1...5 { realm.add(Plain()) }
      realm.cancelWrite()
    }
    #expect(realm.isEmpty)
    #expect(realm.objects(Plain.self).filter("number == 7").count == 0)
  }

  @Test("a primary key that comes twice fails the transaction, in the words of one object")
  func duplicates() throws {
    let folder = try Folder()
    let realm = try folder.realm([Keyed.self])
    for ids in [[1, 2, 3, 2], [5, 4, 3, 2, 2], [1, 1]] {
      let error = #expect(throws: Realm.Error.self) {
        try realm.write { for id in ids { realm.add(Keyed(id)) } }
      }
      #expect("\(error.map { "\($0)" } ?? "")".contains("the primary key id = "))
      #expect(realm.isEmpty)
    }
    try realm.write { for id in 1...9 { realm.add(Keyed(id, "old")) } }
    try realm.write { for id in 5...12 { realm.add(Keyed(id, "new"), update: .modified) } }
    let texts = realm.objects(Keyed.self).sorted(byKeyPath: "id").map(\.text)
    #expect(texts == Array(repeating: "old", count: 4) + Array(repeating: "new", count: 8))
    #expect(realm.object(ofType: Keyed.self, forPrimaryKey: 12)?.text == "new")
    #expect(throws: Realm.Error.self) {
      try realm.write { for id in 13...20 { realm.add(Keyed(id == 19 ? 2 : id)) } }
    }
    #expect(realm.objects(Keyed.self).count == 12)
  }

  @Test("a text that is too long fails the transaction, and the others wait no longer")
  func tooLong() throws {
    let folder = try Folder()
    let realm = try folder.realm([Keyed.self])
    #expect(throws: Realm.Error.self) {
      try realm.write {
        for id in 1...4 { realm.add(Keyed(id)) }
        realm.add(Keyed(5, String(repeating: "x", count: 1 << 24 + 1)))
        #expect(realm.objects(Keyed.self).count == 4)
      }
    }
    #expect(realm.isEmpty)
  }

  // MARK: columns

  private struct Names {
    static let sortable = ["number", "real", "small", "maybe", "maybeReal", "text"]
  }

  @Test("sorted by columns as by values", arguments: [1, 2, 3, 4] as [UInt64])
  func sorting(seed: UInt64) throws {
    let folder = try Folder()
    let realm = try folder.realm([Plain.self])
    var random = Draw(state: seed &* 77)
    try realm.write { for _ in 0..<400 { realm.add(Self.plain(&random)) } }
    for _ in 0..<12 {
      let descriptors = (0...random.below(3)).map { _ in
        SortDescriptor(
          keyPath: Names.sortable[random.below(Names.sortable.count)],
          ascending: random.below(2) == 0)
      }
      let sorted = realm.objects(Plain.self).sorted(by: descriptors)
      let byColumns = sorted.map(Self.text)
      // Within a write transaction there are no columns, and values are compared.
      realm.beginWrite()
      #expect(sorted.map(Self.text) == byColumns, "\(descriptors)")
      realm.cancelWrite()
    }
  }

  @Test("sums and counts of columns are those of the objects")
  func sums() throws {
    let folder = try Folder()
    let realm = try folder.realm([Plain.self])
    var random = Draw(state: 5)
    try realm.write {
      for _ in 0..<500 {
        let made = Self.plain(&random)
        made.real = Double(random.below(1_000)) / 4
        realm.add(made)
      }
    }
    let all = realm.objects(Plain.self)
    for objects in [all, all.filter("flag == true"), all.sorted(byKeyPath: "real")] {
      #expect(objects.sum(ofProperty: "number") as Int == objects.reduce(0) { $0 + $1.number })
      #expect(objects.sum(ofProperty: "real") as Double == objects.reduce(0) { $0 + $1.real })
      #expect(objects.sum(ofProperty: "maybe") as Int == objects.reduce(0) { $0 + ($1.maybe ?? 0) })
      let present = objects.compactMap(\.maybeReal)
      #expect(
        objects.average(ofProperty: "maybeReal")
          == present.reduce(0, +) / Double(present.count))
      #expect(objects.count == Array(objects).count)
    }
    let found = all.filter("small < 0")
    #expect(found.count == all.reduce(0) { $0 + ($1.small < 0 ? 1 : 0) })
    #expect(found.freeze().count == found.count && Array(found).count == found.count)
    #expect(all.filter("FALSEPREDICATE").average(ofProperty: "number") == nil)
  }

  @Test("an average of integers whose sum has more than 64 bits")
  func largeSum() throws {
    let folder = try Folder()
    let realm = try folder.realm([Plain.self])
    try realm.write {
      for _ in 0..<3 {
        let made = Plain()
        made.number = .max
        realm.add(made)
      }
    }
    let average: Double? = realm.objects(Plain.self).average(ofProperty: "number")
    #expect(average == Double(Int.max))
  }

  @Test("equal numbers keep their order, whatever their digits")
  func radix() {
    var random = Draw(state: 3)
    for bits in [0, 1, 11, 12, 30, 63] as [UInt64] {
      let words = (0..<700).map { _ in random.next() & (1 << bits - 1) << (random.next() % 2) }
      var order = Array(0..<UInt32(words.count))
      RadixSort.sort(&order, by: words)
      let expected = words.indices.sorted { (words[$0], $0) < (words[$1], $1) }
      #expect(order.map { Int($0) } == expected)
    }
    var none: [UInt32] = []
    RadixSort.sort(&none, by: [])
    #expect(none.isEmpty)
  }

  @Test("one property of all objects at once, of every kind")
  func bulkChange() throws {
    let folder = try Folder()
    let realm = try folder.realm([Plain.self])
    try realm.write { for _ in 0..<20 { realm.add(Plain()) } }
    let all = realm.objects(Plain.self)
    try realm.write {
      all.setValue(3, forKey: "number")
      all.setValue("all", forKey: "text")
      all.setValue(nil, forKey: "maybe")
    }
    #expect(all.allSatisfy { $0.number == 3 && $0.text == "all" && $0.maybe == nil })
    #expect(throws: Realm.Error.self) {
      try realm.write { all.setValue("no number", forKey: "number") }
    }
    #expect(all.allSatisfy { $0.number == 3 })
  }
}
