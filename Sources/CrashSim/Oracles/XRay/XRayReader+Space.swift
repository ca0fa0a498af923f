// XRayReader+Space.swift: the free list: which sectors are free or pending.

extension XRayReader {
  /// Reads the free list and claims its spans.
  mutating func readFreeList(_ link: XRayLink) throws(XRayFault) {
    let node = try node(link, .freeList, level: 0, .freeList)
    do throws(XRayFault) {
      var cursor = XRayCursor(node.bytes, at: XRayNode.headerBytes)
      var lastEnd: UInt64 = 0
      for _ in 0..<node.count {
        let start = try cursor.number(UInt64.self)
        let count = try cursor.number(UInt64.self)
        guard start >= lastEnd else { throw XRayFault("free span \(start) before \(lastEnd)") }
        try add(XRay.Span(start: start, count: count, born: 0, released: 0))
        lastEnd = start + count
      }
      for _ in 0..<node.secondCount {
        let start = try cursor.number(UInt64.self)
        let count = try cursor.number(UInt64.self)
        let born = try cursor.number(UInt64.self)
        let released = try cursor.number(UInt64.self)
        try add(XRay.Span(start: start, count: count, born: born, released: released))
      }
      guard node.bytes.count % Self.sectorBytes == 0 else {
        throw XRayFault("free list: bytes=\(node.bytes.count), no whole sectors")
      }
    } catch {
      throw XRayFault(error.message, at: error.refBytes ?? node.refBytes)
    }
  }

  private mutating func add(_ span: XRay.Span) throws(XRayFault) {
    let isFree = span.born == 0 && span.released == 0
    guard isFree || (span.born < span.released && span.released <= slot.version) else {
      throw XRayFault(
        "pending span \(span.start): born=\(span.born) released=\(span.released), "
          + "version=\(slot.version)")
    }
    try claim(first: span.start, count: span.count, isFree ? "free span" : "pending span")
    found.spans.append(span)
  }

  /// Whether everything that a commit of one sync wrote is there.
  func hasArrived(_ candidate: XRay.Slot) -> Bool {
    var reader = XRayReader(file) { _, _, _ in }
    do throws(XRayFault) {
      try reader.begin(candidate)
      let group = try reader.node(candidate.top, .group, level: 0, .group)
      let (freeList, _) = try reader.readGroup(group)
      if freeList.refBytes != 0 { try reader.readFreeList(freeList) }
      return true
    } catch {
      return false
    }
  }
}
