// XRayReader.swift [U]: reads the file header, the slots and nodes, and claims their sectors.
// Invariant: a sector is claimed once, and a node is read only after its sectors were claimed, so
// every traversal ends and its cost is bounded by the file's length.

extension XRay {
  /// Called for each row, tables in their order and keys ascending.
  package typealias RowVisitor = (_ table: XRayTable, _ key: Int64, _ row: [XRayValue]) -> Void

  /// Reads a file.
  /// - Parameters:
  ///   - bytes: The whole file.
  ///   - visitor: Called with the rows as they are read.
  /// - Complexity: O(bytes), and O(rows) memory for indexes and links.
  package init(_ bytes: [UInt8], visitor: @escaping RowVisitor = { _, _, _ in }) {
    self = unsafe bytes.withUnsafeBytes { source in
      // Safety: the views do not outlive the closure.
      var reader = unsafe XRayReader(XRayBytes(source), visitor)
      reader.read()
      return reader.found
    }
  }
}

/// A checked node.
struct XRayNode {
  let bytes: XRayBytes
  let refBytes: UInt64
  let version: UInt64
  let count: Int
  let secondCount: Int

  static let headerBytes = 48
}

/// The state of a reader.
struct XRayReader {
  static let sectorBytes = 4096
  static let firstSector = 3

  let file: XRayBytes
  let visitor: XRay.RowVisitor
  var found = XRay()
  /// Whether a sector of the version is claimed.
  var claimed: [Bool] = []
  var slot = XRay.Slot(
    version: 0, top: XRayLink(refBytes: 0, checksum: 0), logicalSizeBytes: 0, isOneSync: false)
  var gathered = XRayGathered()
  /// Edits of leaves with a patch, by ref.
  var leafEdits: [UInt64: XRayEdit] = [:]

  init(_ file: XRayBytes, _ visitor: @escaping XRay.RowVisitor) {
    self.file = file
    self.visitor = visitor
  }

  /// Records a fault.
  mutating func note(_ fault: XRayFault) {
    if found.faults.count < XRay.faultsMax { found.faults.append(fault) }
  }

  /// Runs a step and records its fault.
  mutating func attempt(_ body: (inout XRayReader) throws(XRayFault) -> Void) {
    do throws(XRayFault) { try body(&self) } catch { note(error) }
  }

  // MARK: - Header and slots

  mutating func read() {
    found.fileSizeBytes = UInt64(file.count)
    attempt { (reader) throws(XRayFault) in
      try reader.readHeader()
      try reader.readSlots()
      if reader.found.isEncrypted {
        try reader.compareNonces()
      } else {
        try reader.readVersion()
      }
    }
  }

  /// Checks that no two sealed nodes share a nonce: an attacker with both would learn the
  /// difference of their contents, and could forge others (NIST SP 800-38D, section 8).
  ///
  /// Nodes store the nonce that sealed them in the clear. Leftovers of old versions count, too:
  /// they were sealed like all others.
  private mutating func compareNonces() throws(XRayFault) {
    var places: [[UInt8]: Int] = [:]
    for sector in 3..<max(3, file.count / Self.sectorBytes) {
      let place = sector * Self.sectorBytes
      guard try file.number(place, UInt64.self) == UInt64(place),
        try file.number(place + 16, UInt32.self) > 0
      else { continue }
      let nonce = try file.part(at: place + 20, count: 24).array
      if let other = places.updateValue(place, forKey: nonce) {
        let counter = try file.number(place + 36, UInt64.self)
        found.repeatedNonce = XRayFault(
          "the nonce with counter \(counter) sealed the node at ref \(other), too",
          at: UInt64(place))
        return
      }
    }
  }

  private mutating func readHeader() throws(XRayFault) {
    guard file.count >= Self.sectorBytes else {
      throw XRayFault("file_bytes=\(file.count) < header_bytes=\(Self.sectorBytes)")
    }
    let magic = Array("FAULTLN".utf8) + [0x9a]
    guard try file.part(at: 0, count: 8).array == magic else { throw XRayFault("no magic") }
    let stored = try file.number(8, UInt64.self)
    let computed = try file.part(at: 16, count: 48).checksum
    guard stored == computed else {
      throw XRayFault("file header: checksum \(stored) != \(computed)")
    }
    let format = try file.number(16, UInt32.self)
    guard (2...4).contains(format) else { throw XRayFault("format_version=\(format), not 2 to 4") }
    let sector = try file.number(20, UInt32.self)
    let checksum = try file.number(24, UInt32.self)
    let first = try file.number(28, UInt32.self)
    let flags = try file.number(32, UInt32.self)
    guard sector == 4096, checksum == 1, first == 3, flags <= 1 else {
      throw XRayFault(
        "file header: sector=\(sector) checksum=\(checksum) first=\(first) flags=\(flags)")
    }
    let rest = try file.part(at: 36, count: flags == 0 ? 28 : 4)
    guard rest.isZero else { throw XRayFault("file header: reserved bytes are not 0") }
    found.formatVersion = format
    found.isEncrypted = flags & 1 == 1
  }

