// Seed.swift: the 64-bit number that determines every choice of a run, and its generator.
// Invariant: each component draws from its own sub-seed, so an additional draw in one does not
// affect another.

/// The number that determines all of a run's choices.
public struct Seed: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// The number.
  public let rawValue: UInt64

  /// Makes a seed from its number.
  public init(rawValue: UInt64) {
    self.rawValue = rawValue
  }

  /// The seed in decimal, as accepted by `--seed`.
  public var description: String { String(rawValue) }

  /// The sub-seed of a named component.
  /// - Complexity: O(length of the label).
  public func derived(_ label: String) -> Seed {
    var state: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in label.utf8 { state = (state ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
    return derived(state)
  }

  /// The sub-seed of a numbered item.
  public func derived(_ index: UInt64) -> Seed {
    Seed(rawValue: mixed(rawValue ^ mixed(index &+ 0x9e37_79b9_7f4a_7c15)))
  }
}

/// SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014).
public struct PRNG: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// Starts the sequence of a seed.
  public init(_ seed: Seed) {
    state = seed.rawValue
  }

  /// The next 64 bits.
  public mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    return mixed(state)
  }

  /// A number in 0..<bound, without modulo bias (Lemire 2019).
  public mutating func below(_ bound: Int) -> Int {
    precondition(bound > 0, "an empty range has no member to draw")
    return Int(next(upperBound: UInt64(bound)))
  }

  /// True with the given probability.
  public mutating func chance(_ ratio: Ratio) -> Bool {
    below(ratio.denominator) < ratio.numerator
  }
}

/// A probability as two whole numbers, so that no choice depends on floating point.
public struct Ratio: Hashable, Sendable, CustomStringConvertible {
  /// Favourable cases.
  public let numerator: Int
  /// All cases, at least 1.
  public let denominator: Int

  /// Makes the probability `numerator` in `denominator`.
  public init(_ numerator: Int, in denominator: Int) {
    precondition(denominator > 0 && (0...denominator).contains(numerator), "not a chance")
    self.numerator = numerator
    self.denominator = denominator
  }

  /// For example `1/64`.
  public var description: String { "\(numerator)/\(denominator)" }
}

private func mixed(_ value: UInt64) -> UInt64 {
  var z = value
  z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
  z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
  return z ^ (z >> 31)
}
