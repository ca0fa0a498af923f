// RealmTests.swift: opening, transactions, policies, files.

import Engine
import FoundationEssentials
import Testing

@testable import ObjectDatabase

@Suite("realms")
struct RealmTests {
  @Test("a throwing block cancels everything")
  func throwing() throws {
    let folder = try Folder()
    let realm = try folder.realm()
    #expect(throws: Failure.self) {
      try realm.write {
        realm.add(Dog())
        throw Failure("no")
      }
    }
    #expect(realm.isEmpty && !realm.isInWriteTransaction)
    try realm.write { realm.add(Dog()) }
    #expect(realm.objects(Dog.self).count == 1)
  }

  @Test("begin, cancel and commit; reads in a transaction see its changes")
  func manual() throws {
    let folder = try Folder()
    let realm = try folder.realm()
    realm.beginWrite()
    let dog = Dog(name: "Fido")
    realm.add(dog)
    #expect(realm.isInWriteTransaction && realm.objects(Dog.self).count == 1)
    dog.name = "Bello"
    #expect(realm.objects(Dog.self).first?.name == "Bello")
    realm.cancelWrite()
    #expect(realm.isEmpty && dog.isInvalidated)
    realm.beginWrite()
    realm.add(Dog())
    try realm.commitWrite()
    #expect(realm.objects(Dog.self).count == 1)
    #expect(throws: Realm.Error.self) { try realm.commitWrite() }
    try realm.write {
      #expect(throws: Realm.Error.self) { try realm.write {} }
    }
  }

  @Test("a primary key that is there fails the whole transaction")
  func duplicateKey() throws {
    let folder = try Folder()
    let realm = try folder.realm()
    let company = Company()
    company.name = "Acme"
    try realm.write { realm.add(company) }
    let other = Company()
    other.name = "Acme"
    let error = #expect(throws: Realm.Error.self) {
      try realm.write {
        realm.add(Dog())
        realm.add(other)
      }
    }
    #expect(error?.code == .invalidValue)
    #expect(error?.message.contains("Company") == true && error?.message.contains("Acme") == true)
    #expect(realm.objects(Dog.self).isEmpty && realm.objects(Company.self).count == 1)
  }

  @Test("update changes what is there", arguments: [Realm.UpdatePolicy.modified, .all])
  func updating(policy: Realm.UpdatePolicy) throws {
    let folder = try Folder()
    let realm = try folder.realm()
    let first = Everything()
    first.id = 1
    first.string = "old"
    first.ints.append(objectsIn: [1, 2])
    try realm.write { realm.add(first) }
    let second = Everything()
    second.id = 1
    second.string = "new"
    second.ints.append(9)
    second.link = second
    try realm.write { realm.add(second, update: policy) }
    #expect(realm.objects(Everything.self).count == 1)
    #expect(first.string == "new" && Array(first.ints) == [9] && first.link == first)
    #expect(second == first)
    try realm.write {
      realm.create(
        Everything.self, value: ["id": 1, "string": "third"] as [String: Any], update: policy)
    }
    #expect(first.string == "third" && Array(first.ints) == [9])
    let fourth = Everything()
    fourth.id = 1
    try realm.write { realm.add(fourth, update: policy) }
    #expect(first.string == "" && first.ints.isEmpty && first.link == nil)
  }

  @Test("create makes objects of dictionaries, arrays and objects")
  func creating() throws {
    let folder = try Folder()
    let realm = try folder.realm([Person.self, Company.self, Everything.self])
    let person = try realm.write {
      realm.create(
        Person.self,
        value: ["name": "Ada", "age": 36, "dogs": [["name": "Fido"], ["Bello", 2]]] as [String: Any]
      )
    }
    #expect(person.age == 36 && person.dogs.map(\.name) == ["Fido", "Bello"])
    #expect(person.dogs[1].age == 2)
    let warm = Everything(value: ["id": 1, "heat": 20.5, "mood": "wild", "ints": [1, 2]])
    #expect(warm.heat.degrees == 20.5 && warm.mood == .wild && Array(warm.ints) == [1, 2])
    let kept = try realm.write { realm.create(Everything.self, value: warm) }
    #expect(kept.heat.degrees == 20.5 && kept.mood == .wild && Array(kept.ints) == [1, 2])
    let copy = try realm.write { realm.create(Dog.self, value: person.dogs[0]) }
    #expect(copy.name == "Fido" && copy != person.dogs[0])
    let company = try realm.write {
      realm.create(
        Company.self,
        value: ["name": "Acme", "seat": ["street": "High Street"]] as [String: Any])
    }
    #expect(company.seat?.street == "High Street")
    for wrong: [String: Any] in [["age": "old"], ["owner": 5]] {
      let error = #expect(throws: Realm.Error.self) {
        try realm.write {
          let dog = realm.create(Dog.self, value: wrong)
          dog.name = "what follows does no harm"
          #expect(dog.realm == nil && realm.create(Dog.self).realm == nil)
        }
      }
      #expect(error?.code == .invalidValue, "\(wrong)")
    }
    #expect(realm.objects(Dog.self).count == 3)
  }

  @Test("a realm of one thread is one realm; another thread's sees commits after refresh")
  func identity() throws {
    let folder = try Folder()
    let realm = try folder.realm()
    #expect(try folder.realm() == realm)
    try realm.write { realm.add(Dog()) }
    #expect(realm.objects(Dog.self).count == 1)
    let configuration = folder.configuration()
    try onThread {
      let other = try Realm(configuration: configuration)
      try other.write { other.add(Dog()) }
    }
    #expect(realm.objects(Dog.self).count == 1, "a version stays until refresh")
    #expect(realm.refresh() && !realm.refresh())
    #expect(realm.objects(Dog.self).count == 2)
  }

  @Test("invalidate cuts objects and results off")
  func invalidating() throws {
    let folder = try Folder()
    let realm = try folder.realm()
    let dog = Dog()
    try realm.write { realm.add(dog) }
    let dogs = realm.objects(Dog.self)
    let found = dogs.filter("age == 0")
    let sorted = found.sorted(byKeyPath: "age")
    let sections = found.sectioned { $0.age }
    #expect(dogs.count == 1 && found.count == 1 && sorted.count == 1 && sections.count == 1)
    for isWriting in [false, true] {
      realm.invalidate()
      if isWriting { realm.beginWrite() }
      #expect(dog.isInvalidated && dogs.isInvalidated && found.isInvalidated)
      #expect(dogs.count == 0 && dogs.first == nil && dogs.map(\.age).isEmpty)
      #expect(found.count == 0 && found.first == nil && found.map(\.age).isEmpty)
      #expect(sorted.isEmpty && sections.count == 0 && dogs.filter("age == 0").count == 0)
      #expect(found.max(ofProperty: "age") as Int? == nil)
      #expect(realm.objects(Dog.self).filter("age == 0").count == 1)
      if isWriting { realm.cancelWrite() }
    }
  }

  @Test("a realm in memory is shared by name and gone with its last user")
  func inMemory() throws {
    let configuration = Realm.Configuration(inMemoryIdentifier: "RealmTests.inMemory")
    do {
      let realm = try Realm(configuration: configuration)
      try realm.write { realm.add(Dog()) }
      #expect(try Realm(configuration: configuration).objects(Dog.self).count == 1)
    }
    #expect(try Realm(configuration: configuration).isEmpty)
  }

  @Test("an encrypted file opens with its key only")
  func encrypted() throws {
    let folder = try Folder()
    var configuration = folder.configuration()
    configuration.encryptionKey = Data((0..<64).map { UInt8($0) })
    do {
      let realm = try Realm(configuration: configuration)
      try realm.write { realm.add(Dog(name: "secret")) }
    }
    do {
      let realm = try Realm(configuration: configuration)
      #expect(realm.objects(Dog.self).map(\.name) == ["secret"])
    }
    configuration.encryptionKey = nil
    #expect(throws: Realm.Error.self) { _ = try Realm(configuration: configuration) }
    configuration.encryptionKey = Data(count: 64)
    let error = #expect(throws: Realm.Error.self) { _ = try Realm(configuration: configuration) }
    #expect(error?.code == .invalidDatabase)
  }

  @Test("a read-only realm reads, and writes nothing")
  func readOnly() throws {
    let folder = try Folder()
    do {
      let realm = try folder.realm()
      try realm.write { realm.add(Dog()) }
    }
    var configuration = folder.configuration([Dog.self])
    configuration.readOnly = true
    let realm = try Realm(configuration: configuration)
    #expect(realm.objects(Dog.self).count == 1)
    let error = #expect(throws: Realm.Error.self) { try realm.write {} }
    #expect(error?.code == .readOnly)
  }

  @Test("copies, seeds, existence and deletion")
  func files() throws {
    let folder = try Folder()
    let copy = URL(filePath: folder.path + "/copy.realm")
    do {
      let realm = try folder.realm()
      try realm.write { realm.add(Dog(name: "copied")) }
      try realm.writeCopy(toFile: copy)
      let error = #expect(throws: Realm.Error.self) { try realm.writeCopy(toFile: copy) }
      #expect(error?.code == .fileExists)
      let open = #expect(throws: Realm.Error.self) {
        try Realm.deleteFiles(for: realm.configuration)
      }
      #expect(open?.code == .alreadyOpen)
    }
    #expect(Realm.fileExists(for: folder.configuration()))
    #expect(try Realm.deleteFiles(for: folder.configuration()))
    #expect(!Realm.fileExists(for: folder.configuration()))
    var seeded = folder.configuration()
    seeded.seedFilePath = copy
    let realm = try Realm(configuration: seeded)
    #expect(realm.objects(Dog.self).map(\.name) == ["copied"])
    #expect(try schemaVersionAtURL(copy) == 0)
    #expect(throws: Realm.Error.self) {
      try schemaVersionAtURL(URL(filePath: folder.path + "/none.realm"))
    }
  }

  @Test("too many versions alive is an error")
  func versions() throws {
    let folder = try Folder()
    var configuration = folder.configuration()
    configuration.maximumNumberOfActiveVersions = 3
    let realm = try Realm(configuration: configuration)
    var frozen: [Realm] = []
    let error = #expect(throws: Realm.Error.self) {
      for _ in 0..<10 {
        try realm.write { realm.add(Dog()) }
        frozen.append(realm.freeze())
      }
    }
    #expect(error?.code == .tooManyVersions)
    frozen = []
    try realm.write { realm.add(Dog()) }
  }

  @Test("compaction is asked for at the first open")
  func compaction() throws {
    let folder = try Folder()
    do {
      let realm = try folder.realm()
      try realm.write { for _ in 0..<2000 { realm.add(Dog(name: "to be deleted, later on")) } }
      try realm.write { realm.deleteAll() }
    }
    let path = folder.path + "/test.realm"
    let before = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
    var configuration = folder.configuration()
    configuration.shouldCompactOnLaunch = { total, used in used < total }
    _ = try Realm(configuration: configuration)
    let after = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
    #expect(after < before)
  }

  @Test("a class that is not among objectTypes is refused by name")
  func objectTypes() throws {
    let folder = try Folder()
    let realm = try folder.realm([Company.self])
    #expect(realm.schema.objectSchema.map(\.className) == ["Address", "Company", "Note"])
    #expect(realm.schema["Address"]?.isEmbedded == true)
    #expect(realm.schema["Company"]?.primaryKeyProperty?.name == "name")
  }
}

