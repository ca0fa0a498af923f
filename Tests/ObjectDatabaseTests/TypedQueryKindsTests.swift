// TypedQueryKindsTests.swift: the conditions of typed queries on every kind of property: optional
// ones, collections, maps, enumerations and types stored as others. Each finds what a loop over the
// objects finds. It must not use `@testable`.

import FoundationEssentials
import ObjectDatabase
import Testing

enum KitSize: Int, PersistableEnum {
  case small = 1
  case medium, large
}
enum KitColor: String, PersistableEnum { case red, green, grey }

struct KitMass: CustomPersistable, Comparable {
  typealias PersistedType = Double
  var grams: Double
  init(_ grams: Double) { self.grams = grams }
  init(persistedValue: Double) { grams = persistedValue }
  var persistableValue: Double { grams }
  static func < (left: KitMass, right: KitMass) -> Bool { left.grams < right.grams }
}

struct KitCode: CustomPersistable {
  typealias PersistedType = String
  var text: String
  init(_ text: String) { self.text = text }
  init(persistedValue: String) { text = persistedValue }
  var persistableValue: String { text }
}

class Kit: Object {
  @Persisted(primaryKey: true) var id = 0
  @Persisted var number: Int?
  @Persisted var name: String?
  @Persisted var bytes = Data()
  @Persisted var moreBytes: Data?
  @Persisted var size = KitSize.small
  @Persisted var color: KitColor?
  @Persisted var mass = KitMass(0)
  @Persisted var code = KitCode("")
  @Persisted var numbers: List<Int?>
  @Persisted var sizes: List<KitSize>
  @Persisted var colors: MutableSet<KitColor?>
  @Persisted var masses: List<KitMass>
  @Persisted var sizeOf: Map<String, KitSize>
  @Persisted var colorOf: Map<String, KitColor?>
  @Persisted var massOf: Map<String, KitMass>
  @Persisted var countOf: Map<String, Int?>
  @Persisted var any: AnyRealmValue
  @Persisted var part: Kit?
  @Persisted var parts: List<Kit>
}

@Suite("typed queries on every kind of property")
struct TypedQueryKindsTests {
  private static func kits(_ name: String = #function) throws -> Results<Kit> {
    let realm = try Realm(
      configuration: .init(inMemoryIdentifier: "kits \(name)", objectTypes: [Kit.self]))
    try realm.write {
      for id in 0..<6 {
        let kit = realm.create(Kit.self, value: ["id": id])
        kit.number = id % 3 == 0 ? nil : id
        kit.name = id % 2 == 0 ? "kit-\(id)" : nil
        kit.bytes = Data([UInt8(id), 7])
        kit.moreBytes = id < 3 ? nil : Data([7])
        kit.size = KitSize.allCases[id % 3]
        kit.color = id < 2 ? nil : [.red, .green, .grey][id % 3]
        kit.mass = KitMass(Double(id) * 1.5)
        kit.code = KitCode("c\(id)")
        kit.numbers.append(objectsIn: (0..<id).map { $0 == 1 ? nil : $0 })
        kit.sizes.append(objectsIn: KitSize.allCases.prefix(id % 4))
        for color in [KitColor.red, nil, .grey].prefix(id % 4) { kit.colors.insert(color) }
        kit.masses.append(objectsIn: (0..<id % 3).map { KitMass(Double($0) + 0.5) })
        if id > 1 { kit.sizeOf["k"] = kit.size }
        if id > 1 { kit.colorOf["k"] = .some(kit.color) }
        if id > 2 { kit.massOf["k"] = kit.mass }
        if id > 0 { kit.countOf["k"] = .some(kit.number) }
        kit.any = id % 2 == 0 ? .int(id) : .string("any-\(id)")
        kit.part = realm.object(ofType: Kit.self, forPrimaryKey: id - 1)
        kit.parts.append(objectsIn: realm.objects(Kit.self).filter("id < %d", id))
      }
    }
    return realm.objects(Kit.self)
  }

  private let kits: Results<Kit>

  init() throws { kits = try Self.kits(UUID().uuidString) }

