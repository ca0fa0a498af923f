// PlainTree.swift: a second reader of revision trees (docs/reference/document-store.md): the column
// `extra` of a record, entry by entry.

/// A tree of revisions as it lies in a record.
struct PlainTree {
  /// The bytes are no tree.
  struct Refusal: Error {
    let text: String
  }

  struct Entry {
    let parent: Int?
    let flags: UInt8
    let id: [UInt8]
    let generation: UInt64
    let sequence: UInt64
    let body: [UInt8]?

    var isDeleted: Bool { flags & 1 != 0 }
    var isLeaf: Bool { flags & 2 != 0 }
    var hasBlobs: Bool { flags & 8 != 0 }
    var isClosed: Bool { flags & 0x40 != 0 }
  }

  private(set) var entries: [Entry] = []
  /// Pairs of a remote database and the number of an entry.
  private(set) var remotes: [(remote: Int, entry: Int)] = []

  /// Reads all bytes.
  init(reading bytes: [UInt8]) throws(Refusal) {
    var place = 0
    while true {
      guard let size = Self.number(bytes, place, 4) else { throw Refusal(text: "no end") }
      guard size > 0 else { break }
      let end = place + size
      guard end <= bytes.count, size > 8 else { throw Refusal(text: "an entry of \(size) bytes") }
      let parent = Self.number(bytes, place + 4, 2) ?? 0
      let flags = bytes[place + 6]
      let idEnd = place + 8 + Int(bytes[place + 7])
      guard idEnd < end else { throw Refusal(text: "an ID beyond its entry") }
      let id = Array(bytes[(place + 8)..<idEnd])
      guard let (generation, _) = Self.varint(id, 0),
        let (sequence, next) = Self.varint(bytes, idEnd), next <= end
      else { throw Refusal(text: "a number that does not end") }
      guard flags & 0x80 != 0 || next == end else { throw Refusal(text: "bytes behind an entry") }
      entries.append(
        Entry(
          parent: parent == 0xffff ? nil : parent, flags: flags & 0x7f, id: id,
          generation: generation, sequence: sequence,
          body: flags & 0x80 != 0 ? Array(bytes[next..<end]) : nil))
      place = end
    }
    place += 4
    guard (bytes.count - place) % 4 == 0 else { throw Refusal(text: "half a pair at the end") }
    while place < bytes.count {
      let pair = (Self.number(bytes, place, 2) ?? 0, Self.number(bytes, place + 2, 2) ?? 0)
      remotes.append((remote: pair.0, entry: pair.1))
      place += 4
    }
    guard !entries.isEmpty else { throw Refusal(text: "no revision") }
    for entry in entries where entry.parent ?? 0 >= entries.count {
      throw Refusal(text: "a parent that is not there")
    }
  }

  private static func number(_ bytes: [UInt8], _ place: Int, _ size: Int) -> Int? {
    guard place + size <= bytes.count else { return nil }
    return bytes[place..<place + size].reduce(0) { $0 << 8 | Int($1) }
  }

  private static func varint(_ bytes: [UInt8], _ place: Int) -> (UInt64, Int)? {
    var (value, shift, place) = (UInt64(0), UInt64(0), place)
    while place < bytes.count, shift < 64 {
      value |= UInt64(bytes[place] & 0x7f) << shift
      place += 1
      if bytes[place - 1] & 0x80 == 0 { return (value, place) }
      shift += 7
    }
    return nil
  }
}
