// KeyTable.swift: a value for each row's key, for scans that collect something by key. Invariant:
// values have places in an array only up to the number of rows and a fixed bound, so that no key of
// a damaged file takes memory without end.

/// A value for each key; an empty one for those that got none.
struct KeyTable<Element: Sendable>: Sendable {
  /// The greatest key with a place of its own, whatever number of rows a damaged file claims.
  private static var nearKeyMax: Int64 { 1 << 22 }

  private let empty: Element
  /// Keys from 0 to this have their place in `near`.
  private let nearMax: Int64
  private var near: [Element] = []
  private var far: [Int64: Element] = [:]

  /// - Parameters:
  ///   - empty: The value of all other keys.
  ///   - rows: About how many keys there are.
  init(of empty: Element, rows: Int) {
    self.empty = empty
    nearMax = min(Int64(clamping: rows), Self.nearKeyMax)
  }

  /// - Complexity: O(1).
  subscript(key: Int64) -> Element {
    if key >= 0, key < Int64(near.count) { return near[Int(key)] }
    return far[key] ?? empty
  }

  @inline(__always)
  mutating func update(_ key: Int64, _ change: (inout Element) -> Void) {
    guard key >= 0, key <= nearMax else {
      let empty = empty
      return change(&far[key, default: empty])
    }
    let place = Int(key)
    if place >= near.count { grow(to: place + 1) }
    change(&near[place])
  }

  private mutating func grow(to count: Int) {
    let wanted = min(max(count, near.count * 2, 64), Int(nearMax) + 1)
    near += repeatElement(empty, count: wanted - near.count)
  }
}
