// Verify.swift: reads every node of the newest version and accounts for every sector. It verifies:
// the file header and the slot; checksum, position, version, kind and level of each node; key
// order, within nodes and against separators; row counts; arrays, string ends and UTF-8; order and
// counts of collections (VerifyColumns.swift); indexes against rows (Verify+Index.swift); and that
// each sector of the logical file is reachable, free or pending, exactly once. It leaves out: bytes
// beyond the logical end, and padding after a node in its last sector.

/// The counts of `verify()`.
public struct VerifyReport: Hashable, Sendable {
  /// The version that was verified.
  public var version: Version
  /// Nodes that the version reaches.
  public var nodes = 0
  /// Bytes of the sectors of those nodes.
  public var reachableBytes: UInt64 = 0
  /// Bytes of free sectors, according to the version's free list.
  public var freeBytes: UInt64 = 0
  /// Bytes of pending sectors.
  public var pendingBytes: UInt64 = 0
  /// Tables.
  public var tables = 0
  /// Rows of all tables.
  public var rows: UInt64 = 0
}

extension Database {
  /// Verifies the newest version completely; writers and readers can continue meanwhile.
  /// - Returns: The counts.
  /// - Throws: `EngineError` with code `.corrupted` and the first thing that is wrong, or
  ///   `.closed`.
  /// - Complexity: O(bytes).
  @discardableResult
  public func verify() throws(EngineError) -> VerifyReport {
    let (current, pin, list) = try pinWithFreeList()
    defer { unpin(pin) }
    var verifier = Verifier(current)
    verifier.list = list
    do throws(EngineError) { try verifier.verifyHeader() } catch {
      // The slot belongs to a later version after two more commits, and may be partly written. A
      // commit publishes its version before the next one takes that slot.
      if version == current.version { throw error }
    }
    return try verifier.run()
  }

  /// Retries of a reader that is overtaken by a commit each time.
  private static let listAttemptsMax = 1000

  /// Pins the newest version and reads its free list, which the pin does not keep: a commit may
  /// overwrite it as soon as a later version is published.
  private func pinWithFreeList() throws(EngineError) -> (VersionState, Pin, ReadFreeList) {
    for attempt in 1...Self.listAttemptsMax {
      let (current, pin) = try pinNewest()
      do throws(EngineError) {
        let list = try Recovery.freeList(of: current, again: true)
        if version == current.version { return (current, pin, list) }
      } catch {
        if version == current.version || attempt == Self.listAttemptsMax {
          unpin(pin)
          throw error
        }
      }
      unpin(pin)
    }
    throw EngineError(
      code: .busy, message: "versions come faster than a free list is read; verify again later")
  }
}

/// One pass over a version.
struct Verifier {
  let state: VersionState
  private(set) var report: VerifyReport
  /// The free list, when it was read before.
  var list: ReadFreeList?
  private(set) var spans: [(span: Span, use: SectorUse)] = []
  private var patchedLeafCount = 0

  init(_ state: VersionState) {
    self.state = state
    report = VerifyReport(version: state.version)
  }

  mutating func run() throws(EngineError) -> VerifyReport {
    try state.reader.reading { section throws(EngineError) in
      try verifyTop()
      for table in state.group.tables { try verify(table, section) }
      guard patchedLeafCount == state.group.patchedLeafCount else {
        throw .corrupted(
          "leaves with a patch: \(patchedLeafCount), the group says "
            + "\(state.group.patchedLeafCount)", at: state.slot.top.ref)
      }
      for table in state.group.tables { try verifyIndexes(of: table) }
      try verifyEdits()
      try verifySpace()
    }
    return report
  }

  func node(
    _ link: NodeLink, _ kind: NodeKind, _ level: Int = 0
  ) throws(EngineError) -> Node {
    try state.reader.verifiedAgain(link, kind: kind, level: level, newest: state.version)
  }

