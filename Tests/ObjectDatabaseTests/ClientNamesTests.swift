// ClientNamesTests.swift: names of RealmSwift that no sample and no snippet has, used as a program
// uses them. It must not use `@testable`.

import Foundation
import ObjectDatabase
import Testing

class Stall: Object {
  @Persisted(primaryKey: true) var id = 0
  @Persisted var kind = ""
  @Persisted var others: MutableSet<Stall>
  @Persisted var named: Map<String, Stall?>
  @Persisted var prices: Map<String, Int>
}

class HiddenStall: Object {
  @Persisted var id = 0
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

final class StallKind: Projection<Stall>, ObjectKeyIdentifiable {
  @Projected(\Stall.kind) var kind
}

@Suite("names of RealmSwift, as clients use them")
struct ClientNamesTests {
  private func filled(_ name: String = #function) throws -> Realm {
    let realm = try Realm(
      configuration: .init(inMemoryIdentifier: "stalls \(name)", objectTypes: [Stall.self]))
    try realm.write {
      for id in 1...4 { realm.create(Stall.self, value: ["id": id, "kind": id < 3 ? "a" : "b"]) }
      let stalls = realm.objects(Stall.self)
      stalls[0].others.insert(objectsIn: stalls.dropFirst(2))
      stalls[0].named["x"] = stalls[1]
      stalls[0].prices.merge(["p": 3, "q": 4]) { $1 }
    }
    return realm
  }

  @Test("collections of objects by name hold dynamic objects")
  func dynamicCollections() throws {
    let realm = try filled()
    let stall = try #require(realm.dynamicObject(ofType: "Stall", forPrimaryKey: 1))
    let others = stall.dynamicMutableSet("others")
    #expect(others.count == 2 && others.allSatisfy { $0["kind"] as? String == "b" })
    let named: Map<String, DynamicObject?> = stall.dynamicMap("named")
    #expect(named["x"]??.id as? Int == 2)
  }

  @Test("equal objects have one hash, and generic code takes any random-access collection")
  func hashes() throws {
    func middle<Items: RandomAccessCollection>(_ items: Items) -> Items.Element {
      items[items.index(items.startIndex, offsetBy: items.count / 2)]
    }
    let realm = try filled()
    let stalls = realm.objects(Stall.self).sorted(by: \.id)
    #expect(middle(stalls).id == 3 && stalls.reversed().first?.id == 4)
    let second = try #require(realm.object(ofType: Stall.self, forPrimaryKey: 2))
    var (one, other) = (Hasher(), Hasher())
    stalls[1].hash(into: &one)
    second.hash(into: &other)
    #expect(one.finalize() == other.finalize())
    #expect(Set(Array(stalls) + Array(stalls)).count == 4)
  }

  @Test("sections have types that a program can name")
  func sections() throws {
    let realm = try filled()
    let all: SectionedResults<String, Stall> = realm.objects(Stall.self)
      .sectioned(by: \.kind, ascending: false)
    #expect(all.allKeys == ["b", "a"])
    let first: ResultsSection<String, Stall> = all[0]
    #expect(first.key == "b" && first.map(\.id) == [3, 4])
  }

  @Test("generic code over maps reads and changes them")
  func keyed() throws {
    func doubled<Entries: RealmKeyedCollection>(_ entries: Entries) -> [Int]
    where Entries.Key == String, Entries.Value == Int {
      var entries = entries
      for key in entries.keys { entries[key] = (entries[key] ?? 0) * 2 }
      return entries.values.sorted()
    }
    let realm = try filled()
    let found = try realm.write { doubled(realm.objects(Stall.self)[0].prices) }
    #expect(found == [6, 8])
  }

  @Test("a class that does not want to be in every schema is in none without being named")
  func hidden() throws {
    let realm = try Realm(configuration: .init(inMemoryIdentifier: "hidden stalls"))
    #expect(realm.schema["HiddenStall"] == nil && realm.schema["Stall"] != nil)
    try realm.write { realm.add(HiddenStall()) }
    #expect(realm.objects(HiddenStall.self).count == 1)
  }

  @Test("a copy is written to the file of a configuration, with its key")
  func copies() throws {
    let folder = try Folder()
    let url = URL(filePath: folder.path + "/copy.realm")
    let key = Data(repeating: 3, count: 64)
    let copy = Realm.Configuration(fileURL: url, encryptionKey: key, objectTypes: [Stall.self])
    let realm = try filled()
    try realm.writeCopy(configuration: copy)
    #expect(try Realm(configuration: copy).objects(Stall.self).count == 4)
    #expect(throws: Realm.Error.self) { try realm.writeCopy(configuration: copy) }
    #expect(throws: Realm.Error.self) {
      try realm.writeCopy(configuration: .init(inMemoryIdentifier: "no file"))
    }
  }

