// ByteDelta.swift: bytes as the difference from similar ones: changesets of one kind differ in a
// number, a stamp and a value only.
//   size  field
//   1, 2  size of the bytes, 7 bits a byte, the lowest first
//      …  runs: 1, how many bytes are the same times 16, and how many follow; these bytes
// Behind the last run all bytes are the same. Bytes are compared at equal positions.

enum ByteDelta {
  /// More bytes are not made.
  static let sizeMax = 1 << 9
  /// Of bytes of either kind in a run.
  private static let countMax = 15

  /// The difference; nil where the bytes themselves are not longer.
  static func encoded(_ new: [UInt8], from old: [UInt8]) -> [UInt8]? {
    guard new.count <= sizeMax else { return nil }
    var delta: [UInt8] = []
    delta.reserveCapacity(new.count + 2)
    if new.count >= 128 { delta.append(UInt8(new.count & 127) | 128) }
    delta.append(UInt8(new.count >= 128 ? new.count >> 7 : new.count))
    func isSame(_ index: Int) -> Bool { index < old.count && new[index] == old[index] }
    var index = 0
    while true {
      let start = index
      while index < new.count, isSame(index) { index += 1 }
      guard index < new.count else { break }
      var copied = index - start
      while copied > countMax {
        delta.append(UInt8(countMax << 4))
        copied -= countMax
      }
      let first = index
      while index < new.count, index - first < countMax, !isSame(index) { index += 1 }
      delta.append(UInt8(copied << 4 | (index - first)))
      delta += new[first..<index]
      guard delta.count < new.count else { return nil }
    }
    return delta.count < new.count ? delta : nil
  }

  /// The bytes; nil for a difference from other bytes, or none at all.
  static func decoded(_ delta: [UInt8], from old: [UInt8]) -> [UInt8]? {
    var rest = delta[...]
    guard let low = rest.popFirst() else { return nil }
    var size = Int(low)
    if low >= 128 {
      guard let high = rest.popFirst() else { return nil }
      size = Int(low & 127) | Int(high) << 7
    }
    guard size <= sizeMax else { return nil }
    var new: [UInt8] = []
    func copy(_ count: Int) -> Bool {
      guard count > 0 else { return true }
      guard count <= size - new.count, new.count + count <= old.count else { return false }
      new += old[new.count..<new.count + count]
      return true
    }
    while let run = rest.popFirst() {
      let count = Int(run & 15)
      guard copy(Int(run >> 4)), count <= rest.count, count <= size - new.count else { return nil }
      new += rest.prefix(count)
      rest.removeFirst(count)
    }
    return copy(size - new.count) ? new : nil
  }
}
