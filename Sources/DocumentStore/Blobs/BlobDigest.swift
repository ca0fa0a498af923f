// BlobDigest.swift: the name of a blob.
//   in documents  `sha1-` and the base64 of the 20 bytes
//   the file      the base64 with `_` for each `/`, and `.blob`

/// The SHA-1 of a blob.
public struct BlobDigest: Hashable, Sendable, Comparable, CustomStringConvertible {
  /// The 20 bytes.
  public let bytes: [UInt8]

  /// The digest of contents.
  /// - Parameter contents: The blob's bytes.
  /// - Complexity: O(bytes).
  public init(of contents: [UInt8]) { bytes = SHA1.digest(contents) }

  /// A digest as documents have it.
  /// - Parameter text: `sha1-` and 28 letters of base64; nil for others.
  public init?(_ text: String) {
    guard text.hasPrefix("sha1-"), let bytes = Base64.bytes(String(text.dropFirst(5))),
      bytes.count == 20
    else { return nil }
    self.bytes = bytes
  }

  /// The digest that a file is named by; nil for other names.
  init?(fileName: String) {
    guard fileName.hasSuffix(".blob"), !fileName.contains("/") else { return nil }
    let letters = fileName.dropLast(5).map { $0 == "_" ? "/" : String($0) }.joined()
    guard let bytes = Base64.bytes(letters), bytes.count == 20 else { return nil }
    self.bytes = bytes
  }

  /// The digest as documents have it.
  public var description: String { "sha1-" + Base64.text(bytes) }

  /// The name of the blob's file.
  var fileName: String {
    Base64.text(bytes).map { $0 == "/" ? "_" : String($0) }.joined() + ".blob"
  }

  /// Byte by byte.
  public static func < (first: BlobDigest, second: BlobDigest) -> Bool {
    first.bytes.lexicographicallyPrecedes(second.bytes)
  }
}
