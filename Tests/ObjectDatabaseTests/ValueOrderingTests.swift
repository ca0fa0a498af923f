// ValueOrderingTests.swift: sorted, SORT, distinct, DISTINCT, sets, min and max have one order of
// all values, whatever kind of collection is asked. The story: `sorted(byKeyPath:)` and `SORT` gave
// different orders of one column, and `min` another number for a class than for a filter of it.

import Foundation
import Testing

@testable import Engine
@testable import ObjectDatabase

private class Row: Object {
  @Persisted var number = 0
  @Persisted var double = 0.0
  @Persisted var maybe: Double?
  @Persisted var float: Float = 0
  @Persisted var decimal: Decimal128
  @Persisted var mixed: AnyRealmValue
}

private class Bag: Object {
  @Persisted var mixeds: List<AnyRealmValue>
  @Persisted var doubles: List<Double>
  @Persisted var mixedSet: MutableSet<AnyRealmValue>
  @Persisted var doubleSet: MutableSet<Double>
  @Persisted var floatSet: MutableSet<Float?>
  @Persisted var decimalSet: MutableSet<Decimal128>
}

private class Word: Object {
  @Persisted var number = 0
  @Persisted var group = 0
  @Persisted var text = ""
  @Persisted var maybe: String?
}

@Suite("one order of all values")
struct ValueOrderingTests {
  private static func decimal(_ text: String) -> Decimal128 { Decimal128(text) ?? .nan }

  /// In ascending order, groups of what stands together.
  private static let uuid = UUID()
  private static var groups: [[AnyRealmValue]] {
    [
      [.none], [.bool(false)], [.bool(true)], [.double(.nan), .decimal128(.nan), .float(.nan)],
      [.double(-.infinity)], [.int(-3), .decimal128(-3)],
      [.double(-0.0), .double(0), .int(0), .decimal128(decimal("0.00"))],
      [.decimal128(decimal("0.1")), .decimal128(decimal("0.10"))], [.double(0.1)], [.float(0.1)],
      [.double(0.5), .float(0.5)], [.int(5), .double(5), .decimal128(5), .float(5)],
      [.int(9_007_199_254_740_992), .double(9_007_199_254_740_992)], [.int(9_007_199_254_740_993)],
      [.double(.infinity)], [.string("a")], [.string("b")], [.data(Data([1]))],
      [.date(Date(timeIntervalSinceReferenceDate: 1))], [.uuid(uuid)],
    ]
  }

  private static func same(_ left: AnyRealmValue, _ right: AnyRealmValue) -> Bool {
    Value.orderByValue(left._plainValue ?? .null, right._plainValue ?? .null) == 0
  }

  @Test("of texts: their bytes, equal ones in the order of the rows", arguments: [1, 3, 40, 3_000])
  func texts(count: Int) throws {
    var random = TestRandom(UInt64(count))
    let folder = try Folder()
    let realm = try folder.realm([Word.self])
    // Beginnings that are equal for eight bytes, the ends of which decide, zeros, and long ones.
    let heads = ["", "a", "beginning", "beginnin", "\u{e9}", String(repeating: "long", count: 300)]
    let tails = ["", "\0", "\0\0", "a", "b", "\u{10ffff}", "ab"]
    func drawn() -> String {
      heads[random.below(heads.count)] + tails[random.below(tails.count)]
    }
    try realm.write {
      for number in 0..<count {
        let word = Word()
        word.number = number
        word.group = random.below(3)
        word.text = drawn()
        word.maybe = random.below(4) == 0 ? nil : drawn()
        realm.add(word)
      }
    }
    let words = Array(realm.objects(Word.self))
    func precedes(_ left: String, _ right: String) -> Bool {
      left.utf8.lexicographicallyPrecedes(right.utf8)
    }
    func check(_ all: Results<Word>) {
      let rising = words.sorted { precedes($0.text, $1.text) }.map(\.number)
      #expect(all.sorted(byKeyPath: "text").map(\.number) == rising)
      #expect(all.filter("TRUEPREDICATE SORT(text ASC)").map(\.number) == rising)
      let falling = words.sorted { left, right in
        guard let left = left.maybe else { return false }
        return right.maybe.map { precedes($0, left) } ?? true
      }.map(\.number)
      #expect(all.sorted(byKeyPath: "maybe", ascending: false).map(\.number) == falling)
      let both = words.sorted {
        $0.group == $1.group ? precedes($0.text, $1.text) : $0.group > $1.group
      }.map(\.number)
      let criteria = [SortDescriptor(keyPath: "group", ascending: false), "text"]
      #expect(all.sorted(by: criteria).map(\.number) == both)
      var seen: Set<[UInt8]?> = []
      let first = words.filter { seen.insert($0.maybe.map { Array($0.utf8) }).inserted }
      #expect(all.distinct(by: ["maybe"]).map(\.number) == first.map(\.number))
      var groups: Set<Int> = []
      let firstOfGroups = words.filter { groups.insert($0.group).inserted }
      #expect(all.distinct(by: ["group"]).map(\.number) == firstOfGroups.map(\.number))
    }
    check(realm.objects(Word.self))
    // In a transaction there are no columns to read.
    try realm.write {
      check(realm.objects(Word.self))
      words[0].text = "changed"
      check(realm.objects(Word.self))
    }
    check(realm.objects(Word.self))
  }

