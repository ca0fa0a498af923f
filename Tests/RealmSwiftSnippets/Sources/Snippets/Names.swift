// Names.swift: 22 snippets about errors, schemas, opening elsewhere, and names that a program meets
// rarely, as RealmSwift's documentation uses the API.

import Foundation
import ObjectDatabase

class Parcel: Object {
  @Persisted(primaryKey: true) var id = 0
  @Persisted var any: AnyRealmValue
  @Persisted var all = 0
  @Persisted var weights: List<Int>
  @Persisted var labels: MutableSet<String>
  @Persisted var price: Decimal128
  @Persisted var owner: UUID?
  @Persisted var stops: Map<String, ParcelStop?>
  @Persisted var inner: Parcel?
}

class ParcelStop: EmbeddedObject {
  @Persisted var name = ""
  @Persisted var hours: List<Int>
}

final class ParcelView: Projection<Parcel>, ObjectKeyIdentifiable {
  @Projected(\Parcel.price) var price
}

enum NamesSnippets {
  static let all: [(String, () throws -> Void)] = [
    ("open elsewhere", snippet1),
    ("open elsewhere, and fail", snippet2),
    ("an error's number", snippet3),
    ("an error as NSError", snippet4),
    ("errors by their code", snippet5),
    ("a schema without an object", snippet6),
    ("a schema printed", snippet7),
    ("types of properties", snippet8),
    ("a decimal number of anything", snippet9),
    ("all elements of a list", snippet10),
    ("all elements of a set", snippet11),
    ("equality of objects", snippet12),
    ("identity of a projection", snippet13),
    ("a property called any", snippet14),
    ("embedded objects in a map", snippet15),
    ("collections assigned from another object", snippet16),
    ("an object as a value of create", snippet17),
    ("operations of sequences", snippet18),
    ("grouping", snippet19),
    ("a frozen map", snippet20),
    ("a link that leads back", snippet21),
    ("a dynamic list of values", snippet22),
  ]

  private static func filled() throws -> Realm {
    let realm = try freshRealm()
    try realm.write {
      for id in 1...3 {
        let parcel = realm.create(Parcel.self, value: ["id": id, "any": id, "all": id % 2])
        parcel.weights.append(objectsIn: [id, 2])
        parcel.labels.insert(objectsIn: ["a", "b"])
      }
    }
    return realm
  }

  private static func file(_ body: (Realm.Configuration) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try body(Realm.Configuration(fileURL: folder.appendingPathComponent("parcels.realm")))
  }

  /// Open elsewhere.
  static func snippet1() throws {
    try file { configuration in
      let realm = try Realm(configuration: configuration)
      try realm.write { realm.create(Parcel.self) }
      var count: Int?
      Realm.asyncOpen(configuration: configuration) { result in
        switch result {
        case .success(let realm): count = realm.objects(Parcel.self).count
        case .failure: count = -1
        }
      }
      while count == nil { RunLoop.main.run(until: Date().addingTimeInterval(0.01)) }
      check(count == 1)
    }
  }

  /// Open elsewhere, and fail.
  static func snippet2() throws {
    var code: Realm.Error.Code?
    let missing = Realm.Configuration(fileURL: URL(fileURLWithPath: "/missing/a.realm"))
    Realm.asyncOpen(configuration: missing, callbackQueue: .main) { result in
      if case .failure(let error as Realm.Error) = result { code = error.code }
    }
    while code == nil { RunLoop.main.run(until: Date().addingTimeInterval(0.01)) }
    check(code == .fileNotFound)
  }

  /// An error's number.
  static func snippet3() throws {
    check(Realm.Error.Code.fail.rawValue == 1 && Realm.Error.Code.schemaMismatch.rawValue == 10)
    check(Realm.Error.Code(rawValue: 3) == .filePermissionDenied)
  }

  /// An error as NSError.
  static func snippet4() throws {
    do {
      _ = try Realm(fileURL: URL(fileURLWithPath: "/missing/a.realm"))
      check(false)
    } catch {
      let error = error as NSError
      check(error.code == Realm.Error.Code.fileNotFound.rawValue && error.domain == "io.realm")
    }
  }

  /// Errors by their code.
  static func snippet5() throws {
    do {
      _ = try Realm(fileURL: URL(fileURLWithPath: "/missing/a.realm"))
      check(false)
    } catch let error as Realm.Error where error.code == .fileNotFound {
      check(error.fileURL?.lastPathComponent == "a.realm")
    }
  }

  /// A schema without an object.
  static func snippet6() throws {
    check(Parcel.sharedSchema()?.primaryKeyProperty?.name == "id")
  }

  /// A schema printed.
  static func snippet7() throws {
    let text = ParcelStop().objectSchema.description
    check(text.hasPrefix("ParcelStop {\n\tname {\n\t\ttype = string;\n\t\tcolumnName = name;\n"))
    check(text.contains("\t\tarray = YES;\n"))
  }

