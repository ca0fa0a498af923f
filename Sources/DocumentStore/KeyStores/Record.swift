// Record.swift: a row of a key store.

/// The flags of a document's row; the low 16 bits of the column `flags`.
public struct RecordFlags: OptionSet, Hashable, Sendable {
  /// The bits.
  public let rawValue: UInt16

  /// Flags of bits.
  /// - Parameter rawValue: The bits.
  public init(rawValue: UInt16) { self.rawValue = rawValue }

  /// The current revision is a tombstone.
  public static let deleted = RecordFlags(rawValue: 1)
  /// There is another live leaf besides the current revision.
  public static let conflicted = RecordFlags(rawValue: 2)
  /// A revision names blobs.
  public static let hasAttachments = RecordFlags(rawValue: 4)
  /// The current revision was pushed.
  public static let synced = RecordFlags(rawValue: 8)
  /// The server refused a revision.
  public static let rejected = RecordFlags(rawValue: 0x80)
  static let known: RecordFlags = [.deleted, .conflicted, .hasAttachments, .synced, .rejected]
}

/// A record of a key store.
public struct Record: Hashable, Sendable {
  /// The key: a document's ID.
  public var key: String
  /// Its place in the order of changes; 0 for a record that is not stored, or is without one.
  public var sequence: Int64 = 0
  /// Rises with each change that keeps the sequence.
  public var subsequence: Int64 = 0
  /// Its flags.
  public var flags: RecordFlags = []
  /// The current revision's ID.
  public var version: [UInt8] = []
  /// The current revision's body: Fleece.
  public var body: [UInt8]?
  /// The other revisions.
  public var extra: [UInt8]?
  /// When it expires, in milliseconds since 1970; nil for never.
  public var expirationMilliseconds: Int64?

  /// A record that is not stored yet.
  /// - Parameters:
  ///   - key: The key.
  ///   - body: The body.
  public init(key: String, body: [UInt8]? = nil) {
    self.key = key
    self.body = body
  }

  /// The column `flags`.
  var storedFlags: Int64 { subsequence << 16 | Int64(flags.rawValue) }

  /// The current row of a statement.
  init(_ row: SQLStatement) {
    key = row.text(0)
    sequence = row.int64(1)
    let stored = row.int64(2)
    subsequence = stored >> 16
    flags = RecordFlags(rawValue: UInt16(truncatingIfNeeded: stored))
    version = row.bytes(3) ?? []
    body = row.bytes(4)
    extra = row.bytes(5)
    expirationMilliseconds = row.isNull(6) ? nil : row.int64(6)
  }
}
