// NaiveTree.swift: a tree of revisions read the plain way, for comparison.

import DocumentStore

/// A tree as encoded in its bytes.
struct NaiveTree {
  struct Entry {
    let parent: Int
    let flags: UInt8
    let generation: UInt64
    let digest: [UInt8]
    let sequence: Int64
    let body: [UInt8]
  }

  var entries: [Entry] = []
  /// Remote and index, in order.
  var pairs: [(remote: Int, index: Int)] = []

  /// The ranges of the entries, as far as their sizes are plausible.
  static func ranges(of bytes: [UInt8]) -> [Range<Int>] {
    var (ranges, start) = ([Range<Int>](), 0)
    while start + 8 < bytes.count {
      let size = number(bytes[start..<start + 4])
      guard size > 8, size <= bytes.count - start else { break }
      ranges.append(start..<start + size)
      start += size
    }
    return ranges
  }

  init?(_ bytes: [UInt8]) {
    let ranges = Self.ranges(of: bytes)
    for range in ranges {
      let entry = Array(bytes[range])
      let end = 8 + Int(entry[7])
      guard end < entry.count else { return nil }
      let (sequence, body) = Self.varint(entry, at: end)
      let id = Array(entry[8..<end])
      let (generation, digest) = Self.varint(id, at: 0)
      entries.append(
        Entry(
          parent: Self.number(entry[4..<6]), flags: entry[6], generation: generation,
          digest: Array(id[digest...]), sequence: Int64(bitPattern: sequence),
          body: Array(entry[body...])))
    }
    var place = (ranges.last?.upperBound ?? 0) + 4
    while place + 4 <= bytes.count {
      pairs.append(
        (Self.number(bytes[place..<place + 2]), Self.number(bytes[place + 2..<place + 4])))
      place += 4
    }
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> Int {
    bytes.reduce(0) { $0 << 8 | Int($1) }
  }

  /// A number with seven bits per byte, low ones first, and its end; it may be longer than it has
  /// to be.
  private static func varint(_ bytes: [UInt8], at start: Int) -> (number: UInt64, end: Int) {
    var (number, shift, place) = (UInt64(0), UInt64(0), start)
    while place < bytes.count {
      number |= UInt64(bytes[place] & 127) << shift
      place += 1
      shift += 7
      if bytes[place - 1] < 128 || shift > 63 { break }
    }
    return (number, place)
  }

  /// Whether a tree has the same entries and pairs.
  func isSame(as tree: RevisionTree, sequence: Int64) -> Bool {
    guard entries.count == tree.revisions.count else { return false }
    for (entry, revision) in zip(entries, tree.revisions) {
      let body = entry.flags & 0x80 != 0 ? entry.body : nil
      guard (revision.parent ?? 0xffff) == entry.parent, revision.id.generation == entry.generation,
        revision.id.digest == entry.digest,
        revision.sequence == (entry.sequence == 0 ? sequence : entry.sequence),
        revision.body == body, revision.flags.rawValue & 0x1b == entry.flags & 0x1b
      else { return false }
    }
    let mark = pairs.firstIndex { $0.remote == 0 } ?? pairs.count
    var remotes: [UInt16: Int] = [:]
    for pair in pairs[..<mark] { remotes[UInt16(pair.remote)] = pair.index }
    return remotes == tree.remotes && pairs.dropFirst(mark + 1).map(\.index) == tree.rejected
  }
}
