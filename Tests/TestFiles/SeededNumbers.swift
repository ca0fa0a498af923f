// SeededNumbers.swift: drawn numbers of test targets that know nothing of the lab.

/// Numbers that follow from a seed.
public struct SeededNumbers: RandomNumberGenerator {
  private var state: UInt64

  /// Begins with a seed.
  public init(seed: UInt64) { state = seed }

  /// The next number.
  public mutating func next() -> UInt64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return (state ^ state >> 33) &* 0xff51_afd7_ed55_8ccd ^ state >> 29
  }

  /// A number from 0 to one below the bound.
  public mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
}
