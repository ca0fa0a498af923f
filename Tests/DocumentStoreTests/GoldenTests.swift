// GoldenTests.swift: real files: each record is listed as its notes say, before and after upgrades.

import Fleece
import Foundation
import Testing

@testable import DocumentStore

@Suite("Real files")
struct GoldenTests {
  @Test("list what their notes say, read as they are", arguments: Golden.names)
  func unchanged(name: String) throws {
    let folder = try TemporaryFolder()
    let path = try Golden.unpack(name, into: folder)
    var options = DataFile.Options()
    options.isReadOnly = true
    let file = try DataFile(path: path, options: options)
    try compare(file, with: try Golden.notes(name, in: folder), name: name)
    try file.close()
  }

  @Test("list what their notes say, upgraded", arguments: Golden.names)
  func upgraded(name: String) throws {
    let folder = try TemporaryFolder()
    let path = try Golden.unpack(name, into: folder)
    let file = try DataFile(path: path)
    try compare(file, with: try Golden.notes(name, in: folder), name: name)
    try file.close()
  }

  @Test("with a write-ahead log show the last whole commit, wherever it is cut")
  func writeAheadLog() throws {
    let states = try walStates()
    for (frames, state) in states {
      for extra in [0, 1] where extra == 0 || frames < 26 {
        let folder = try TemporaryFolder()
        let path = try Golden.unpack("wal", into: folder)
        let log = path + "/db.sqlite3-wal"
        let bytes = try #require(FileManager.default.contents(atPath: log))
        // A frame has 24 bytes before its page. One frame more is not a whole commit.
        let size = 32 + (frames + extra) * (24 + 4096)
        try bytes.prefix(size).write(to: URL(filePath: log))
        let file = try DataFile(path: path)
        try file.read { snapshot in
          let store = try snapshot.collection()
          let counters = try #require((state["kvmeta"] as? [[Any]])?.first)
          let (last, purges) = (try store.lastSequence(), try store.purgeCount())
          let count = try store.count()
          #expect(last == (counters[1] as? NSNumber)?.int64Value)
          #expect(purges == (counters[2] as? NSNumber)?.int64Value)
          #expect(count == (state["n_live"] as? NSNumber)?.intValue)
        }
        try file.close()
      }
    }
  }

