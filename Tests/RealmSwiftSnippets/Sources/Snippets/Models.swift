// Models.swift: the classes that the snippets use, as a program for RealmSwift declares them.

import Foundation
import ObjectDatabase

class Person: Object, ObjectKeyIdentifiable {
  @Persisted(primaryKey: true) var _id: ObjectId
  @Persisted var name: String = ""
  @Persisted var age: Int = 0
  @Persisted var email: String?
  @Persisted var birthday: Date?
  @Persisted var address: Address?
  @Persisted var addresses: List<Address>
  @Persisted var dogs: List<Dog>
  @Persisted var favorites: MutableSet<String>
  @Persisted var clubs: List<Club>
  @Persisted var pets: Map<String, Dog?>
  @Persisted var notes: Map<String, String>

  convenience init(name: String, age: Int = 0) {
    self.init()
    self.name = name
    self.age = age
  }
}

class Dog: Object {
  @Persisted var name = ""
  @Persisted var age = 0
  @Persisted var color: String?
  @Persisted var currentCity: String?
  @Persisted var citiesVisited: MutableSet<String>
  @Persisted var companion: AnyRealmValue
  @Persisted var favoriteParksByCity: Map<String, String>
  @Persisted(originProperty: "dogs") var owners: LinkingObjects<Person>

  convenience init(name: String, age: Int) {
    self.init()
    self.name = name
    self.age = age
  }
}

class Club: Object {
  @Persisted var name = ""
  @Persisted var members: MutableSet<Person>
  @Persisted(originProperty: "clubs") var people: LinkingObjects<Person>
}

class Address: EmbeddedObject {
  @Persisted var street: String?
  @Persisted var city: String?
  @Persisted var country: String?
  @Persisted var postalCode: String?
}

enum TaskStatus: String, PersistableEnum {
  case notStarted
  case inProgress
  case complete
}

enum Priority: Int, PersistableEnum {
  case low = 1
  case medium
  case high
}

class DogTask: Object {
  @Persisted(primaryKey: true) var id = UUID().uuidString
  @Persisted(indexed: true) var name = ""
  @Persisted var owner: String?
  @Persisted var isComplete = false
  @Persisted var status: TaskStatus = .notStarted
  @Persisted var optionalStatus: TaskStatus?
  @Persisted var priority = Priority.low
  @Persisted var progressMinutes = 0
  @Persisted var labels: List<String>
  @Persisted var project: Project?
  @Persisted var due: Date = Date(timeIntervalSince1970: 0)

  convenience init(name: String, minutes: Int = 0) {
    self.init()
    self.name = name
    progressMinutes = minutes
  }
}

class Project: Object {
  @Persisted var name = ""
  @Persisted var tasks: List<DogTask>
  @Persisted(originProperty: "project") var linked: LinkingObjects<DogTask>
}

class Kinds: Object {
  @Persisted var bool: Bool
  @Persisted var int: Int
  @Persisted var int8: Int8
  @Persisted var int16: Int16
  @Persisted var int32: Int32
  @Persisted var int64: Int64
  @Persisted var float: Float
  @Persisted var double: Double
  @Persisted var string: String
  @Persisted var data: Data
  @Persisted var date: Date
  @Persisted var decimal: Decimal128
  @Persisted var uuid: UUID
  @Persisted var objectId: ObjectId
  @Persisted var any: AnyRealmValue
  @Persisted var optBool: Bool?
  @Persisted var optInt: Int?
  @Persisted var optDouble: Double?
  @Persisted var optString: String?
  @Persisted var optDate: Date?
  @Persisted var optDecimal: Decimal128?
  @Persisted var optUuid: UUID?
  @Persisted var ints: List<Int>
  @Persisted var optInts: List<Int?>
  @Persisted var doubles: List<Double>
  @Persisted var strings: List<String>
  @Persisted var intSet: MutableSet<Int>
  @Persisted var stringSet: MutableSet<String>
  @Persisted var intMap: Map<String, Int>
  @Persisted var anyList: List<AnyRealmValue>
}

struct Coordinate: CustomPersistable, Equatable {
  typealias PersistedType = PointObject
  var latitude = 0.0
  var longitude = 0.0
  init(latitude: Double, longitude: Double) {
    self.latitude = latitude
    self.longitude = longitude
  }
  init(persistedValue: PointObject) {
    self.init(latitude: persistedValue.latitude, longitude: persistedValue.longitude)
  }
  var persistableValue: PointObject {
    PointObject(value: [latitude, longitude])
  }
}

extension Coordinate: Hashable {}

class PointObject: EmbeddedObject {
  @Persisted var latitude: Double
  @Persisted var longitude: Double
}

extension URL: FailableCustomPersistable {
  public typealias PersistedType = String
  public init?(persistedValue: String) { self.init(string: persistedValue) }
  public var persistableValue: String { absoluteString }
}

class Trip: Object {
  @Persisted var start: Coordinate
  @Persisted var stops: List<Coordinate>
  @Persisted var named: Map<String, Coordinate>
  @Persisted var end: Coordinate?
  @Persisted var link: URL?
}

public class CustomGeoPoint: EmbeddedObject {
  @Persisted private var type: String = "Point"
  @Persisted private var coordinates: List<Double>
  public var latitude: Double { coordinates[1] }
  public var longitude: Double { coordinates[0] }
  convenience init(_ latitude: Double, _ longitude: Double) {
    self.init()
    coordinates.append(objectsIn: [longitude, latitude])
  }
}

class Company: Object {
  @Persisted var name = ""
  @Persisted var location: CustomGeoPoint?
}

class Recipe: Object, Codable {
  @Persisted(primaryKey: true) var id: ObjectId
  @Persisted var title: String
  @Persisted var servings: Int?
  @Persisted var price: Decimal128
  @Persisted var steps: List<String>
  @Persisted var tags: MutableSet<String>
  @Persisted var amounts: Map<String, Double>
}

class PersonProjection: Projection<Person> {
  @Projected(\Person.name) var firstName
  @Projected(\Person.address?.city) var homeCity
  @Projected(\Person.name.capitalized) var nameCaps
  @Projected(\Person.dogs.projectTo.name) var dogNames: ProjectedCollection<String>
}

class Node: Object {
  @Persisted var value = 0
  @Persisted var next: Node?
  @Persisted var kids: List<Node>
}