  mutating func count(_ node: Node) throws(EngineError) {
    try count(node.span, node.header.kind)
  }

  private mutating func count(_ span: Span, _ kind: NodeKind) throws(EngineError) {
    report.nodes += 1
    // Nodes do not share sectors, so more nodes than sectors means one node twice.
    guard report.nodes <= state.slot.logicalSizeBytes / UInt64(Layout.sectorSizeBytes) else {
      throw .corrupted("more nodes than sectors", at: Ref(sector: span.start))
    }
    report.reachableBytes += span.count * UInt64(Layout.sectorSizeBytes)
    spans.append((span, .node(kind)))
  }

  /// The fixed record, and the slot that leads to this version.
  func verifyHeader() throws(EngineError) {
    try state.reader.reading { _ throws(EngineError) in
      let header = try UnverifiedFileHeader(state.reader.mapping.bytes)
      _ = try header.verified()
      let found = header.slots(state.reader.cipher)[state.slot.index]
      guard found == .valid(state.slot) else {
        throw .corrupted("slot \(state.slot.index) holds \(found), expected \(state.slot)")
      }
    }
  }

  mutating func verifyTop() throws(EngineError) {
    _ = try VersionState.top(state.slot, state.reader)
    try count(try node(state.slot.top, .group))
    let list = if let list { list } else { try Recovery.freeList(of: state, again: true) }
    self.list = list
    if let span = list.span { try count(span, .freeList) }
    for segment in list.map.segments { try count(segment.span, .freeListSegment) }
    report.tables = state.group.tables.count
  }

  /// The keys that a subtree may hold.
  private struct Bounds {
    var lower: Int64?
    var upper: Int64?
  }

  mutating func verify(
    _ table: TableRecord, _ section: ReadSection = .none
  ) throws(EngineError) {
    guard !table.root.isNone else { return }
    var rows: UInt64 = 0
    var stack = [(link: table.root, level: table.level, bounds: Bounds())]
    while let (link, level, bounds) = stack.popLast() {
      section.refresh()
      if level == 0 {
        if let (leaf, span) = state.reader.knownLeaf(
          link, shape: table.shape, newest: state.version)
        {
          try count(span, .leaf)
          try Self.check(leaf, inside: bounds, at: link.ref)
          rows += UInt64(leaf.rowCount)
          continue
        }
        let leaf = try node(link, .leaf)
        try count(leaf)
        rows += try verify(leaf, table.shape, bounds)
        continue
      }
      let inner = try node(link, .inner, level)
      try count(inner)
      let view = try InnerView(inner)
      patchedLeafCount += inner.header.auxiliary
      var lower = bounds.lower
      for index in 0..<view.childCount {
        let isLast = index == view.childCount - 1
        let upper = isLast ? bounds.upper : view.separator(index)
        try Self.checkAscending(lower, upper, at: inner.ref)
        stack.append((view.link(index), level - 1, Bounds(lower: lower, upper: upper)))
        lower = upper
      }
    }
    guard rows == table.rowCount else {
      throw .corrupted("rows=\(rows) != row_count=\(table.rowCount) of \(table.schema.name)")
    }
    report.rows += rows
  }

  private static func checkAscending(
    _ lower: Int64?, _ upper: Int64?, at ref: Ref
  ) throws(EngineError) {
    guard let lower, let upper, lower >= upper else { return }
    throw .corrupted("separator \(upper) is not above \(lower)", at: ref)
  }