  private func expect(
    _ query: (Query<Kit>) -> Query<Bool>, _ loop: (Kit) -> Bool,
    at location: SourceLocation = #_sourceLocation
  ) {
    let expected = kits.filter { loop($0) }.map(\.id)
    #expect(kits.where(query).map(\.id) == expected, sourceLocation: location)
    let saysSomething = !expected.isEmpty && expected.count < kits.count
    #expect(saysSomething, sourceLocation: location)
  }

  @Test("optional properties")
  func optionals() {
    expect({ $0.number.contains(2...4) }, { (2...4).contains($0.number ?? -1) })
    expect({ $0.number.contains(2..<4) }, { (2..<4).contains($0.number ?? -1) })
    expect({ $0.number > 2 }, { ($0.number ?? -1) > 2 })
    expect({ $0.number.in([nil, 4]) }, { $0.number == nil || $0.number == 4 })
    expect({ $0.name.ends(with: "-2") }, { $0.name == "kit-2" })
    expect({ $0.name.like($0.name) && $0.name != nil }, { $0.name != nil })
    expect({ $0.color == .green }, { $0.color == .green })
    expect({ $0.color == nil }, { $0.color == nil })
    expect({ $0.color.rawValue.starts(with: "gr") }, { $0.color?.rawValue.hasPrefix("gr") == true })
    expect({ $0.color.persistableValue == "red" }, { $0.color == .red })
    expect({ $0.part.number > 2 }, { ($0.part?.number ?? -1) > 2 })
    expect({ $0.part.color == .grey }, { $0.part?.color == .grey })
  }

  @Test("bytes, and types that are stored as texts and numbers")
  func stored() {
    expect({ $0.bytes.starts(with: Data([3])) }, { $0.bytes.first == 3 })
    expect({ $0.bytes.contains(Data([2, 7])) }, { $0.bytes == Data([2, 7]) })
    expect({ $0.bytes.ends(with: $0.moreBytes) }, { $0.moreBytes != nil })
    expect({ $0.moreBytes.equals(Data([7])) }, { $0.moreBytes == Data([7]) })
    expect({ $0.moreBytes.notEquals(nil) }, { $0.moreBytes != nil })
    expect({ $0.code == KitCode("c2") }, { $0.code.text == "c2" })
    expect({ $0.code.starts(with: KitCode("c3")) }, { $0.code.text == "c3" })
    expect({ $0.code.like(KitCode("?4")) }, { $0.code.text == "c4" })
    expect({ $0.code.persistableValue.contains("5") }, { $0.code.text == "c5" })
    expect({ $0.mass > KitMass(3) }, { $0.mass > KitMass(3) })
    expect({ $0.mass.contains(KitMass(1)...KitMass(4)) }, { (1...4).contains($0.mass.grams) })
    expect({ $0.mass.persistableValue < 3 }, { $0.mass.grams < 3 })
    expect({ $0.size >= .medium }, { $0.size >= .medium })
    expect({ $0.size.rawValue == 2 }, { $0.size == .medium })
    expect({ $0.size.in([.small, .large]) }, { $0.size != .medium })
  }

  @Test("elements of lists and sets")
  func elements() {
    expect({ $0.numbers == 2 }, { $0.numbers.contains(2) })
    expect({ $0.numbers != 0 }, { $0.numbers.contains { $0 != 0 } })
    expect({ $0.numbers >= 3 }, { $0.numbers.contains { ($0 ?? -1) >= 3 } })
    expect({ $0.numbers < 1 }, { $0.numbers.contains { $0.map { $0 < 1 } ?? false } })
    expect({ $0.numbers.contains(nil) }, { $0.numbers.contains(nil) })
    expect({ $0.numbers.contains(0...2) }, { (1...3).contains($0.numbers.count) })
    expect({ $0.numbers.contains(0..<2) }, { (1...2).contains($0.numbers.count) })
    expect({ $0.numbers.max == 3 }, { $0.numbers.compactMap(\.self).max() == 3 })
    expect({ $0.numbers.sum > 4 }, { $0.numbers.compactMap(\.self).reduce(0, +) > 4 })
    expect({ $0.sizes == .medium }, { $0.sizes.contains(.medium) })
    expect({ $0.sizes > .medium }, { $0.sizes.contains { $0 > .medium } })
    expect({ $0.sizes.rawValue == 3 }, { $0.sizes.contains(.large) })
    expect({ $0.sizes.rawValue.max > 2 }, { $0.sizes.contains(.large) })
    expect({ $0.sizes.persistableValue.sum == 3 }, { $0.sizes.count == 2 })
    expect({ $0.sizes.containsAny(in: [.large]) }, { $0.sizes.contains(.large) })
    expect({ $0.sizes.min == .small }, { $0.sizes.contains(.small) })
    expect({ $0.colors == .grey }, { $0.colors.contains(.grey) })
    expect({ $0.colors == nil }, { $0.colors.contains(nil) })
    expect({ $0.colors.rawValue == "grey" }, { $0.colors.contains(.grey) })
    expect({ $0.masses.max > KitMass(1) }, { $0.masses.contains { $0.grams > 1 } })
    expect({ $0.masses.contains(KitMass(0)...KitMass(1)) }, { $0.masses.count == 1 })
    expect({ $0.masses.persistableValue < 1 }, { !$0.masses.isEmpty })
  }

