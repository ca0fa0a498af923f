// ReferenceRandom.swift: the source of the choices of generators: a seed, or a fuzzer's bytes.
// Invariant: the same seed, or the same bytes, give the same choices on every machine.

/// A source of choices, so that a printed seed, or a kept input, repeats a test.
package struct ReferenceRandom: RandomNumberGenerator {
  private var state: UInt64
  private var bytes: ArraySlice<UInt8> = []

  /// SplitMix64 from a seed.
  package init(_ seed: UInt64) { state = seed }

  /// The bytes in order, then SplitMix64: a changed byte changes only its own choice.
  package init(bytes: [UInt8]) {
    state = UInt64(bytes.count)
    self.bytes = bytes[...]
  }

  package mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var z = state
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }

  /// A number below a bound.
  package mutating func below(_ bound: Int) -> Int {
    if let byte = bytes.popFirst() {
      guard bound > 256 else { return Int(byte) % bound }
      return (Int(byte) << 8 | Int(bytes.popFirst() ?? 0)) % bound
    }
    return Int(next() % UInt64(bound))
  }
}
