// MutantChoices.swift: the source of a mutator's choices: a seed, or the bytes of a fuzzer.
// Invariant: the same seed, or the same bytes, give the same choices on every machine.

/// A source of choices.
package struct MutantChoices {
  private var state: UInt64
  private var bytes: ArraySlice<UInt8>?

  /// SplitMix64 from a seed; it never ends.
  package init(seed: UInt64) { state = seed }

  /// The bytes one after the other; zeros after the last one.
  package init(bytes: [UInt8]) {
    state = 0
    self.bytes = bytes[...]
  }

  /// Whether the bytes have been used up.
  package var isAtEnd: Bool { bytes?.isEmpty ?? false }

  private mutating func random() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var z = state
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }

  /// A number with this many bytes.
  package mutating func number(_ count: Int) -> UInt64 {
    guard bytes != nil else { return random() >> UInt64(64 - 8 * count) }
    var number: UInt64 = 0
    for _ in 0..<count { number = number << 8 | UInt64(bytes?.popFirst() ?? 0) }
    return number
  }

  /// A number below a bound.
  package mutating func below(_ bound: Int) -> Int {
    Int(number(bound <= 256 ? 1 : 4) % UInt64(max(1, bound)))
  }

  /// A number that is likely to be a boundary: ends of ranges, powers of two, small ones.
  package mutating func interesting() -> UInt64 {
    switch below(8) {
    case 0: 0
    case 1: 1
    case 2: .max
    case 3: 1 << UInt64(below(64))
    case 4: (1 << UInt64(below(64))) &- 1
    case 5: UInt64(below(256))
    case 6: UInt64(below(20)) * 4096
    default: number(8)
    }
  }
}
