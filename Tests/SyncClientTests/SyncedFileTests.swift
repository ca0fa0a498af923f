// SyncedFileTests.swift: what a synchronized file is and is not: who writes it, what its schema may
// become, what a copy of it is, and where changesets are kept.

import Engine
import FoundationEssentials
import ObjectDatabase
import Requirements
import SyncClient
import SyncCore
import Testing

private class Note: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var text: String
}

private class LongNote: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var text: String
  @Persisted var stars = 3
  @Persisted var lines: List<String>
  override class func _realmObjectName() -> String? { "Note" }
}

private class NumberedNote: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var text: Int
  override class func _realmObjectName() -> String? { "Note" }
}

private class Keyless: Object {
  @Persisted var text: String
}

private class Mixed: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var any: AnyRealmValue
}

/// A synchronized file on a disk, in a folder that goes with it.
private final class DiskFile {
  let folder: String
  let clock = TestClock()

  init() throws { folder = try TestFolder.make() }

  deinit {
    do { try FileManager.default.removeItem(atPath: folder) } catch {
      Issue.record("\(folder) cannot be removed: \(error)")
    }
  }

  func plain(
    _ types: [ObjectBase.Type], version: UInt64 = 0, name: String = "a"
  ) -> Realm.Configuration {
    Realm.Configuration(
      fileURL: URL(filePath: folder + "/\(name).realm"), schemaVersion: version,
      objectTypes: types)
  }

  func recorded(
    _ types: [ObjectBase.Type], version: UInt64 = 0, name: String = "a"
  ) -> Realm.Configuration {
    let clock = clock
    return SyncedFile.configuration(
      plain(types, version: version, name: name), now: { clock.read() })
  }

  func pending(_ configuration: Realm.Configuration) throws -> [SyncChangeset] {
    try SyncedFile.pending(try RealmFile(configuration).database.snapshot())
  }
}

@Suite("A synchronized file")
struct SyncedFileTests {
  private func code(_ body: () throws -> Void) -> Realm.Error.Code? {
    do { try body() } catch { return (error as? Realm.Error)?.code }
    return nil
  }