  private mutating func readSlots() throws(XRayFault) {
    for number in 0..<2 { found.slots.append(try foundSlot(number)) }
    var valid: [XRay.Slot] = []
    for case .valid(let slot) in found.slots { valid.append(slot) }
    valid.sort { $0.version > $1.version }
    guard let newest = valid.first else {
      throw XRayFault("no slot is valid: \(found.slots[0]), \(found.slots[1])")
    }
    found.chosen = newest
    // A version with one sync is accepted only if everything that its commit wrote has arrived.
    guard newest.isOneSync, !found.isEncrypted else { return }
    for candidate in valid {
      if !candidate.isOneSync || hasArrived(candidate) {
        found.chosen = candidate
        return
      }
    }
    throw XRayFault("version \(newest.version) of one sync did not arrive, and no other is valid")
  }

  private func foundSlot(_ number: Int) throws(XRayFault) -> XRay.FoundSlot {
    let sector = try file.part(at: (number + 1) * Self.sectorBytes, count: Self.sectorBytes)
    var newest: XRay.Slot?
    for copy in 0..<2 {
      let whole = try sector.part(at: copy * 2048, count: 2048)
      guard let slot = try Self.slot(in: whole, number, copy) else { continue }
      if newest.map({ $0.version < slot.version }) ?? true { newest = slot }
    }
    if let newest { return .valid(newest) }
    return sector.isZero ? .empty : .invalid
  }

  private static func slot(
    in whole: XRayBytes, _ number: Int, _ copy: Int
  ) throws(XRayFault) -> XRay.Slot? {
    let record = try whole.part(at: 0, count: 96)
    let version = try record.number(16, UInt64.self)
    let size = try record.number(40, UInt64.self)
    let flags = try record.number(48, UInt64.self)
    guard try record.number(0, UInt64.self) == record.part(at: 8, count: 88).checksum,
      try record.number(8, UInt32.self) == UInt32(number),
      try record.number(12, UInt32.self) == UInt32(copy),
      version >= 1, version < 1 << 62, version % 2 == UInt64(number),
      size % UInt64(sectorBytes) == 0, size <= 1 << 48, flags <= 1
    else { return nil }
    var cursor = XRayCursor(record, at: 24)
    var slot = XRay.Slot(
      version: version, top: try cursor.link(), logicalSizeBytes: size, isOneSync: flags & 1 == 1)
    let checksum = try record.number(56, UInt64.self)
    guard checksum != 0 else { return slot }
    guard flags == 0, let edits = try edits(in: whole, checksum: checksum) else { return nil }
    slot.edits = edits
    return slot
  }

  // MARK: - Version

  /// Prepares for reading a version; its logical size must not exceed the file.
  mutating func begin(_ chosen: XRay.Slot) throws(XRayFault) {
    slot = chosen
    let size = chosen.logicalSizeBytes
    guard size <= UInt64(file.count), size >= UInt64(Self.firstSector * Self.sectorBytes) else {
      throw XRayFault("logical_bytes=\(size), file_bytes=\(file.count)")
    }
    claimed = [Bool](repeating: false, count: Int(size) / Self.sectorBytes)
  }

  private mutating func readVersion() throws(XRayFault) {
    guard let chosen = found.chosen else { return }
    if chosen.edits.isEmpty {
      try readVersion(chosen, top: chosen.top)
    } else {
      try readEditedVersion(chosen)
    }
  }

  /// Reads the version of a slot from its group on.
  mutating func readVersion(_ chosen: XRay.Slot, top: XRayLink) throws(XRayFault) {
    try begin(chosen)
    let group = try node(top, .group, level: 0, .group)
    let (freeList, patchedLeaves, tables) = try readGroup(group)
    found.tables = tables
    for table in tables { readTable(table) }
    if found.isSound, found.patchedLeafCount != patchedLeaves {
      note(
        XRayFault(
          "leaves with a patch: \(found.patchedLeafCount), the group says \(patchedLeaves)"))
    }
    checkLinks()
    attempt { (reader) throws(XRayFault) in
      if freeList.refBytes != 0 { try reader.readFreeList(freeList) }
    }
    checkSectors()
  }

