// BlobTests.swift: blobs are put, named, read and collected.

import Foundation
import Testing

@testable import DocumentStore

@Suite("Blobs")
struct BlobTests {
  private struct Planned: Error {}

  private func files(_ bundle: String) throws -> [String] {
    let path = bundle + "/Attachments"
    guard FileManager.default.fileExists(atPath: path) else { return [] }
    return try FileManager.default.contentsOfDirectory(atPath: path).sorted()
  }

  private func json(_ digest: BlobDigest) -> String {
    "{\"pictures\":[{\"@type\":\"blob\",\"digest\":\"\(digest)\",\"length\":3}]}"
  }

  @Test("have digests and names as the real library's")
  func names() throws {
    #expect(BlobDigest(of: []).description == "sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=")
    #expect(BlobDigest(of: []).fileName == "2jmj7l5rSw0yVb_vlWAYkK_YBwk=.blob")
    #expect(SHA1.digest(Array("abc".utf8)).hex == "a9993e364706816aba3e25717850c26c9cd0d89d")
    let long = [UInt8](repeating: 0x61, count: 1_000_000)
    #expect(SHA1.digest(long).hex == "34aa973cd4c4daa4f61eeb2bdbad27316534016f")
    for size in 50..<140 {
      var pieces = SHA1()
      let bytes = (0..<size).map { UInt8($0) }
      for byte in bytes { pieces.update([byte]) }
      #expect(pieces.finish() == SHA1.digest(bytes))
    }
    let digest = BlobDigest(of: long)
    #expect(BlobDigest(digest.description) == digest)
    #expect(BlobDigest(fileName: digest.fileName) == digest)
    for bad in [
      "", "sha1-", "sha1-AAAA", "md5-2jmj7l5rSw0yVb/vlWAYkK/YBwk=", "sha1-2jmj7l5rSw0yVb",
    ] {
      #expect(BlobDigest(bad) == nil)
    }
    #expect(BlobDigest(fileName: "../2jmj7l5rSw0yVb_vlWAYkK_YBwk=.blob") == nil)
  }

  @Test("that could not be synced are written anew, not synced once more")
  func failedSync() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    let store = file.blobStore
    let digest = try store.put([1, 2, 3])
    func number() throws -> UInt64 {
      let attributes = try FileManager.default.attributesOfItem(atPath: store.path(digest))
      return try #require((attributes[.systemFileNumber] as? NSNumber)?.uint64Value)
    }
    let first = try number()
    #expect(try store.put([1, 2, 3]) == digest && number() == first, "it is known")
    for isPut in [true, false] {
      let before = try number()
      file.knownBlobs.remove(digest)
      file.knownBlobs.noteFailure(digest)
      if isPut { _ = try store.put([1, 2, 3]) } else { try store.sync(digest) }
      #expect(try number() != before, "a file whose sync failed")
      #expect(try store.contents(digest) == [1, 2, 3])
      #expect(!file.knownBlobs.hasFailed(digest) && file.knownBlobs.contains(digest))
    }
    try file.close()
  }

  @Test("are there with the documents that name them, and collected without them")
  func collection() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    let digests = try file.write { transaction -> [BlobDigest] in
      let store = try transaction.collection()
      let digests = try (0..<4).map { try transaction.putBlob([1, 2, UInt8($0)]) }
      let first = try store.save("a", body: try transaction.encode(json: json(digests[0])))
      #expect(first.record.flags == .hasAttachments)
      // A blob of an older revision that a remote has is kept with it.
      try store.setFlags(.synced, of: "a", sequence: first.record.sequence)
      let body = try transaction.encode(json: json(digests[1]))
      try store.save("a", body: body, parent: first.current?.id)
      let old = "{\"_attachments\":{\"x\":{\"digest\":\"\(digests[2])\"}}}"
      try store.save("b", body: try transaction.encode(json: old))
      return digests
    }
    try Data([9]).write(to: URL(filePath: folder.bundle + "/Attachments/readme"))
    #expect(try files(folder.bundle).count == 5)
    #expect(try file.read { try $0.blob(digests[1]) } == [1, 2, 1])
    #expect(try file.compact().removedBlobs == [digests[3]])
    #expect(try file.compact().removedBlobs == [])
    try file.write { transaction in
      let store = try transaction.collection()
      try store.purge("b")
      #expect(code { _ = try file.compact() } == .invalidParameter)
    }
    #expect(try file.compact().removedBlobs == [digests[2]])
    #expect(try file.read { try $0.blob(digests[2]) } == nil)
    #expect(try file.verify().problems == [])
    #expect(try files(folder.bundle).contains("readme"))
    try file.close()
  }

  @Test("of a transaction that is taken back go when the file is compacted")
  func rollback() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    #expect(throws: Planned.self) {
      try file.write { transaction in
        _ = try transaction.putBlob([1])
        throw Planned()
      }
    }
    #expect(try files(folder.bundle).count == 1)
    #expect(try file.compact().removedBlobs == [BlobDigest(of: [1])])
    #expect(try files(folder.bundle).isEmpty)
    try file.close()
  }

  @Test("that a crash tore are found, and written again when they are put again")
  func torn() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    let contents = [UInt8](repeating: 7, count: 5000)
    let digest = try file.write { transaction -> BlobDigest in
      let digest = try transaction.putBlob(contents)
      try transaction.collection().save("a", body: try transaction.encode(json: json(digest)))
      return digest
    }
    let path = folder.bundle + "/Attachments/" + digest.fileName
    for damaged in [Data(), Data(contents.prefix(100)), Data(contents.dropLast() + [8])] {
      try FileManager.default.removeItem(atPath: path)
      try damaged.write(to: URL(filePath: path))
      #expect(code { _ = try file.read { try $0.blob(digest) } } == .corruptData)
      #expect(try file.verify().problems.map(\.rule) == [.blobs])
      try file.write { _ = try $0.putBlob(contents) }
      #expect(try file.verify().problems == [])
    }
    try FileManager.default.removeItem(atPath: path)
    #expect(try file.verify().problems.map(\.key) == ["a"])
    try file.close()
  }

  @Test("are kept when a record cannot be read that may name them")
  func unreadable() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    try file.write { transaction in
      let digest = try transaction.putBlob([1])
      try transaction.collection().save("a", body: try transaction.encode(json: json(digest)))
    }
    try PlainSQL(folder.bundle).execute("UPDATE kv_default SET extra = x'00000009'")
    #expect(code { _ = try file.compact() } == .corruptRevisionData)
    #expect(try files(folder.bundle).count == 1)
    try file.close()
  }
}
