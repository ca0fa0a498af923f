// HostileFileTests.swift: files with damaged bytes give errors or what is left, and never a trap.

import Foundation
import Requirements
import TestFiles
import Testing

@testable import DocumentStore

@Suite("Hostile files")
struct HostileFileTests {
  private static let rounds = FullSize.isOn ? 3000 : 25

  /// Does with a file what can be done with it; errors are what is expected.
  private func use(_ path: String, isReadOnly: Bool) {
    var options = TemporaryFolder.options()
    options.isReadOnly = isReadOnly
    options.busyTimeoutMilliseconds = 100
    guard let file = try? DataFile(path: path, options: options) else { return }
    _ = try? file.verify()
    _ = try? file.read { snapshot in
      for name in try snapshot.keyStores() {
        guard let store = try snapshot.keyStore(name) else { continue }
        for record in (try? store.records(.changes(since: 1))) ?? [] {
          _ = try? RecordBodies.blobs(of: record, keys: snapshot.sharedKeys)
          _ = try? snapshot.json(of: record.body ?? [])
        }
        _ = try? store.count()
      }
    }
    for change in 0..<4 {
      _ = try? file.write { transaction in
        let store = try transaction.collection()
        guard let key = try store.records().first?.key else { return }
        let body = try transaction.encode(json: #"{"some new key":1,"k":2}"#)
        switch change {
        case 0: try store.save(key, body: body, parent: try store.document(key)?.current?.id)
        case 1: try store.save(key, body: nil, parent: try store.document(key)?.current?.id)
        case 2: try store.purge(key)
        default: _ = try transaction.collection(try CollectionName("More"))
        }
      }
    }
    _ = try? file.compact()
    try? file.close()
  }

  @Test("with changed, cut and exchanged bytes", arguments: ["conflict", "real-2.7", "vectors"])
  func bytes(name: String) throws {
    var numbers = SeededNumbers(seed: 11)
    let folder = try TemporaryFolder()
    let path = try Golden.unpack(name, into: folder)
    let database = path + "/db.sqlite3"
    let whole = try #require(FileManager.default.contents(atPath: database))
    for round in 0..<Self.rounds {
      var bytes = whole
      for _ in 0...numbers.below(20) {
        let place = numbers.below(bytes.count)
        bytes[place] = UInt8(truncatingIfNeeded: numbers.next())
      }
      if round % 5 == 0 { bytes = bytes.prefix(numbers.below(bytes.count)) }
      if round % 7 == 0, bytes.count > 8192 {
        let (from, to) = (numbers.below(bytes.count / 4096), numbers.below(bytes.count / 4096))
        let page = bytes.subdata(in: from * 4096..<(from + 1) * 4096)
        bytes.replaceSubrange(to * 4096..<(to + 1) * 4096, with: page)
      }
      for ending in ["-wal", "-shm"] {
        try? FileManager.default.removeItem(atPath: database + ending)
      }
      try bytes.write(to: URL(filePath: database))
      use(path, isReadOnly: round % 2 == 0)
    }
  }

  @Test("with damaged rows", arguments: 0..<3)
  func rows(seed: Int) throws {
    var numbers = SeededNumbers(seed: UInt64(seed))
    for _ in 0..<(Self.rounds / 5) {
      let folder = try TemporaryFolder()
      let path = try Golden.unpack(["conflict", "real-2.7", "vectors"][seed], into: folder)
      let plain = try PlainSQL(path)
      for _ in 0..<4 {
        let column = ["version", "body", "extra", "flags", "sequence", "key"][numbers.below(6)]
        let values = [
          "NULL", "x''", "x'00'", "-1", "9223372036854775807", "'text'", "x'ffffffffffffffff'",
          "substr(\(column), 1, \(numbers.below(30)))", "\(column) || \(column)", "1e300",
          "x'00000010ffff020101017000' || \(column)", "CAST(x'c3' AS TEXT)",
        ]
        let sql =
          "UPDATE OR IGNORE kv_default SET \(column) = \(values[numbers.below(values.count)]) "
          + "WHERE rowid % 3 = \(numbers.below(3))"
        try? plain.execute(sql)
      }
      let keys = ["x'6002'", "x''", "NULL", "'text'", "x'70ff'"]
      if numbers.below(3) == 0 {
        try plain.execute(
          "UPDATE kv_info SET body = \(keys[numbers.below(keys.count)]) "
            + "WHERE key = '\(["SharedKeys", "versioning", "publicUUID"][numbers.below(3)])'")
      }
      use(path, isReadOnly: numbers.below(2) == 0)
    }
  }

  @Test("with a sequence below 0 are errors")
  func negativeSequence() throws {
    let folder = try TemporaryFolder()
    let file = try DataFile(path: try Golden.unpack("conflict", into: folder))
    try PlainSQL(folder.path + "/conflict.cblite2").execute(
      "UPDATE kv_default SET sequence = -rowid")
    try file.write { transaction in
      let store = try transaction.collection()
      #expect(code { _ = try store.document("a") } == .corruptRevisionData)
      #expect(code { try store.save("a", body: [0x70, 0]) } == .corruptRevisionData)
    }
    #expect(try file.verify().problems.contains { $0.rule == .sequences })
    try file.close()
  }

  @Test("with tables that are views, or have other columns or names")
  func schemas() throws {
    let changes = [
      "DROP TABLE kv_default; CREATE VIEW kv_default AS SELECT 1 AS key, 2 AS sequence",
      "DROP TABLE kvmeta; CREATE TABLE kvmeta (x)",
      "DROP TABLE kv_info; CREATE TABLE kv_info (key, body)",
      "ALTER TABLE kv_default DROP COLUMN version",
      "CREATE TABLE \"kv_.x\"\"y'z\" (key, sequence, flags, version, body)",
      "CREATE TABLE \"kv_Upper\" (key, sequence, flags, version, body)",
      "CREATE TABLE \"kv_del_lonely\" (a); CREATE TABLE \"kv_\" (b)",
      "CREATE TABLE indexes (name)", "DROP TABLE kv_del_default; CREATE TABLE kv_del_default (a)",
      "CREATE TRIGGER t AFTER INSERT ON kv_default BEGIN SELECT raise(ABORT, 'no'); END",
    ]
    for change in changes {
      for isReadOnly in [true, false] {
        let folder = try TemporaryFolder()
        try folder.make().close()
        try PlainSQL(folder.bundle).execute(change)
        use(folder.bundle, isReadOnly: isReadOnly)
      }
    }
  }
}
