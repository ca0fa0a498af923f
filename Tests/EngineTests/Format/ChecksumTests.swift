// ChecksumTests.swift: pinned vectors of checksum version 1, and what it must notice.

import Testing

@testable import Engine

@Suite("Checksum")
struct ChecksumTests {
  private static func sum(_ bytes: [UInt8]) -> UInt64 { RawBytes.over(bytes) { Checksum.of($0) } }

  private static func sample(_ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 151 &+ $0 >> 8) }
  }

  @Test(
    "the vectors of version 1 never change",
    arguments: [
      (0, 13_676_927_424_330_272_483 as UInt64), (1, 14_946_767_899_153_228_727),
      (7, 6_887_233_870_644_600_962), (8, 816_361_812_891_027_095),
      (63, 2_396_123_771_973_856_208), (64, 8_261_001_055_742_858_226),
      (4096, 8_626_805_492_141_705_366), (4099, 16_714_449_588_568_221_977),
    ])
  func vectors(_ count: Int, _ expected: UInt64) {
    #expect(Self.sum(Self.sample(count)) == expected)
  }

  @Test("every flipped bit of a node shows")
  func flippedBits() {
    let bytes = Self.sample(4096)
    let expected = Self.sum(bytes)
    for bit in 0..<bytes.count * 8 {
      var flipped = bytes
      flipped[bit / 8] ^= 1 << UInt8(bit % 8)
      if Self.sum(flipped) == expected { Issue.record("bit \(bit) does not count") }
    }
  }

  @Test("zeroed, swapped, repeated and shortened sectors show")
  func sectors() {
    let bytes = Self.sample(4 * 4096 - 128).map { $0 ^ 0x5a } + [UInt8](repeating: 0, count: 128)
    var seen: Set<UInt64> = [Self.sum(bytes)]
    func sector(_ index: Int) -> [UInt8] { Array(bytes[index * 4096..<(index + 1) * 4096]) }
    var count = 1
    for first in 0..<4 {
      var zeroed = bytes
      zeroed.replaceSubrange(
        first * 4096..<(first + 1) * 4096, with: [UInt8](repeating: 0, count: 4096))
      seen.insert(Self.sum(zeroed))
      count += 1
      for second in 0..<first {
        var swapped = bytes
        swapped.replaceSubrange(first * 4096..<(first + 1) * 4096, with: sector(second))
        seen.insert(Self.sum(swapped))
        swapped.replaceSubrange(second * 4096..<(second + 1) * 4096, with: sector(first))
        seen.insert(Self.sum(swapped))
        count += 2
      }
    }
    seen.insert(Self.sum(Array(bytes.dropLast(64))))
    seen.insert(Self.sum(Array(bytes.dropLast(8))))
    seen.insert(Self.sum(Array(bytes.dropLast(1))))
    seen.insert(Self.sum(bytes + [0]))
    #expect(seen.count == count + 4)
  }

  @Test("swapped words of one lane and of neighbour lanes show")
  func swappedWords() {
    let bytes = Self.sample(1024)
    let expected = Self.sum(bytes)
    for distance in [8, 16, 64, 128, 512] {
      var swapped = bytes
      for index in 0..<8 { swapped.swapAt(index, index + distance) }
      #expect(Self.sum(swapped) != expected)
    }
  }
}
