// Read.swift: 74 snippets about read, as RealmSwift's documentation
// uses the API.

import Foundation
import ObjectDatabase

enum ReadSnippets {
  static let all: [(String, () throws -> Void)] = [
    ("all objects", snippet1),
    ("object for a primary key", snippet2),
    ("first and last", snippet3),
    ("subscript", snippet4),
    ("loop", snippet5),
    ("enumerated", snippet6),
    ("map", snippet7),
    ("map by a key path", snippet8),
    ("array", snippet9),
    ("filter with a format", snippet10),
    ("filter with arguments", snippet11),
    ("filter with a key", snippet12),
    ("filter with BEGINSWITH", snippet13),
    ("filter with IN", snippet14),
    ("filter with BETWEEN", snippet15),
    ("filter with ANY", snippet16),
    ("filter with a count", snippet17),
    ("filter with a subquery", snippet18),
    ("filter with nil", snippet19),
    ("where with a comparison", snippet20),
    ("where with and, or, not", snippet21),
    ("where with a range", snippet22),
    ("where with in", snippet23),
    ("where with text", snippet24),
    ("where with options", snippet25),
    ("where with ends and like", snippet26),
    ("where with equals", snippet27),
    ("where through a link", snippet28),
    ("where on a list", snippet29),
    ("where on the count", snippet30),
    ("where on aggregates", snippet31),
    ("where on a subquery", snippet32),
    ("where on a set", snippet33),
    ("where containsAny", snippet34),
    ("where on a map", snippet35),
    ("where on keys and values of a map", snippet36),
    ("where on an enum", snippet37),
    ("where on an optional", snippet38),
    ("where with a bool", snippet39),
    ("where on backlinks", snippet40),
    ("where on an object", snippet41),
    ("where on an unmanaged object", snippet42),
    ("where on AnyRealmValue", snippet43),
    ("where compares two properties", snippet44),
    ("where on dates", snippet45),
    ("sort", snippet46),
    ("sort by a key path", snippet47),
    ("sort by a key path, descending", snippet48),
    ("sort behind a link", snippet49),
    ("sort behind a link with text", snippet50),
    ("sort by descriptors", snippet51),
    ("sort by descriptors of key paths", snippet52),
    ("sort by literals", snippet53),
    ("reversed descriptor", snippet54),
    ("distinct", snippet55),
    ("distinct by key paths", snippet56),
    ("aggregates by name", snippet57),
    ("aggregates by key path", snippet58),
    ("average in another type", snippet59),
    ("index of an object", snippet60),
    ("index by a condition", snippet61),
    ("index by a text", snippet62),
    ("objects at indexes", snippet63),
    ("value for key", snippet64),
    ("value for key path", snippet65),
    ("set value for key", snippet66),
    ("results are live", snippet67),
    ("chained queries", snippet68),
    ("limit with prefix", snippet69),
    ("contains", snippet70),
    ("results compared", snippet71),
    ("results described", snippet72),
    ("generic over realm fetchable", snippet73),
    ("invalidated and frozen", snippet74),
  ]

  /// All objects.
  static func snippet1() throws {
    let realm = try filledRealm()
    let dogs = realm.objects(Dog.self)
    check(dogs.count == 4)
  }

  /// Object for a primary key.
  static func snippet2() throws {
    let realm = try filledRealm()
    let id = realm.objects(Person.self).first!._id
    let person = realm.object(ofType: Person.self, forPrimaryKey: id)
    check(person?.name == "Ada")
  }

  /// First and last.
  static func snippet3() throws {
    let realm = try filledRealm()
    let dogs = realm.objects(Dog.self)
    _ = dogs.first
    _ = dogs.last
  }

  /// Subscript.
  static func snippet4() throws {
    let realm = try filledRealm()
    check(realm.objects(Dog.self)[0].name == "Rex")
  }

  /// Loop.
  static func snippet5() throws {
    let realm = try filledRealm()
    for dog in realm.objects(Dog.self) { _ = dog.name }
  }

  /// Enumerated.
  static func snippet6() throws {
    let realm = try filledRealm()
    for (index, dog) in realm.objects(Dog.self).enumerated() { _ = (index, dog.name) }
  }

  /// Map.
  static func snippet7() throws {
    let realm = try filledRealm()
    let names: [String] = realm.objects(Dog.self).map { $0.name }
    check(names.count == 4)
  }

  /// Map by a key path.
  static func snippet8() throws {
    let realm = try filledRealm()
    check(Array(realm.objects(Dog.self).map(\.name)).count == 4)
  }

  /// Array.
  static func snippet9() throws {
    let realm = try filledRealm()
    let dogs = Array(realm.objects(Dog.self))
    check(dogs.count == 4)
  }

