// ValueAccessTests.swift: what AnyRealmValue's accessors give for each case, intersections of sets,
// and units of distances.

import Foundation
import ObjectDatabase
import Testing

private class Bag: Object {
  @Persisted var any: AnyRealmValue
  @Persisted var numbers: MutableSet<Int>
  @Persisted var dogs: MutableSet<Dog>
}

@Suite("values: accessors, sets and distances")
struct ValueAccessTests {
  private static let id = ObjectId.generate()
  private static let uuid = UUID()
  private static let date = Date(timeIntervalSince1970: 1.5)

  /// One value of each case that an accessor gives, by the accessor's name.
  private static func values() throws -> [(name: String, value: AnyRealmValue)] {
    [
      ("int", .int(-7)), ("bool", .bool(true)), ("float", .float(1.25)), ("double", .double(2.5)),
      ("string", .string("ä")), ("data", .data(Data([0, 255]))), ("date", .date(date)),
      ("objectId", .objectId(id)), ("decimal128", .decimal128(try Decimal128(string: "1.50"))),
      ("uuid", .uuid(uuid)),
    ]
  }

  /// Names of the accessors that give something.
  private static func answering(_ value: AnyRealmValue) -> [String] {
    let answers: [(String, Bool)] = [
      ("int", value.intValue != nil), ("bool", value.boolValue != nil),
      ("float", value.floatValue != nil), ("double", value.doubleValue != nil),
      ("string", value.stringValue != nil), ("data", value.dataValue != nil),
      ("date", value.dateValue != nil), ("objectId", value.objectIdValue != nil),
      ("decimal128", value.decimal128Value != nil), ("uuid", value.uuidValue != nil),
      ("object", value.object(Dog.self) != nil),
    ]
    return answers.filter(\.1).map(\.0)
  }

  @Test("each accessor answers for its own case and for no other, stored or not")
  func accessors() throws {
    let folder = try Folder()
    let realm = try folder.realm([Bag.self, Dog.self, Person.self])
    for (name, value) in try Self.values() {
      #expect(Self.answering(value) == [name])
      let bag = Bag()
      bag.any = value
      try realm.write { realm.add(bag) }
      #expect(bag.any == value, "\(name)")
      #expect(Self.answering(bag.any) == [name])
    }
    #expect(Self.answering(.none) == [])
  }

  @Test("accessors give the value itself")
  func contents() throws {
    #expect(AnyRealmValue.int(.min).intValue == .min)
    #expect(AnyRealmValue.bool(false).boolValue == false)
    #expect(AnyRealmValue.float(1.25).floatValue == 1.25)
    #expect(AnyRealmValue.double(-0.5).doubleValue == -0.5)
    #expect(AnyRealmValue.string("").stringValue == "")
    #expect(AnyRealmValue.data(Data([1, 2])).dataValue == Data([1, 2]))
    #expect(AnyRealmValue.date(Self.date).dateValue == Self.date)
    #expect(AnyRealmValue.objectId(Self.id).objectIdValue == Self.id)
    let decimal = try Decimal128(string: "-12.345")
    #expect(AnyRealmValue.decimal128(decimal).decimal128Value == decimal)
    #expect(AnyRealmValue.uuid(Self.uuid).uuidValue == Self.uuid)
    // Numbers are not converted into each other.
    #expect(AnyRealmValue.int(1).doubleValue == nil && AnyRealmValue.int(1).boolValue == nil)
  }

  @Test("object(_:) gives an object of its own class only")
  func objects() throws {
    let folder = try Folder()
    let realm = try folder.realm([Bag.self, Dog.self, Person.self])
    let bag = Bag()
    bag.any = .object(Dog(name: "Fido"))
    try realm.write { realm.add(bag) }
    #expect(bag.any.object(Dog.self)?.name == "Fido")
    #expect(bag.any.object(Person.self) == nil)
    #expect(Self.answering(bag.any) == ["object"])
  }

  @Test("formIntersection keeps what both sets have", arguments: [false, true])
  func intersection(isManaged: Bool) throws {
    let folder = try Folder()
    let realm = try folder.realm([Bag.self, Dog.self, Person.self])
    let (bag, other) = (Bag(), Bag())
    bag.numbers.insert(objectsIn: [1, 2, 3, 4])
    other.numbers.insert(objectsIn: [3, 4, 5])
    if isManaged {
      try realm.write {
        realm.add(bag)
        realm.add(other)
      }
      realm.beginWrite()
    }
    bag.numbers.formIntersection(other.numbers)
    #expect(Array(bag.numbers).sorted() == [3, 4])
    #expect(Array(other.numbers).sorted() == [3, 4, 5])
    bag.numbers.formIntersection(bag.numbers)
    #expect(Array(bag.numbers).sorted() == [3, 4])
    bag.numbers.formIntersection(MutableSet<Int>())
    #expect(bag.numbers.isEmpty)
    bag.numbers.formIntersection(other.numbers)
    #expect(bag.numbers.isEmpty)
    if isManaged { try realm.commitWrite() }
    #expect(bag.numbers.isEmpty && other.numbers.count == 3)
  }

  @Test("formIntersection of objects goes by identity, not by content")
  func intersectionOfObjects() throws {
    let folder = try Folder()
    let realm = try folder.realm([Bag.self, Dog.self, Person.self])
    let (bag, other, shared) = (Bag(), Bag(), Dog(name: "Rex"))
    try realm.write {
      realm.add(bag)
      realm.add(other)
      bag.dogs.insert(objectsIn: [shared, Dog(name: "Twin"), Dog(name: "Rex")])
      other.dogs.insert(objectsIn: [shared, Dog(name: "Twin")])
      bag.dogs.formIntersection(other.dogs)
    }
    #expect(bag.dogs.count == 1 && bag.dogs.contains(shared))
    // Objects that left the set are still in the realm.
    #expect(realm.objects(Dog.self).count == 4)
  }

  @Test("a distance is the same in every unit")
  func distances() throws {
    func isNear(_ left: Double, _ right: Double) -> Bool {
      abs(left - right) <= 1e-9 * max(abs(left), abs(right), 1)
    }
    let mile = try #require(Distance.miles(1))
    #expect(isNear(mile.asKilometers(), 1.609344) && isNear(mile.asMiles(), 1))
    let kilometers = try #require(Distance.kilometers(6378.1))
    #expect(isNear(kilometers.radians, 1))
    #expect(isNear(kilometers.asDegrees(), 57.29577951308232))
    #expect(isNear(kilometers.asMiles(), 3963.1676012089397))
    let half = try #require(Distance.degrees(180))
    #expect(isNear(half.radians, .pi) && isNear(half.asDegrees(), 180))
    #expect(isNear(half.asMiles(), half.asKilometers() / 1.609344))
    let angle = try #require(Distance.radians(0.25))
    #expect(isNear(angle.asDegrees(), 45 / .pi))
    #expect(isNear(angle.asMiles(), 3963.1676012089397 / 4))
    #expect(try #require(Distance.kilometers(0)).asMiles() == 0)
    #expect(Distance.miles(-1) == nil && Distance.degrees(-0.1) == nil)
    #expect(Distance.radians(.infinity) == nil && Distance.kilometers(.nan) == nil)
  }
}
