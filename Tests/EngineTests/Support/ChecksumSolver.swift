// ChecksumSolver.swift: finds a word that gives bytes a checksum of one's choice. Every step of the
// checksum is a bijection (Checksum.swift), so it can be gone backwards from its result.

import Testing

@testable import Engine

/// The checksum function forwards and backwards.
struct ChecksumSolver {
  private static let multiplier: UInt64 = 0x9e37_79b1_85eb_ca87
  private static let finisher: UInt64 = 0xc2b2_ae3d_27d4_eb4f
  private static let lanes: [UInt64] = [
    0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7344, 0xa409_3822_299f_31d0, 0x082e_fa98_ec4e_6c89,
    0x4528_21e6_38d0_1377, 0xbe54_66cf_34e9_0c6c, 0xc0ac_29b7_c97c_50dd, 0x3f84_d5b5_b547_0917,
  ]

  private let bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Whether a word can be chosen here: only whole rounds change the lane of one that can.
  func canChoose(_ offset: Int) -> Bool {
    offset % 8 == 0 && (3...7).contains(offset / 8 % 8) && offset / 64 < bytes.count / 64
  }

  /// The word that has to stand at an offset.
  func word(at offset: Int, for checksum: UInt64) -> UInt64 {
    precondition(canChoose(offset))
    let lane = offset / 8 % 8
    let rounds = bytes.count / 64
    let ends = ends(rounds)
    var before = Self.finished(UInt64(bytes.count) &+ ends[0])
    for index in 1..<lane { before = Self.step(before, Self.finished(ends[index])) }
    var after = Self.unfinished(checksum)
    for index in (lane + 1..<8).reversed() {
      after = Self.unstep(after, Self.finished(ends[index]))
    }
    var end = Self.unfinished(Self.unstep(after, before))
    for round in (offset / 64 + 1..<rounds).reversed() {
      end = Self.unstep(end, word(round * 64 + lane * 8))
    }
    var start = Self.lanes[lane]
    for round in 0..<offset / 64 { start = Self.step(start, word(round * 64 + lane * 8)) }
    return Self.unstep(end, start)
  }

  /// All lanes behind the last byte.
  private func ends(_ rounds: Int) -> [UInt64] {
    var lanes = Self.lanes
    for offset in stride(from: 0, to: rounds * 64, by: 8) {
      lanes[offset / 8 % 8] = Self.step(lanes[offset / 8 % 8], word(offset))
    }
    var offset = rounds * 64
    while bytes.count - offset >= 8 {
      lanes[0] = Self.step(lanes[0], word(offset))
      lanes[1] &+= lanes[0]
      offset += 8
    }
    for byte in bytes[offset...] { lanes[2] = Self.step(lanes[2], UInt64(byte) | 0x100) }
    return lanes
  }

  private func word(_ offset: Int) -> UInt64 {
    (0..<8).reduce(0) { $0 | UInt64(bytes[offset + $1]) << UInt64(8 * $1) }
  }

  private static func step(_ lane: UInt64, _ word: UInt64) -> UInt64 {
    let product = (lane ^ word) &* multiplier
    return (product << 29) | (product >> 35)
  }

  /// The lane before a step, from the word; and the word, from the lane.
  private static func unstep(_ result: UInt64, _ other: UInt64) -> UInt64 {
    ((result >> 29) | (result << 35)) &* inverse(multiplier) ^ other
  }

  private static func finished(_ value: UInt64) -> UInt64 {
    var z = value
    z = (z ^ (z >> 32)) &* finisher
    z = (z ^ (z >> 29)) &* multiplier
    return z ^ (z >> 32)
  }

  private static func unfinished(_ value: UInt64) -> UInt64 {
    var z = value
    z = (z ^ (z >> 32)) &* inverse(multiplier)
    z = (z ^ (z >> 29) ^ (z >> 58)) &* inverse(finisher)
    return z ^ (z >> 32)
  }

  /// The number whose product with an odd one is 1; each round doubles the bits that are right.
  private static func inverse(_ odd: UInt64) -> UInt64 {
    (0..<6).reduce(odd) { inverse, _ in inverse &* (2 &- odd &* inverse) }
  }
}
