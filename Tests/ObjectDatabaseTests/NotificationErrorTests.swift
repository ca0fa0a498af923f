// NotificationErrorTests.swift: [U] what observers hear when the file that they wait for is
// removed, replaced, cut or damaged: one error each, and nothing after it.

import Dispatch
import Engine
import Foundation
import Glibc
import Testing

@testable import ObjectDatabase

@Suite("errors of notifications")
struct NotificationErrorTests {
  static let types: [ObjectBase.Type] = [Person.self, Everything.self]

  /// A change in words, and of an error its code.
  private static func text<Collection>(_ change: RealmCollectionChange<Collection>) -> String {
    guard case .error(let error) = change else { return NotificationTests.text(change) }
    return text(error)
  }

  private static func text(_ error: any Error) -> String {
    (error as? Realm.Error).map { "error \($0.code)" } ?? "another error: \(error)"
  }

  /// A realm with dogs, a person who has them in a list, and one of everything.
  private static func prepared() throws -> (Folder, Realm, Person, Everything) {
    let folder = try Folder()
    let realm = try folder.realm(types)
    let (person, all) = (Person(), Everything())
    try realm.write {
      realm.add(person)
      realm.add(all)
      for age in 0..<40 {
        let dog = Dog(name: "\(age % 7)", age: age)
        dog.owner = person
        realm.add(dog)
        person.dogs.append(dog)
      }
      all.ints.append(objectsIn: 0..<40)
      all.numbers.insert(objectsIn: 0..<40)
      for number in 0..<40 { all.words["\(number)"] = "\(number)" }
    }
    return (folder, realm, person, all)
  }

  /// Tokens of every kind, whose callbacks say what they are told under their names.
  private static func watch(
    _ realm: Realm, _ person: Person, _ all: Everything, _ told: Told<String>
  ) -> [NotificationToken] {
    let dogs = realm.objects(Dog.self)
    let kinds: [(String, Results<Dog>)] = [
      ("all", dogs), ("filter", dogs.filter("age > 3")),
      ("sorted", dogs.sorted(byKeyPath: "age")), ("texts", dogs.sorted(byKeyPath: "name")),
      ("behind", dogs.sorted(byKeyPath: "owner.name")),
      ("distinct", dogs.distinct(by: ["name"])),
    ]
    var tokens = kinds.map { name, results in
      results.observe { told.items.append("\(name) \(text($0))") }
    }
    tokens.append(person.dogs.observe { told.items.append("list \(text($0))") })
    tokens.append(all.ints.observe { told.items.append("ints \(text($0))") })
    tokens.append(all.numbers.observe { told.items.append("set \(text($0))") })
    tokens.append(dogs[0].owners.observe { told.items.append("owners \(text($0))") })
    tokens.append(
      all.words.observe { change in
        guard case .error(let error) = change else { return told.items.append("map initial") }
        told.items.append("map \(text(error))")
      })
    tokens.append(
      dogs[0].observe { (change: ObjectChange<Dog>) in
        guard case .error(let error) = change else { return told.items.append("a change") }
        told.items.append("object \(text(error))")
      })
    tokens.append(
      dogs.sectioned(by: \.age).observe { change in
        guard case .error(let error) = change else { return told.items.append("sections initial") }
        told.items.append("sections \(text(error))")
      })
    return tokens
  }

  private static let names = [
    "all", "filter", "sorted", "texts", "behind", "distinct", "list", "ints", "set", "owners",
    "map", "object", "sections",
  ]

  private static func initial(_ names: [String]) -> [String] {
    names.filter { $0 != "object" }.map { "\($0) initial" }
  }

  private static func makeLarger(_ folder: Folder) throws {
    let configuration = folder.configuration(types)
    try onThread {
      let other = try Realm(configuration: configuration)
      try other.write {
        other.objects(Dog.self)[3].age = 100
        other.objects(Everything.self)[0].ints.append(41)
      }
    }
  }

  @Test("a file that is cut under its observers is one error for each of them")
  func cut() throws {
    let (folder, realm, person, all) = try Self.prepared()
    let told = Told<String>()
    let tokens = Self.watch(realm, person, all, told)
    realm.refresh()
    #expect(told.items == Self.initial(Self.names))
    told.items = []
    try Self.makeLarger(folder)
    let path = folder.path + "/test.realm"
    #expect(unsafe truncate(path, 4096) == 0)
    realm.refresh()
    #expect(told.items == Self.names.map { "\($0) error fileAccess" }, "\(told.items)")
    told.items = []
    realm.refresh()
    #expect(told.items.isEmpty, "\(told.items)")
    withExtendedLifetime(tokens) {}
  }

