// StateBound.swift: the number of crash states, exactly or as an upper bound, for reports.
// The pending units of a crash point are covered by chains, each unit following one it depends on;
// a down-closed set takes a prefix of every chain, so the product of (length + 1) is an upper
// bound. It is exact when every unit depends only on its predecessor in the chain.
// Floating point is for display only; no choice depends on it.

import Glibc

/// Chains that cover the pending units of one crash point.
struct ChainBound {
  private var chainOf: [Int] = []
  private var lengths: [Int] = []
  private var tails: [Int] = []
  private(set) var isExact = true
  /// Decimal logarithm of the product.
  private(set) var log10Count = 0.0

  mutating func append(_ place: Int, after dependencies: [Int]) {
    let predecessor = dependencies.first { tails[chainOf[$0]] == $0 }
    if let predecessor {
      let chain = chainOf[predecessor]
      log10Count += log10(Double(lengths[chain] + 2) / Double(lengths[chain] + 1))
      lengths[chain] += 1
      tails[chain] = place
      chainOf.append(chain)
      if dependencies.count > 1 { isExact = false }
    } else {
      chainOf.append(lengths.count)
      lengths.append(1)
      tails.append(place)
      log10Count += log10(2)
      if !dependencies.isEmpty { isExact = false }
    }
  }

  /// The product as a number if it is small.
  var smallCount: Int? {
    guard log10Count < 15 else { return nil }
    return lengths.reduce(1) { $0 * ($1 + 1) }
  }
}

/// Number of down-closed sets over several crash points.
public struct StateBound: Sendable, Hashable, Codable, CustomStringConvertible {
  /// The sum while it is small and every part was.
  private var sum: Int? = 0
  /// Decimal logarithm of the sum; nil for 0, whose logarithm JSON cannot represent.
  private var log10Sum: Double?
  /// False when the number is an upper bound.
  public private(set) var isExact = true

  init() {}

  mutating func add(_ chains: ChainBound) {
    isExact = isExact && chains.isExact
    if let count = chains.smallCount, let old = sum, old < 1_000_000_000_000_000 {
      sum = old + count
    } else {
      sum = nil
    }
    let old = log10Sum ?? -.infinity
    let (big, small) = (max(old, chains.log10Count), min(old, chains.log10Count))
    log10Sum = big + log10(1 + pow(10, small - big))
  }

  /// For example `813`, or `≤ 1.2e34`.
  public var description: String {
    let prefix = isExact ? "" : "≤ "
    if let sum { return prefix + String(sum) }
    let log10Sum = log10Sum ?? 0
    var exponent = Int(log10Sum.rounded(.down))
    // Rounded up, so that it remains an upper bound.
    var tenths = Int((pow(10, log10Sum - Double(exponent)) * 10).rounded(.up))
    if tenths >= 100 {
      tenths = 10
      exponent += 1
    }
    return prefix + "\(tenths / 10).\(tenths % 10)e\(exponent)"
  }
}
