// ValueGenerator.swift: draws random values, with a bias to difficult ones: ends of ranges, texts
// of all lengths around a limit, repeated texts, unsorted keys, nesting, many items.

/// Draws values from a given source of random numbers.
package struct ValueGenerator<Random: RandomNumberGenerator> {
  package var random: Random
  /// How many keys the table of shared keys has.
  package let sharedCount: Int
  /// How many values may still be drawn.
  package var left: Int
  private var texts: [[UInt8]] = []

  package init(_ random: Random, sharedCount: Int, sizeMax: Int = 400) {
    self.random = random
    self.sharedCount = sharedCount
    left = sizeMax
  }

  package mutating func below(_ bound: Int) -> Int { Int(random.next() % UInt64(max(1, bound))) }

  /// A value with at most `depth` nested collections.
  package mutating func value(depth: Int) -> ReferenceValue {
    left -= 1
    let kind = below(depth > 0 && left > 0 ? 16 : 11)
    switch kind {
    case 0: return .null
    case 1: return .boolean(below(2) == 0)
    case 2: return .undefined
    case 3, 4: return .signed(Int64(bitPattern: number()))
    case 5: return .unsigned(number())
    case 6: return .float(real(Float(Int8(truncatingIfNeeded: random.next())) / 4).bitPattern)
    case 7: return .double(double().bitPattern)
    case 8, 9: return .text(text())
    case 10: return .data(bytes(below(40)))
    case 11, 12, 13: return .array((0..<count()).map { _ in value(depth: depth - 1) })
    default: return .dict((0..<count()).map { _ in pair(depth) })
    }
  }

  private mutating func pair(_ depth: Int) -> ReferenceValue.Pair {
    let isShared = sharedCount > 0 && below(2) == 0
    return ReferenceValue.Pair(
      isShared ? .shared(below(sharedCount)) : .text(text()), value(depth: depth - 1))
  }

  private mutating func count() -> Int {
    switch below(12) {
    case 0: 0
    case 1: min(left, 20 + below(40))
    case 2 where left > 2000: 2040 + below(20)
    default: 1 + below(5)
    }
  }

  /// A number around a power of two.
  private mutating func number() -> UInt64 {
    let power = (1 as UInt64) << UInt64(below(64))
    let near = power &+ UInt64(below(5)) &- 2
    return below(2) == 0 ? near : 0 &- near
  }

  private func real(_ value: Float) -> Float { value.isNaN ? 0 : value }

  private mutating func double() -> Double {
    switch below(4) {
    case 0: Double(below(2000)) / 4
    case 1: Double(below(1_000_000)) / 1000
    case 2: Double(Int64(bitPattern: number()))
    default: finite(Double(bitPattern: random.next()))
    }
  }

  private func finite(_ value: Double) -> Double { value.isFinite ? value : -0.0 }

  private mutating func bytes(_ count: Int) -> [UInt8] {
    (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
  }

  /// A text of UTF-8, now and then one that was drawn before.
  private mutating func text() -> [UInt8] {
    if !texts.isEmpty, below(3) == 0 { return texts[below(texts.count)] }
    let letters = [
      "a", "b", "Z", "0", "_", "-", "é", "🚀", "\"", "\\", "\n", "\u{7f}", "\u{1}", " ",
    ]
    let size = [0, 1, 2, 3, 8, 13, 14, 15, 16, 17, 130, 600][below(below(20) == 0 ? 12 : 10)]
    var text: [UInt8] = []
    while text.count < size {
      let letter = Array(letters[below(below(2) == 0 ? 6 : letters.count)].utf8)
      text += text.count + letter.count <= size ? letter : [UInt8(ascii: "x")]
    }
    texts.append(text)
    return text
  }
}