  /// Filter with a format.
  static func snippet10() throws {
    let realm = try filledRealm()
    check(realm.objects(Dog.self).filter("age > 3").count == 2)
  }

  /// Filter with arguments.
  static func snippet11() throws {
    let realm = try filledRealm()
    check(realm.objects(Dog.self).filter("name == %@ AND age > %d", "Rex", 0).count == 1)
  }

  /// Filter with a key.
  static func snippet12() throws {
    let realm = try filledRealm()
    check(realm.objects(Dog.self).filter("%K == %@", "name", "Rex").count == 1)
  }

  /// Filter with BEGINSWITH.
  static func snippet13() throws {
    let realm = try filledRealm()
    check(realm.objects(Dog.self).filter("name BEGINSWITH[c] 'r'").count == 1)
  }

  /// Filter with IN.
  static func snippet14() throws {
    let realm = try filledRealm()
    check(realm.objects(Dog.self).filter("name IN %@", ["Rex", "Fido"]).count == 2)
  }

  /// Filter with BETWEEN.
  static func snippet15() throws {
    let realm = try filledRealm()
    check(realm.objects(Dog.self).filter("age BETWEEN {2, 4}").count == 2)
  }

  /// Filter with ANY.
  static func snippet16() throws {
    let realm = try filledRealm()
    check(realm.objects(Person.self).filter("ANY dogs.name == 'Rex'").count == 1)
  }

  /// Filter with a count.
  static func snippet17() throws {
    let realm = try filledRealm()
    check(realm.objects(Person.self).filter("dogs.@count > 1").count == 1)
  }

  /// Filter with a subquery.
  static func snippet18() throws {
    let realm = try filledRealm()
    check(
      realm.objects(Person.self).filter("SUBQUERY(dogs, $dog, $dog.age > 1).@count > 0").count == 1)
  }

  /// Filter with nil.
  static func snippet19() throws {
    let realm = try filledRealm()
    check(realm.objects(Dog.self).filter("color == nil").count == 4)
  }

  /// Where with a comparison.
  static func snippet20() throws {
    let realm = try filledRealm()
    check(realm.objects(Dog.self).where { $0.age > 3 }.count == 2)
  }

  /// Where with and, or, not.
  static func snippet21() throws {
    let realm = try filledRealm()
    check(
      realm.objects(Dog.self).where { ($0.age > 3 || $0.name == "Rex") && !($0.age == 5) }.count
        == 2)
  }

  /// Where with a range.
  static func snippet22() throws {
    let realm = try filledRealm()
    check(realm.objects(Dog.self).where { $0.age.contains(2...4) }.count == 2)
  }

  /// Where with in.
  static func snippet23() throws {
    let realm = try filledRealm()
    check(realm.objects(Dog.self).where { $0.name.in(["Rex", "Fido"]) }.count == 2)
  }

  /// Where with text.
  static func snippet24() throws {
    let realm = try filledRealm()
    check(realm.objects(Dog.self).where { $0.name.starts(with: "R") }.count == 1)
  }

  /// Where with options.
  static func snippet25() throws {
    let realm = try filledRealm()
    check(
      realm.objects(Dog.self).where { $0.name.contains("REX", options: .caseInsensitive) }.count
        == 1)
  }

  /// Where with ends and like.
  static func snippet26() throws {
    let realm = try filledRealm()
    check(
      realm.objects(Dog.self).where { $0.name.ends(with: "x") || $0.name.like("F*") }.count == 3)
  }

  /// Where with equals.
  static func snippet27() throws {
    let realm = try filledRealm()
    check(
      realm.objects(Dog.self).where { $0.name.equals("rex", options: [.caseInsensitive]) }.count
        == 1)
  }

  /// Where through a link.
  static func snippet28() throws {
    let realm = try filledRealm()
    check(realm.objects(Person.self).where { $0.address.city == "London" }.count == 1)
  }

  /// Where on a list.
  static func snippet29() throws {
    let realm = try filledRealm()
    check(realm.objects(Person.self).where { $0.dogs.name == "Rex" }.count == 1)
  }

  /// Where on the count.
  static func snippet30() throws {
    let realm = try filledRealm()
    check(realm.objects(Person.self).where { $0.dogs.count > 1 }.count == 1)
  }

  /// Where on aggregates.
  static func snippet31() throws {
    let realm = try filledRealm()
    check(
      realm.objects(Person.self).where {
        $0.dogs.age.avg > 1 && $0.dogs.age.max < 100 && $0.dogs.age.sum > 0
      }.count == 1)
  }