  /// Claims sectors.
  mutating func claim(first: UInt64, count: UInt64, _ what: String) throws(XRayFault) {
    let end = UInt64(claimed.count)
    guard first >= UInt64(Self.firstSector), count > 0, first < end, count <= end - first else {
      throw XRayFault("\(what): sectors \(first) + \(count) are outside of 3 ..< \(end)")
    }
    for sector in Int(first)..<Int(first + count) {
      guard !claimed[sector] else { throw XRayFault("\(what): sector \(sector) is used twice") }
      claimed[sector] = true
    }
  }

  private mutating func checkSectors() {
    // What a broken parent links to is not reached; that is not a second fault.
    guard found.isSound else { return }
    let lost = claimed.indices.dropFirst(Self.firstSector).filter { !claimed[$0] }
    guard let first = lost.first else { return }
    note(XRayFault("\(lost.count) sectors from \(first) on are neither reachable nor free"))
  }

  /// Reads the node of a link, and claims its sectors.
  mutating func node(
    _ link: XRayLink, _ kind: XRay.Kind, level: Int, _ owner: XRay.Owner
  ) throws(XRayFault) -> XRayNode {
    let ref = link.refBytes
    let (header, size) = try headerAndSize(link)
    guard try header.number(28, UInt8.self) == kind.rawValue,
      try header.number(29, UInt8.self) == UInt8(truncatingIfNeeded: level), level < 256
    else {
      let place =
        "kind=\(try header.number(28, UInt8.self)) level=\(try header.number(29, UInt8.self))"
      throw XRayFault("\(place), expected kind=\(kind.rawValue) level=\(level)", at: ref)
    }
    let sectors = (UInt64(size) + UInt64(Self.sectorBytes) - 1) / UInt64(Self.sectorBytes)
    try claim(first: ref / UInt64(Self.sectorBytes), count: sectors, "ref \(ref)")
    let node = try checked(link, sizeBytes: size)
    found.nodes.append(
      XRay.Node(
        refBytes: ref, sizeBytes: size, version: node.version, kind: kind, level: level,
        owner: owner))
    return node
  }

  /// The node of a link, of any kind, if every byte of it is valid.
  func checked(_ link: XRayLink, sizeBytes: Int) throws(XRayFault) -> XRayNode {
    let ref = link.refBytes
    let bytes = try file.part(at: Int(ref), count: sizeBytes)
    let computed = try bytes.part(at: 8, count: sizeBytes - 8).checksum
    guard computed == link.checksum else {
      throw XRayFault("checksum \(computed) != \(link.checksum) of the link", at: ref)
    }
    let version = try bytes.number(16, UInt64.self)
    guard version <= slot.version else {
      throw XRayFault("version=\(version) of the node > version=\(slot.version)", at: ref)
    }
    guard try bytes.number(30, UInt16.self) == 0, try bytes.number(40, UInt64.self) == 0 else {
      throw XRayFault("reserved bytes of the node header are not 0", at: ref)
    }
    return XRayNode(
      bytes: bytes, refBytes: ref, version: version, count: Int(try bytes.number(32, UInt32.self)),
      secondCount: Int(try bytes.number(36, UInt32.self)))
  }

  /// The header of a node, checked to be the linked one, and the node's size in the file.
  func headerAndSize(_ link: XRayLink) throws(XRayFault) -> (XRayBytes, Int) {
    let ref = link.refBytes
    let end = slot.logicalSizeBytes
    guard ref % UInt64(Self.sectorBytes) == 0, ref >= UInt64(Self.firstSector * Self.sectorBytes),
      ref < end
    else { throw XRayFault("ref is not a sector of 12288 ..< \(end)", at: ref) }
    let header = try file.part(at: Int(ref), count: XRayNode.headerBytes)
    let stored = try header.number(0, UInt64.self)
    guard stored == link.checksum, try header.number(8, UInt64.self) == ref else {
      throw XRayFault(
        "checksum \(stored) or ref \(try header.number(8, UInt64.self)) is not that of the link "
          + "(\(link.checksum))", at: ref)
    }
    let size = try header.number(24, UInt32.self)
    guard size >= UInt32(XRayNode.headerBytes), UInt64(size) <= end - ref else {
      throw XRayFault("size=\(size), \(end - ref) bytes to the logical end", at: ref)
    }
    return (header, Int(size))
  }
}
