// VectorDocument.swift: a record whose revision is a version vector. `extra` is absent without
// other revisions, else Fleece: an array by remote, whose items are null, or dicts with the
// revision's body at `.`, its ID at `@` and its flags at `&`. Content written there by the real
// library may point into `body`, so the two are read together.

import Fleece

/// The revision of a document in a remote database.
public struct VectorRevision: Hashable, Sendable {
  /// The revision's ID in its stored form: a vector, or a tree's revision ID from before.
  public var version: [UInt8]
  /// `.deleted`, `.hasAttachments`, `.conflicted`.
  public var flags: RecordFlags
  /// The body, with the file's shared keys; nil for a tombstone.
  public var body: [UInt8]?

  /// A revision.
  /// - Parameters:
  ///   - version: Its ID in its stored form.
  ///   - flags: Its flags.
  ///   - body: Its body.
  public init(version: [UInt8], flags: RecordFlags = [], body: [UInt8]?) {
    self.version = version
    self.flags = flags
    self.body = body
  }
}

/// A document whose revision is a version vector.
public struct VectorDocument: Hashable, Sendable {
  /// The stored record.
  public internal(set) var record: Record
  /// The vector; nil of a document that is not stored, or has a tree's revision from before.
  public internal(set) var vector: VersionVector?
  /// The revisions of remote databases, by their numbers from 1 on.
  public var remotes: [Int: VectorRevision] = [:]

  /// Most remote databases that are read.
  static let remotesMax = 0xffff

  /// The document's ID.
  public var id: String { record.key }

  /// A document that is not stored yet.
  /// - Parameter id: Its ID.
  public init(id: String) { record = Record(key: id) }

  /// Reads a record.
  /// - Parameters:
  ///   - record: The record, whole.
  ///   - keys: The file's shared keys.
  /// - Throws: `DocumentStoreError` with code `.corruptRevisionData` or `.badRevisionID`.
  /// - Complexity: O(bytes).
  public init(_ record: Record, keys: FleeceSharedKeys) throws(DocumentStoreError) {
    self.record = record
    guard VersionVector.isVector(record.version) else {
      try readTree()
      return
    }
    vector = try VersionVector(stored: record.version)
    guard let extra = record.extra else { return }
    let base = record.body ?? []
    remotes = try FleeceBodies.reading(base + extra, baseSizeBytes: base.count) {
      (root) throws(DocumentStoreError) in try Self.remotes(root, keys)
    }
    if record.flags.contains(.synced) {
      remotes[1] = VectorRevision(
        version: record.version, flags: record.flags.intersection([.deleted, .hasAttachments]),
        body: record.body)
    }
  }

  /// Reads a record from before the file had vectors.
  private mutating func readTree() throws(DocumentStoreError) {
    let tree = try TreeDocument(record).tree
    record.body = tree.revisions[0].body
    for (remote, index) in tree.remotes {
      let revision = tree.revisions[index]
      var flags: RecordFlags = revision.flags.contains(.deleted) ? .deleted : []
      if revision.flags.contains(.hasAttachments) { flags.insert(.hasAttachments) }
      remotes[Int(remote)] = VectorRevision(
        version: revision.id.stored, flags: flags, body: revision.body)
    }
  }

  private static func remotes(
    _ root: FleeceValue, _ keys: FleeceSharedKeys
  ) throws(DocumentStoreError) -> [Int: VectorRevision] {
    guard let array = root.array, array.count <= remotesMax else {
      throw DocumentStoreError(.corruptRevisionData, "the other revisions are no array")
    }
    var remotes: [Int: VectorRevision] = [:]
    for number in 0..<array.count {
      let item = try FleeceBodies.decoding { () throws(FleeceError) in try array.value(at: number) }
      guard number > 0, let dict = item?.dict else { continue }
      let parts = try FleeceBodies.decoding { () throws(FleeceError) in
        (
          id: try dict.value(for: "@"), flags: try dict.value(for: "&"),
          body: try dict.value(for: ".")
        )
      }
      guard let version = parts.id?.data?.array, !version.isEmpty else {
        throw DocumentStoreError(
          .corruptRevisionData, "the revision of remote \(number) has no ID")
      }
      let flags = RecordFlags(rawValue: UInt16(truncatingIfNeeded: parts.flags?.integer ?? 0))
      let body = try parts.body.map { (value) throws(DocumentStoreError) in
        try FleeceBodies.copy(value, keys: keys)
      }
      remotes[number] = VectorRevision(version: version, flags: flags, body: body)
    }
    return remotes
  }

  /// The column `extra`; nil without other revisions.
  func encodedRemotes(keys: FleeceSharedKeys) throws(DocumentStoreError) -> [UInt8]? {
    guard let last = remotes.keys.max() else { return nil }
    guard remotes.keys.allSatisfy({ (1...Self.remotesMax).contains($0) }) else {
      throw DocumentStoreError(.invalidParameter, "remotes have numbers from 1 to 65535")
    }
    return try FleeceBodies.decoding { () throws(FleeceError) in
      var encoder = FleeceEncoder(sharedKeys: keys)
      try encoder.beginArray()
      for number in 0...last {
        guard let revision = remotes[number] else {
          encoder.null()
          continue
        }
        try encoder.beginDict()
        if let body = revision.body {
          try encoder.key(".")
          try FleeceBytes.over(body) { (view: FleeceBytes) throws(FleeceError) in
            try encoder.copy(try FleeceValue.root(of: view), keys: keys)
          }
        }
        try encoder.key("@")
        try encoder.data(revision.version)
        if !revision.flags.isEmpty {
          try encoder.key("&")
          try encoder.integer(Int64(revision.flags.rawValue))
        }
        try encoder.endDict()
      }
      try encoder.endArray()
      return try encoder.finish()
    }
  }
}
