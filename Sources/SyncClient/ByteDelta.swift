// ByteDelta.swift: bytes as the difference from similar ones: changesets of one kind differ in a
// key, a value and a stamp only, whose sizes may be other ones.
//   runs, each:
//     below 128   how many bytes are the same, up to 15, times 8, and how many follow in place of
//                 as many, 1 to 7; these bytes
//     others      128 plus how many bytes are the same; how many are left out times 16, and how
//                 many follow in their place, up to 15 each; these bytes
// Behind the last run all bytes are the same, up to the end.

enum ByteDelta {
  /// More bytes are not made.
  static let sizeMax = 1 << 9
  /// Of bytes in a run.
  private static let (sameMax, sameMaxShort) = (127, 15)
  private static let (otherMax, otherMaxShort) = (15, 7)
  /// How many more bytes may follow in a run than are left out, or fewer.
  private static let shiftMax = 2
  /// Fewer same bytes do not end a run: its header would be longer.
  private static let sameMin = 3

  /// The difference; nil where the bytes themselves are not longer.
  /// - Complexity: O(bytes).
  static func encoded(_ new: [UInt8], from old: [UInt8]) -> [UInt8]? {
    guard new.count <= sizeMax, old.count <= sizeMax else { return nil }
    var delta: [UInt8] = []
    delta.reserveCapacity(new.count)
    // Where the run begins.
    var (place, base) = (0, 0)
    while true {
      var same = 0
      while same < sameMax, place + same < new.count, base + same < old.count,
        new[place + same] == old[base + same]
      { same += 1 }
      place += same
      base += same
      if place == new.count, base == old.count { break }
      let other = same == sameMax ? (gone: 0, put: 0) : others(new, place, old, base)
      if same <= sameMaxShort, other.gone == other.put, (1...otherMaxShort).contains(other.put) {
        delta.append(UInt8(same << 3 | other.put))
      } else {
        delta.append(UInt8(128 | same))
        delta.append(UInt8(other.gone << 4 | other.put))
      }
      delta += new[place..<place + other.put]
      place += other.put
      base += other.gone
      guard delta.count < new.count else { return nil }
    }
    return delta.count < new.count ? delta : nil
  }

  /// How many bytes from these places on are left out, and put in their place, until some are the
  /// same again.
  private static func others(
    _ new: [UInt8], _ place: Int, _ old: [UInt8], _ base: Int
  ) -> (gone: Int, put: Int) {
    let (left, oldLeft) = (new.count - place, old.count - base)
    func isSame(_ gone: Int, _ put: Int) -> Bool {
      guard gone <= oldLeft, put <= left else { return false }
      // Up to the ends of both, or enough of them.
      let count = oldLeft - gone == left - put ? min(sameMin, left - put) : sameMin
      guard gone + count <= oldLeft, put + count <= left else { return false }
      return (0..<count).allSatisfy { new[place + put + $0] == old[base + gone + $0] }
    }
    for count in 1...otherMax {
      for shift in 0...min(shiftMax, count) {
        if isSame(count, count - shift) { return (count, count - shift) }
        if isSame(count - shift, count) { return (count - shift, count) }
      }
    }
    return (min(otherMax, oldLeft), min(otherMax, left))
  }

  /// The bytes; nil for a difference from other bytes, or none at all.
  static func decoded(_ delta: [UInt8], from old: [UInt8]) -> [UInt8]? {
    var new: [UInt8] = []
    var (rest, base) = (delta[...], old[...])
    func isRoom(_ count: Int) -> Bool { count <= sizeMax - new.count }
    while let run = rest.popFirst() {
      var (same, gone, put) = (Int(run >> 3), Int(run & 7), Int(run & 7))
      if run >= 128 {
        guard let others = rest.popFirst() else { return nil }
        (same, gone, put) = (Int(run & 127), Int(others >> 4), Int(others & 15))
      }
      guard same + gone <= base.count, put <= rest.count, isRoom(same + put) else { return nil }
      new += base.prefix(same)
      base.removeFirst(same + gone)
      new += rest.prefix(put)
      rest.removeFirst(put)
    }
    return isRoom(base.count) ? new + base : nil
  }
}
