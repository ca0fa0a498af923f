// PageWriteBack.swift: how often a mount makes the kernel write dirty mapped pages back.

import LabCore

/// Seeded moments between operations at which the kernel must write dirty mapped pages back, as it
/// does by itself every few seconds.
public struct PageWriteBack: Codable, Hashable, Sendable, CustomStringConvertible {
  /// Seed of the moments.
  public var seed: UInt64
  /// Mean number of operations between two moments, at least 1.
  public var rate: Int

  /// Largest mean.
  package static let rateMax = 1_000_000

  /// The default mean.
  public static let defaultRate = 4

  /// Makes moments.
  public init(seed: UInt64, rate: Int = Self.defaultRate) {
    self.seed = seed
    self.rate = rate
  }

  /// Reads `SEED` or `SEED:RATE`.
  /// - Throws: `LabError` with code `.usage` for anything else.
  public init(parsing text: String) throws(LabError) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    let rate = parts.count == 2 ? Int(parts[1]) : Self.defaultRate
    guard (1...2).contains(parts.count), let seed = UInt64(parts[0]), let rate,
      (1...Self.rateMax).contains(rate)
    else {
      throw .usage(
        "--write-back \(text.prefix(60)): write a seed, or a seed and the mean number of "
          + "operations between two write-backs, as in 7 or 7:16")
    }
    self.init(seed: seed, rate: rate)
  }

  /// For example `7:16`.
  public var description: String { "\(seed):\(rate)" }

  /// Operations until the next moment, from 1; twice the rate at most.
  func gap(_ random: inout PRNG) -> Int { 1 + random.below(max(1, 2 * rate - 1)) }
}
