// PinnedVersionTests.swift: which versions a realm keeps in the file, as
// docs/reference/object-database.md says it: the one that it reads until it goes on, and no other.
// A class that was read before keeps none: each step below leaves the space of the version before
// to be reused at once, without a read in between.

import Dispatch
import Engine
import FoundationEssentials
import Glibc
import Testing

@testable import ObjectDatabase

@Suite("versions that are kept")
struct PinnedVersionTests {
  /// A realm with two dogs, and everything of it that was read.
  private struct Reader {
    let realm: Realm
    let dogs: Results<Dog>
    let dog: Dog
    let dynamic: Results<DynamicObject>

    init(_ folder: Folder) throws {
      let realm = try folder.realm([Dog.self, Person.self])
      self.realm = realm
      try realm.write {
        realm.add(Dog(name: "Fido"))
        realm.add(Dog(name: "Bello"))
      }
      dogs = realm.objects(Dog.self)
      let first = dogs.first
      dog = try #require(first)
      dynamic = realm.dynamicObjects("Dog")
    }

    /// Reads through every access.
    func read() {
      #expect(dogs.map(\.name).count == dynamic.map { $0["name"] as? String }.count)
      #expect(dog.age == 0 && realm.objects(Person.self).count == 0)
    }

    var database: Database { realm.core.store.database }
    var pinned: [Version] { database.statistics().pinnedVersions }
    var newest: [Version] { [database.version] }
  }

  private func writeElsewhere(_ folder: Folder) throws {
    let configuration = folder.configuration([Dog.self, Person.self])
    try onThread {
      let other = try Realm(configuration: configuration)
      try other.write { other.add(Person()) }
    }
  }

  @Test("a refresh lets go of the version before")
  func refresh() throws {
    let folder = try Folder()
    let reader = try Reader(folder)
    reader.read()
    let before = reader.newest
    try writeElsewhere(folder)
    #expect(reader.pinned == before, "a version stays until refresh")
    reader.realm.refresh()
    #expect(reader.pinned == reader.newest && reader.newest != before)
  }

  @Test("a write transaction keeps no version, and its commit keeps its own only")
  func writing() throws {
    let folder = try Folder()
    let reader = try Reader(folder)
    for _ in 0..<3 {
      reader.read()
      #expect(reader.pinned == reader.newest)
      reader.realm.beginWrite()
      #expect(reader.pinned.isEmpty)
      reader.dog.age = 0
      try reader.realm.commitWrite()
      #expect(reader.pinned == reader.newest)
    }
    reader.read()
    reader.realm.beginWrite()
    reader.realm.cancelWrite()
    #expect(reader.pinned == reader.newest)
  }

  @Test("invalidate keeps nothing, and neither do objects that it cut off")
  func invalidation() throws {
    let folder = try Folder()
    let reader = try Reader(folder)
    reader.read()
    reader.realm.invalidate()
    #expect(reader.pinned.isEmpty && reader.dog.isInvalidated)
    #expect(reader.realm.objects(Dog.self).first?.age == 0)
    #expect(reader.pinned == reader.newest)
  }

  @Test("an observer holds the version that its realm is at, and no other")
  func observed() throws {
    let folder = try Folder()
    let reader = try Reader(folder)
    var calls = 0
    let token = reader.dogs.sorted(byKeyPath: "name").observe { _ in calls += 1 }
    reader.realm.refresh()
    for age in 1...3 {
      #expect(reader.pinned == reader.newest)
      try reader.realm.write { reader.dog.age = age }
      #expect(reader.dogs.sum(ofProperty: "age") == age && calls == age + 1)
    }
    token.invalidate()
    #expect(reader.pinned == reader.newest)
  }

