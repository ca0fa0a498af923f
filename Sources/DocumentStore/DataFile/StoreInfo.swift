// StoreInfo.swift: a data file's information about itself, in the key store `info`: a body for each
// key, without a sequence.

/// The records of the key store `info`.
struct StoreInfo {
  /// The keys.
  enum Key: String {
    case versioning
    case publicUUID
    case privateUUID
    case previousPrivateUUID
    case sharedKeys = "SharedKeys"
    case maxRevTreeDepth
    case remotes
  }

  let connection: Connection

  /// The body of a key; nil when there is none.
  func body(_ key: Key) throws(DocumentStoreError) -> [UInt8]? {
    let statement = try connection.statement("SELECT body FROM kv_info WHERE key = ?")
    defer { statement.reset() }
    try statement.bind(key.rawValue, at: 1)
    return try statement.step() ? statement.bytes(0) : nil
  }

  /// Sets the body of a key.
  func set(_ key: Key, _ body: [UInt8]) throws(DocumentStoreError) {
    let statement = try connection.statement(
      "INSERT OR REPLACE INTO kv_info (key, version, body) VALUES (?, NULL, ?)")
    defer { statement.reset() }
    try statement.bind(key.rawValue, at: 1)
    try statement.bind(body, at: 2)
    try statement.run()
  }

  /// A number of eight bytes, high one first; nil when there is none.
  func number(_ key: Key) throws(DocumentStoreError) -> UInt64? {
    guard let body = try body(key) else { return nil }
    guard body.count == 8 else {
      throw DocumentStoreError(
        .corruptData,
        "\(quoted(connection.context)): \(key.rawValue) has \(body.count) bytes instead of 8")
    }
    return body.reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// A number as eight bytes.
  static func number(_ value: UInt64) -> [UInt8] {
    stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: value >> UInt64($0)) }
  }

  /// Random bytes as a UUID of version 4 (RFC 9562, section 5.4).
  static func uuid(_ random: [UInt8]) -> [UInt8] {
    precondition(random.count == 16)
    var bytes = random
    bytes[6] = bytes[6] & 0x0f | 0x40
    bytes[8] = bytes[8] & 0x3f | 0x80
    return bytes
  }
}
