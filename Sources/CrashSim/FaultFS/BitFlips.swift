// BitFlips.swift: chooses the bits that a fault flips, from a seed; each bit at most once.

import LabCore
import Recording

/// Bit flips.
enum BitFlips {
  /// Bytes with some bits flipped; only those inside `range` of the file.
  /// - Complexity: O(bytes + bits).
  static func turned(
    _ bytes: [UInt8], at offset: UInt64, within range: Range<UInt64>, bits: Int, seed: Seed
  ) -> [UInt8] {
    var bytes = bytes
    for (position, mask) in choose(bits, in: range, seed: seed)
    where position >= offset && position - offset < UInt64(bytes.count) {
      bytes[Int(position - offset)] ^= mask
    }
    return bytes
  }

  /// The bytes of a file that change, with their new values, in file order.
  static func changes(
    of content: FileContent, within range: Range<UInt64>, bits: Int, seed: Seed
  ) -> [(offsetBytes: UInt64, byte: UInt8)] {
    choose(bits, in: range, seed: seed).compactMap { position, mask in
      content.read(at: position, count: 1).first.map { (position, $0 ^ mask) }
    }
  }

  /// Byte positions and the bits to flip in each, in order.
  private static func choose(
    _ bits: Int, in range: Range<UInt64>, seed: Seed
  ) -> [(UInt64, UInt8)] {
    guard !range.isEmpty else { return [] }
    var generator = PRNG(seed)
    let countBits = UInt64(range.count) * 8
    var masks: [UInt64: UInt8] = [:]
    var left = Int(min(UInt64(bits), countBits))
    while left > 0 {
      let bit = generator.next(upperBound: countBits)
      let mask = UInt8(1) << UInt8(bit % 8)
      let position = range.lowerBound + bit / 8
      guard masks[position, default: 0] & mask == 0 else { continue }
      masks[position, default: 0] |= mask
      left -= 1
    }
    return masks.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }
}
