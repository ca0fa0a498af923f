// ReportedDocumentTests.swift: what users of the real library have reported of documents, blobs,
// tombstones, expirations, revisions and transactions, with the names of the reports. Each test has
// the reporter's steps, and shows what the report asks for.

import Foundation
import Testing

@testable import DocumentStore

@Suite("Reported faults of documents")
struct ReportedDocumentTests {
  private struct Planned: Error {}

  private func blob(_ digest: BlobDigest, _ more: String = "") -> String {
    "{\"logo\":{\"@type\":\"blob\",\"digest\":\"\(digest)\",\"content_type\":\"a/b\"}\(more)}"
  }

  private func save(
    _ id: String, _ json: String?, _ transaction: WriteTransaction
  ) throws {
    let store = try transaction.collection()
    let body = try json.map { try transaction.encode(json: $0) }
    try store.save(id, body: body, parent: try store.document(id)?.current?.id)
  }

  @Test("c 73, net 720: compaction keeps blobs of documents, also after other changes of them")
  func namedBlobs() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    let digest = try file.write { transaction -> BlobDigest in
      let digest = try transaction.putBlob([1, 2, 3])
      try save("a", blob(digest), transaction)
      return digest
    }
    #expect(try file.compact().removedBlobs == [])
    for number in 0..<3 {
      try file.write { try save("a", blob(digest, ",\"n\":\(number)"), $0) }
      #expect(try file.compact().removedBlobs == [])
      #expect(try file.read { try $0.blob(digest) } == [1, 2, 3])
    }
    try file.write { try save("a", #"{"n":4}"#, $0) }
    #expect(try file.compact().removedBlobs == [digest])
    try file.close()
  }

  @Test("core 422: compaction keeps what _attachments names")
  func oldAttachments() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    let digest = try file.write { transaction -> BlobDigest in
      let digest = try transaction.putBlob([7])
      let json = "{\"_attachments\":{\"x.txt\":{\"digest\":\"\(digest)\",\"length\":1}}}"
      try save("a", json, transaction)
      return digest
    }
    #expect(try file.compact().removedBlobs == [])
    #expect(try file.read { try $0.blob(digest) } == [7])
    #expect(try file.verify().problems == [])
    try file.close()
  }

  @Test("core 1875, 1889: blobs of pulled revisions and of conflicts are found by their bodies")
  func pulledBlobs() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    let digests = try file.write { transaction -> [BlobDigest] in
      let store = try transaction.collection()
      let digests = try [[1], [2]].map { try transaction.putBlob($0) }
      let first = try RevisionID("1-1111")
      try store.pull("a", history: [first], body: try transaction.encode(json: "{}"), from: 1)
      // The next revision adds a blob; the base had none.
      let pulled = try store.pull(
        "a", history: [try RevisionID("2-2222"), first],
        body: try transaction.encode(json: blob(digests[0])), from: 1)
      #expect(pulled.record.flags == .hasAttachments)
      let mine = try store.save(
        "a", body: try transaction.encode(json: #"{"n":1}"#), parent: pulled.current?.id)
      // The losing branch alone names the second blob.
      let both = try store.pull(
        "a", history: [try RevisionID("3-0000"), try RevisionID("2-2222")],
        body: try transaction.encode(json: blob(digests[1])), from: 1)
      #expect(both.current?.id == mine.current?.id)
      #expect(both.record.flags == [.conflicted, .hasAttachments])
      return digests
    }
    #expect(try file.compact().removedBlobs == [])
    #expect(try digests.map { digest in try file.read { try $0.blob(digest) } } == [[1], [2]])
    #expect(try file.verify().problems == [])
    try file.close()
  }

  @Test("net 1083: a deleted document can expire, and can be purged")
  func tombstones() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    for id in ["a", "b"] {
      try file.write { transaction in
        try save(id, "{}", transaction)
        try save(id, nil, transaction)
      }
    }
    try file.write { transaction in
      let store = try transaction.collection()
      #expect(try store.setExpiration(1000, of: "a"))
      #expect(try store.purge("b"))
      #expect(try !store.purge("b"))
    }
    #expect(try file.read { try $0.nextExpiration() } == 1000)
    #expect(try file.purgeExpired(nowMilliseconds: 1000).map(\.id) == ["a"])
    #expect(try file.read { try $0.collection().records(.changes(since: 0)) } == [])
    try file.close()
  }

