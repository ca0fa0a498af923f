// WordLeafView.swift: a leaf of a full-text index read in place: r runs, one for each image.
//   offset_bytes  size  field
//             48    8r  images, ascending
//        48 + 8r    2r  ends: where the keys of each run end, in bytes after the ends
//       48 + 10r     …  keys: of each run the first key as a zigzag varint, then for each further
//                       one the difference to the key before it, less 1, as a varint
// The header's count is the number of keys, and its auxiliary field that of runs. Varints have
// groups of 7 bits, lowest first, in their shortest form. Keys of a run ascend strictly.

/// A leaf of a full-text index.
struct WordLeafView {
  static let runBytes = 10

  let node: Node
  let runCount: Int
  /// The number of pairs.
  var count: Int { node.header.count }

  private var keysOffset: Int { Layout.nodeHeaderBytes + Self.runBytes * runCount }

  init(_ node: Node) throws(EngineError) {
    self.node = node
    runCount = node.header.auxiliary
    let room = node.bytes.count - Layout.nodeHeaderBytes
    guard runCount > 0, runCount <= node.header.count,
      node.bytes.count <= Layout.keyPairLeafSizeBytesMax, runCount <= room / Self.runBytes,
      node.header.count <= room - Self.runBytes * runCount,
      end(of: runCount - 1) == room - Self.runBytes * runCount
    else {
      throw .corrupted(
        "runs=\(runCount) pairs=\(node.header.count) node_bytes=\(node.bytes.count) in a leaf of "
          + "words", at: node.ref)
    }
  }

  @inline(__always)
  func image(_ run: Int) -> UInt64 {
    precondition(run >= 0 && run < runCount)
    return node.bytes.uint64(Layout.nodeHeaderBytes + 8 * run)
  }

  @inline(__always)
  private func end(of run: Int) -> Int {
    Int(node.bytes.uint16(Layout.nodeHeaderBytes + 8 * runCount + 2 * run))
  }

  /// The bytes of a run's keys.
  @inline(__always)
  private func bytes(_ run: Int) throws(EngineError) -> RawBytes {
    let start = run == 0 ? 0 : end(of: run - 1)
    let end = end(of: run)
    guard start < end, end <= node.bytes.count - keysOffset else {
      throw .corrupted("run \(run) of a leaf of words ends at \(end) after \(start)", at: node.ref)
    }
    return node.bytes.part(at: keysOffset + start, count: end - start)
  }

  /// The first run whose image is not below `image`.
  @inline(__always)
  func firstRun(notBelow image: UInt64) -> Int {
    var low = 0
    var length = runCount
    while length > 0 {
      let half = length >> 1
      if self.image(low + half) < image {
        low += half + 1
        length -= half + 1
      } else {
        length = half
      }
    }
    return low
  }

  /// Adds the keys of a run, ascending.
  @inline(__always)
  func appendKeys(of run: Int, to keys: inout [Int64]) throws(EngineError) {
    let bytes = try bytes(run)
    var offset = 0
    let first = try varint(bytes, &offset)
    var key = Int64(bitPattern: first >> 1) ^ -Int64(first & 1)
    keys.append(key)
    while offset < bytes.count {
      var step = UInt64(bytes.uint8(offset))
      if step < 0x80 { offset += 1 } else { step = try varint(bytes, &offset) }
      // Keys are signed: a difference is at most 2^64 - 1.
      guard step < UInt64(bitPattern: Int64.max &- key) else {
        throw .corrupted("a key of run \(run) is beyond the last one", at: node.ref)
      }
      key = Int64(bitPattern: UInt64(bitPattern: key) &+ step &+ 1)
      keys.append(key)
    }
  }

  @inline(never)
  private func varint(_ bytes: RawBytes, _ offset: inout Int) throws(EngineError) -> UInt64 {
    var number: UInt64 = 0
    var shift: UInt64 = 0
    while offset < bytes.count {
      let byte = bytes.uint8(offset)
      offset += 1
      guard shift < 63 || byte <= 1, shift == 0 || byte != 0 else { break }
      number |= UInt64(byte & 0x7f) << shift
      if byte < 0x80 { return number }
      shift += 7
    }
    throw .corrupted("a key of a leaf of words is no number", at: node.ref)
  }

  /// Copies the leaf for a writer.
  func decode() throws(EngineError) -> (images: [Int64], keys: [Int64]) {
    var images: [Int64] = []
    var keys: [Int64] = []
    images.reserveCapacity(count)
    keys.reserveCapacity(count)
    for run in 0..<runCount {
      guard run == 0 || image(run - 1) < image(run) else {
        throw .corrupted("run \(run) of a leaf of words does not ascend", at: node.ref)
      }
      try appendKeys(of: run, to: &keys)
      let image = Int64(bitPattern: image(run))
      while images.count < keys.count { images.append(image) }
    }
    guard keys.count == count else {
      throw .corrupted("keys=\(keys.count) != pairs=\(count) in a leaf of words", at: node.ref)
    }
    return (images, keys)
  }

  // MARK: writing

  /// The number of bytes of a key after another of its run, or of a run's first one.
  @inline(__always)
  static func keyBytes(_ key: Int64, after last: Int64?) -> Int {
    varintBytes(number(key, after: last))
  }

  @inline(__always)
  private static func number(_ key: Int64, after last: Int64?) -> UInt64 {
    guard let last else { return UInt64(bitPattern: key &<< 1 ^ key &>> 63) }
    return UInt64(bitPattern: key) &- UInt64(bitPattern: last) &- 1
  }

  @inline(__always)
  private static func varintBytes(_ number: UInt64) -> Int {
    (64 - (number | 1).leadingZeroBitCount + 6) / 7
  }

  /// Writes everything after the node header.
  static func encode(images: [Int64], keys: [Int64], runCount: Int, into node: MutableBytes) {
    var offset = Layout.nodeHeaderBytes + runBytes * runCount
    let start = offset
    var run = -1
    for index in keys.indices {
      let isFirst = index == 0 || images[index] != images[index - 1]
      if isFirst {
        if run >= 0 { set(end: offset - start, of: run, runCount, in: node) }
        run += 1
        node.set(UInt64(bitPattern: images[index]), at: Layout.nodeHeaderBytes + 8 * run)
      }
      var number = number(keys[index], after: isFirst ? nil : keys[index - 1])
      while number >= 0x80 {
        node.set(UInt8(truncatingIfNeeded: number) | 0x80, at: offset)
        number >>= 7
        offset += 1
      }
      node.set(UInt8(number), at: offset)
      offset += 1
    }
    precondition(run == runCount - 1, "the runs were counted")
    set(end: offset - start, of: run, runCount, in: node)
  }

  private static func set(
    end: Int, of run: Int, _ runCount: Int, in node: MutableBytes
  ) {
    let offset = Layout.nodeHeaderBytes + 8 * runCount + 2 * run
    node.set(UInt8(truncatingIfNeeded: end), at: offset)
    node.set(UInt8(truncatingIfNeeded: end >> 8), at: offset + 1)
  }
}
