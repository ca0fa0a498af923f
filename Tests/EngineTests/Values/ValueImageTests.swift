// ValueImageTests.swift: the numbers by which an index finds values, pinned, and strings made to
// share one.

import Testing

@testable import Engine

/// Strings of sixteen bytes whose images are the same: after the first eight bytes two states
/// differ by some bits, and the next eight bytes differ by the same bits.
enum CollidingStrings {
  static func make(_ count: Int) -> [String] {
    let word: UInt64 = 0x6161_6161_6161_6161
    let start = 16 as UInt64 &* 0x9fb2_1c65_1e98_df25
    let first = ValueImage.step(start, word)
    var strings = [String(decoding: bytes(word) + bytes(word), as: UTF8.self)]
    var number: UInt64 = 1
    while strings.count < count {
      // Letters from a to p, four bits each, so that both halves are text.
      var other: UInt64 = 0
      for digit in 0..<8 {
        other |= (0x61 + (number >> UInt64(4 * digit)) & 15) << UInt64(8 * digit)
      }
      let next = word ^ first ^ ValueImage.step(start, other)
      number += 1
      guard next & 0x8080_8080_8080_8080 == 0 else { continue }
      strings.append(String(decoding: bytes(other) + bytes(next), as: UTF8.self))
    }
    return strings
  }

  private static func bytes(_ word: UInt64) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) }
  }
}

@Suite("Value images")
struct ValueImageTests {
  @Test(
    "the hashes of the format never change",
    arguments: [
      ("", 1 as UInt64),
      ("a", 10_400_266_256_704_920_615),
      ("abcdefg", 15_266_034_041_356_948_726),
      ("abcdefgh", 3_651_567_089_423_192_892),
      ("abcdefghi", 4_459_068_683_206_273_968),
      ("dog number 77", 5_104_696_491_250_904_627),
      ("ä日\u{0}", 10_986_314_908_908_014_043),
    ])
  func vectors(_ text: String, _ expected: UInt64) {
    #expect(ValueImage.hash(text) == expected)
    #expect(ValueImage.hash(Array(text.utf8)) == expected)
  }

  @Test("numbers keep their order, and null stands below all but the smallest")
  func order() {
    let numbers: [Int64] = [.min, .min + 1, -70_000, -1, 0, 1, 9, 1 << 40, .max - 1, .max]
    for (lower, upper) in zip(numbers, numbers.dropFirst()) {
      #expect(ValueImage.ordered(lower) < ValueImage.ordered(upper))
    }
    for number in numbers { #expect(ValueImage.number(ValueImage.ordered(number)) == number) }
    #expect(ValueImage.null == ValueImage.ordered(.min))
    #expect(ValueImage.null < ValueImage.bool(false))
    #expect(ValueImage.bool(false) < ValueImage.bool(true))
  }

  @Test("many alike strings have as many images")
  func spread() {
    let count = TableSize.rows(200_000)
    var images: Set<UInt64> = []
    for number in 0..<count {
      images.insert(ValueImage.hash("\(number)"))
      images.insert(ValueImage.hash("row number \(number)"))
    }
    #expect(images.count == 2 * count)
    // Every bit of the image depends on the text.
    let sums = (0..<64).map { bit in images.reduce(0) { $0 + Int($1 >> UInt64(bit) & 1) } }
    #expect(sums.allSatisfy { abs($0 - count) < 2_000 })
    #expect(!images.contains(ValueImage.null))
  }

  @Test("strings can be made to collide, so tests need no other hash")
  func collisions() {
    let strings = CollidingStrings.make(1000)
    #expect(Set(strings).count == 1000)
    #expect(Set(strings.map { ValueImage.hash($0) }).count == 1)
    #expect(strings.allSatisfy { $0.utf8.count == 16 })
  }
}
