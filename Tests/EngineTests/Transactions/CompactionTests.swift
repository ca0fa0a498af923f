// CompactionTests.swift: what compaction keeps, what it gives back, and when it does nothing.

import Synchronization
import Testing

@testable import Engine

@Suite("Compaction")
struct CompactionTests {
  /// A database with free space, and its content.
  private func withFilled(
    _ options: Database.Options = .init(), _ body: (Database, String, Content) throws -> Void
  ) throws {
    try withTemporaryFolder { folder in
      let path = folder + "/a.realm"
      let database = try Database.open(path: path, options: options)
      try Everything.fill(database)
      try body(database, path, try Content(database))
      try database.close()
    }
  }

  @Test("content, version and schema stay, free space goes", arguments: [true, false])
  func keepsContent(isShared: Bool) throws {
    var options = Database.Options()
    options.isShared = isShared
    try withFilled(options) { database, path, content in
      let before = fileSizeBytes(path)
      #expect(try database.compact())
      #expect(try Content(database) == content)
      let report = try database.verify()
      #expect(report.freeBytes == 0 && report.pendingBytes == 0)
      #expect(fileSizeBytes(path) < before * 3 / 4)
      #expect(UInt64(fileSizeBytes(path)) == 3 * 4096 + report.reachableBytes)
      #expect(database.statistics().fileSizeBytes == UInt64(fileSizeBytes(path)))
      #expect(!fileNames(in: String(path.dropLast(8))).contains { $0.contains("compacting") })
    }
  }

  @Test("the handle goes on with the new file, and so does the next one")
  func goesOn() throws {
    try withFilled { database, path, content in
      #expect(try database.compact())
      let write = try database.beginWrite()
      try write.insert(into: "Dog", key: -1, Fixtures.dog(1))
      try write.commit()
      let changed = try Content(database)
      #expect(changed.rows == content.rows + 1 && changed.version == content.version.next)
      #expect(try database.compact())
      #expect(try Content(path: path) == changed)
      // A handle that joins gets the new file, too.
      #expect(try database.compact())
      let other = try Database.open(path: path)
      #expect(try Content(other) == changed)
      try other.close()
    }
  }

  @Test("leaves with few rows are packed anew, full ones are copied")
  func packsRows() throws {
    try withTemporaryFolder { folder in
      let database = try Database.open(path: folder + "/a.realm")
      let write = try database.beginWrite()
      try write.createTable(Fixtures.dogs)
      for key in 0..<40_000 { try write.insert(into: "Dog", key: Int64(key), Fixtures.dog(key)) }
      try write.commit()
      let full = try database.verify()
      #expect(try database.compact())
      // Inner nodes, group and free list aside, nothing could be gained.
      #expect(try full.nodes - database.verify().nodes <= 2)
      let thin = try database.beginWrite()
      for key in 0..<40_000 where key % 8 > 2 || key / 4000 == 3 {
        try thin.delete(from: "Dog", key: Int64(key))
      }
      try thin.commit()
      let content = try Content(database)
      #expect(try database.compact())
      #expect(try Content(database) == content)
      let bytesPerRow = full.reachableBytes / full.rows
      let report = try database.verify()
      #expect(report.reachableBytes < (bytesPerRow + 2) * report.rows)
      try database.close()
    }
  }

  @Test("with a snapshot, a write transaction or another handle nothing happens")
  func othersKeepIt() throws {
    try withFilled { database, path, content in
      let before = (try? FileIdentity.at(path))
      let snapshot = try database.snapshot()
      #expect(try !database.compact())
      snapshot.release()
      let write = try database.beginWrite()
      #expect(try !database.compact())
      write.cancel()
      let other = try Database.open(path: path)
      #expect(try !database.compact())
      #expect(try !other.compact())
      try other.close()
      #expect((try? FileIdentity.at(path)) == before)
      #expect(try database.compact())
      #expect((try? FileIdentity.at(path)) != before)
      #expect(try Content(database) == content)
    }
  }

  @Test("a database without a file, a closed one and a read-only one")
  func hasNoFile() throws {
    let database = try Database.open(backend: TestBackend())
    #expect(try !database.compact())
    #expect(database.path == "memory")
    try database.close()
    #expect(errorCode { try database.compact() } == .closed)
    try withFilled { database, path, _ in
      try database.close()
      var options = Database.Options()
      options.readOnly = true
      let reader = try Database.open(path: path, options: options)
      #expect(errorCode { try reader.compact() } == .readOnly)
      try reader.close()
    }
  }

  @Test("an empty database, and one whose tables are empty")
  func isEmpty() throws {
    try withTemporaryFolder { folder in
      let path = folder + "/a.realm"
      let database = try Database.open(path: path)
      #expect(try database.compact())
      #expect(fileSizeBytes(path) == 4 * 4096)
      #expect(try Content(database).version == .first)
      let write = try database.beginWrite()
      try write.createTable(Fixtures.dogs)
      try write.commit()
      #expect(try database.compact())
      try database.close()
      #expect(try Content(path: path).tables == [Fixtures.dogs])
      // Damage to the header of such a file must not make it look like one in the making.
      try overwrite(path, [UInt8](repeating: 0, count: 4096))
      #expect(errorCode { try Database.open(path: path) } == .notADatabase)
    }
  }

