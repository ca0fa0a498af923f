// Checksum.swift [U]: the checksum of headers and nodes, checksum version 1. Eight lanes take 64
// bytes a round; lane := rotl((lane ^ word) * P, 29). P is odd, so a step is a bijection of the
// lane for a fixed word and of the word for a fixed lane: a change confined to one word of a lane
// always changes that lane. Multiplying and rotating make the order of words significant, so
// swapped and zeroed sectors are detected. It guards against accidents, not against an adversary.
// ChecksumTests pins its vectors; a change of any constant is a new checksum version.

import CSystem

/// The checksum function.
package enum Checksum {
  /// The number that the file header names this function by.
  package static let version: UInt32 = 1

  private static let multiplier: UInt64 = 0x9e37_79b1_85eb_ca87
  /// About the amount that memory delivers during one memory latency: measured, see
  /// docs/explanation/benchmarks.md.
  private static let prefetchDistanceBytes = 2048
  private static let finisher: UInt64 = 0xc2b2_ae3d_27d4_eb4f

  @inline(__always)
  private static func step(
    _ lane: UInt64, _ word: UInt64, by multiplier: UInt64 = multiplier
  ) -> UInt64 {
    let product = (lane ^ word) &* multiplier
    return (product << 29) | (product >> 35)
  }

  @inline(__always)
  private static func finished(_ value: UInt64) -> UInt64 {
    var z = value
    z = (z ^ (z >> 32)) &* finisher
    z = (z ^ (z >> 29)) &* multiplier
    return z ^ (z >> 32)
  }

  /// The checksum of the bytes.
  /// - Complexity: O(bytes), at several bytes a cycle.
  package static func of(_ bytes: RawBytes) -> UInt64 {
    // Safety: every load below stays in 0..<count; the facade's owner keeps the memory alive.
    let base = unsafe bytes.base
    let count = bytes.count
    var lane0: UInt64 = 0x243f_6a88_85a3_08d3
    var lane1: UInt64 = 0x1319_8a2e_0370_7344
    var lane2: UInt64 = 0xa409_3822_299f_31d0
    var lane3: UInt64 = 0x082e_fa98_ec4e_6c89
    var lane4: UInt64 = 0x4528_21e6_38d0_1377
    var lane5: UInt64 = 0xbe54_66cf_34e9_0c6c
    var lane6: UInt64 = 0xc0ac_29b7_c97c_50dd
    var lane7: UInt64 = 0x3f84_d5b5_b547_0917
    @inline(__always) func word(_ offset: Int) -> UInt64 {
      unsafe UInt64(littleEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
    // The same number as `multiplier`.
    let factor = csystem_checksum_multiplier
    var offset = 0
    while count &- offset >= 64 {
      // The hardware's prefetcher stops at a page's end. After the last byte usually comes the node
      // that is hashed next; a hint may name any address.
      unsafe csystem_prefetch(base + offset + prefetchDistanceBytes)
      lane0 = step(lane0, word(offset), by: factor)
      lane1 = step(lane1, word(offset + 8), by: factor)
      lane2 = step(lane2, word(offset + 16), by: factor)
      lane3 = step(lane3, word(offset + 24), by: factor)
      lane4 = step(lane4, word(offset + 32), by: factor)
      lane5 = step(lane5, word(offset + 40), by: factor)
      lane6 = step(lane6, word(offset + 48), by: factor)
      lane7 = step(lane7, word(offset + 56), by: factor)
      offset += 64
    }
    while count - offset >= 8 {
      lane0 = step(lane0, word(offset))
      lane1 = lane1 &+ lane0
      offset += 8
    }
    while offset < count {
      lane2 = step(lane2, UInt64(unsafe base.load(fromByteOffset: offset, as: UInt8.self)) | 0x100)
      offset += 1
    }
    var sum = finished(UInt64(count) &+ lane0)
    sum = step(sum, finished(lane1))
    sum = step(sum, finished(lane2))
    sum = step(sum, finished(lane3))
    sum = step(sum, finished(lane4))
    sum = step(sum, finished(lane5))
    sum = step(sum, finished(lane6))
    sum = step(sum, finished(lane7))
    return finished(sum)
  }
}
