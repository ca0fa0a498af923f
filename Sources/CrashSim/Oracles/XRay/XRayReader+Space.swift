// XRayReader+Space.swift: reads the free list with its segments: the free and pending sectors; and
// checks whether everything that a commit with one sync wrote has arrived.

/// The node of a free list, decoded.
private struct XRayFreeList {
  let segments: [XRayLink]
  /// What recovery must check of a commit with one sync.
  let fresh: [XRayLink]
  let spans: XRayBytes

  init(_ node: XRayNode) throws(XRayFault) {
    var cursor = XRayCursor(node.bytes, at: XRayNode.headerBytes)
    let freshCount = Int(try cursor.number(UInt32.self))
    let reserved = try cursor.number(UInt32.self)
    guard reserved == 0 else { throw XRayFault("reserved bytes of the free list: \(reserved)") }
    // Checked before memory is allocated for them.
    let links = try node.bytes.part(at: cursor.offset, count: (node.secondCount + freshCount) * 16)
    spans = try node.bytes.part(at: cursor.offset + links.count, count: node.count * 24)
    var segments: [XRayLink] = []
    for _ in 0..<node.secondCount { segments.append(try cursor.link()) }
    var fresh: [XRayLink] = []
    for _ in 0..<freshCount { fresh.append(try cursor.link()) }
    self.segments = segments
    self.fresh = fresh
  }
}

extension XRayReader {
  private static let segmentSpansMax = 166
  private static let freshLinksMax = 1024
  private static let freshBytesMax = 8 << 20

  /// Reads the free list and claims its spans.
  mutating func readFreeList(_ link: XRayLink) throws(XRayFault) {
    let node = try node(link, .freeList, level: 0, .freeList)
    do throws(XRayFault) {
      let list = try XRayFreeList(node)
      try add(list.spans)
      for link in list.segments { try readSegment(link) }
    } catch {
      throw XRayFault(error.message, at: error.refBytes ?? node.refBytes)
    }
  }

  private mutating func readSegment(_ link: XRayLink) throws(XRayFault) {
    let node = try node(link, .listSegment, level: 0, .freeList)
    guard node.count <= Self.segmentSpansMax,
      node.bytes.count == XRayNode.headerBytes + node.count * 24
    else {
      throw XRayFault("segment: spans=\(node.count) bytes=\(node.bytes.count)", at: node.refBytes)
    }
    try add(node.bytes.part(at: XRayNode.headerBytes, count: node.count * 24))
  }

  private mutating func add(_ spans: XRayBytes) throws(XRayFault) {
    var cursor = XRayCursor(spans, at: 0)
    while !cursor.isAtEnd {
      let place = try cursor.number(UInt64.self)
      let born = try cursor.number(UInt64.self)
      try add(
        XRay.Span(
          start: place & (1 << 36 - 1), count: place >> 36, born: born & ~(1 << 63),
          released: try cursor.number(UInt64.self), isFreeList: born >> 63 == 1))
    }
  }

  private mutating func add(_ span: XRay.Span) throws(XRayFault) {
    let isFree = span.born == 0 && span.released == 0 && !span.isFreeList
    guard isFree || (span.born < span.released && span.released <= slot.version) else {
      throw XRayFault(
        "pending span \(span.start): born=\(span.born) released=\(span.released), "
          + "version=\(slot.version)")
    }
    try claim(first: span.start, count: span.count, isFree ? "free span" : "pending span")
    found.spans.append(span)
  }

  /// Whether everything that a commit with one sync wrote has arrived.
  func hasArrived(_ candidate: XRay.Slot) -> Bool {
    var reader = XRayReader(file) { _, _, _ in }
    do throws(XRayFault) {
      try reader.begin(candidate)
      let group = try reader.node(candidate.top, .group, level: 0, .group)
      let freeList = try reader.readGroup(group).freeList
      try reader.readFreeList(freeList)
      let (_, listSize) = try reader.headerAndSize(freeList)
      let list = try XRayFreeList(reader.checked(freeList, sizeBytes: listSize))
      guard list.fresh.count <= Self.freshLinksMax else { return false }
      var bytes = 0
      for link in list.fresh {
        let (_, size) = try reader.headerAndSize(link)
        bytes += size
        // Checked before reading, so that no bytes can make this slow.
        guard bytes <= Self.freshBytesMax,
          try reader.checked(link, sizeBytes: size).version == candidate.version
        else { return false }
      }
      return true
    } catch {
      return false
    }
  }
}