  private mutating func verify(
    _ node: Node, _ shape: LeafShape, _ bounds: Bounds
  ) throws(EngineError) -> UInt64 {
    let leaf = try LeafView(node)
    try Self.verifyDescriptors(leaf.arrays)
    let keys = leaf.keys
    if !keys.isAscending(strictly: true) {
      for index in 1..<max(1, keys.count) where keys[index - 1] >= keys[index] {
        throw .corrupted("key \(keys[index]) follows \(keys[index - 1])", at: leaf.node.ref)
      }
    }
    let found = NodeCache.Leaf(
      rowCount: keys.count, firstKey: keys[0], lastKey: keys[keys.count - 1])
    try Self.check(found, inside: bounds, at: node.ref)
    let nodesBefore = report.nodes
    for layout in shape.columns { try verify(leaf.arrays, layout) }
    // A leaf that leads to other nodes is walked each time, to visit those nodes.
    if report.nodes == nodesBefore, let cached = state.reader.cached(node) {
      cached.cache.keep(found, cached.key, shape: shape.code)
    }
    return UInt64(keys.count)
  }

  private static func check(
    _ leaf: NodeCache.Leaf, inside bounds: Bounds, at ref: Ref
  ) throws(EngineError) {
    guard leaf.firstKey >= bounds.lower ?? .min, bounds.upper.map({ leaf.lastKey < $0 }) ?? true
    else {
      throw .corrupted(
        "keys \(leaf.firstKey)...\(leaf.lastKey) outside their separators", at: ref)
    }
  }

  /// Every node that the slot edits is one of the version.
  func verifyEdits() throws(EngineError) {
    guard let edited = state.reader.edited, !edited.isEmpty else { return }
    let starts = Set(spans.map(\.span.start))
    for node in edited.all {
      let ref = node.edits.link.ref
      guard starts.contains(ref.sector) else {
        throw .corrupted("the root slot edits a node that the version has not", at: ref)
      }
      let kind = try NodeHeader(at: ref, in: state.reader.bytes).kind
      guard kind == .group || kind.canBeEdited else {
        throw .corrupted("the root slot edits a node of kind \(kind.rawValue)", at: ref)
      }
      // Every node was read.
      guard kind == .group || node.isMade else {
        throw .corrupted("no link leads to a node as the root slot edits it", at: ref)
      }
    }
  }

  /// Whether the spans cover each sector once, by a bit per sector.
  private func areDisjointAndComplete(endSector: UInt64) -> Bool {
    let first = Layout.firstNodeSector
    guard endSector <= UInt64(state.reader.bytes.count / Layout.sectorSizeBytes) else {
      return false
    }
    var bits = [UInt64](repeating: 0, count: Int(endSector >> 6) + 1)
    var covered: UInt64 = 0
    for (span, _) in spans {
      guard span.start >= first, span.start < endSector, span.count <= endSector - span.start
      else { return false }
      for sector in span.start..<span.end {
        let bit: UInt64 = 1 << (sector & 63)
        if bits[Int(sector >> 6)] & bit != 0 { return false }
        bits[Int(sector >> 6)] |= bit
      }
      covered += span.count
    }
    return covered == endSector - first
  }

  /// Every sector of the logical file is in exactly one span.
  mutating func verifySpace() throws(EngineError) {
    let list = if let list { list } else { try Recovery.freeList(of: state, again: true) }
    let space = list.map
    let sector = UInt64(Layout.sectorSizeBytes)
    report.freeBytes = space.freeSectorCount * sector
    report.pendingBytes = space.pendingSectorCount * sector
    spans += space.free.map { ($0, .free) }
    spans += space.pending.map { ($0.span, .pending) }
    if areDisjointAndComplete(endSector: space.endSector) { return }
    // There is an error: sort the spans, to report which.
    spans.sort { $0.span.start < $1.span.start }
    var next = Layout.firstNodeSector
    for (span, use) in spans {
      guard span.start == next else {
        let what = span.start < next ? "overlaps another span" : "follows a leak"
        throw .corrupted(
          "\(use) at sector \(span.start) \(what): expected sector \(next)",
          at: Ref(sector: span.start))
      }
      next = span.end
    }
    guard next == space.endSector else {
      throw .corrupted("sectors end at \(next), logical end_sector=\(space.endSector)")
    }
  }
}
