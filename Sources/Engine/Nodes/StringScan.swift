// StringScan.swift [U]: which strings of a leaf are equal to a text, or begin with it. Lengths are
// compared first: they follow from the ends, and few rows have the right one. Then the first and
// the last eight bytes, which overlap in short strings, and the middle only where both agree. A
// string in a separate node is compared by its size, and only then is its node read.

/// A text that strings are compared with.
struct TextPattern {
  let bytes: [UInt8]
  /// Whether strings that continue after the text match, too.
  let isPrefix: Bool
  /// The first and the last eight bytes, when the text has that many.
  let head: UInt64
  let tail: UInt64

  init(_ text: String, isPrefix: Bool) {
    bytes = Array(text.utf8)
    self.isPrefix = isPrefix
    guard bytes.count >= 8 else {
      (head, tail) = (0, 0)
      return
    }
    (head, tail) = RawBytes.over(bytes) { ($0.uint64(0), $0.uint64($0.count - 8)) }
  }

  @inline(__always)
  func canMatch(sizeBytes: Int) -> Bool {
    isPrefix ? sizeBytes >= bytes.count : sizeBytes == bytes.count
  }

  /// Whether a string of a size that can match begins with the text.
  @inline(__always)
  func matches(_ text: RawBytes) -> Bool {
    let count = bytes.count
    guard count >= 8 else {
      for index in 0..<count where text.uint8(index) != bytes[index] { return false }
      return true
    }
    guard text.uint64(0) == head, text.uint64(count - 8) == tail else { return false }
    return count <= 16 || matchesMiddle(text)
  }

  @inline(never)
  private func matchesMiddle(_ text: RawBytes) -> Bool {
    RawBytes.over(bytes) { pattern in
      var offset = 8
      while offset < bytes.count - 8 {
        if text.uint64(offset) != pattern.uint64(offset) { return false }
        offset = min(offset + 8, bytes.count - 8)
      }
      return true
    }
  }
}

extension StringsView {
  /// Checks all ends as `decodeEnds` does, mostly without decoding them.
  /// - Returns: Whether any entry leads out of the leaf.
  func checkEnds() throws(EngineError) -> Bool {
    if !hasExternals, ends.isAscending(strictly: false), ends[0] >= 0,
      ends[ends.count - 1] == Int64(bytes.count)
    {
      return false
    }
    var decoded: [Int64] = []
    return try decodeEnds(into: &decoded)
  }

  /// Calls `body` with the row of each string that matches, in order.
  /// - Complexity: O(rows), and O(bytes) of the strings that may match.
  @inline(__always)
  func forEachMatch(
    _ pattern: TextPattern, _ reader: NodeReader, newest: Version, _ body: (Int) -> Void
  ) throws(EngineError) {
    guard !hasExternals else {
      return try slowMatches(pattern, reader, newest: newest, body)
    }
    switch ends.width {
    case 8: try scan(pattern, UInt8.self, body)
    case 16: try scan(pattern, UInt16.self, body)
    case 32: try scan(pattern, UInt32.self, body)
    default: try slowMatches(pattern, reader, newest: newest, body)
    }
  }

  @inline(__always)
  private func scan<Number: FixedWidthInteger & UnsignedInteger & BitwiseCopyable>(
    _ pattern: TextPattern, _ type: Number.Type, _ body: (Int) -> Void
  ) throws(EngineError) {
    // The ends are offsets into `bytes`: a base beyond them would be an end beyond them.
    guard ends.base <= UInt64(bytes.count) else { throw endsAreWrong() }
    let base = Int(ends.base)
    let (size, isPrefix, head) = (pattern.bytes.count, pattern.isPrefix, pattern.head)
    let hasHead = size >= 8
    var start = 0
    for row in 0..<ends.count {
      let end = base &+ Int(ends.load(row, type))
      guard start <= end, end <= bytes.count else { throw endsAreWrong() }
      let length = end &- start
      if length == size || isPrefix && length > size {
        // Safety: start + size <= end <= bytes.count, and without a head nothing is read.
        let word =
          hasHead ? unsafe bytes.base.loadUnaligned(fromByteOffset: start, as: UInt64.self) : 0
        if UInt64(littleEndian: word) == head,
          pattern.matches(bytes.part(at: start, count: length))
        {
          body(row)
        }
      }
      start = end
    }
  }

  @inline(never)
  private func endsAreWrong() -> EngineError {
    .corrupted("string ends descend or lie after bytes=\(bytes.count)", at: ref)
  }

  /// The rest: strings in separate nodes, and leaves whose strings are all empty or that have one
  /// row.
  @inline(never)
  private func slowMatches(
    _ pattern: TextPattern, _ reader: NodeReader, newest: Version, _ body: (Int) -> Void
  ) throws(EngineError) {
    for row in 0..<ends.count {
      let (entry, isExternal) = try entry(row)
      guard isExternal else {
        if pattern.canMatch(sizeBytes: entry.count), pattern.matches(entry) { body(row) }
        continue
      }
      let size = Int(clamping: ExternalEntry(entry).word)
      guard pattern.canMatch(sizeBytes: size) else { continue }
      let text = try reader.stringBytes(self, row, newest: newest)
      if pattern.matches(text) { body(row) }
    }
  }
}