  @Test("is written by realms with a recorder only")
  func needsRecorder() throws {
    let disk = try DiskFile()
    try SyncedFile.mark(disk.recorded([Note.self]), realm: "r")
    try autoreleasing {
      let realm = try Realm(configuration: disk.recorded([Note.self]))
      try realm.write { _ = realm.create(Note.self, value: ["id": 1]) }
      #expect(code { _ = try Realm(configuration: disk.plain([Note.self])) } == .alreadyOpen)
    }
    let realm = try Realm(configuration: disk.plain([Note.self]))
    #expect(realm.objects(Note.self).count == 1)
    #expect(code { try realm.write { realm.deleteAll() } } == .schemaMismatch)
    #expect(realm.objects(Note.self).count == 1)
    #expect(
      code { _ = try Realm(configuration: disk.plain([LongNote.self], version: 1)) } != nil)
  }

  /// Lets go of realms before what comes next.
  private func autoreleasing(_ body: () throws -> Void) rethrows { try body() }

  @Test("has been one since it had no objects")
  func marksEmptyFiles() throws {
    let disk = try DiskFile()
    try autoreleasing {
      let realm = try Realm(configuration: disk.plain([Note.self]))
      try realm.write { _ = realm.create(Note.self, value: ["id": 1]) }
    }
    #expect(throws: EngineError.self) {
      try SyncedFile.mark(disk.recorded([Note.self]), realm: "r")
    }
    let other = disk.recorded([Note.self], name: "b")
    try SyncedFile.mark(other, realm: "r")
    try SyncedFile.mark(other, realm: "r")
    #expect(throws: EngineError.self) { try SyncedFile.mark(other, realm: "s") }
  }

  @Test("keeps the columns of others, and gets new ones")
  func additiveSchema() throws {
    let disk = try DiskFile()
    try SyncedFile.mark(disk.recorded([Note.self]), realm: "r")
    try autoreleasing {
      let realm = try Realm(configuration: disk.recorded([Note.self]))
      try realm.write { _ = realm.create(Note.self, value: ["id": 1, "text": "a"]) }
    }
    try autoreleasing {
      let realm = try Realm(configuration: disk.recorded([LongNote.self], version: 1))
      let note = try #require(realm.object(ofType: LongNote.self, forPrimaryKey: 1))
      try realm.write {
        note.lines.append("x")
        realm.create(LongNote.self, value: ["id": 2])
      }
      #expect(note.text == "a" && note.stars == 0)
    }
    // The class without the new columns writes the same file.
    let realm = try Realm(configuration: disk.recorded([Note.self], version: 1))
    try realm.write {
      for id in 3..<7 { _ = realm.create(Note.self, value: ["id": id, "text": "c"]) }
    }
    #expect(realm.objects(Note.self).count == 6)
    let made = try #require(disk.pending(realm.configuration).last)
    #expect(
      made.operations
        == (3..<7).flatMap { id -> [SyncOperation] in
          let note = SyncObject("Note", .int(Int64(id)))
          return [
            .create(note), .change(SyncField(note, [], "text"), .set(.text("c"))),
            .change(SyncField(note, [], "stars"), .setDefault(.int(0))),
          ]
        })
  }

  @Test("is not migrated")
  func refusesMigrations() throws {
    let disk = try DiskFile()
    try SyncedFile.mark(disk.recorded([Note.self]), realm: "r")
    try autoreleasing { _ = try Realm(configuration: disk.recorded([Note.self])) }
    var changed = disk.recorded([NumberedNote.self], version: 1)
    #expect(code { _ = try Realm(configuration: changed) } == .schemaMismatch)
    changed.deleteRealmIfMigrationNeeded = true
    #expect(code { _ = try Realm(configuration: changed) } == .schemaMismatch)
    var block = disk.recorded([LongNote.self], version: 1)
    block.migrationBlock = { _, _ in }
    #expect(code { _ = try Realm(configuration: block) } == .schemaMismatch)
    block.migrationBlock = nil
    _ = try Realm(configuration: block)
  }

  @Test("refuses what no other client would know")
  func refusesKeyless() throws {
    let file = try TestFile("keyless", types: [Keyless.self, Mixed.self, Note.self])
    let realm = try file.realm()
    #expect(code { try realm.write { _ = realm.create(Keyless.self) } } == .schemaMismatch)
    try realm.write { _ = realm.create(Note.self, value: ["id": 1]) }
    let note = try #require(realm.objects(Note.self).first)
    let code = code {
      try realm.write {
        let mixed = realm.create(Mixed.self, value: ["id": 1])
        mixed.any = .object(note)
      }
    }
    #expect(code == .schemaMismatch)
    let value = ["id": 1, "any": [1, ["a": 2]] as [Any]] as [String: Any]
    let collection = self.code { try realm.write { _ = realm.create(Mixed.self, value: value) } }
    #expect(collection == .invalidValue)
    #expect(realm.objects(Mixed.self).isEmpty && realm.objects(Keyless.self).isEmpty)
    #expect(try file.pending().count == 1)
  }

  @Test("keeps each changeset with the transaction that it tells of")
  func keepsChangesets() throws {
    let file = try TestFile("changesets", types: [Note.self])
    let realm = try file.realm()
    file.clock.set(500)
    try realm.write { _ = realm.create(Note.self, value: ["id": 1, "text": "a"]) }
    realm.beginWrite()
    realm.create(Note.self, value: ["id": 2])
    realm.cancelWrite()
    file.clock.set(300)
    try realm.write { realm.objects(Note.self).first?.text = "b" }
    try realm.write {}
    let pending = try file.pending()
    #expect(pending.map(\.sequence) == [1, 2])
    #expect(pending.map(\.base) == [.zero, .zero])
    #expect(pending[0].stamp == SyncStamp(milliseconds: 500))
    #expect(pending[1].stamp > pending[0].stamp)
    let object = SyncObject("Note", .int(1))
    #expect(
      pending.map(\.operations) == [
        [.create(object), .change(SyncField(object, [], "text"), .set(.text("a")))],
        [.change(SyncField(object, [], "text"), .set(.text("b")))],
      ])
  }

  @Test("says what was meant")
  func intent() throws {
    let file = try TestFile("intent")
    let realm = try file.realm()
    try realm.write {
      realm.create(Thing.self, value: ["id": 1, "numbers": [1, 2, 3, 4], "number": 5])
    }
    let thing = try #require(realm.objects(Thing.self).first)
    let object = SyncObject("Thing", .int(1))
    let first = try #require(try file.pending().first).operations
    #expect(first.contains(.change(SyncField(object, [], "number"), .set(.int(5)))))
    #expect(first.contains(.change(SyncField(object, [], "flag"), .setDefault(.bool(false)))))
    let list = SyncField(object, [], "numbers")
    #expect(
      first.contains(.change(list, .listAssign([.int(1), .int(2), .int(3), .int(4)]))))
    func recorded(_ body: () -> Void) throws -> [SyncOperation] {
      try realm.write { body() }
      return try #require(try file.pending().last).operations
    }
    #expect(
      try recorded { thing.numbers.move(from: 0, to: 2) } == [
        .change(list, .listMove(from: 0, to: 2))
      ])
    #expect(
      try recorded { thing.numbers.swapAt(3, 0) } == [
        .change(list, .listMove(from: 0, to: 3)), .change(list, .listMove(from: 2, to: 0)),
      ])
    #expect(try recorded { thing.numbers.removeAll() } == [.change(list, .listClear)])
    #expect(
      try recorded { thing.increment(\.number, by: 3) } == [
        .change(SyncField(object, [], "number"), .increment(3))
      ])
    #expect(thing.number == 8)
  }

  @Test("takes its asynchronous transactions, too")
  func asynchronous() async throws {
    let file = try TestFile("asynchronous", types: [Note.self])
    try await MainActor.run {
      let realm = try file.realm()
      realm.beginWrite()
      realm.create(Note.self, value: ["id": 1])
      realm.commitAsyncWrite()
    }
    for _ in 0..<1000 where try file.pending().isEmpty {
      try await Task.sleep(nanoseconds: 5_000_000)
    }
    #expect(try file.pending().count == 1)
  }

  @Test("keeps a long changeset in parts, whole")
  func parts() throws {
    let file = try TestFile("parts", types: [Note.self])
    let realm = try file.realm()
    let text = String(repeating: "0123456789", count: 700_000)
    try realm.write {
      for id in 0..<3 { realm.create(Note.self, value: ["id": id, "text": text]) }
    }
    try realm.write { _ = realm.create(Note.self, value: ["id": 9]) }
    let pending = try file.pending()
    #expect(pending.map(\.sequence) == [1, 2])
    #expect(pending[0].operations.count == 6)
    #expect(pending[0].encoded().count > 20_000_000)
    let error = code {
      try realm.write {
        for id in 10..<20 { realm.create(Note.self, value: ["id": id, "text": text]) }
      }
    }
    #expect(error != nil && realm.objects(Note.self).count == 4)
  }

  @Test("is another client when it is copied, and only with nothing pending")
  func copies() throws {
    let disk = try DiskFile()
    let configuration = disk.recorded([Note.self])
    try SyncedFile.mark(configuration, realm: "r")
    let realm = try Realm(configuration: configuration)
    let url = URL(filePath: disk.folder + "/copy.realm")
    try realm.write { _ = realm.create(Note.self, value: ["id": 1]) }
    #expect(throws: Realm.Error.self) { try realm.writeCopy(toFile: url) }
    #expect(!FileManager.default.fileExists(atPath: url.path))
  }
}
