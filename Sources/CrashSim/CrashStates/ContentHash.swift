// ContentHash.swift: 128-bit hashes of tree content that can be updated incrementally.
// Invariant: a sum of contributions does not depend on the order in which they were added, and
// subtracting one restores the sum. Not resistant to an adversary.

/// A 128-bit hash.
public struct ContentHash: Hashable, Sendable, CustomStringConvertible {
  /// Upper half.
  public var high: UInt64
  /// Lower half.
  public var low: UInt64

  /// Makes a hash from its halves.
  public init(high: UInt64 = 0, low: UInt64 = 0) {
    self.high = high
    self.low = low
  }

  /// 32 hexadecimal digits.
  public var description: String { hexadecimal(high) + hexadecimal(low) }

  /// The value already is a hash.
  public func hash(into hasher: inout Hasher) { hasher.combine(low) }

  static func += (a: inout ContentHash, b: ContentHash) {
    a.high &+= b.high
    a.low &+= b.low
  }

  static func -= (a: inout ContentHash, b: ContentHash) {
    a.high &-= b.high
    a.low &-= b.low
  }

  /// The hash of this one followed by a number.
  @inline(__always)
  package func mixed(with word: UInt64) -> ContentHash {
    ContentHash(
      high: foldedProduct(high ^ word, 0x9e37_79b9_7f4a_7c15) ^ rotated(low, by: 29),
      low: foldedProduct(low &+ word ^ 0xd6e8_feb8_6659_fd93, 0xa076_1d64_78bd_642f)
        &+ rotated(high, by: 17)
    ).finished
  }

  /// The hash of this one followed by another.
  @inline(__always)
  package func mixed(with other: ContentHash) -> ContentHash {
    mixed(with: other.high).mixed(with: other.low)
  }

  private var finished: ContentHash {
    var a = high
    var b = low
    a = (a ^ (a >> 32)) &* 0xe703_7ed1_a0b4_28db
    b = (b ^ (b >> 29)) &* 0x8ebc_6af0_9c88_c6e3
    return ContentHash(high: a ^ (b >> 31), low: b ^ (a >> 30))
  }

  /// The hash of some bytes and their count.
  package static func of(_ bytes: [UInt8]) -> ContentHash {
    var hash = ContentHash(high: 0x5bd1_e995, low: UInt64(bytes.count))
    var word: UInt64 = 0
    var filled = 0
    for byte in bytes {
      word = word << 8 | UInt64(byte)
      filled += 1
      if filled == 8 {
        hash = hash.mixed(with: word)
        word = 0
        filled = 0
      }
    }
    return hash.mixed(with: word)
  }

  /// A page's contribution to its file's sum; 0 for a page of zeros.
  @inline(__always)
  static func contribution(ofPage page: Int, hash: UInt64) -> ContentHash {
    guard hash != 0 else { return ContentHash() }
    return ContentHash(high: hash, low: rotated(hash, by: 32)).mixed(with: UInt64(page))
  }
}

/// Both halves of a 128-bit product, folded.
@inline(__always)
func foldedProduct(_ a: UInt64, _ b: UInt64) -> UInt64 {
  let product = a.multipliedFullWidth(by: b)
  return product.high ^ product.low
}

@inline(__always)
private func rotated(_ value: UInt64, by bits: UInt64) -> UInt64 {
  value << bits | value >> (64 - bits)
}

private func hexadecimal(_ value: UInt64) -> String {
  let digits = String(value, radix: 16)
  return String(repeating: "0", count: 16 - digits.count) + digits
}