  @Test("values of maps")
  func values() {
    expect({ $0.sizeOf["k"] == .large }, { $0.sizeOf["k"] == .large })
    expect({ $0.sizeOf.values >= .medium }, { $0.sizeOf.values.contains { $0 >= .medium } })
    expect({ $0.sizeOf.rawValue["k"] == 1 }, { $0.sizeOf["k"] == .small })
    expect({ $0.sizeOf.max > .small }, { $0.sizeOf.values.contains { $0 > .small } })
    expect({ $0.colorOf.values == .red }, { $0.colorOf.values.contains(.red) })
    expect(
      { $0.colorOf.rawValue.values.starts(with: "gre") },
      { kit in
        kit.colorOf.values.contains { $0?.rawValue.hasPrefix("gre") == true }
      })
    expect(
      { $0.massOf.contains(KitMass(5)...KitMass(8)) },
      { $0.massOf["k"].map { $0.grams >= 5 } ?? false })
    expect({ $0.massOf.persistableValue.avg > 5 }, { $0.massOf["k"].map { $0.grams > 5 } ?? false })
    expect({ $0.countOf.contains(1...4) }, { ($0.countOf["k"] ?? nil).map { $0 <= 4 } ?? false })
    expect({ $0.countOf.contains(1..<4) }, { ($0.countOf["k"] ?? nil).map { $0 < 4 } ?? false })
    expect({ $0.countOf.sum > 2 }, { (($0.countOf["k"] ?? nil) ?? 0) > 2 })
    expect({ $0.countOf.keys == "k" }, { $0.countOf["k"] != nil })
    expect({ $0.countOf.contains(nil) }, { $0.countOf["k"] == .some(nil) })
  }

  @Test("properties of the objects in a collection")
  func objects() {
    expect({ $0.parts.size.min == .small && $0.parts.size.max == .medium }, { $0.parts.count == 2 })
    expect({ $0.parts.mass.sum > KitMass(4) }, { $0.parts.reduce(0) { $0 + $1.mass.grams } > 4 })
    expect({ $0.parts.color == .green }, { $0.parts.contains { $0.color == .green } })
    expect(
      { ($0.parts.number > 1).count == 2 },
      { $0.parts.filter { ($0.number ?? 0) > 1 }.count == 2 })
    expect({ $0.any.contains("ny-3") }, { $0.any.stringValue == "any-3" })
    expect({ $0.any >= .int(2) }, { ($0.any.intValue ?? 0) >= 2 })
  }

  /// Generic code over the kinds of properties, as programs for RealmSwift have it.
  private func found<Value: _Persistable>(
    _ property: (Query<Kit>) -> Query<Value>, above value: Value
  ) -> Int where Value.PersistedType: _QueryNumeric {
    kits.where { property($0) > value }.count
  }

  private func found<Value: _Persistable>(
    _ property: (Query<Kit>) -> Query<Value>, beginning value: Value
  ) -> Int where Value.PersistedType: _QueryString {
    kits.where { property($0).starts(with: value) || property($0).like(value) }.count
  }

  @Test("generic functions over what properties are stored as")
  func generic() {
    #expect(found(\.mass, above: KitMass(3)) == 3)
    #expect(found(\.size, above: .small) == 4)
    #expect(found(\.number, above: 2) == 2)
    #expect(found(\.code, beginning: KitCode("c1")) == 1)
    #expect(found(\.color, beginning: .green) == 1)
  }
}