  /// The states of `wal.states.txt`, by the number of frames that lead to each.
  private func walStates() throws -> [(Int, [String: Any])] {
    let folder = try TemporaryFolder()
    _ = try Golden.unpack("wal", into: folder)
    let text = try String(contentsOfFile: folder.path + "/wal.states.txt", encoding: .utf8)
    return try text.split(separator: "\n").compactMap { line in
      let parts = line.split(separator: " ", maxSplits: 2)
      guard parts.count == 3, let frames = Int(parts[0]) else { return nil }
      let object = try JSONSerialization.jsonObject(with: Data(parts[2].utf8))
      return (frames, try #require(object as? [String: Any]))
    }
  }

  private func compare(_ file: DataFile, with notes: [GoldenRow], name: String) throws {
    try file.read { snapshot in
      var rows = Dictionary(grouping: notes) { $0.table }
      for store in try snapshot.keyStores() where store != .info {
        let keyStore = try #require(try snapshot.keyStore(store))
        var options = KeyStore.Enumeration.changes(since: 0)
        options.order = .key
        let records = try keyStore.records(options)
        let live = rows.removeValue(forKey: store.table) ?? []
        let dead = rows.removeValue(forKey: store.deadTable) ?? []
        var expected = Dictionary(uniqueKeysWithValues: (live + dead).map { ($0.id, $0) })
        let count = try keyStore.count()
        let countOfLive = live.count {
          store != .defaultCollection || ($0.number("flags") ?? 0) & 1 == 0
        }
        #expect(count == countOfLive)
        for record in records {
          let found = expected.removeValue(forKey: record.key)
          let row = try #require(found, "\(record.key)")
          try compare(record, row, snapshot)
        }
        #expect(expected.isEmpty)
      }
      #expect(rows.isEmpty, "\(rows.keys.sorted())")
    }
  }

  private func compare(_ record: Record, _ row: GoldenRow, _ snapshot: Snapshot) throws {
    #expect(record.sequence == row.number("sequence") ?? 0)
    #expect(Int64(record.flags.rawValue) == row.number("flags"))
    #expect(record.subsequence == row.number("subsequence"))
    #expect(record.expirationMilliseconds == row.number("expiration_ms"))
    if row.revid.hasPrefix("vv:") {
      let document = try VectorDocument(record, keys: snapshot.sharedKeys)
      #expect("vv:" + (try #require(document.vector).stored()).hex == row.revid)
      try compareBody(record.body, row, snapshot)
    } else if row.fields["tree"] != nil || row.fields["tree_simple"] != nil {
      let document = try TreeDocument(record)
      try compare(document, row, snapshot)
    } else {
      try compareBody(record.body, row, snapshot)
    }
  }

  private func compareBody(_ body: [UInt8]?, _ row: GoldenRow, _ snapshot: Snapshot) throws {
    if let length = row.number("body_len") { #expect(Int64(body?.count ?? 0) == length) }
    if let hex = row.text("body_hex") { #expect(body?.hex == hex) }
    if let sha1 = row.text("body_sha1") { #expect(SHA1.digest(body ?? []).hex == sha1) }
    if let body, row.fields["body"] is [String: Any] {
      #expect(try isSameJSON(plainJSON(body, snapshot), row.body), "\(row.id)")
    }
  }

  /// JSON without what the notes write otherwise.
  private func plainJSON(_ body: [UInt8], _ snapshot: Snapshot) throws -> String {
    try snapshot.json(of: body)
  }

  private func compare(
    _ document: TreeDocument, _ row: GoldenRow, _ snapshot: Snapshot
  ) throws {
    let tree = document.tree
    #expect(document.current?.id.description == row.revid)
    try compareBody(document.record.extra == nil ? nil : document.record.body, row, snapshot)
    guard let entries = row.fields["tree"] as? [[String: Any]] else {
      // One entry, of sequence 0, and no pairs but 3.2's mark.
      #expect(
        tree.revisions.count == 1 && document.record.extra?.suffix(8) == [0, 0, 0, 0, 0, 0, 0, 0])
      let extra = Array(try #require(document.record.extra).dropLast(4))
      if !document.record.flags.contains(.synced) {
        #expect(try unsequenced(tree).encoded() == extra)
      }
      return
    }
    #expect(tree.revisions.count == entries.count)
    for (revision, fields) in zip(tree.revisions, entries) {
      let entry = GoldenRow(fields)
      #expect(revision.id.description == entry.revid)
      #expect(revision.parent.map(Int64.init) == entry.number("parent"))
      let flags = try #require(entry.number("flags"))
      if !document.record.flags.contains(.synced) {
        #expect(Int64(revision.flags.rawValue) == flags & 0x7f)
      }
      let sequence = try #require(entry.number("sequence"))
      #expect(revision.sequence == (sequence == 0 ? document.record.sequence : sequence))
      if flags & 0x80 != 0 {
        #expect(try isSameJSON(snapshot.json(of: revision.body ?? []), entry.body))
      }
    }
  }

  private func unsequenced(_ tree: RevisionTree) -> RevisionTree {
    var tree = tree
    for index in tree.revisions.indices { tree.revisions[index].sequence = nil }
    return tree
  }

  @Test("have revision IDs that are computed here from parent and body")
  func revisionIDs() throws {
    var count = 0
    for name in ["basic", "collections", "conflict", "values", "real-3.0-tombstones"] {
      let folder = try TemporaryFolder()
      var options = DataFile.Options()
      options.isReadOnly = true
      let file = try DataFile(path: try Golden.unpack(name, into: folder), options: options)
      try file.read { snapshot in
        for collection in try snapshot.collections() {
          var all = KeyStore.Enumeration()
          all.includesDeleted = true
          for record in try snapshot.collection(collection).records(all) {
            let tree = try TreeDocument(record).tree
            for revision in tree.revisions {
              // Drawn ones and those whose parent was pruned are not computed from what is there.
              guard let body = revision.body, revision.id.digest.count == 20,
                revision.id.generation == 1 || revision.parent != nil,
                !revision.flags.contains(.conflict)
              else { continue }
              let id = try RevisionID(
                body: body, isDeleted: revision.flags.contains(.deleted),
                parent: revision.parent.map { tree.revisions[$0].id })
              #expect(id == revision.id, "\(name) \(record.key)")
              count += 1
            }
          }
        }
      }
      try file.close()
    }
    #expect(count > 400)
  }
}
