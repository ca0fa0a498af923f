// SyncHash.swift: the hash of digests (docs/reference/sync-format.md, section 5): 128 bits, fast,
// the same on every machine. It detects divergence, but does not protect against deliberate
// collisions.

/// Hashes bytes that come one after another.
struct SyncHash {
  private var low: UInt64 = 0x9e37_79b9_7f4a_7c15
  private var high: UInt64 = 0xc2b2_ae3d_27d4_eb4f
  private var word: UInt64 = 0
  private var count: UInt64 = 0

  mutating func append(_ byte: UInt8) {
    word |= UInt64(byte) << (8 * (count & 7))
    count &+= 1
    if count & 7 == 0 { absorb() }
  }

  mutating func append(_ bytes: [UInt8]) { for byte in bytes { append(byte) } }

  mutating func append(_ number: UInt128) {
    for index in 0..<16 { append(UInt8(truncatingIfNeeded: number >> (8 * UInt128(index)))) }
  }

  private mutating func absorb() {
    low = (low ^ word) &* 0xff51_afd7_ed55_8ccd
    low ^= low >> 32
    high = (high &+ low) &* 0xc4ce_b9fe_1a85_ec53
    high ^= high >> 29
    word = 0
  }

  mutating func finish() -> UInt128 {
    absorb()
    word = count
    absorb()
    absorb()
    return UInt128(high) << 64 | UInt128(low)
  }
}
