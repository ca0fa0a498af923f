// RevisionTree+Reading.swift: trees from the bytes of a record.
//   an entry, the best revision first:
//     size_bytes  field
//              4  size of the entry, this field among it; 0 ends the entries
//              2  index of the parent, or FFFF
//              1  flags
//              1  size of the ID
//              …  ID
//              …  varint: sequence; 0 is the record's own
//              …  body, if the flags have 0x80
//   then pairs of two bytes each: a remote and the index of its revision; the pair 0/0 (3.2), and
//   pairs of 0 and the index of a revision that a server refused

extension RevisionTree {
  /// Reads a tree.
  /// - Parameters:
  ///   - bytes: The column `extra` of 3.x, or `body` of 2.x.
  ///   - sequence: The record's sequence.
  /// - Throws: `DocumentStoreError` with code `.corruptRevisionData`.
  /// - Complexity: O(bytes).
  package init(reading bytes: [UInt8], sequence: Int64) throws(DocumentStoreError) {
    var reader = ByteReader(bytes)
    while true {
      let start = reader.offset
      guard let size = reader.uint32() else { throw Self.damaged("it ends in an entry", start) }
      if size == 0 { break }
      guard revisions.count < Self.countMax else {
        throw Self.damaged("more than \(Self.countMax) revisions", start)
      }
      revisions.append(try Self.entry(&reader, start, Int(size), sequence: sequence))
    }
    guard !revisions.isEmpty else { throw Self.damaged("it has no revision", 0) }
    try readPairs(&reader)
    try checkParents()
  }

  /// Whether bytes are the body of a record of 2.x: entries one after the other, and their end.
  static func isTree(_ bytes: [UInt8]) -> Bool {
    var offset = 0
    while bytes.count - offset >= 4 {
      var reader = ByteReader(Array(bytes[offset..<min(bytes.count, offset + 8)]))
      guard let size = reader.uint32() else { return false }
      if size == 0 { return offset > 0 }
      guard reader.uint16() != nil, reader.uint8() != nil, let idSize = reader.uint8(),
        Int(size) > 8 + Int(idSize), Int(size) <= bytes.count - offset
      else { return false }
      offset += Int(size)
    }
    return false
  }

  private static func entry(
    _ reader: inout ByteReader, _ start: Int, _ size: Int, sequence: Int64
  ) throws(DocumentStoreError) -> Revision {
    guard let parent = reader.uint16(), let flags = reader.uint8(), let idSize = reader.uint8(),
      size > 8 + Int(idSize), size <= reader.bytes.count - start,
      let id = reader.take(Int(idSize)), let number = reader.varint(),
      number <= UInt64(Int64.max), let body = reader.take(start + size - reader.offset)
    else { throw damaged("an entry of \(size) bytes does not hold its parts", start) }
    let all = RevisionFlags(rawValue: flags)
    let revisionID: RevisionID
    do { revisionID = try RevisionID(stored: id) } catch {
      throw damaged("an entry has no revision ID", start)
    }
    return Revision(
      id: revisionID, parent: parent == 0xffff ? nil : Int(parent),
      flags: all.intersection(.stored), sequence: number == 0 ? sequence : Int64(number),
      body: all.contains(.hasData) ? body : nil)
  }

  private mutating func readPairs(_ reader: inout ByteReader) throws(DocumentStoreError) {
    var isBehindMark = false
    while reader.left > 0 {
      let start = reader.offset
      guard let remote = reader.uint16(), let index = reader.uint16() else {
        throw Self.damaged("it ends in a pair", start)
      }
      guard Int(index) < revisions.count else {
        throw Self.damaged("index \(index) of \(revisions.count) revisions", start)
      }
      if remote != 0, !isBehindMark {
        remotes[remote] = Int(index)
      } else if remote == 0, isBehindMark {
        rejected.append(Int(index))
      } else if remote == 0, index == 0 {
        isBehindMark = true
      } else {
        throw Self.damaged("a pair \(remote)/\(index) where none may be", start)
      }
    }
  }

  /// Parents must exist and lead to a root.
  private func checkParents() throws(DocumentStoreError) {
    // 0: not visited; 1: on the current path; 2: leads to a root.
    var states = [UInt8](repeating: 0, count: revisions.count)
    for start in revisions.indices where states[start] == 0 {
      var (line, next) = ([Int](), Int?(start))
      while let index = next {
        guard index < revisions.count else {
          throw Self.damaged("parent \(index) of \(revisions.count) revisions", 0)
        }
        guard states[index] != 1 else { throw Self.damaged("its parents form a cycle", 0) }
        if states[index] == 2 { break }
        states[index] = 1
        line.append(index)
        next = revisions[index].parent
      }
      for index in line { states[index] = 2 }
    }
  }

  static func damaged(_ what: String, _ offsetBytes: Int) -> DocumentStoreError {
    DocumentStoreError(
      .corruptRevisionData, "a tree of revisions is damaged: byte \(offsetBytes): \(what)")
  }
}
