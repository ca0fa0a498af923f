// Properties.swift: 46 snippets about properties, as RealmSwift's documentation
// uses the API.

import Foundation
import ObjectDatabase

enum PropertiesSnippets {
  static let all: [(String, () throws -> Void)] = [
    ("default values", snippet1),
    ("init with a dictionary", snippet2),
    ("init with an array", snippet3),
    ("nested dictionaries", snippet4),
    ("nested objects", snippet5),
    ("embedded object as a dictionary", snippet6),
    ("init from another object", snippet7),
    ("unknown keys", snippet8),
    ("NSNull", snippet9),
    ("JSON", snippet10),
    ("enum property", snippet11),
    ("enum by raw value", snippet12),
    ("comparable enum", snippet13),
    ("custom persistable", snippet14),
    ("failable persistable", snippet15),
    ("class name", snippet16),
    ("object schema", snippet17),
    ("properties of the schema", snippet18),
    ("primary key property", snippet19),
    ("identifiable", snippet20),
    ("ObjectId from text", snippet21),
    ("ObjectId literal", snippet22),
    ("ObjectId generated", snippet23),
    ("ObjectId of zero", snippet24),
    ("ObjectId compared", snippet25),
    ("ObjectId of parts", snippet26),
    ("Decimal128 from text", snippet27),
    ("Decimal128 literals", snippet28),
    ("Decimal128 arithmetic", snippet29),
    ("Decimal128 from a number", snippet30),
    ("Decimal128 to a double", snippet31),
    ("Decimal128 empty", snippet32),
    ("Decimal128 ranges", snippet33),
    ("Decimal128 is NaN", snippet34),
    ("Decimal128 magnitude", snippet35),
    ("all kinds", snippet36),
    ("numbers for a decimal", snippet37),
    ("subscript by name", snippet38),
    ("set value for key", snippet39),
    ("list by name", snippet40),
    ("primary key by a function", snippet41),
    ("unmanaged object", snippet42),
    ("description", snippet43),
    ("description of a cycle", snippet44),
    ("equality of objects", snippet45),
    ("objects in a set", snippet46),
  ]

  /// Default values.
  static func snippet1() throws {
    let dog = Dog()
    check(dog.name == "" && dog.age == 0 && dog.color == nil)
  }

  /// Init with a dictionary.
  static func snippet2() throws {
    let dog = Dog(value: ["name": "Max", "age": 5])
    check(dog.name == "Max" && dog.age == 5)
  }

  /// Init with an array.
  static func snippet3() throws {
    let point = PointObject(value: [1.5, 2.5])
    check(point.latitude == 1.5 && point.longitude == 2.5)
  }

  /// Nested dictionaries.
  static func snippet4() throws {
    let person = Person(
      value: ["name": "Jane", "dogs": [["name": "Max", "age": 5], ["name": "Sarah", "age": 4]]]
        as [String: Any])
    check(person.dogs.count == 2 && person.dogs[1].name == "Sarah")
  }

  /// Nested objects.
  static func snippet5() throws {
    let aDog = Dog(value: ["name": "Buster", "age": 5])
    let anotherDog = Dog(value: ["name": "Buddy", "age": 6])
    let person = Person(value: ["name": "Jane", "dogs": [aDog, anotherDog]] as [String: Any])
    check(person.dogs.first == aDog)
  }

  /// Embedded object as a dictionary.
  static func snippet6() throws {
    let person = Person(value: ["name": "Jane", "address": ["city": "London"]] as [String: Any])
    check(person.address?.city == "London")
  }

  /// Init from another object.
  static func snippet7() throws {
    let dog = Dog(name: "Rex", age: 3)
    let copy = Dog(value: dog)
    check(copy.name == "Rex" && copy.age == 3 && copy.realm == nil)
  }

  /// Unknown keys.
  static func snippet8() throws {
    let dog = Dog(value: ["name": "Rex", "server_only": true] as [String: Any])
    check(dog.name == "Rex")
  }

  /// NSNull.
  static func snippet9() throws {
    let dog = Dog(value: ["color": NSNull()])
    check(dog.color == nil)
  }

  /// JSON.
  static func snippet10() throws {
    let data = "{\"name\": \"San Francisco\", \"age\": 123, \"extra\": null}".data(using: .utf8)!
    let json = try JSONSerialization.jsonObject(with: data, options: [])
    let dog = Dog(value: json)
    check(dog.age == 123)
  }

  /// Enum property.
  static func snippet11() throws {
    let task = DogTask()
    task.status = .inProgress
    task.optionalStatus = nil
    check(task.status == .inProgress)
  }

  /// Enum by raw value.
  static func snippet12() throws {
    let task = DogTask(value: ["status": "complete"])
    check(task.status == .complete)
  }

  /// Comparable enum.
  static func snippet13() throws {
    check(Priority.low < Priority.high)
  }

  /// Custom persistable.
  static func snippet14() throws {
    let trip = Trip()
    trip.start = Coordinate(latitude: 1, longitude: 2)
    trip.stops.append(Coordinate(latitude: 3, longitude: 4))
    trip.named["a"] = Coordinate(latitude: 5, longitude: 6)
    check(trip.stops[0].latitude == 3)
  }

  /// Failable persistable.
  static func snippet15() throws {
    let trip = Trip()
    trip.link = URL(string: "https://example.com")
    check(trip.link != nil)
  }

  /// Class name.
  static func snippet16() throws {
    check(Dog.className() == "Dog")
  }

  /// Object schema.
  static func snippet17() throws {
    let schema = Dog().objectSchema
    check(schema.className == "Dog" && schema["name"]?.type == .string)
  }

