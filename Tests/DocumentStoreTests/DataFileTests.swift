// DataFileTests.swift: making, opening, refusing and deleting data files.

import Foundation
import Testing

@testable import DocumentStore

@Suite("Data files")
struct DataFileTests {
  @Test("are made with the tables of the real library, letter by letter")
  func layout() throws {
    let folder = try TemporaryFolder()
    let made = try folder.make()
    let real = try PlainSQL(try Golden.unpack("vectors", into: folder))
    let plain = try PlainSQL(folder.bundle)
    #expect(try plain.schema() == real.schema())
    for pragma in ["user_version", "auto_vacuum", "page_size"] {
      #expect(try plain.number("PRAGMA \(pragma)") == real.number("PRAGMA \(pragma)"))
    }
    #expect(
      try plain.texts("SELECT key FROM kv_info ORDER BY key")
        == ["privateUUID", "publicUUID", "versioning"])
    #expect(
      try plain.texts("SELECT hex(body) FROM kv_info WHERE key = 'versioning'") == [
        "0000000000000001"
      ])
    let header = try #require(FileManager.default.contents(atPath: folder.bundle + "/db.sqlite3"))
    #expect(header[18] == 2 && header[19] == 2)
    let uuid = try made.read { try $0.publicUUID() }
    #expect(uuid[6] >> 4 == 4 && uuid[8] >> 6 == 2)
    try made.close()
    let again = try folder.make()
    #expect(try again.read { try $0.publicUUID() } == uuid)
    #expect(try again.read { try $0.versioning() } == .trees)
    #expect(try again.read { try $0.collections() } == [.default])
    try again.close()
  }

  @Test("say what is wrong with a path, and leave nothing behind")
  func refusals() throws {
    let folder = try TemporaryFolder()
    #expect(code { _ = try DataFile(path: folder.path + "/x.db") } == .invalidParameter)
    #expect(code { _ = try folder.make { $0.creates = false } } == .notFound)
    #expect(code { _ = try folder.make { $0.isReadOnly = true } } == .notFound)
    #expect(code { _ = try DataFile(path: folder.path + "/no/x.cblite2") } == .notFound)
    try Data("text".utf8).write(to: URL(filePath: folder.bundle))
    #expect(code { _ = try folder.make() } == .notADatabaseFile)
    try FileManager.default.removeItem(atPath: folder.bundle)
    try folder.makeBundle()
    let junk = Data((0..<8192).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    try junk.write(to: URL(filePath: folder.bundle + "/db.sqlite3"))
    #expect(code { _ = try folder.make() } == .notADatabaseFile)
    #expect(FileManager.default.contents(atPath: folder.bundle + "/db.sqlite3") == junk)
  }

  @Test("of another format are refused with both numbers", arguments: [200, 600, 999, -1])
  func formats(version: Int) throws {
    let folder = try TemporaryFolder()
    try folder.make().close()
    try PlainSQL(folder.bundle).execute("PRAGMA user_version = \(version)")
    do {
      try folder.make().close()
      Issue.record("opened")
    } catch {
      let error = try #require(error as? DocumentStoreError)
      #expect(error.code == (version < 201 ? .databaseTooOld : .databaseTooNew))
      #expect(error.message.contains("\(version)") && error.message.contains(folder.bundle))
    }
  }

  @Test("of other programs are refused, and not changed")
  func otherDatabases() throws {
    let folder = try TemporaryFolder()
    try folder.makeBundle()
    try PlainSQL(folder.bundle).execute("CREATE TABLE t (a)")
    #expect(code { _ = try folder.make() } == .wrongFormat)
    try PlainSQL(folder.bundle).execute("PRAGMA user_version = 503")
    #expect(code { _ = try folder.make { $0.creates = false } } == .wrongFormat)
    #expect(try PlainSQL(folder.bundle).schema() == ["CREATE TABLE t (a)"])
  }

  @Test("that a crash left without tables are filled")
  func unfinished() throws {
    let folder = try TemporaryFolder()
    try folder.makeBundle()
    // What the switch to the write-ahead log leaves.
    try PlainSQL(folder.bundle).queue.writeWithoutTransaction {
      try $0.execute(sql: "PRAGMA auto_vacuum = 2; PRAGMA journal_mode = WAL")
    }
    #expect(code { _ = try folder.make { $0.creates = false } } == .wrongFormat)
    #expect(code { _ = try folder.make { $0.isReadOnly = true } } == .wrongFormat)
    try folder.make().close()
    #expect(try PlainSQL(folder.bundle).number("PRAGMA auto_vacuum") == 2)
  }

  @Test("that the real library left half made are finished")
  func halfMade() throws {
    let folder = try TemporaryFolder()
    try folder.make().close()
    let plain = try PlainSQL(folder.bundle)
    let whole = try plain.schema().sorted()
    try plain.execute("DROP TABLE kv_default; DROP TABLE kv_del_default; DROP TABLE kv_info")
    #expect(code { _ = try folder.make { $0.creates = false } } == .wrongFormat)
    try folder.make().close()
    #expect(try plain.schema().sorted() == whole)
    #expect(try plain.number("SELECT count(*) FROM kv_info") == 3)
  }

  @Test("have the settings that were chosen", arguments: DataFile.Sync.allCases)
  func settings(sync: DataFile.Sync) throws {
    let folder = try TemporaryFolder()
    let file = try folder.make { $0.sync = sync }
    #expect(try file.setting("synchronous") == (sync == .full ? 2 : 1))
    #expect(try file.setting("mmap_size") ?? 0 == 0)
    #expect(try file.setting("foreign_keys") == 0)
    try file.close()
  }

  @Test("that are closed refuse, and closing twice is nothing")
  func closed() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    try file.close()
    try file.close()
    #expect(code { try file.read { _ in } } == .notOpen)
    #expect(code { try file.write { _ in } } == .notOpen)
  }

  @Test("are deleted with what is theirs, and nothing else")
  func deletion() throws {
    let folder = try TemporaryFolder()
    #expect(try !DataFile.delete(path: folder.bundle))
    try folder.make().close()
    let other = folder.bundle + "/notes.txt"
    try Data("mine".utf8).write(to: URL(filePath: other))
    #expect(try DataFile.delete(path: folder.bundle))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.bundle) == ["notes.txt"])
    try FileManager.default.removeItem(atPath: other)
    try folder.make().close()
    #expect(try DataFile.delete(path: folder.bundle + "/"))
    #expect(!FileManager.default.fileExists(atPath: folder.bundle))
    try Data().write(to: URL(filePath: folder.bundle))
    #expect(code { try DataFile.delete(path: folder.bundle) } == .notADatabaseFile)
  }
}
