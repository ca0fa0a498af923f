// DocumentTests.swift: documents are saved, pulled, resolved and pruned in a file.

import Foundation
import Testing

@testable import DocumentStore

@Suite("Documents")
struct DocumentTests {
  @Test("saved as the real library saved them have its bytes")
  func replayed() throws {
    // The document `long` of the file `conflict`: 60 saves of {"i": 0…59}, pruned to 50.
    let (folder, golden) = (try TemporaryFolder(), try TemporaryFolder())
    let file = try folder.make()
    try file.write { transaction in
      // The keys of that file, in its order.
      _ = try transaction.encode(json: #"{"v":0,"i":0}"#)
      for index in 0..<60 {
        let store = try transaction.collection()
        let parent = try store.document("long")?.current?.id
        let body = try transaction.encode(json: "{\"i\":\(index)}")
        try store.save("long", body: body, parent: parent)
      }
    }
    let real = try PlainSQL(try Golden.unpack("conflict", into: golden))
    let plain = try PlainSQL(folder.bundle)
    for column in ["version", "body"] {
      let sql = "SELECT hex(\(column)) FROM kv_default WHERE key = 'long'"
      #expect(try plain.texts(sql) == real.texts(sql))
    }
    let sql = "SELECT hex(extra) FROM kv_default WHERE key = 'long'"
    let (mine, theirs) = (try #require(plain.texts(sql).first), try #require(real.texts(sql).first))
    let tree = try RevisionTree(reading: try #require([UInt8](hex: theirs)), sequence: 70)
    let saved = try RevisionTree(reading: try #require([UInt8](hex: mine)), sequence: 60)
    #expect(saved.revisions.map(\.id) == tree.revisions.map(\.id))
    #expect(saved.revisions.map(\.parent) == tree.revisions.map(\.parent))
    #expect(saved.revisions.map(\.flags) == tree.revisions.map(\.flags))
    #expect(saved.revisions.map(\.sequence) == tree.revisions.map { $0.sequence.map { $0 - 10 } })
    try file.close()
  }

  @Test("are refused unless they follow what is there")
  func conflicts() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    try file.write { transaction in
      let store = try transaction.collection()
      let (one, two) = (
        try transaction.encode(json: #"{"a":1}"#), try transaction.encode(json: "{}")
      )
      let none = try RevisionID("1-aa")
      #expect(code { try store.save("d", body: one, parent: none) } == .notFound)
      #expect(code { try store.save("d", body: nil) } == .notFound)
      let first = try #require(try store.save("d", body: one).current?.id)
      #expect(first.generation == 1)
      #expect(code { try store.save("d", body: two) } == .conflict)
      #expect(code { try store.save("d", body: nil) } == .conflict)
      #expect(code { try store.save("d", body: two, parent: none) } == .conflict)
      let second = try #require(try store.save("d", body: two, parent: first).current?.id)
      #expect(code { try store.save("d", body: one, parent: first) } == .conflict)
      // The same body on the same parent is the same revision.
      #expect(try store.save("d", body: two, parent: first).current?.id == second)
      #expect(try store.lastSequence() == 2)
      let dead = try store.save("d", body: nil, parent: second)
      #expect(dead.record.flags == .deleted && dead.record.body == [0x70, 0])
      let again = try store.save("d", body: one)
      #expect(again.current?.id.generation == 4 && again.record.sequence == 4)
      #expect(again.current?.parent.map { again.tree.revisions[$0].id } == dead.current?.id)
      for id in ["", "_a", "a\u{1}", String(repeating: "a", count: 241)] {
        #expect(code { try store.save(id, body: one) } == .badDocumentID)
      }
      for json in [#"{"_id":1}"#, #"{"_rev":1}"#, #"{"_deleted":false}"#, "[1]"] {
        let body = try transaction.encode(json: json)
        #expect(code { try store.save("x", body: body) } == .corruptRevisionData)
      }
    }
    let rows = try PlainSQL(folder.bundle).rows("kv_default")
    #expect(rows.map(\.key) == ["d"] && rows[0].flags == 0)
    try file.close()
  }

  @Test("pulled beside the current revision are conflicts, until one wins")
  func pulls() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    try file.write { transaction in
      let store = try transaction.collection()
      let body = try transaction.encode(json: #"{"v":"remote"}"#)
      let mine = try transaction.encode(json: #"{"v":1}"#)
      try store.pull(
        "c", history: [RevisionID("2-2222"), RevisionID("1-1111")], body: body, from: 1)
      let local = try store.save("c", body: mine, parent: try RevisionID("2-2222"))
      let remote = try store.pull(
        "c", history: [RevisionID("3-3333"), RevisionID("2-2222")], body: body, from: 1)
      // As the file `conflict` has it, but for bodies.
      #expect(remote.record.flags == .conflicted)
      #expect(remote.tree.revisions.map(\.flags.rawValue) == [0x02, 0x32, 0x10, 0x00])
      #expect(remote.tree.revisions.map(\.parent) == [2, 2, 3, nil])
      #expect(remote.tree.remotes == [1: 1])
      #expect(remote.tree.revisions.map { $0.body != nil } == [true, true, true, false])
      let sequence = remote.record.sequence
      let same = try store.pull("c", history: [RevisionID("3-3333")], body: body, from: 1)
      #expect(same.record.sequence == sequence)
      let winner = try RevisionID("3-3333")
      let won = try store.resolve(
        "c", winner: winner, loser: try #require(local.current?.id), body: mine)
      #expect(won.record.flags == [] && won.current?.id.generation == 4)
      #expect(won.tree.remotes.mapValues { won.tree.revisions[$0].id } == [1: winner])
      #expect(code { try store.resolve("c", winner: winner, loser: winner) } == .conflict)
      #expect(code { try store.resolve("no", winner: winner, loser: winner) } == .notFound)
    }
    let plain = try PlainSQL(folder.bundle)
    let extra = try #require(
      try plain.texts("SELECT hex(extra) FROM kv_default").first.flatMap { [UInt8](hex: $0) })
    // The pair of remote 1 stands last, without 3.2's mark behind it.
    #expect(extra.suffix(8).prefix(4) == [0, 0, 0, 0] && extra.suffix(4).prefix(2) == [0, 1])
    try file.close()
  }

  @Test("that were pushed keep the pushed revision's body when they change")
  func synced() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    try file.write { transaction in
      let store = try transaction.collection()
      let body = try transaction.encode(json: #"{"v":1}"#)
      let first = try store.save("d", body: body)
      try store.setFlags(.synced, of: "d", sequence: first.record.sequence)
      let other = try transaction.encode(json: #"{"v":2}"#)
      let second = try store.save("d", body: other, parent: first.current?.id)
      #expect(second.record.flags == [] && second.tree.remotes == [1: 1])
      #expect(second.tree.revisions[1].flags == .keepsBody)
      #expect(try store.document("d")?.tree.revisions[1].body == body)
    }
    try file.close()
  }

  @Test("of a chosen depth stay small through many saves")
  func depth() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    try file.write { transaction in
      try transaction.setRevisionDepthMax(3)
      #expect(code { try transaction.setRevisionDepthMax(0) } == .invalidParameter)
      let store = try transaction.collection()
      var parent: RevisionID?
      for index in 0..<40 {
        let body = try transaction.encode(json: "{\"i\":\(index)}")
        parent = try store.save("d", body: body, parent: parent).current?.id
      }
      #expect(try store.document("d")?.tree.revisions.map(\.id.generation) == [40, 39, 38])
    }
    #expect(try PlainSQL(folder.bundle).number("SELECT length(extra) FROM kv_default") ?? 0 < 110)
    try file.close()
  }

  @Test("of 2.x are saved in the form of 3.x, one by one")
  func oldTrees() throws {
    let folder = try TemporaryFolder()
    let path = try Golden.unpack("real-2.7", into: folder)
    let file = try DataFile(path: path)
    try file.write { transaction in
      let store = try transaction.collection()
      let old = try #require(try store.document("doc-001"))
      #expect(old.record.extra == nil)
      var tree = old.tree
      for index in tree.revisions.indices { tree.revisions[index].sequence = nil }
      #expect(try tree.encoded(.old) == old.record.body)
      #expect(
        try transaction.snapshot.json(of: old.current?.body ?? []) == #"{"n":1,"even":false}"#)
      let body = try transaction.encode(json: #"{"n":1,"even":true}"#)
      try store.save("doc-001", body: body, parent: old.current?.id)
    }
    try file.read { snapshot in
      let changed = try #require(try snapshot.collection().document("doc-001"))
      #expect(changed.record.sequence == 101 && changed.tree.revisions.count == 2)
      let json = try snapshot.json(of: changed.record.body ?? [])
      #expect(json == #"{"n":1,"even":true}"#)
      #expect(try snapshot.collection().document("doc-002")?.record.extra == nil)
    }
    try file.close()
  }

  @Test("with version vectors are saved with later times, and keep what remotes have")
  func vectors() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make {
      $0.versioning = .vectors
      $0.nanoseconds = { 0x1_0000 }
    }
    try file.write { transaction in
      let store = try transaction.collection()
      let body = try transaction.encode(json: #"{"n":[1,2],"name":"Ann"}"#)
      var document = VectorDocument(id: "d")
      try store.save(&document, body: body)
      #expect(document.vector?.description == "10000@*" && document.record.extra == nil)
      var stale = document
      document.remotes[2] = VectorRevision(
        version: document.record.version, flags: .hasAttachments, body: body)
      try store.save(&document, body: nil)
      #expect(document.record.flags == [.deleted, .hasAttachments])
      #expect(document.vector?.description == "10001@*" && document.record.body == nil)
      #expect(try store.vectorDocument("d") == document)
      #expect(code { try store.save(&stale, body: body) } == .conflict)
      #expect(code { try store.save("t", body: body) } == .unsupported)
    }
    let plain = try PlainSQL(folder.bundle)
    // 00; 10001 doubled plus 1 as a number of three bytes; this data file, and current.
    #expect(try plain.texts("SELECT hex(version) FROM kv_del_default") == ["0083800880"])
    #expect(try plain.number("SELECT count(*) FROM kv_del_default WHERE body IS NULL") == 1)
    try file.close()
    let real = try TemporaryFolder()
    let vectors = try DataFile(path: try Golden.unpack("vectors", into: real))
    try vectors.write { transaction in
      let store = try transaction.collection()
      var document = try #require(try store.vectorDocument("v2"))
      let body = try transaction.encode(json: #"{"n":3}"#)
      try store.save(&document, body: body)
      #expect(document.record.sequence == 28)
    }
    try vectors.close()
  }
}
