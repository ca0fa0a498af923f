// SyncText.swift: a text as its UTF-8 bytes. Texts are equal when their bytes are: Swift's String
// takes texts for equal that are spelt with other scalars, and two nodes must never disagree.

/// A text: a name, a key of a dictionary, or a value.
public struct SyncText: Hashable, Sendable {
  /// Its UTF-8 bytes; the decoder refuses others.
  public let utf8: [UInt8]

  /// The text with these bytes.
  /// - Parameter utf8: The UTF-8 bytes; see `isValid`.
  public init(utf8: [UInt8]) { self.utf8 = utf8 }

  /// The text of a string.
  public init(_ string: String) { utf8 = Array(string.utf8) }

  /// Whether the bytes are UTF-8.
  /// - Complexity: O(bytes).
  public var isValid: Bool { String(validating: utf8, as: UTF8.self) != nil }
}

extension SyncText: Comparable {
  /// Orders by bytes, which is the order of Unicode's scalars.
  public static func < (left: SyncText, right: SyncText) -> Bool {
    left.utf8.lexicographicallyPrecedes(right.utf8)
  }
}

extension SyncText: ExpressibleByStringLiteral, CustomStringConvertible {
  /// The text of a literal.
  public init(stringLiteral value: String) { self.init(value) }

  /// The text as a string; invalid UTF-8 appears as replacement characters.
  public var description: String { String(decoding: utf8, as: UTF8.self) }
}
