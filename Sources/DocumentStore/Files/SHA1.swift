// SHA1.swift: SHA-1, which names blobs and revisions in the file format. It is not used for
// security, but as part of the format (FIPS 180-4, section 6.1).

/// A running SHA-1.
struct SHA1: Sendable {
  private var state: (UInt32, UInt32, UInt32, UInt32, UInt32) = (
    0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0
  )
  private var block: [UInt8] = []
  private var sizeBytes: UInt64 = 0

  init() { block.reserveCapacity(64) }

  /// The digest of bytes: 20 bytes.
  /// - Complexity: O(bytes).
  static func digest(_ bytes: [UInt8]) -> [UInt8] {
    var hash = SHA1()
    hash.update(bytes)
    return hash.finish()
  }

  mutating func update(_ bytes: [UInt8]) {
    sizeBytes &+= UInt64(bytes.count)
    var next = 0
    if !block.isEmpty {
      next = min(64 - block.count, bytes.count)
      block.append(contentsOf: bytes[..<next])
      guard block.count == 64 else { return }
      mix(block, at: 0)
      block.removeAll(keepingCapacity: true)
    }
    while bytes.count - next >= 64 {
      mix(bytes, at: next)
      next += 64
    }
    block.append(contentsOf: bytes[next...])
  }

  mutating func finish() -> [UInt8] {
    let bits = sizeBytes &* 8
    block.append(0x80)
    while block.count % 64 != 56 { block.append(0) }
    for shift in stride(from: 56, through: 0, by: -8) {
      block.append(UInt8(truncatingIfNeeded: bits >> UInt64(shift)))
    }
    for start in stride(from: 0, to: block.count, by: 64) { mix(block, at: start) }
    var digest: [UInt8] = []
    digest.reserveCapacity(20)
    for word in [state.0, state.1, state.2, state.3, state.4] {
      for shift in stride(from: UInt32(24), through: 0, by: -8) {
        digest.append(UInt8(truncatingIfNeeded: word >> shift))
      }
    }
    return digest
  }

  private mutating func mix(_ bytes: [UInt8], at start: Int) {
    precondition(start >= 0 && start <= bytes.count - 64)
    // The last sixteen words of eighty: each takes the place of the one sixteen before it.
    var words = InlineArray<16, UInt32>(repeating: 0)
    for index in 0..<16 {
      let place = start + 4 * index
      words[index] =
        UInt32(bytes[place]) << 24 | UInt32(bytes[place + 1]) << 16
        | UInt32(bytes[place + 2]) << 8 | UInt32(bytes[place + 3])
    }
    var (a, b, c, d, e) = state
    for index in 0..<80 {
      if index >= 16 {
        let word =
          words[(index + 13) & 15] ^ words[(index + 8) & 15] ^ words[(index + 2) & 15]
          ^ words[index & 15]
        words[index & 15] = word << 1 | word >> 31
      }
      let (choice, constant) = Self.round(index, b, c, d: d)
      let turned = (a << 5 | a >> 27) &+ choice &+ e &+ constant &+ words[index & 15]
      (a, b, c, d, e) = (turned, a, b << 30 | b >> 2, c, d)
    }
    state = (state.0 &+ a, state.1 &+ b, state.2 &+ c, state.3 &+ d, state.4 &+ e)
  }

  @inline(__always)
  private static func round(
    _ index: Int, _ b: UInt32, _ c: UInt32, d: UInt32
  ) -> (choice: UInt32, constant: UInt32) {
    switch index {
    case ..<20: (b & c | ~b & d, 0x5a82_7999)
    case ..<40: (b ^ c ^ d, 0x6ed9_eba1)
    case ..<60: (b & c | b & d | c & d, 0x8f1b_bcdc)
    default: (b ^ c ^ d, 0xca62_c1d6)
    }
  }
}
