// RealmSwiftBehaviorTests.swift: small things that programs for RealmSwift count on, each a case
// of its own.

import Foundation
import ObjectDatabase
import Testing

private class Corner: EmbeddedObject {
  @Persisted var x: Double
  @Persisted var lamps: List<Lamp>
}

private class Lamp: EmbeddedObject {
  @Persisted var watts = 0
  @Persisted(originProperty: "lamps") var corners: LinkingObjects<Corner>
}

private struct Place: CustomPersistable, Hashable {
  var x = 0.0
  init(x: Double) { self.x = x }
  init(persistedValue: Corner) { x = persistedValue.x }
  var persistableValue: Corner { Corner(value: ["x": x]) }
}

private struct Even: FailableCustomPersistable, Hashable {
  var half: Int
  init(half: Int) { self.half = half }
  init?(persistedValue: Int) {
    guard persistedValue.isMultiple(of: 2) else { return nil }
    half = persistedValue / 2
  }
  var persistableValue: Int { half * 2 }
}

private enum Level: Int, PersistableEnum {
  case low
  case high
}

private class Visit: Object {
  @Persisted var place: Place
  @Persisted var places: List<Place>
  @Persisted var named: Map<String, Place>
  @Persisted var even: Even
  @Persisted var maybe: Even?
  @Persisted var next: Visit?
  @Persisted var corner: Corner?
  @Persisted var level: Level
}

private class Raw: Object {
  @Persisted var even = 0
  @Persisted var maybe: Int?

  override class func _realmObjectName() -> String? { "Evens" }
}

private class Evens: Object {
  @Persisted var even: Even
  @Persisted var maybe: Even?
}

@Suite("as in RealmSwift")
struct RealmSwiftBehaviorTests {
  private func realm(_ name: String = #function) throws -> Realm {
    try Realm(configuration: .init(inMemoryIdentifier: name, objectTypes: [Visit.self]))
  }

  @Test("a value stored as an embedded object needs not be optional")
  func storedAsObject() throws {
    let realm = try realm()
    let visit = Visit()
    #expect(visit.place == Place(x: 0))
    visit.place = Place(x: 1)
    visit.places.append(Place(x: 2))
    visit.named["a"] = Place(x: 3)
    try realm.write { realm.add([visit, Visit()]) }
    #expect(visit.place.x == 1 && visit.places[0].x == 2 && visit.named["a"]?.x == 3)
    #expect(realm.objects(Visit.self).last?.place.x == 0)
    try realm.write { visit.place = Place(x: 4) }
    #expect(visit.place.x == 4)
  }

  @Test("a value that is not made of every stored one is nil, or an error")
  func failable() throws {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent(
      "\(UUID().uuidString).realm")
    defer { _ = try? Realm.deleteFiles(for: .init(fileURL: url)) }
    do {
      let realm = try Realm(configuration: .init(fileURL: url, objectTypes: [Raw.self]))
      try realm.write { realm.create(Raw.self, value: ["even": 3, "maybe": 5]) }
    }
    let realm = try Realm(configuration: .init(fileURL: url, objectTypes: [Evens.self]))
    let evens = try #require(realm.objects(Evens.self).first)
    #expect(evens.maybe == nil)
    #expect(throws: Realm.Error.self) { try realm.reading { evens.even } }
    try realm.write {
      evens.even = Even(half: 4)
      evens.maybe = Even(half: 5)
    }
    #expect(evens.even.half == 4 && evens.maybe?.half == 5)
    #expect(realm.objects(Evens.self).filter("even == %@", Even(half: 4)).count == 1)
  }

  @Test("embedded objects are the origin of links")
  func embeddedOrigin() throws {
    let realm = try realm()
    let visit = try realm.write {
      realm.create(Visit.self, value: ["corner": ["x": 1.5, "lamps": [["watts": 5]]]])
    }
    #expect(visit.corner?.lamps.first?.corners.first?.x == 1.5)
  }

  @Test("an object that no realm has is equal to none in a query")
  func unmanagedArgument() throws {
    let realm = try realm()
    try realm.write { realm.create(Visit.self, value: ["next": [:] as [String: Any]]) }
    let visits = realm.objects(Visit.self)
    #expect(visits.where { $0.next == Visit() }.isEmpty)
    #expect(visits.filter("next == %@", Visit()).isEmpty)
    #expect(visits.where { $0.next != Visit() }.count == 2)
  }