  @Test("schemas and properties are described in RealmSwift's layout, without an object, too")
  func schemaDescriptions() throws {
    let schema = try #require(HiddenStall.sharedSchema())
    #expect(
      schema.description == """
        HiddenStall {
        \tid {
        \t\ttype = int;
        \t\tcolumnName = id;
        \t\tindexed = NO;
        \t\tisPrimary = NO;
        \t\tarray = NO;
        \t\tset = NO;
        \t\tdictionary = NO;
        \t\toptional = NO;
        \t}
        }
        """)
    let named = try #require(Stall.sharedSchema()?["named"])
    #expect(named.description.contains("\tobjectClassName = Stall;\n\tlinkOriginPropertyName"))
    #expect(PropertyType.UUID == .uuid && PropertyType.objectId.description == "object id")
  }

  @Test("error codes have RealmSwift's numbers, each another, and errors are NSErrors of them")
  func errorNumbers() throws {
    #expect(Realm.Error.Code.fileNotFound.rawValue == 5)
    #expect(Realm.Error.Code(rawValue: 10) == .schemaMismatch)
    #expect(Realm.Error.Code(rawValue: 0) == nil)
    let numbers = Realm.Error.Code.allCases.map(\.rawValue)
    #expect(Set(numbers).count == numbers.count)
    let missing = Realm.Configuration(fileURL: URL(fileURLWithPath: "/missing/stalls.realm"))
    let error = #expect(throws: Realm.Error.self) { try Realm(configuration: missing) }
    let bridged = try #require(error) as NSError
    #expect(bridged.domain == "io.realm" && bridged.code == 5)
    #expect(bridged.localizedDescription == error?.message)
  }

  @Test("a decimal number is made of any number, and of a text")
  func decimals() {
    #expect(Decimal128(value: "1.50") == 1.5 && Decimal128(value: 3) == 3)
    #expect(Decimal128(value: NSNumber(value: 2.5)) == Decimal128(value: Decimal128(2.5)))
  }

  @Test("one value for all elements is set with the key self")
  func allElements() throws {
    let realm = try filled()
    let stall = try #require(realm.objects(Stall.self).first)
    let list = List<Int?>()
    let set = MutableSet<Int>()
    list.append(objectsIn: [1, 2])
    set.insert(objectsIn: [1, 2])
    list.setValue(nil, forKey: "self")
    set.setValue(7, forKey: "self")
    #expect(Array(list) == [nil, nil] && Array(set) == [7])
    try realm.write { stall.others.setValue(stall, forKey: "self") }
    #expect(Array(stall.others) == [stall])
    #expect(stall.isEqual(realm.objects(Stall.self)[0]) && !stall.isEqual("a stall"))
    #expect(stall.hash == realm.objects(Stall.self)[0].hash)
  }

  @Test("projections of one object have one identity")
  func projectionIdentity() throws {
    let stalls = try filled().objects(StallKind.self)
    #expect(stalls[0].id == stalls[0].id && stalls[0].id != stalls[1].id)
    #expect(stalls[0].id == StallKind(projecting: stalls[0].rootObject).id)
  }

  @Test("a realm is opened away from the caller, and comes to its queue")
  func asyncOpen() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let configuration = Realm.Configuration(
      fileURL: folder.appendingPathComponent("stalls.realm"), objectTypes: [Stall.self])
    let queue = DispatchQueue(label: "stalls")
    try queue.sync {
      let realm = try Realm(configuration: configuration, queue: queue)
      try realm.write { _ = realm.create(Stall.self) }
    }
    let count = try await withCheckedThrowingContinuation { continuation in
      Realm.asyncOpen(configuration: configuration, callbackQueue: queue) { opened in
        continuation.resume(with: opened.map { $0.objects(Stall.self).count })
      }
    }
    #expect(count == 1)
    let missing = Realm.Configuration(fileURL: URL(fileURLWithPath: "/missing/stalls.realm"))
    let code = await withCheckedContinuation { continuation in
      Realm.asyncOpen(configuration: missing, callbackQueue: queue) { opened in
        guard case .failure(let error as Realm.Error) = opened else {
          continuation.resume(returning: Realm.Error.Code?.none)
          return
        }
        continuation.resume(returning: error.code)
      }
    }
    #expect(code == .fileNotFound)
  }

  @Test("a realm is opened for the actor that asks for it")
  @MainActor
  func openForActor() async throws {
    let configuration = Realm.Configuration(inMemoryIdentifier: "stalls of the main actor")
    let opened = try await Realm.open(configuration: configuration)
    let same = try await Realm(configuration: configuration, downloadBeforeOpen: .once)
    #expect(opened == same)
  }
}