/// Runs a block on a thread of its own, and waits for it.
func onThread<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) throws -> Result {
  try ThreadRun.run(body)
}

@Suite("files of other programs")
struct ForeignFileTests {
  private func engine(_ folder: Folder, _ body: (WriteTransaction) throws -> Void) throws {
    let database = try Database.open(path: folder.path + "/test.realm")
    let write = try database.beginWrite()
    try body(write)
    try write.commit()
  }

  @Test("a table that the engine's user made is taken over when its columns fit")
  func takenOver() throws {
    let folder = try Folder()
    try engine(folder) { write in
      try write.createTable(
        TableSchema(name: "Plain", columns: [ColumnSchema(name: "number", type: .int)]))
      try write.insert(into: "Plain", key: 41, [.int(7)])
    }
    let realm = try folder.realm([Plain.self])
    let made = Plain()
    made.number = 8
    try realm.write { realm.add(made) }
    #expect(realm.objects(Plain.self).map(\.number) == [7, 8] && made.rowKey == 42)
  }

  class Plain: Object {
    @Persisted var number: Int
  }

  @Test("tables that are not the layer's under its names are an error, not a trap")
  func wrongTables() throws {
    for (name, columns) in [
      ("__classes", [ColumnSchema(name: "x", type: .int)]),
      ("__realm", [ColumnSchema(name: "schemaVersion", type: .string)]),
    ] {
      let folder = try Folder()
      try engine(folder) { write in
        try write.createTable(TableSchema(name: name, columns: columns))
        if name == "__realm" { try write.insert(into: name, key: 0, [.string("no")]) }
      }
      let error = #expect(throws: Realm.Error.self) { _ = try folder.realm([Plain.self]) }
      #expect(error?.code == .invalidDatabase, "\(name)")
    }
  }

