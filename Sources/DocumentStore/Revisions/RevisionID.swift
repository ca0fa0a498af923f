// RevisionID.swift: the ID of a revision in a tree: a generation and a digest.
//   stored  varint(generation), then the digest's bytes
//   text    the generation, `-`, and the digest in hexadecimal digits

/// The ID of a revision in a tree.
public struct RevisionID: Hashable, Sendable, Comparable, CustomStringConvertible {
  /// How many revisions lead to it, itself among them.
  public let generation: UInt64
  /// Distinguishes it from others of its generation.
  public let digest: [UInt8]

  /// Most bytes when stored: one byte of a tree's entry counts them.
  static let sizeMaxBytes = 255

  /// An ID from its parts.
  /// - Parameters:
  ///   - generation: At least 1.
  ///   - digest: At least one byte.
  /// - Throws: `DocumentStoreError` with code `.badRevisionID`.
  public init(generation: UInt64, digest: [UInt8]) throws(DocumentStoreError) {
    self.generation = generation
    self.digest = digest
    guard generation > 0, !digest.isEmpty, stored.count <= Self.sizeMaxBytes else {
      throw Self.bad("generation \(generation) with a digest of \(digest.count) bytes")
    }
  }

  /// An ID from its stored form.
  /// - Parameter bytes: The bytes.
  /// - Throws: `DocumentStoreError` with code `.badRevisionID`.
  public init(stored bytes: [UInt8]) throws(DocumentStoreError) {
    var reader = ByteReader(bytes)
    guard let generation = reader.varint(), let digest = reader.take(reader.left) else {
      throw Self.bad("\(bytes.count) bytes without a generation")
    }
    try self.init(generation: generation, digest: digest)
  }

  /// An ID from a text.
  /// - Parameter text: The generation, `-`, and the digest.
  /// - Throws: `DocumentStoreError` with code `.badRevisionID`.
  public init(_ text: String) throws(DocumentStoreError) {
    let parts = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
    let isNumber = parts[0].utf8.allSatisfy { (48...57).contains($0) }
    guard parts.count == 2, isNumber, let generation = UInt64(parts[0]),
      let digest = Self.bytes(ofHex: parts[1])
    else { throw Self.bad(quoted(text)) }
    try self.init(generation: generation, digest: digest)
  }

  /// The ID of a revision that is saved here: SHA-1 of its parent's ID, of whether it is a
  /// tombstone, and of its body.
  init(
    body: [UInt8], isDeleted: Bool, parent: RevisionID?
  ) throws(DocumentStoreError) {
    let name = Array((parent?.description ?? "").utf8)
    guard name.count <= 255, (parent?.generation ?? 0) < UInt64.max else {
      throw Self.bad("the child of \(quoted(parent?.description ?? ""))")
    }
    var hash = SHA1()
    hash.update([UInt8(name.count)] + name + [isDeleted ? 1 : 0])
    hash.update(body)
    try self.init(generation: (parent?.generation ?? 0) + 1, digest: hash.finish())
  }

  /// The ID in its stored form.
  public var stored: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(varint: generation)
    return bytes + digest
  }

  /// The ID as text.
  public var description: String { "\(generation)-\(hex(digest))" }

  /// By generation, then by digest.
  public static func < (first: RevisionID, second: RevisionID) -> Bool {
    if first.generation != second.generation { return first.generation < second.generation }
    return first.digest.lexicographicallyPrecedes(second.digest)
  }

  private static func bytes(ofHex text: Substring) -> [UInt8]? {
    let digits = Array(text.utf8)
    guard digits.count % 2 == 0 else { return nil }
    var bytes: [UInt8] = []
    for index in stride(from: 0, to: digits.count, by: 2) {
      guard let high = digit(digits[index]), let low = digit(digits[index + 1]) else { return nil }
      bytes.append(high << 4 | low)
    }
    return bytes
  }

  private static func digit(_ letter: UInt8) -> UInt8? {
    switch letter {
    case 48...57: letter - 48
    case 97...102: letter - 87
    case 65...70: letter - 55
    default: nil
    }
  }

  private static func bad(_ what: String) -> DocumentStoreError {
    DocumentStoreError(
      .badRevisionID,
      "\(what) is not a revision ID; it is a number from 1, - and hexadecimal digits")
  }
}

/// Bytes as lowercase hexadecimal digits.
func hex(_ bytes: [UInt8]) -> String {
  let digits = Array("0123456789abcdef".utf8)
  return String(
    decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
}
