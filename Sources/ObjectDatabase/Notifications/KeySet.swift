// KeySet.swift: a small set of keys for many membership tests: each costs a multiplication and one
// array access, where a hash set would be slow for a million keys. Invariants: the number of slots
// is a power of two and at least twice that of the keys, so every search ends at an empty one;
// `empty` in a slot means that, and a key of that value is stored separately.

/// A set of keys with fast membership tests.
struct KeySet {
  private static let empty = Int64.min

  private var slots: [Int64]
  private let shift: UInt64
  private var hasEmptyKey = false
  private(set) var isEmpty = true

  /// Takes keys in any order; duplicates are allowed.
  init(_ keys: some Collection<Int64>) {
    var bits: UInt64 = 4
    while 1 << bits < 4 * keys.count { bits += 1 }
    shift = 64 - bits
    slots = Array(repeating: Self.empty, count: 1 << bits)
    for key in keys { insert(key) }
  }

  private mutating func insert(_ key: Int64) {
    isEmpty = false
    guard key != Self.empty else {
      hasEmptyKey = true
      return
    }
    var slot = home(key)
    while slots[slot] != Self.empty, slots[slot] != key { slot = (slot + 1) & (slots.count - 1) }
    slots[slot] = key
  }

  @inline(__always)
  private func home(_ key: Int64) -> Int {
    Int(truncatingIfNeeded: (UInt64(bitPattern: key) &* 0x9E37_79B9_7F4A_7C15) >> shift)
  }

  /// Whether a key is one of them.
  /// - Complexity: O(1) for keys that are not made to collide.
  @inline(__always)
  func contains(_ key: Int64) -> Bool {
    if key == Self.empty { return hasEmptyKey }
    var slot = home(key)
    while slots[slot] != key {
      if slots[slot] == Self.empty { return false }
      slot = (slot + 1) & (slots.count - 1)
    }
    return true
  }
}
