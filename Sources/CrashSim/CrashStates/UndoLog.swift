// UndoLog.swift: what must be restored to remove a crash state from its base, last change first.

import LabCore
import Recording

/// What must be restored to remove a crash state from its base.
struct UndoLog {
  /// One change, described by the previous value.
  enum Record {
    /// Bytes, saved in the log's buffer from `saved` on. `hash` is the page's if it was known and
    /// the bytes are in one page; `end` is that of the file's content.
    case bytes(ImageNode, offset: Int, count: Int, saved: Int, hash: UInt64?, end: Int)
    /// A size.
    case size(ImageNode, UInt64)
    /// A whole content, swapped for an empty one.
    case content(ImageNode, ImageContent)
    case entry(ImageNode, FileName, ImageNode?)
    case ownership(ImageNode, Ownership)
    case attribute(ImageNode, FileName, [UInt8]?)
    case time(ImageNode, Timestamp?)
  }

  private(set) var records: [Record] = []
  let buffer = FlatBuffer()
  private var savedBytes = 0

  var count: Int { records.count }

  mutating func append(_ record: Record) { records.append(record) }

  /// Saves bytes of a file before they change.
  mutating func save(
    _ range: Range<Int>, of node: ImageNode, hash: UInt64?
  ) throws(LabError) {
    try buffer.reserve(savedBytes + range.count)
    node.file.buffer.copy(range, to: buffer, at: savedBytes)
    records.append(
      .bytes(
        node, offset: range.lowerBound, count: range.count, saved: savedBytes, hash: hash,
        end: node.file.contentEnd))
    savedBytes += range.count
  }

  mutating func popLast() -> Record? {
    guard let last = records.popLast() else { return nil }
    if case .bytes(_, _, _, let saved, _, _) = last { savedBytes = saved }
    return last
  }

  mutating func removeAll() {
    records.removeAll(keepingCapacity: true)
    savedBytes = 0
  }
}