  /// Types of properties.
  static func snippet8() throws {
    let schema = Parcel().objectSchema
    check(schema["owner"]?.type == .UUID && schema["owner"]?.isOptional == true)
    check(schema["stops"]?.isMap == true && schema["any"]?.type == .any)
    check(PropertyType.linkingObjects.description == "linking objects")
  }

  /// A decimal number of anything.
  static func snippet9() throws {
    check(Decimal128(value: "1.5") == 1.5 && Decimal128(value: 2) == Decimal128(number: 2))
  }

  /// All elements of a list.
  static func snippet10() throws {
    let realm = try filled()
    let weights = realm.objects(Parcel.self)[0].weights
    try realm.write { weights.setValue(9, forKey: "self") }
    check(Array(weights) == [9, 9])
  }

  /// All elements of a set.
  static func snippet11() throws {
    let realm = try filled()
    let labels = realm.objects(Parcel.self)[0].labels
    try realm.write { labels.setValue("c", forKey: "self") }
    check(Array(labels) == ["c"])
  }

  /// Equality of objects.
  static func snippet12() throws {
    let parcels = try filled().objects(Parcel.self)
    check(parcels[0].isEqual(parcels[0]) && !parcels[0].isEqual(parcels[1]))
    check(parcels[0].hash == parcels[0].hash && !parcels[0].isEqual(nil))
  }

  /// Identity of a projection.
  static func snippet13() throws {
    let views = try filled().objects(ParcelView.self)
    check(Set(views.map(\.id)).count == 3 && views[0].id == views[0].id)
  }

  /// A property called any.
  static func snippet14() throws {
    let parcels = try filled().objects(Parcel.self)
    check(parcels.filter("any == 2").count == 1)
    check(parcels.filter("any IN %@ AND all == 1", [1, 2, 3]).count == 2)
    check(parcels.where { $0.any == .int(2) && $0.all == 0 }.count == 1)
  }

  /// Embedded objects in a map.
  static func snippet15() throws {
    let realm = try filled()
    let parcel = realm.objects(Parcel.self)[0]
    try realm.write {
      parcel.stops["x"] = ParcelStop(value: ["name": "X", "hours": [1, 2]])
      parcel.stops["x"]??.hours.append(3)
    }
    check(parcel.stops["x"]??.hours.count == 3)
    try realm.write { parcel.stops["x"] = nil }
    check(parcel.stops.count == 0)
  }

  /// Collections assigned from another object.
  static func snippet16() throws {
    let realm = try filled()
    let parcels = realm.objects(Parcel.self)
    try realm.write {
      parcels[0].weights = parcels[1].weights
      parcels[0].weights = parcels[0].weights
    }
    check(Array(parcels[0].weights) == [2, 2])
    let unmanaged = Parcel()
    unmanaged.weights = parcels[2].weights
    check(Array(unmanaged.weights) == [3, 2])
  }

  /// An object as a value of create.
  static func snippet17() throws {
    let realm = try filled()
    let parcel = realm.objects(Parcel.self)[0]
    try realm.write { realm.create(Parcel.self, value: parcel, update: .modified) }
    check(realm.objects(Parcel.self).count == 3)
  }

  /// Operations of sequences.
  static func snippet18() throws {
    let parcels = try filled().objects(Parcel.self)
    check(parcels.lazy.map(\.id).first == 1 && parcels.suffix(1).first?.id == 3)
    check(parcels.reduce(0) { $0 + $1.id } == 6 && parcels.allSatisfy { $0.id > 0 })
    check(parcels.min { $0.id < $1.id }?.id == 1 && Array(parcels[0..<2]).count == 2)
  }

  /// Grouping.
  static func snippet19() throws {
    let groups = Dictionary(grouping: try filled().objects(Parcel.self)) { $0.all }
    check(groups[1]?.count == 2 && groups[0]?.count == 1)
  }

  /// A frozen map.
  static func snippet20() throws {
    let realm = try filled()
    let stops = realm.objects(Parcel.self)[0].stops
    let frozen = stops.freeze()
    try realm.write { stops["y"] = ParcelStop() }
    check(frozen.isFrozen && frozen.count == 0 && frozen.thaw()?.count == 1)
  }

  /// A link that leads back.
  static func snippet21() throws {
    let realm = try filled()
    let parcel = realm.objects(Parcel.self)[0]
    try realm.write {
      let outer = Parcel(value: ["id": 9])
      outer.inner = parcel
      parcel.inner = outer
    }
    check(parcel.inner?.inner == parcel && parcel.inner?.realm == realm)
  }

  /// A dynamic list of values.
  static func snippet22() throws {
    let parcel = try filled().objects(Parcel.self)[0]
    check(parcel.dynamicList("weights").count == 2)
  }
}
