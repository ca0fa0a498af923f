// EncryptionKey.swift: the 64 bytes that a caller gives, and everything derived from them.
//   all 64 bytes      → key check of a file: says "wrong key" before anything is read with it
//   bytes 0 ..< 32    → with the file's salt and a session's salt: the key of that session's nodes
//   bytes 32 ..< 64   → with the file's salt: the key of the root slots' seals
// Each derivation is HKDF-SHA256 with its own `info`, so no two uses share a key.

import Cryptography

/// A key as passed by a caller.
struct EncryptionKey: Sendable {
  static let sizeBytes = 64

  fileprivate let whole: SecretKey
  fileprivate let nodeHalf: SecretKey
  fileprivate let slotHalf: SecretKey

  /// Takes the bytes.
  /// - Throws: `EngineError` with code `.invalidKey` when they are not 64.
  init(_ bytes: [UInt8]) throws(EngineError) {
    guard bytes.count == Self.sizeBytes else {
      throw EngineError(
        code: .invalidKey,
        message: "the encryption key has \(bytes.count) bytes; it needs \(Self.sizeBytes)")
    }
    whole = SecretKey(bytes)
    nodeHalf = SecretKey(bytes[..<32])
    slotHalf = SecretKey(bytes[32...])
  }
}

/// The salt of a file or of a session.
struct Salt: Hashable, Sendable {
  static let sizeBytes = 16

  let low: UInt64
  let high: UInt64

  static let none = Salt(low: 0, high: 0)

  init(low: UInt64, high: UInt64) {
    self.low = low
    self.high = high
  }

  init(from source: EntropySource) throws(EngineError) {
    let bytes = try source.bytes(Self.sizeBytes)
    self = RawBytes.over(bytes) { Salt(low: $0.uint64(0), high: $0.uint64(8)) }
  }

  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.appendLittleEndian(low)
    bytes.appendLittleEndian(high)
    return bytes
  }
}

/// The keys of one file.
struct FileKeys: Sendable {
  let salt: Salt
  /// The value in the file header, so that a wrong key is distinguished from damage.
  let check: UInt64
  private let nodeHalf: SecretKey
  private let slotKey: SecretKey

  init(_ key: EncryptionKey, salt: Salt) {
    self.salt = salt
    nodeHalf = key.nodeHalf
    slotKey = key.slotHalf.derived(
      salt: salt.bytes, use: Array("faultline slot 2".utf8), countBytes: 32)
    let checkKey = key.whole.derived(
      salt: salt.bytes, use: Array("faultline check 2".utf8), countBytes: 32)
    let code = KeyedDigest.code(of: salt.bytes, using: checkKey)
    check = RawBytes.over(code) { $0.uint64(0) }
  }

  /// The key of a session's nodes.
  func nodeKey(session: Salt) -> SecretKey {
    nodeHalf.derived(
      salt: salt.bytes + session.bytes, use: Array("faultline node 2".utf8),
      countBytes: AuthenticatedCipher.keyBytes)
  }

  /// The seal of a root slot's fields.
  func slotSeal(of fields: [UInt8]) -> [UInt8] {
    KeyedDigest.code(of: fields + salt.bytes, using: slotKey)
  }

  /// Whether a seal is right; takes the same time wherever the first wrong byte is.
  func isSlotSeal(_ seal: [UInt8], of fields: [UInt8]) -> Bool {
    KeyedDigest.isCode(seal, of: fields + salt.bytes, using: slotKey)
  }
}
