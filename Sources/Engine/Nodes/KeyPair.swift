// KeyPair.swift: an entry of an index: the image of a value, and the key of a row that has it.
// Invariant: pairs are ordered by image, unsigned, then by key, signed; a tree holds each once.

/// An image and a key.
struct KeyPair: Hashable, Comparable, Sendable, CustomStringConvertible {
  var image: UInt64
  var key: Int64

  @inline(__always)
  init(_ image: UInt64, _ key: Int64) {
    self.image = image
    self.key = key
  }

  /// The first pair that an image can have.
  @inline(__always)
  static func first(_ image: UInt64) -> KeyPair { KeyPair(image, .min) }

  var description: String { "(image \(image), key \(key))" }

  @inline(__always)
  static func < (left: KeyPair, right: KeyPair) -> Bool {
    left.image == right.image ? left.key < right.key : left.image < right.image
  }
}