  @Test("objects that were added in a batch go on with their realm, and keep no version")
  func batch() throws {
    let folder = try Folder()
    let configuration = folder.configuration([Plain.self])
    let realm = try Realm(configuration: configuration)
    let added = (0..<5).map { _ in Plain() }
    try realm.write { realm.add(added) }
    let database = realm.core.store.database
    for step in 1...3 {
      #expect(added.allSatisfy { $0.number == 6 + step })
      try onThread {
        let other = try Realm(configuration: configuration)
        try other.write { for object in other.objects(Plain.self) { object.number += 1 } }
      }
      #expect(added.allSatisfy { $0.number == 6 + step }, "a version stays until refresh")
      realm.refresh()
      #expect(database.statistics().pinnedVersions == [database.version])
    }
    #expect(added.last?.number == 10 && added.last?.text == "")
    try realm.write {
      #expect(database.statistics().pinnedVersions.isEmpty)
      added[4].number = 1
      realm.delete(added[0])
      #expect(added[4].number == 1 && added[0].isInvalidated)
    }
    #expect(
      added[4].number == 1 && added[0].isInvalidated && added[3] == realm.objects(Plain.self)[2])
    realm.invalidate()
    #expect(added.allSatisfy { $0.isInvalidated })
    #expect(database.statistics().pinnedVersions.isEmpty)
  }

  @Test("a frozen realm keeps its version as long as anything of it is there")
  func frozen() throws {
    let folder = try Folder()
    let reader = try Reader(folder)
    var frozen: Dog? = reader.dog.freeze()
    let before = reader.newest
    try reader.realm.write { reader.dog.age = 9 }
    #expect(frozen?.age == 0 && reader.pinned == before + reader.newest)
    frozen = nil
    #expect(reader.pinned == reader.newest)
  }

  @Test("a realm that ends keeps nothing")
  func ending() throws {
    let folder = try Folder()
    var options = Database.Options()
    options.createsMissing = false
    do {
      let reader = try Reader(folder)
      reader.read()
      #expect(reader.pinned == reader.newest)
    }
    let database = try Database.open(path: folder.path + "/test.realm", options: options)
    #expect(database.statistics().pinnedVersions.isEmpty)
    try database.close()
  }

  @Test("a class's table is opened once for a version, and goes with the realm")
  func tables() throws {
    let folder = try Folder()
    var realm: Realm? = try folder.realm([Keyed.self])
    weak let core = realm?.core
    try realm?.write { for id in 1...9 { realm?.add(Keyed(id)) } }
    func cursor() throws -> RowCursor? {
      try realm?.core.access(to: Keyed.self).currentCursor()
    }
    // Nobody keeps an object, nor a way to the rows, from one look to the next.
    #expect(realm?.object(ofType: Keyed.self, forPrimaryKey: 3)?.id == 3)
    var first = try cursor()
    #expect(realm?.object(ofType: Keyed.self, forPrimaryKey: 4)?.id == 4)
    #expect(try cursor() === first && first != nil)
    #expect(realm?.object(ofType: Keyed.self, forPrimaryKey: 10) == nil)
    first = nil
    realm = nil
    #expect(core == nil, "what is kept of a class does not keep its realm")
  }

  @Test("a commit that was handed over is not read before its end, whenever that is asked")
  func handedOver() throws {
    let folder = try Folder()
    let queue = DispatchQueue(label: "PinnedVersionTests.handedOver")
    let configuration = folder.configuration([Dog.self])
    try queue.sync {
      let realm = try Realm(configuration: configuration, queue: queue)
      let database = realm.core.store.database
      let dogs = realm.objects(Dog.self)
      for isObserved in [false, true] {
        let token = isObserved ? dogs.observe { _ in } : nil
        let (version, count) = (database.version, dogs.count)
        realm.beginWrite()
        realm.add(Dog(name: "new"))
        realm.commitAsyncWrite()
        // The queue is busy with this block, so the end cannot be told meanwhile.
        for _ in 0..<60_000 where database.version == version { usleep(1000) }
        #expect(database.version > version, "the commit did not come within a minute")
        #expect(dogs.count == count && realm.objects(Dog.self).count == count)
        #expect(realm.refresh() && dogs.count == count + 1)
        token?.invalidate()
      }
    }
  }
}