  @Test("an embedded object with two owners, or itself as owner, can be deleted")
  func sharedEmbedded() throws {
    let folder = try Folder()
    do {
      let realm = try folder.realm([Company.self])
      try realm.write {
        for name in ["a", "b"] {
          let company = Company()
          company.name = name
          if name == "a" { company.seat = Address() }
          realm.add(company)
        }
      }
    }
    try engine(folder) { write in
      try write.set(.link(0), in: "Company", key: 1, column: "seat")
    }
    let realm = try folder.realm([Company.self])
    #expect(realm.objects(Company.self).allSatisfy { $0.seat != nil })
    try realm.write { realm.delete(realm.objects(Company.self)) }
    #expect(realm.isEmpty)
  }

  @Test("garbage is not a database, and a directory no file")
  func garbage() throws {
    let folder = try Folder()
    let path = folder.path + "/test.realm"
    try Data(repeating: 0xA5, count: 100_000).write(to: URL(filePath: path))
    let error = #expect(throws: Realm.Error.self) { _ = try folder.realm() }
    #expect(error?.code == .invalidDatabase && error?.engineError != nil)
    let matched: Bool
    do {
      _ = try folder.realm()
      matched = false
    } catch Realm.Error.invalidDatabase { matched = true }
    #expect(matched)
  }