  @Test("the file keeps its mode, and a link to it stays a link")
  func keepsModeAndLink() throws {
    try withFilled { database, path, content in
      try database.close()
      try setMode(0o640, of: path)
      let link = path + ".link"
      try makeLink(link, to: path)
      let linked = try Database.open(path: link)
      let before = (try? FileIdentity.at(path))
      #expect(try linked.compact())
      #expect((try? FileIdentity.at(path)) != before)
      try linked.close()
      #expect(Syscalls.attributes(path: path)?.mode == 0o640)
      #expect(isLink(link))
      #expect(try Content(path: path) == content)
    }
  }

  @Test("a file that was replaced behind the handle's back is left alone")
  func leavesForeignFile() throws {
    try withFilled { database, path, _ in
      try moveFile(path, to: path + ".old")
      try overwrite(path, [])
      #expect(errorCode { try database.compact() } == .io)
      #expect(fileSizeBytes(path) == 0)
    }
  }

  @Test("columns that were removed leave nothing behind, also in leaves that are full")
  func dropsRemovedColumns() throws {
    try withTemporaryFolder { folder in
      let path = folder + "/a.realm"
      let database = try Database.open(path: path)
      try Everything.fill(database)
      let fill = try database.beginWrite()
      try fill.createTable(TableSchema(name: "Cat", columns: Fixtures.dogs.columns))
      for key in 0..<20_000 { try fill.insert(into: "Cat", key: Int64(key), Fixtures.dog(key)) }
      try fill.commit()
      let write = try database.beginWrite()
      for column in Everything.schema.columns where column.name != "int" {
        try write.removeColumn(column.name, from: "Everything")
      }
      try write.addColumn(ColumnSchema(name: "late", type: .string), to: "Everything")
      try write.removeColumn("name", from: "Cat")
      try write.commit()
      let content = try Content(database)
      #expect(try database.compact())
      #expect(try Content(database) == content)
      // A cat has a key and an age now, and what nobody can read is in no sector.
      #expect(try database.verify().reachableBytes < 20_000 * 4 + 150_000)
      #expect(try !fileBytes(path).contains(text: "dog number 19999"))
      try database.close()
    }
  }

  @Test("a damaged node ends in an error, and the old file stays")
  func refusesDamage() throws {
    try withFilled { database, path, content in
      // Every node has been read and found right before it is damaged.
      let used = try FileInspection.inspect(path: path).spaceMap.filter {
        if case .node(let kind) = $0.use { kind != .freeList && kind != .group } else { false }
      }
      let bytes = try fileBytes(path)
      for run in used.indices where run % (used.count / 23) == 0 {
        let place = Int(used[run].offsetBytes) + 60
        try overwrite(path, [bytes[place] ^ 4], at: place)
        #expect(errorCode { try database.compact() } == .corrupted)
        let copy = path + ".copy"
        #expect(
          errorCode { try database.writeCopy(to: copy, encryptionKey: nil) } == .corrupted)
        #expect(!fileNames(in: String(path.dropLast(8))).contains { $0.contains("copy") })
        try overwrite(path, [bytes[place]], at: place)
      }
      #expect(try Content(database) == content)
      #expect(try database.compact())
    }
  }

  @Test("shouldCompactOnLaunch is asked by the first handle only, with the right numbers")
  func compactsOnLaunch() throws {
    try withFilled { database, path, content in
      let report = try database.verify()
      try database.close()
      let total = UInt64(fileSizeBytes(path))
      let asked = AskedSizes()
      var options = Database.Options()
      options.shouldCompactOnLaunch = { total, used in
        asked.add(total, used)
        return used < total * 3 / 4
      }
      let first = try Database.open(path: path, options: options)
      #expect(asked.all == [[total, 3 * 4096 + report.reachableBytes]])
      let compacted = UInt64(fileSizeBytes(path))
      #expect(compacted < total * 3 / 4)
      let second = try Database.open(path: path, options: options)
      #expect(asked.all.count == 1)
      #expect(try Content(first) == content)
      try first.close()
      try second.close()
      #expect(try Content(path: path, options) == content)
      #expect(asked.all.count == 2 && asked.all[1] == [compacted, compacted])
      #expect(UInt64(fileSizeBytes(path)) == compacted)
    }
  }
}

/// What shouldCompactOnLaunch was asked with.
private final class AskedSizes: Sendable {
  private let sizes = Mutex<[[UInt64]]>([])
  var all: [[UInt64]] { sizes.withLock { $0 } }
  func add(_ total: UInt64, _ used: UInt64) { sizes.withLock { $0.append([total, used]) } }
}

extension [UInt8] {
  /// Whether the text stands somewhere in the bytes.
  func contains(text: String) -> Bool {
    let needle = Array(text.utf8)
    return indices.dropLast(needle.count).contains { start in
      self[start] == needle[0] && self[start..<start + needle.count].elementsEqual(needle)
    }
  }
}