  /// Where on a subquery.
  static func snippet32() throws {
    let realm = try filledRealm()
    check(realm.objects(Person.self).where { ($0.dogs.age > 1).count > 0 }.count == 1)
  }

  /// Where on a set.
  static func snippet33() throws {
    let realm = try filledRealm()
    check(realm.objects(Person.self).where { $0.favorites.contains("tea") }.count == 1)
  }

  /// Where containsAny.
  static func snippet34() throws {
    let realm = try filledRealm()
    check(
      realm.objects(Person.self).where { $0.favorites.containsAny(in: ["tea", "milk"]) }.count == 1)
  }

  /// Where on a map.
  static func snippet35() throws {
    let realm = try filledRealm()
    check(realm.objects(Person.self).where { $0.notes["a"] == "b" }.count == 1)
  }

  /// Where on keys and values of a map.
  static func snippet36() throws {
    let realm = try filledRealm()
    check(
      realm.objects(Person.self).where { $0.notes.keys == "a" && $0.notes.values == "b" }.count == 1
    )
  }

  /// Where on an enum.
  static func snippet37() throws {
    let realm = try filledRealm()
    check(realm.objects(DogTask.self).where { $0.status == .complete }.count == 1)
  }

  /// Where on an optional.
  static func snippet38() throws {
    let realm = try filledRealm()
    check(realm.objects(Dog.self).where { $0.color == nil }.count == 4)
  }

  /// Where with a bool.
  static func snippet39() throws {
    let realm = try filledRealm()
    _ = realm.objects(DogTask.self).where { $0.isComplete }
    _ = realm.objects(DogTask.self).where { !$0.isComplete }
    _ = realm.objects(DogTask.self).where { $0.isComplete == true }
  }

  /// Where on backlinks.
  static func snippet40() throws {
    let realm = try filledRealm()
    check(realm.objects(Dog.self).where { $0.owners.name == "Ada" }.count == 2)
  }

  /// Where on an object.
  static func snippet41() throws {
    let realm = try filledRealm()
    let project = try realm.write { realm.create(Project.self) }
    check(realm.objects(DogTask.self).where { $0.project == project }.count == 0)
  }

  /// Where on an unmanaged object.
  static func snippet42() throws {
    let realm = try filledRealm()
    check(realm.objects(Node.self).where { $0.next == Node() }.count == 0)
  }

  /// Where on AnyRealmValue.
  static func snippet43() throws {
    let realm = try filledRealm()
    check(realm.objects(Dog.self).where { $0.companion == .string("cat") }.count == 1)
  }

  /// Where compares two properties.
  static func snippet44() throws {
    let realm = try filledRealm()
    _ = realm.objects(Kinds.self).where { $0.int == $0.int }.count
  }

  /// Where on dates.
  static func snippet45() throws {
    let realm = try filledRealm()
    check(realm.objects(DogTask.self).where { $0.due < Date() }.count == 2)
  }

  /// Sort.
  static func snippet46() throws {
    let realm = try filledRealm()
    check(realm.objects(Dog.self).sorted(byKeyPath: "age", ascending: false).first?.age == 5)
  }

  /// Sort by a key path.
  static func snippet47() throws {
    let realm = try filledRealm()
    check(realm.objects(Dog.self).sorted(by: \.age).first?.age == 1)
  }

  /// Sort by a key path, descending.
  static func snippet48() throws {
    let realm = try filledRealm()
    check(realm.objects(Dog.self).sorted(by: \.name, ascending: false).first?.name == "Rex")
  }

  /// Sort behind a link.
  static func snippet49() throws {
    let realm = try filledRealm()
    check(realm.objects(Person.self).sorted(by: \.address?.city).last?.name == "Ada")
  }

  /// Sort behind a link with text.
  static func snippet50() throws {
    let realm = try filledRealm()
    check(realm.objects(Person.self).sorted(byKeyPath: "address.city").last?.name == "Ada")
  }

  /// Sort by descriptors.
  static func snippet51() throws {
    let realm = try filledRealm()
    let sorted = realm.objects(Dog.self).sorted(by: [
      SortDescriptor(keyPath: "name"), SortDescriptor(keyPath: "age", ascending: false),
    ])
    check(sorted.count == 4)
  }

  /// Sort by descriptors of key paths.
  static func snippet52() throws {
    let realm = try filledRealm()
    _ = realm.objects(Dog.self).sorted(by: [
      SortDescriptor(keyPath: \Dog.name), SortDescriptor(keyPath: \Dog.age, ascending: false),
    ])
  }

  /// Sort by literals.
  static func snippet53() throws {
    let realm = try filledRealm()
    check(realm.objects(Dog.self).sorted(by: ["age", "name"]).first?.age == 1)
  }