  @Test("what results cannot read is an error for who can tell of it")
  func reading() throws {
    let (folder, realm, person, all) = try Self.prepared()
    let dogs = realm.objects(Dog.self)
    let (owners, own) = (dogs[0].owners, try #require(person.dogs._elements).elements)
    let kinds: [(String, Elements)] = [
      ("all", dogs.content), ("filter", dogs.filter("age > 3").content),
      ("sorted", dogs.sorted(byKeyPath: "age").content),
      ("texts", dogs.sorted(byKeyPath: "name").content),
      ("behind", dogs.sorted(byKeyPath: "owner.name").content),
      ("distinct", dogs.distinct(by: ["name"]).content), ("list", own),
      ("set", try #require(all.numbers._elements).elements),
      ("owners", try #require(owners._elements).elements),
    ]
    for (name, elements) in kinds { #expect(try elements.readContent().count > 0, "\(name)") }
    try realm.write { dogs[0].age = 7 }
    #expect(unsafe truncate(folder.path + "/test.realm", 4096) == 0)
    for (name, elements) in kinds {
      #expect(throws: EngineError.self, "\(name)") { try elements.readContent() }
    }
  }

  @Test("a damaged node is one error, the version is let go, and others hear nothing of it")
  func damage() throws {
    let (folder, realm, person, all) = try Self.prepared()
    let told = Told<String>()
    let tokens = Self.watch(realm, person, all, told)
    realm.refresh()
    told.items = []
    try Self.makeLarger(folder)
    // Everything behind the root slots: whatever the comparison reads first is not what it was.
    let path = folder.path + "/test.realm"
    var bytes = try [UInt8](Data(contentsOf: URL(filePath: path)))
    for index in bytes.indices.dropFirst(4096) { bytes[index] ^= 0x55 }
    let file = unsafe open(path, O_WRONLY)
    #expect(file >= 0)
    #expect(unsafe bytes.withUnsafeBytes { unsafe pwrite(file, $0.baseAddress, $0.count, 0) } > 0)
    close(file)
    realm.refresh()
    #expect(told.items == Self.names.map { "\($0) error invalidDatabase" }, "\(told.items)")
    told.items = []
    realm.refresh()
    #expect(told.items.isEmpty)
    withExtendedLifetime(tokens) {}
  }

  /// What a realm of a queue hears once its file is not there any more.
  private func lost(
    _ folder: Folder, code: Realm.Error.Code, _ lose: (String) throws -> Void
  ) async throws {
    let heard = DeliveryTests.Heard()
    let queue = DispatchQueue(label: "NotificationErrorTests")
    let configuration = folder.configuration(Self.types)
    let held = try queue.sync {
      let realm = try Realm(configuration: configuration, queue: queue)
      try realm.write { realm.add(Dog(name: "a")) }
      let tokens = [
        realm.objects(Dog.self).observe { heard.add(Self.text($0)) },
        realm.objects(Dog.self)[0].observe { (change: ObjectChange<Dog>) in
          guard case .error(let error) = change else { return heard.add("a change") }
          heard.add("object \(Self.text(error))")
        },
        realm.observe { _, _ in heard.add("realm") },
      ]
      return Smuggled((realm, tokens))
    }
    try await eventually { heard.all == ["initial"] }
    try lose(folder.path + "/test.realm")
    try await eventually { heard.all.count >= 3 }
    #expect(heard.all == ["initial", "error \(code)", "object error \(code)"])
    try queue.sync {
      let realm = held.value.0
      // No version is held for those who know nothing any more, but the one that the realm reads.
      #expect(try Set(realm.core.store.database.activePins().map(\.version)).count == 1)
      try realm.write { realm.objects(Dog.self)[0].age = 9 }
      // What was read last keeps its version until the next reading.
      #expect(realm.objects(Dog.self)[0].age == 9)
      #expect(try Set(realm.core.store.database.activePins().map(\.version)).count == 1)
    }
    #expect(heard.all.dropFirst(3) == ["realm"], "what observes the realm goes on")
    // Who comes later hears the same, once.
    let late = queue.sync {
      Smuggled(held.value.0.objects(Dog.self).observe { heard.add("late " + Self.text($0)) })
    }
    try await eventually { heard.all.count >= 5 }
    try await Task.sleep(nanoseconds: 1_500_000_000)
    #expect(heard.all.dropFirst(4) == ["late error \(code)"])
    queue.sync { withExtendedLifetime((held, late)) {} }
  }

  @Test("a file that is removed is one error for each observer, within two seconds")
  func removed() async throws {
    let folder = try Folder()
    try await lost(folder, code: .fileNotFound) { path in
      #expect(unsafe unlink(path) == 0)
    }
  }

  @Test("a file that another one replaces is one error for each observer")
  func replaced() async throws {
    let folder = try Folder()
    try await lost(folder, code: .fileAccess) { path in
      let other = path + ".other"
      var configuration = folder.configuration(Self.types)
      configuration.fileURL = URL(filePath: other)
      let made = configuration
      try onThread { try Realm(configuration: made).write {} }
      #expect(unsafe rename(other, path) == 0)
    }
  }

  @Test("a compaction that replaces the file is not an error")
  func compacted() async throws {
    let folder = try Folder()
    let heard = DeliveryTests.Heard()
    let queue = DispatchQueue(label: "NotificationErrorTests.compacted")
    let configuration = folder.configuration(Self.types)
    let held = try queue.sync {
      let realm = try Realm(configuration: configuration, queue: queue)
      try realm.write { realm.add(Dog(name: "a")) }
      return Smuggled((realm, realm.objects(Dog.self).observe { heard.add(Self.text($0)) }))
    }
    try await eventually { heard.all == ["initial"] }
    for round in 0..<4 {
      let isDone = try queue.sync {
        // Nobody may read a version meanwhile; the realm, which listens, is nobody then.
        let realm = held.value.0
        try realm.write { realm.add(Dog(name: "\(round)")) }
        realm.giveUpVersion()
        return try realm.core.store.database.compact()
      }
      #expect(isDone)
      try await Task.sleep(nanoseconds: 600_000_000)
    }
    let late = queue.sync {
      Smuggled(held.value.0.objects(Dog.self).observe { heard.add("late " + Self.text($0)) })
    }
    try await eventually { heard.all.contains("late initial") }
    #expect(!heard.all.contains { $0.contains("error") }, "\(heard.all)")
    queue.sync { withExtendedLifetime((held, late)) {} }
  }
}
