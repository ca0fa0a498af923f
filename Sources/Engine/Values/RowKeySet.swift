// RowKeySet.swift: the set of row keys that a scan of links looks for: a bit for each key where
// they are close together, else the sorted keys themselves.

/// A set of keys.
package struct RowKeySet: Sendable {
  /// At most this many bits for each key, so that a set is no larger than eight arrays of its keys.
  private static let bitsPerKeyMax: UInt64 = 512

  private let first: Int64
  /// The number of keys from `first` on that have a bit; 0 without bits.
  private let range: UInt64
  private let words: [UInt64]
  private let keys: [Int64]

  /// - Parameter keys: Ascending.
  package init(_ keys: [Int64]) {
    let lower = keys.first ?? 0
    let span = UInt64(bitPattern: (keys.last ?? 0) &- lower)
    first = lower
    guard !keys.isEmpty, span / Self.bitsPerKeyMax < UInt64(keys.count) else {
      (range, words, self.keys) = (0, [], keys)
      return
    }
    range = span + 1
    var bits = [UInt64](repeating: 0, count: Int(span >> 6) + 1)
    for key in keys {
      let number = UInt64(bitPattern: key &- lower)
      bits[Int(number >> 6)] |= 1 << (number & 63)
    }
    (words, self.keys) = (bits, [])
  }

  @inline(__always)
  package func contains(_ key: Int64) -> Bool {
    guard range > 0 else { return search(key) }
    let number = UInt64(bitPattern: key &- first)
    return number < range && words[Int(number >> 6)] >> (number & 63) & 1 == 1
  }

  private func search(_ key: Int64) -> Bool {
    let index = keys.partitioningIndex { $0 >= key }
    return index < keys.count && keys[index] == key
  }
}