  /// Reversed descriptor.
  static func snippet54() throws {
    check(SortDescriptor(keyPath: "age").reversed().ascending == false)
  }

  /// Distinct.
  static func snippet55() throws {
    let realm = try filledRealm()
    check(realm.objects(Dog.self).distinct(by: ["name"]).count == 4)
  }

  /// Distinct by key paths.
  static func snippet56() throws {
    let realm = try filledRealm()
    check(realm.objects(Dog.self).distinct(by: [\Dog.name]).count == 4)
  }

  /// Aggregates by name.
  static func snippet57() throws {
    let realm = try filledRealm()
    let dogs = realm.objects(Dog.self)
    let average: Double? = dogs.average(ofProperty: "age")
    let sum: Int = dogs.sum(ofProperty: "age")
    let least: Int? = dogs.min(ofProperty: "age")
    let most: Int? = dogs.max(ofProperty: "age")
    check(average == 3.25 && sum == 13 && least == 1 && most == 5)
  }

  /// Aggregates by key path.
  static func snippet58() throws {
    let realm = try filledRealm()
    let dogs = realm.objects(Dog.self)
    check(
      dogs.sum(of: \.age) == 13 && dogs.min(of: \.age) == 1 && dogs.max(of: \.age) == 5
        && dogs.average(of: \.age) == 3.25)
  }

  /// Average in another type.
  static func snippet59() throws {
    let realm = try filledRealm()
    let average: Decimal128? = realm.objects(Dog.self).average(ofProperty: "age")
    check(average == 3.25)
  }

  /// Index of an object.
  static func snippet60() throws {
    let realm = try filledRealm()
    let dogs = realm.objects(Dog.self)
    check(dogs.index(of: dogs[1]) == 1)
  }

  /// Index by a condition.
  static func snippet61() throws {
    let realm = try filledRealm()
    check(realm.objects(Dog.self).index(matching: { $0.name == "Fido" }) != nil)
  }

  /// Index by a text.
  static func snippet62() throws {
    let realm = try filledRealm()
    check(realm.objects(Dog.self).index(matching: "name == %@", "Fido") != nil)
  }

  /// Objects at indexes.
  static func snippet63() throws {
    let realm = try filledRealm()
    check(realm.objects(Dog.self).objects(at: IndexSet([0, 2])).count == 2)
  }

  /// Value for key.
  static func snippet64() throws {
    let realm = try filledRealm()
    let names = realm.objects(Dog.self).value(forKey: "name") as! [String]
    check(names.count == 4)
  }

  /// Value for key path.
  static func snippet65() throws {
    let realm = try filledRealm()
    _ = realm.objects(Person.self).value(forKeyPath: "address.city")
  }

  /// Set value for key.
  static func snippet66() throws {
    let realm = try filledRealm()
    try realm.write { realm.objects(Dog.self).setValue(7, forKey: "age") }
    check(realm.objects(Dog.self).allSatisfy { $0.age == 7 })
  }

  /// Results are live.
  static func snippet67() throws {
    let realm = try filledRealm()
    let dogs = realm.objects(Dog.self)
    try realm.write { realm.add(Dog()) }
    check(dogs.count == 5)
  }

  /// Chained queries.
  static func snippet68() throws {
    let realm = try filledRealm()
    check(
      realm.objects(Dog.self).filter("age > 1").filter("age < 5").sorted(byKeyPath: "name").count
        == 2)
  }

  /// Limit with prefix.
  static func snippet69() throws {
    let realm = try filledRealm()
    for dog in realm.objects(Dog.self).prefix(2) { _ = dog }
  }

  /// Contains.
  static func snippet70() throws {
    let realm = try filledRealm()
    check(realm.objects(Dog.self).contains { $0.name == "Rex" })
  }

  /// Results compared.
  static func snippet71() throws {
    let realm = try filledRealm()
    let dogs = realm.objects(Dog.self)
    check(dogs == dogs)
  }

  /// Results described.
  static func snippet72() throws {
    let realm = try filledRealm()
    check(realm.objects(Dog.self).description.hasPrefix("Results<Dog>"))
  }

  /// Generic over realm fetchable.
  static func snippet73() throws {
    func all<T: RealmFetchable>(_ type: T.Type, in realm: Realm) -> Results<T> {
      realm.objects(type)
    }
    try check(all(Dog.self, in: filledRealm()).count == 4)
  }

  /// Invalidated and frozen.
  static func snippet74() throws {
    let realm = try filledRealm()
    let dogs = realm.objects(Dog.self)
    check(!dogs.isInvalidated && !dogs.isFrozen && dogs.realm != nil)
  }
}