  @Test("descriptions have RealmSwift's layout, and end")
  func descriptions() throws {
    let visit = Visit()
    visit.next = Visit()
    visit.next?.next = visit
    visit.corner = Corner(value: ["x": 1.5])
    let text = visit.description
    #expect(text.hasPrefix("Visit {\n\tplace = Corner {\n\t\tx = 0.0;\n"))
    #expect(text.contains("<Maximum depth exceeded>"))
    #expect(text.contains("\tcorner = Corner {\n\t\tx = 1.5;\n\t\tlamps = List<Lamp> <0x"))
    #expect(text.contains("\tmaybe = (null);\n"))
    let corner = Corner()
    corner.lamps.append(objectsIn: (0..<150).map { Lamp(value: ["watts": $0]) })
    let lamps = corner.lamps.description
    #expect(lamps.contains("\t[99] Lamp {\n\t\twatts = 99;\n\t}\n\t... 50 objects skipped.\n)"))
    let map: Map<String, Int> = ["a": 1]
    #expect(map.description.hasSuffix("> (\n\t[a]: 1\n)"))
  }

  @Test("wide cycles end, too")
  func wideCycle() {
    let node = Wide()
    for _ in 0..<100 { node.kids.append(node) }
    #expect(node.description.utf8.count < 10_000_000)
  }

