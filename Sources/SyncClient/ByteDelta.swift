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

  /// Puts the difference in the place of what `delta` has, whose memory is used again.
  /// - Returns: Whether it is shorter than the bytes themselves; else `delta` has no difference.
  /// - Complexity: O(bytes).
  static func encode(_ new: [UInt8], from old: [UInt8], into delta: inout [UInt8]) -> Bool {
    guard new.count <= sizeMax, old.count <= sizeMax else { return false }
    delta.removeAll(keepingCapacity: true)
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
      guard delta.count < new.count else { return false }
    }
    return delta.count < new.count
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
    decoded(delta, nil, from: old)
  }

  private static func decoded(
    _ delta: [UInt8], _ others: [UInt8]?, from old: [UInt8]
  ) -> [UInt8]? {
    var new: [UInt8] = []
    var (rest, base, others) = (delta[...], old[...], others?[...])
    func isRoom(_ count: Int) -> Bool { count <= sizeMax - new.count }
    while !rest.isEmpty {
      guard let run = nextRun(&rest), run.same + run.gone <= base.count, run.put <= rest.count,
        isRoom(run.same + run.put), run.put <= others?.count ?? run.put
      else { return nil }
      new += base.prefix(run.same)
      base.removeFirst(run.same + run.gone)
      new += (others ?? rest).prefix(run.put)
      rest.removeFirst(run.put)
      others?.removeFirst(run.put)
    }
    return isRoom(base.count) && others?.isEmpty ?? true ? new + base : nil
  }

  /// Takes the numbers of a run, whose bytes follow then; nil when they are not whole.
  private static func nextRun(
    _ rest: inout ArraySlice<UInt8>
  ) -> (same: Int, gone: Int, put: Int)? {
    guard let run = rest.popFirst() else { return nil }
    guard run >= 128 else { return (Int(run >> 3), Int(run & 7), Int(run & 7)) }
    return rest.popFirst().map { (Int(run & 127), Int($0 >> 4), Int($0 & 15)) }
  }

  // MARK: the same runs

  /// Puts the bytes that follow in the runs of a difference in the place of what `others` has, when
  /// another difference has the same runs.
  /// - Parameters:
  ///   - new: The bytes.
  ///   - delta: A difference between other bytes; without runs it is like none.
  ///   - old: What the bytes are compared with.
  ///   - others: Its memory is used again.
  /// - Returns: Whether the difference has these runs.
  /// - Complexity: O(bytes).
  static func encode(
    _ new: [UInt8], like delta: [UInt8], from old: [UInt8], into others: inout [UInt8]
  ) -> Bool {
    guard !delta.isEmpty, new.count <= sizeMax, old.count <= sizeMax else { return false }
    others.removeAll(keepingCapacity: true)
    var rest = delta[...]
    var (place, base) = (0, 0)
    func areSame(_ count: Int) -> Bool {
      guard place + count <= new.count, base + count <= old.count else { return false }
      for index in 0..<count where new[place + index] != old[base + index] { return false }
      return true
    }
    while let run = nextRun(&rest) {
      guard areSame(run.same) else { return false }
      place += run.same
      base += run.same + run.gone
      guard run.put <= new.count - place, base <= old.count else { return false }
      for byte in new[place..<place + run.put] { others.append(byte) }
      place += run.put
      rest.removeFirst(run.put)
    }
    return new.count - place == old.count - base && areSame(new.count - place)
  }

  /// The bytes of a difference with the runs of another one; nil when they do not fit these bytes.
  /// - Parameters:
  ///   - others: The bytes that follow in the runs.
  ///   - delta: The other difference.
  ///   - old: What the bytes were compared with.
  /// - Returns: The bytes.
  static func decoded(_ others: [UInt8], like delta: [UInt8], from old: [UInt8]) -> [UInt8]? {
    delta.isEmpty ? nil : decoded(delta, others, from: old)
  }
}