  @Test("of mixed values, however the rows came")
  func mixed() throws {
    var random = TestRandom(5)
    for _ in 0..<12 {
      let folder = try Folder()
      let realm = try folder.realm([Row.self, Bag.self])
      let bag = Bag()
      try realm.write {
        realm.add(bag)
        for (number, value) in Self.groups.joined().shuffled(using: &random).enumerated() {
          let row = Row()
          row.number = number
          row.mixed = value
          realm.add(row)
          bag.mixeds.append(value)
        }
      }
      let all = realm.objects(Row.self)
      let expected = Self.groups.enumerated().flatMap { place, group in group.map { _ in place } }
      func places(_ values: some Sequence<AnyRealmValue>) -> [Int] {
        values.map { value in Self.groups.firstIndex { Self.same($0[0], value) } ?? -1 }
      }
      #expect(places(all.sorted(byKeyPath: "mixed").map(\.mixed)) == expected)
      #expect(places(bag.mixeds.sorted()) == expected)
      #expect(
        places(all.sorted(byKeyPath: "mixed", ascending: false).map(\.mixed)) == expected.reversed()
      )
      for direction in [true, false] {
        #expect(
          all.sorted(byKeyPath: "mixed", ascending: direction).map(\.number)
            == all.filter("TRUEPREDICATE SORT(mixed \(direction ? "ASC" : "DESC"))").map(\.number))
      }
      let distinct = all.distinct(by: ["mixed"])
      #expect(distinct.count == Self.groups.count && bag.mixeds.distinct().count == distinct.count)
      #expect(
        distinct.map(\.number) == all.filter("TRUEPREDICATE DISTINCT(mixed)").map(\.number))
    }
  }

  private static let doubles = [3, .nan, -.infinity, .infinity, -0.0, 0.0, 1, .nan, -5, 2.5]

  private static func rows(_ doubles: [Double]) throws -> (Folder, Realm) {
    let folder = try Folder()
    let realm = try folder.realm([Row.self, Bag.self])
    try realm.write {
      for (number, double) in doubles.enumerated() {
        let row = Row()
        row.number = number
        row.double = double
        row.maybe = double
        row.float = Float(double)
        row.decimal = double.isNaN ? .nan : Decimal128(double)
        row.mixed = .double(double)
        realm.add(row)
      }
      let bag = Bag()
      bag.doubles.append(objectsIn: doubles)
      realm.add(bag)
    }
    return (folder, realm)
  }

  @Test("of numbers of each type, NaN first and one")
  func numbers() throws {
    let (_, realm) = try Self.rows(Self.doubles)
    let all = realm.objects(Row.self)
    for name in ["double", "maybe", "float", "decimal", "mixed"] {
      let rising = all.sorted(byKeyPath: name).map(\.number)
      #expect(rising == [1, 7, 2, 8, 4, 5, 6, 9, 0, 3], "\(name)")
      #expect(rising == all.filter("TRUEPREDICATE SORT(\(name) ASC)").map(\.number), "\(name)")
      #expect(
        all.sorted(byKeyPath: name, ascending: false).map(\.number)
          == all.filter("TRUEPREDICATE SORT(\(name) DESC)").map(\.number), "\(name)")
      let distinct = all.distinct(by: [name]).map(\.number)
      #expect(distinct == [0, 1, 2, 3, 4, 6, 8, 9], "\(name)")
      #expect(distinct == all.filter("TRUEPREDICATE DISTINCT(\(name))").map(\.number), "\(name)")
    }
    #expect(Decimal128.nan < -Decimal128.infinity && Decimal128.nan == Decimal128.nan)
  }

  @Test("smallest and greatest of a class, a filter, a sort, in a write and of a list")
  func extremes() throws {
    let nan = Double.nan
    for doubles in [Self.doubles, [nan, 2, 3], [2, nan, 3], [nan, nan], [-0.0, 0], [0, -0.0]] {
      let (_, realm) = try Self.rows(doubles)
      let numbers = doubles.filter { !$0.isNaN }
      func check(_ rows: some RealmCollection, _ what: String) {
        for (isGreatest, expected) in [(false, numbers.min()), (true, numbers.max())] {
          func extreme<Number: MinMaxType>(_ name: String, _ type: Number.Type) -> Number? {
            isGreatest ? rows.max(ofProperty: name) : rows.min(ofProperty: name)
          }
          let found = extreme("double", Double.self)
          #expect(found == expected && !(found == 0 && found?.sign == .minus), "\(what)")
          #expect(extreme("maybe", Double.self) == expected, "\(what)")
          #expect(extreme("float", Float.self) == expected.map { Float($0) }, "\(what)")
          #expect(extreme("decimal", Decimal128.self) == expected.map { Decimal128($0) }, "\(what)")
          #expect(
            extreme("mixed", AnyRealmValue.self) == expected.map { .double($0 == 0 ? 0 : $0) },
            "\(what)")
        }
      }
      let all = realm.objects(Row.self)
      func checkAll(_ place: String) {
        check(all, "all \(place)")
        check(all.filter("TRUEPREDICATE"), "filter \(place)")
        check(all.sorted(byKeyPath: "number", ascending: false), "sorted \(place)")
        check(all.distinct(by: ["number"]), "distinct \(place)")
      }
      checkAll("outside")
      try realm.write { checkAll("in a write") }
      check(all.freeze(), "frozen")
      let bag = try #require(realm.objects(Bag.self).first)
      #expect(bag.doubles.min() == numbers.min() && bag.doubles.max() == numbers.max())
      if let least = numbers.min() {
        #expect(realm.objects(Bag.self).filter("doubles.@min == %@", least).count == 1)
      }
    }
  }

  @Test("sets have one element for a value, managed or not")
  func sets() throws {
    let folder = try Folder()
    let realm = try folder.realm([Bag.self])
    let plain = Bag()
    let managed = Bag()
    func fill(_ bag: Bag) {
      bag.doubleSet.insert(objectsIn: [0.0, -0.0, 1, .nan, -.nan, 1])
      bag.floatSet.insert(objectsIn: [-0.0, nil, 0, .nan, -.nan, 2, nil])
      bag.decimalSet.insert(
        objectsIn: ["1.00", "1.0", "-0", "0E5", "NaN", "-NaN", "7E3", "7000"].map(Self.decimal))
      for group in Self.groups { bag.mixedSet.insert(objectsIn: group) }
    }
    fill(plain)
    try realm.write {
      realm.add(managed)
      fill(managed)
      for bag in [plain, managed] {
        #expect(bag.doubleSet.count == 3 && bag.floatSet.count == 4)
        #expect(bag.decimalSet.count == 4 && bag.mixedSet.count == Self.groups.count)
        #expect(bag.doubleSet.contains(.nan) && bag.floatSet.contains(0))
        #expect(bag.decimalSet.contains(Self.decimal("0.00")) && bag.decimalSet.contains(1))
        for value in Self.groups.joined() { #expect(bag.mixedSet.contains(value), "\(value)") }
        #expect(!bag.mixedSet.contains(.int(6)) && !bag.decimalSet.contains(2))
        #expect(!bag.mixedSet.contains(.decimal128(Self.decimal("0.3"))))
      }
      #expect(managed.mixedSet.distinct().count == managed.mixedSet.count)
      for bag in [plain, managed] {
        // Each group by the form that came last.
        for group in Self.groups.reversed() {
          if let last = group.last { bag.mixedSet.remove(last) }
        }
        bag.decimalSet.remove(Self.decimal("7.000E3"))
        bag.doubleSet.remove(-0.0)
        #expect(bag.mixedSet.isEmpty && bag.decimalSet.count == 3 && bag.doubleSet.count == 2)
      }
    }
  }

  @Test("of what an older program left in several forms, a set loses all with the value")
  func olderSets() throws {
    let folder = try Folder()
    let realm = try folder.realm([Bag.self])
    let bag = Bag()
    try realm.write {
      realm.add(bag)
      let row = try #require(bag.mixedSet._row)
      let path = CollectionPath(table: "Bag", key: row.key, column: "mixedSet")
      for value in [.int(5), .double(5), .decimal128(5), .string("5")] as [Value] {
        try row.core.write?.insert(value, into: path)
      }
      #expect(bag.mixedSet.count == 4 && bag.mixedSet.contains(.float(5)))
      bag.mixedSet.remove(.int(5))
      #expect(Array(bag.mixedSet) == [.string("5")])
    }
  }
}