  @Test("a path whose file was removed leads to a new one, whoever still has the old one open")
  func removedFile() throws {
    let folder = try Folder()
    let path = folder.path + "/test.realm"
    let old = try folder.realm()
    try old.write { old.add(Dog(name: "old")) }
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
      try FileManager.default.removeItem(atPath: folder.path + "/" + name)
    }
    let new = try folder.realm()
    try new.write { new.add(Dog(name: "new")) }
    #expect(FileManager.default.fileExists(atPath: path))
    #expect(old.objects(Dog.self).map(\.name) == ["old"])
    #expect(try folder.realm().objects(Dog.self).map(\.name) == ["new"])
    try engine(folder) { write in
      let count = try write.count(of: "Dog")
      #expect(count == 1)
    }
  }

  @Test("a path whose file alone was removed is refused while its lock file is in use")
  func removedFileAlone() throws {
    let folder = try Folder()
    do {
      let old = try folder.realm()
      try old.write { old.add(Dog(name: "old")) }
      try FileManager.default.removeItem(atPath: folder.path + "/test.realm")
      let error = #expect(throws: Realm.Error.self) { _ = try folder.realm() }
      #expect(error?.message.contains("test.realm") == true, "\(String(describing: error))")
      #expect(old.objects(Dog.self).map(\.name) == ["old"])
    }
    let new = try folder.realm()
    #expect(new.isEmpty)
  }
}