  @Test("core 609, ios 2267: expiring at once, taking it back, and purging before it is due")
  func expirations() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    try file.write { transaction in
      let store = try transaction.collection()
      for id in ["now", "never", "gone", "later"] {
        try save(id, "{}", transaction)
        #expect(try store.setExpiration(id == "later" ? 5000 : 1000, of: id))
      }
      #expect(try store.setExpiration(nil, of: "never"))
      #expect(try !store.setExpiration(1000, of: "unknown"))
      #expect(try store.purge("gone"))
    }
    #expect(try file.purgeExpired(nowMilliseconds: 999) == [])
    #expect(try file.purgeExpired(nowMilliseconds: 1000).map(\.id) == ["now"])
    #expect(try file.purgeExpired(nowMilliseconds: 1000) == [])
    #expect(try file.read { try $0.nextExpiration() } == 5000)
    #expect(try file.read { try $0.collection().records().map(\.key) } == ["later", "never"])
    try file.close()
  }

  @Test("c 339, core 1552, core 1828: a document that is read anew for each save stays pruned")
  func pruning() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    for round in 0..<4 {
      try file.write { transaction in
        for number in 0..<30 { try save("d", "{\"n\":\(round * 30 + number)}", transaction) }
      }
    }
    try file.read { snapshot in
      let document = try #require(try snapshot.collection().document("d"))
      #expect(document.tree.revisions.map(\.id.generation) == (71...120).reversed())
    }
    let size = try PlainSQL(folder.bundle).number("SELECT length(extra) FROM kv_default")
    #expect(size ?? .max < 50 * 40)
    try file.close()
  }

  @Test("ios 1237: a conflict far behind does not keep the long branch from being pruned")
  func prunedConflict() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    try file.write { transaction in
      let store = try transaction.collection()
      let body = try transaction.encode(json: "{}")
      let first = try RevisionID("1-aa")
      try store.pull("d", history: [first], body: body, from: 1)
      try store.pull("d", history: [try RevisionID("2-bb"), first], body: body, from: 1)
      try store.pull("d", history: [try RevisionID("2-cc"), first], body: body, from: 2)
      for number in 0..<120 {
        let parent = try store.document("d")?.current?.id
        try store.save("d", body: try transaction.encode(json: "{\"n\":\(number)}"), parent: parent)
      }
      let tree = try #require(try store.document("d")).tree
      // The branch's last 50, the other leaf, and what remotes have.
      #expect(tree.revisions.count <= 54, "\(tree.revisions.count)")
      #expect(tree.index(of: try RevisionID("2-bb")) != nil)
      // Resolving it once ends it.
      let winner = try #require(tree.current?.id)
      let loser = try #require(tree.revisions.first { $0.flags.contains(.conflict) }?.id)
      #expect(try store.resolve("d", winner: winner, loser: loser).record.flags == [])
      #expect(code { try store.resolve("d", winner: winner, loser: loser) } == .conflict)
    }
    #expect(try file.verify().problems == [])
    try file.close()
  }

  @Test("net 732, ios 1437: what a rolled back transaction made is not remembered")
  func rolledBackIDs() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    try file.write { try save("old", #"{"of":"old"}"#, $0) }
    #expect(throws: Planned.self) {
      try file.write { transaction in
        try save("taken back", #"{"of":"taken back"}"#, transaction)
        throw Planned()
      }
    }
    try file.write { transaction in
      try save("other", #"{"of":"other"}"#, transaction)
      try save("taken back", #"{"of":"again"}"#, transaction)
    }
    try file.read { snapshot in
      let store = try snapshot.collection()
      for (id, of) in [("old", "old"), ("other", "other"), ("taken back", "again")] {
        let record = try #require(try store.record(id))
        #expect(try snapshot.json(of: record.body ?? []) == "{\"of\":\"\(of)\"}")
      }
      #expect(try store.lastSequence() == 3)
    }
    try file.close()
  }

  @Test("java-core 678: one change that fails in a batch takes no other one along")
  func batch() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    try file.write { transaction in
      for number in 0..<4 {
        try? transaction.nested { inner in
          try save("d\(number)", "{\"n\":\(number)}", inner)
          if number == 2 { throw Planned() }
        }
      }
    }
    #expect(try file.read { try $0.collection().records().map(\.key) } == ["d0", "d1", "d3"])
    let changes = try file.read { try $0.collection().records(.changes(since: 0)) }
    #expect(changes.map(\.sequence) == [1, 2, 3])
    try file.close()
  }

  @Test("core 270: reads within reads, and within what they pass on")
  func nestedReads() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    try file.write { for id in ["a", "b"] { try save(id, #"{"n":1}"#, $0) } }
    let query = StoreQuery("SELECT META().id WHERE n = 1", language: .text)
    var found: [Int] = []
    try file.read { snapshot in
      try snapshot.collection().enumerate(.init()) { _ in
        found.append(try snapshot.run(query).rows.count)
        found.append(try file.read { try $0.run(query).rows.count })
        return true
      }
    }
    #expect(found == [2, 2, 2, 2])
    try file.close()
  }

  @Test("core 729: an empty blob, and an attachment of another digest under the same document")
  func emptyBlob() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    let (empty, old) = try file.write { transaction -> (BlobDigest, BlobDigest) in
      let (empty, old) = (try transaction.putBlob([]), try transaction.putBlob([1]))
      #expect(empty.description == "sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=")
      let more = ",\"_attachments\":{\"x\":{\"digest\":\"\(old)\",\"length\":1,\"stub\":true}}"
      try save("a", blob(empty, more), transaction)
      return (empty, old)
    }
    #expect(try file.compact().removedBlobs == [])
    #expect(try file.read { try $0.blob(empty) } == [])
    #expect(try file.read { try $0.blob(old) } == [1])
    #expect(try file.verify().problems == [])
    try file.close()
  }

  @Test("android 1438: a blob of some megabytes comes back whole, also after opening again")
  func largeBlob() throws {
    let folder = try TemporaryFolder()
    let contents = (0..<6_000_001).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 9) }
    let file = try folder.make()
    let digest = try file.write { transaction -> BlobDigest in
      let digest = try transaction.putBlob(contents)
      try save("a", blob(digest), transaction)
      return digest
    }
    try file.close()
    let again = try DataFile(path: folder.bundle)
    #expect(try again.read { try $0.blob(digest) } == contents)
    try again.close()
  }

  @Test("core 714: the ID of a design document is refused, and takes nothing along")
  func designDocument() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    try file.write { transaction in
      try save("a", "{}", transaction)
      #expect(code { try save("_design/normal_repl", "{}", transaction) } == .badDocumentID)
    }
    #expect(try file.read { try $0.collection().records().map(\.key) } == ["a"])
    try file.close()
  }
}