  /// Properties of the schema.
  static func snippet18() throws {
    for property in Kinds().objectSchema.properties {
      _ = (
        property.name, property.type, property.isArray, property.isSet, property.isMap,
        property.isOptional
      )
    }
  }

  /// Primary key property.
  static func snippet19() throws {
    check(Person().objectSchema.primaryKeyProperty?.name == "_id")
  }

  /// Identifiable.
  static func snippet20() throws {
    let person = Person()
    _ = (person as any ObjectKeyIdentifiable).self
    _ = person.id
  }

  /// ObjectId from text.
  static func snippet21() throws {
    let id = try ObjectId(string: "507f1f77bcf86cd799439011")
    check(id.stringValue == "507f1f77bcf86cd799439011")
  }

  /// ObjectId literal.
  static func snippet22() throws {
    let id = ObjectId("507f1f77bcf86cd799439011")
    check(id.timestamp.timeIntervalSince1970 > 0)
  }

  /// ObjectId generated.
  static func snippet23() throws {
    check(ObjectId.generate() != ObjectId.generate())
  }

  /// ObjectId of zero.
  static func snippet24() throws {
    check(ObjectId().stringValue == "000000000000000000000000")
  }

  /// ObjectId compared.
  static func snippet25() throws {
    let a = ObjectId("507f1f77bcf86cd799439011")
    let b = ObjectId("507f1f77bcf86cd799439012")
    check(a < b && a != b)
  }

  /// ObjectId of parts.
  static func snippet26() throws {
    let id = ObjectId(timestamp: Date(timeIntervalSince1970: 100), machineId: 1, processId: 2)
    check(id.timestamp == Date(timeIntervalSince1970: 100))
  }

  /// Decimal128 from text.
  static func snippet27() throws {
    let number = try Decimal128(string: "1.23456789")
    check(number.stringValue == "1.23456789")
  }

  /// Decimal128 literals.
  static func snippet28() throws {
    let price: Decimal128 = 1.5
    let whole: Decimal128 = 3
    let text: Decimal128 = "2.25"
    check(price < text && text < whole)
  }

  /// Decimal128 arithmetic.
  static func snippet29() throws {
    let price: Decimal128 = 10
    let sum = price + 2.5
    let product = price * 2
    let quotient = price / 4
    let difference = price - 1
    check(sum == 12.5 && product == 20 && quotient == 2.5 && difference == 9)
  }

  /// Decimal128 from a number.
  static func snippet30() throws {
    check(Decimal128(number: 5) == 5 && Decimal128(number: 5.5) == 5.5)
  }

  /// Decimal128 to a double.
  static func snippet31() throws {
    check(Decimal128(number: 2.5).doubleValue == 2.5)
  }

  /// Decimal128 empty.
  static func snippet32() throws {
    check(Decimal128() == 0)
  }

  /// Decimal128 ranges.
  static func snippet33() throws {
    check(Decimal128.minimum < Decimal128.maximum)
  }

  /// Decimal128 is NaN.
  static func snippet34() throws {
    try check(Decimal128(string: "nan").isNaN)
  }

  /// Decimal128 magnitude.
  static func snippet35() throws {
    let number: Decimal128 = -5
    check(number.magnitude == 5)
  }

  /// All kinds.
  static func snippet36() throws {
    let kinds = Kinds()
    kinds.int8 = 1
    kinds.int16 = 2
    kinds.int32 = 3
    kinds.int64 = 4
    kinds.decimal = 1.5
    kinds.uuid = UUID()
    kinds.data = Data([1, 2])
    kinds.date = Date()
    check(kinds.int64 == 4)
  }

  /// Numbers for a decimal.
  static func snippet37() throws {
    let kinds = Kinds(value: ["decimal": 5.5, "int": 3.0] as [String: Any])
    check(kinds.decimal == 5.5 && kinds.int == 3)
  }

  /// Subscript by name.
  static func snippet38() throws {
    let dog = Dog()
    dog["name"] = "Rex"
    check(dog["name"] as? String == "Rex")
  }

  /// Set value for key.
  static func snippet39() throws {
    let dog = Dog()
    dog.setValue(3, forKey: "age")
    check(dog.value(forKey: "age") as? Int == 3)
  }

  /// List by name.
  static func snippet40() throws {
    let person = Person(name: "Ada")
    person.dogs.append(Dog())
    check((person["dogs"] as? List<Dog>)?.count == 1)
  }

  /// Primary key by a function.
  static func snippet41() throws {
    class Old: Object {
      @Persisted var id = 0
      @Persisted var name = ""
      override static func primaryKey() -> String? { "id" }
      override static func indexedProperties() -> [String] { ["name"] }
    }
    let schema = Old().objectSchema
    check(schema.primaryKeyProperty?.name == "id" && schema["name"]?.isIndexed == true)
  }

  /// Unmanaged object.
  static func snippet42() throws {
    let dog = Dog()
    check(dog.realm == nil && !dog.isInvalidated && !dog.isFrozen)
  }

  /// Description.
  static func snippet43() throws {
    let dog = Dog(name: "Rex", age: 3)
    check(dog.description.contains("name = Rex;"))
  }

  /// Description of a cycle.
  static func snippet44() throws {
    let node = Node()
    node.kids.append(node)
    check(!node.description.isEmpty)
  }

  /// Equality of objects.
  static func snippet45() throws {
    let dog = Dog()
    check(dog == dog && dog != Dog())
    check(dog.isSameObject(as: dog))
  }

  /// Objects in a set.
  static func snippet46() throws {
    let dog = Dog()
    check(Set([dog, dog]).count == 1)
  }
}
