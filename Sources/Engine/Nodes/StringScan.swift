// StringScan.swift [U]: which strings of a leaf are equal to a text, or begin with it. Lengths are
// compared, which follow from the ends, and the first eight bytes, both without a branch; then the
// last eight bytes, which overlap in short strings, and the middle only where these agree. A
// string in a separate node is compared by its size, and only then is its node read.

/// A text that strings are compared with.
struct TextPattern {
  let bytes: [UInt8]
  /// Whether strings that continue after the text match, too.
  let isPrefix: Bool
  /// The first eight bytes, or all of a shorter text and zeros, and a mask of those that count.
  let head: UInt64
  let headMask: UInt64
  /// The last eight bytes, when the text has that many.
  let tail: UInt64

  init(_ text: String, isPrefix: Bool) {
    bytes = Array(text.utf8)
    self.isPrefix = isPrefix
    guard bytes.count >= 8 else {
      head = bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
      (headMask, tail) = (1 << UInt64(8 * bytes.count) - 1, 0)
      return
    }
    headMask = .max
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
    let (size, head, headMask) = (pattern.bytes.count, pattern.head, pattern.headMask)
    // A length fits when none of these bits of its difference to the text's size is set: no bit for
    // equal texts, not the sign for a prefix.
    let lengthMask: UInt64 = pattern.isPrefix ? 1 << 63 : .max
    let (count, lastStart) = (ends.count, bytes.count - 8)
    var (row, start, end, steps) = (0, 0, 0, 0)
    candidates: while true {
      // Strings of all lengths in one order of steps, and a branch that is rarely taken.
      var difference: UInt64
      repeat {
        start = end
        guard row < count, start <= lastStart else { break candidates }
        end = base &+ Int(ends.load(row, type))
        // Safety: 0 <= start <= bytes.count - 8.
        let word = unsafe UInt64(
          littleEndian: bytes.base.loadUnaligned(fromByteOffset: start, as: UInt64.self))
        let length = end &- start
        difference =
          (word & headMask) ^ head | UInt64(bitPattern: Int64(length &- size)) & lengthMask
        // The sign stays when an end is before its start.
        steps |= length
        row &+= 1
      } while difference != 0
      guard end <= bytes.count else { throw endsAreWrong() }
      if size <= 8 || pattern.matches(bytes.part(at: start, count: end &- start)) { body(row - 1) }
    }
    guard steps >= 0 else { throw endsAreWrong() }
    while row < ends.count {
      let end = base &+ Int(ends.load(row, type))
      guard start <= end, end <= bytes.count else { throw endsAreWrong() }
      if pattern.canMatch(sizeBytes: end &- start),
        pattern.matches(bytes.part(at: start, count: end &- start))
      {
        body(row)
      }
      start = end
      row += 1
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
