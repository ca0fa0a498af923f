// KeptSet.swift: a subset of the pending units of one crash point, by their place in the window.

/// A subset of 0..<count.
struct KeptSet: Hashable, Sendable, Codable {
  private(set) var words: [UInt64]
  let count: Int

  init(count: Int) {
    self.count = count
    words = [UInt64](repeating: 0, count: (count + 63) / 64)
  }

  /// All of 0..<count.
  static func all(_ count: Int) -> KeptSet { KeptSet(count: count, prefix: count) }

  /// The first `prefix` members.
  init(count: Int, prefix: Int) {
    self.init(count: count)
    for word in 0..<prefix / 64 { words[word] = .max }
    if prefix % 64 > 0 { words[prefix / 64] = (1 << UInt64(prefix % 64)) - 1 }
  }

  func contains(_ index: Int) -> Bool { words[index >> 6] >> UInt64(index & 63) & 1 == 1 }

  mutating func insert(_ index: Int) { words[index >> 6] |= 1 << UInt64(index & 63) }

  mutating func remove(_ index: Int) { words[index >> 6] &= ~(1 << UInt64(index & 63)) }

  /// True when a member is at least `lower`.
  func hasMember(from lower: Int) -> Bool {
    guard lower < count else { return false }
    let first = lower >> 6
    if words[first] >> UInt64(lower & 63) != 0 { return true }
    return words[(first + 1)...].contains { $0 != 0 }
  }

  /// The ids whose places are members, in order.
  func members(of ids: [Int]) -> [Int] {
    var result: [Int] = []
    result.reserveCapacity(words.reduce(0) { $0 + $1.nonzeroBitCount })
    for (at, word) in words.enumerated() {
      var rest = word
      while rest != 0 {
        result.append(ids[at << 6 + rest.trailingZeroBitCount])
        rest &= rest - 1
      }
    }
    return result
  }
}