  @Test("a transaction of a realm that nobody holds is there for the next reference")
  @MainActor
  func temporaryRealm() throws {
    let configuration = Realm.Configuration(
      inMemoryIdentifier: #function, objectTypes: [Visit.self])
    let holder = try Realm(configuration: configuration).freeze()
    try Realm(configuration: configuration).beginWrite()
    try Realm(configuration: configuration).add(Visit())
    try Realm(configuration: configuration).commitWrite()
    #expect(try Realm(configuration: configuration).objects(Visit.self).count == 1)
    _ = holder
  }

  @Test("the first call of an observer comes before a transaction of its realm")
  func firstCall() throws {
    let realm = try realm()
    var calls: [String] = []
    let token = realm.objects(Visit.self).observe { change in
      switch change {
      case .initial(let visits): calls.append("initial \(visits.count)")
      case .update(_, _, let insertions, _): calls.append("update \(insertions)")
      case .error(let error): calls.append("\(error)")
      }
    }
    try realm.write { realm.add(Visit()) }
    #expect(calls == ["initial 0", "update [0]"])
    token.invalidate()
  }

  @Test("a reference made in the transaction that made the object leads to it")
  func referenceInWrite() throws {
    let configuration = Realm.Configuration(
      inMemoryIdentifier: #function, objectTypes: [Visit.self])
    let realm = try Realm(configuration: configuration)
    let references = try realm.write {
      let visit = realm.create(Visit.self, value: ["even": 8])
      return (ThreadSafeReference(to: visit), ThreadSafeReference(to: visit.places))
    }
    let found = try ThreadRun.run {
      let realm = try Realm(configuration: configuration)
      let (visit, places) = (realm.resolve(references.0), realm.resolve(references.1))
      return [visit?.even.half, places?.count]
    }
    #expect(found == [4, 0])
  }

  @Test("resolving goes on only to a version that it needs")
  func resolveVersion() throws {
    let configuration = Realm.Configuration(
      inMemoryIdentifier: #function, objectTypes: [Visit.self])
    let realm = try Realm(configuration: configuration)
    realm.autorefresh = false
    let visit = try realm.write { realm.create(Visit.self) }
    let reference = ThreadSafeReference(to: visit)
    _ = try ThreadRun.run {
      let other = try Realm(configuration: configuration)
      try other.write { other.add(Visit()) }
      return other.objects(Visit.self).count
    }
    #expect(realm.resolve(reference) == visit && realm.objects(Visit.self).count == 1)
  }

  @Test("errors have words and the file")
  func errors() throws {
    let url = URL(fileURLWithPath: "/nowhere/there/x.realm")
    let error = #expect(throws: Realm.Error.self) {
      try Realm(configuration: .init(fileURL: url, readOnly: true))
    }
    #expect(error?.fileURL == url && error?.code == .fileNotFound)
    let any: any Error = try #require(error)
    #expect(any.localizedDescription == error?.message)
    #expect(Realm.Error(.fail) == Realm.Error(.fail) && Realm.Error(.fail) != error)
  }

  @Test("configurations are compared and printed, without the key")
  func configurations() {
    var one = Realm.Configuration(inMemoryIdentifier: "a")
    #expect(one == Realm.Configuration(inMemoryIdentifier: "a"))
    one.encryptionKey = Data(repeating: 7, count: 64)
    #expect(one != Realm.Configuration(inMemoryIdentifier: "a"))
    #expect(one.description.contains("encryptionKey = set"))
    one.objectTypes = [Visit.self]
    #expect(one.description.contains("objectTypes = Visit"))
  }

  @Test("polygons that are none stop the process in a query")
  func polygons() {
    let wrong: [([(Double, Double)], [(Double, Double)]?)] = [
      ([(0, 0), (4, 4), (0, 4), (4, 0), (0, 0)], nil),
      ([(0, 0), (0, 4), (4, 4), (0, 4), (4, 0), (0, 0)], nil),
      ([(0, 0), (0, 4), (4, 4), (4, 0), (0, 0)], [(5, 5), (5, 6), (6, 6), (5, 5)]),
      ([(0, 0), (0, 4), (4, 4), (4, 0), (0, 0)], [(1, 1), (1, 5), (2, 2), (1, 1)]),
    ]
    for (number, rings) in wrong.enumerated() {
      let polygon = GeoPolygon(outerRing: rings.0, holes: rings.1.map { [$0] } ?? [])
      #expect(polygon != nil)
      let message = MisuseProbe.message {
        guard
          let realm = try? Realm(
            configuration: .init(inMemoryIdentifier: "geo", objectTypes: [Shop.self]))
        else { return }
        _ = realm.objects(Shop.self).filter("point GEOWITHIN %@", polygon)
      }
      #expect(message?.contains("geoPolygon") == true, "\(number): \(message ?? "no trap")")
    }
    let right = GeoPolygon(
      outerRing: [(0, 0), (0, 4), (4, 4), (4, 0), (0, 0)],
      holes: [[(1, 1), (1, 2), (2, 2), (1, 1)]])
    let realm = try? Realm(
      configuration: .init(inMemoryIdentifier: "geo", objectTypes: [Shop.self]))
    #expect(realm?.objects(Shop.self).filter("point GEOWITHIN %@", right).count == 0)
  }

  @Test("names and literals of numbers and identifiers")
  func literals() throws {
    let price: Decimal128 = "1.5"
    #expect(price / 2 == 0.75 && Decimal128(number: 5) == 5 && Decimal128() == 0)
    #expect(Decimal128(number: true) == 1 && Decimal128(number: 2.5).doubleValue == 2.5)
    #expect(price.decimalNumber(byAdding: 1) == 2.5 && price.isGreaterThan(1))
    let id: ObjectId = "507f1f77bcf86cd799439011"
    #expect(id == ObjectId("507f1f77bcf86cd799439011") && ObjectId() < id)
    let made = ObjectId(
      timestamp: Date(timeIntervalSince1970: 9), machineId: 0x123456, processId: 0x789A)
    #expect(made.stringValue.hasPrefix("00000009123456789a"))
    #expect(Level.low < Level.high && Level.high >= Level.low)
    #expect(GeoPoint(1, 2, altitude: 3)?.altitude == 3)
  }

  @Test("objects at positions come in ascending order")
  func positions() throws {
    let realm = try realm()
    try realm.write { for half in 0..<3 { realm.create(Visit.self, value: ["even": half * 2]) } }
    #expect(realm.objects(Visit.self).objects(at: [2, 0]).map(\.even.half) == [0, 2])
  }
}

private class Wide: Object {
  @Persisted var kids: List<Wide>
}

private class Point: EmbeddedObject {
  @Persisted var type = "Point"
  @Persisted var coordinates: List<Double>
}

private class Shop: Object {
  @Persisted var point: Point?
}
