// BundleInspectionTests.swift: bundles are shown as they are, and not changed; damaged and hostile
// ones give errors or problems, and never trap.

import DocumentStore
import Foundation
import Testing

@testable import DocumentInspection

@Suite("an inspection of a bundle")
struct BundleInspectionTests {
  /// A folder that lives as long as the object.
  private final class Folder: Sendable {
    let path = "/dev/shm/bundles-" + UUID().uuidString

    init() throws {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    var bundle: String { path + "/a.cblite2" }

    /// All files with their contents.
    func contents() throws -> [String: Data] {
      var found: [String: Data] = [:]
      for name in try FileManager.default.subpathsOfDirectory(atPath: path) {
        let type = try FileManager.default.attributesOfItem(atPath: path + "/" + name)[.type]
        let isFile = type as? FileAttributeType == .typeRegular
        found[name] = isFile ? try Data(contentsOf: URL(filePath: path + "/" + name)) : Data()
      }
      return found
    }
  }

  /// Two collections, a tombstone, an expiration, a blob and two indexes.
  private static func fill(_ file: DataFile) throws {
    try file.write { transaction in
      let store = try transaction.collection()
      for number in 1...3 {
        let body = try transaction.encode(json: "{\"name\": \"note \(number)\", \"n\": \(number)}")
        try store.save("note-\(number)", body: body)
      }
      let digest = try transaction.putBlob([1, 2, 3])
      let blob = "{\"picture\": {\"@type\": \"blob\", \"digest\": \"\(digest)\"}}"
      try store.save("blob", body: try transaction.encode(json: blob))
      try store.setExpiration(4_000_000_000_000, of: "note-1")
      let gone = try #require(try store.document("note-3")?.current?.id)
      try store.save("note-3", body: nil, parent: gone)
      try store.createIndex(IndexSpecification("byName", .value, json: #"[[".name"]]"#))
      try store.createIndex(
        IndexSpecification("words", .fullText(FullTextOptions()), json: #"[[".name"]]"#))
      let chairs = try transaction.collection(try CollectionName("chairs", scope: "inventory"))
      try chairs.save("c", body: try transaction.encode(json: "{}"))
    }
  }

  @Test("shows collections, counts, indexes and blobs, and changes nothing, also beside a writer")
  func sound() throws {
    let folder = try Folder()
    let file = try DataFile(path: folder.bundle)
    try Self.fill(file)
    // The writer has the file open: all commits are in the log.
    let before = try folder.contents()
    #expect(before["a.cblite2/db.sqlite3-wal"]?.isEmpty == false)
    let found = try BundleInspection(path: folder.bundle, verifies: true)
    #expect(try folder.contents() == before)
    #expect(found.isSound && found.check?.records == 5 && found.check?.unchecked == [])
    #expect(found.formatVersion == 503 && found.versioning == "trees")
    #expect(found.publicUUID.count == 36 && found.sharedKeys.contains("name"))
    #expect(found.blobCount == 1 && found.blobSizeBytes == 3 && found.logSizeBytes > 0)
    #expect(found.collections.map(\.name) == ["_default._default", "inventory.chairs"])
    let notes = try #require(found.collections.first)
    #expect(notes.live == 3 && notes.deleted == 1 && notes.lastSequence == 5)
    #expect(notes.expiring == 1 && notes.withBlobs == 1)
    #expect(notes.nextExpirationMilliseconds == 4_000_000_000_000)
    #expect(notes.indexes.map(\.name) == ["byName", "words"])
    #expect(found.lines().last == "sound" && found.lines().contains { $0.contains("inventory") })
    #expect(try found.json().contains("\"lastSequence\" : 5"))
    try file.close()
    #expect(try BundleInspection(path: folder.bundle + "/").collections.count == 2)
  }

  @Test("shows documents as lines of JSON")
  func documents() throws {
    let folder = try Folder()
    let file = try DataFile(path: folder.bundle)
    try Self.fill(file)
    var lines: [String] = []
    #expect(try BundleDocuments.lines(path: folder.bundle) { lines.append($0) })
    #expect(lines.count == 4)
    #expect(
      lines[1].contains(#""id":"note-1""#) && lines[1].contains(#""body":{"name":"note 1","n":1}"#))
    #expect(
      lines[1].contains(#""expiration":4000000000000"#) && lines[1].contains(#""revision":"1-"#))
    for line in lines { _ = try JSONSerialization.jsonObject(with: Data(line.utf8)) }
    lines = []
    _ = try BundleDocuments.lines(path: folder.bundle, collection: "inventory.chairs") {
      lines.append($0)
    }
    #expect(lines.count == 1)
    lines = []
    _ = try BundleDocuments.lines(path: folder.bundle, collection: "_default", limit: 2) {
      lines.append($0)
    }
    #expect(lines.count == 2)
    #expect(throws: InspectionFailure.self) {
      _ = try BundleDocuments.lines(path: folder.bundle, collection: "none") { _ in }
    }
    try file.close()
  }

  @Test("finds what is wrong: a record that does not decode, and a blob that is missing")
  func damage() throws {
    let folder = try Folder()
    let file = try DataFile(path: folder.bundle)
    try Self.fill(file)
    try file.write { transaction in
      var record = Record(key: "bad", body: [0xff, 0xff])
      record.version = [1, 2]
      try transaction.collection(try CollectionName("chairs", scope: "inventory")).set(&record)
    }
    try file.close()
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.bundle + "/Attachments")
    {
      try FileManager.default.removeItem(atPath: folder.bundle + "/Attachments/" + name)
    }
    #expect(try BundleInspection(path: folder.bundle).isSound, "counts alone are right")
    let found = try BundleInspection(path: folder.bundle, verifies: true)
    #expect(!found.isSound && found.problems.contains { $0.hasPrefix("blobs") })
    #expect(found.problems.contains { $0.contains("'bad'") })
    #expect(found.lines().last?.hasPrefix("damaged") == true)
    var lines: [String] = []
    #expect(try !BundleDocuments.lines(path: folder.bundle) { lines.append($0) })
    #expect(lines.count == 5 && lines.contains { $0.contains("\"error\":") })
  }

  @Test("refuses what is not a bundle")
  func refusals() throws {
    let folder = try Folder()
    let path = folder.bundle
    #expect(!BundleInspection.isBundle(folder.path) && BundleInspection.isBundle(path))
    #expect(throws: InspectionFailure.self) { _ = try BundleInspection(path: path) }
    try FileManager.default.createDirectory(
      atPath: path + "/db.sqlite3", withIntermediateDirectories: true)
    #expect(throws: InspectionFailure.self) { _ = try BundleInspection(path: path) }
    try FileManager.default.removeItem(atPath: path + "/db.sqlite3")
    // A device, as a pipe would block.
    try FileManager.default.createSymbolicLink(
      atPath: path + "/db.sqlite3", withDestinationPath: "/dev/zero")
    #expect(throws: InspectionFailure.self) { _ = try BundleInspection(path: path) }
    try FileManager.default.removeItem(atPath: path + "/db.sqlite3")
    for bytes in [Data(), Data("hello".utf8), Data(repeating: 0, count: 8192)] {
      try bytes.write(to: URL(filePath: path + "/db.sqlite3"))
      #expect(throws: InspectionFailure.self) { _ = try BundleInspection(path: path) }
    }
  }

  @Test("of damaged bytes ends with a result or an error")
  func hostile() throws {
    let folder = try Folder()
    let file = try DataFile(path: folder.bundle)
    try Self.fill(file)
    try file.close()
    let path = URL(filePath: folder.bundle + "/db.sqlite3")
    let sound = try Data(contentsOf: path)
    var (state, seen) = (UInt64(1), [0, 0])
    func next(_ bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % bound
    }
    for _ in 0..<20 {
      var bytes = sound
      for _ in 0...next(20) { bytes[next(bytes.count)] = UInt8(next(256)) }
      if next(4) == 0 { bytes = bytes.prefix(next(bytes.count)) }
      try bytes.write(to: path)
      do {
        let found = try BundleInspection(path: folder.bundle, verifies: true)
        seen[found.isSound ? 0 : 1] += 1
        _ = (found.lines(), try found.json())
        _ = try? BundleDocuments.lines(path: folder.bundle) { _ in }
      } catch {
        #expect(error is InspectionFailure)
        seen[1] += 1
      }
    }
    #expect(seen[1] > 5, "damage is noticed: \(seen)")
  }
}
