// FileStructure.swift: which part of a database file a byte belongs to, as the X-ray reads the file
// and never as the engine does. The parts do not overlap: every sector is of one of them.

/// A part of a database file.
public enum FileStructure: String, Sendable, Hashable, Codable, CaseIterable {
  /// The first sector.
  case header
  /// The two root slots.
  case slots
  /// Nodes that the newest version wrote, its group and free list among them.
  case newest
  /// The other nodes that the newest version reaches; in an encrypted file all that is not newest.
  case nodes
  /// Free and pending sectors, and what lies behind the logical end.
  case free
}

/// The parts of one file.
struct StructureMap {
  /// Bytes of the sectors that the format speaks of.
  static let sectorBytes = 4096

  /// The part of each sector.
  let parts: [FileStructure]
  /// Bytes of each sector that mean something, first to last.
  let used: [[Range<Int>]]
  /// What stands in each sector, in words.
  let names: [String]
  /// The newest version.
  let version: UInt64
  /// End of what it accounts for.
  let logicalSizeBytes: UInt64

  /// Reads a file.
  /// - Throws: `XRayFault` when the X-ray finds no sound version in it.
  init(_ bytes: [UInt8]) throws(XRayFault) {
    let xray = XRay(bytes)
    if let fault = xray.faults.first { throw fault }
    guard let newest = xray.chosen else { throw XRayFault("no version") }
    let count = (bytes.count + Self.sectorBytes - 1) / Self.sectorBytes
    let end = Int(clamping: newest.logicalSizeBytes) / Self.sectorBytes
    let rest: FileStructure = xray.isEncrypted ? .nodes : .free
    var parts = (0..<count).map { $0 < end ? rest : FileStructure.free }
    var names = (0..<count).map {
      $0 >= end ? "behind the logical end" : xray.isEncrypted ? "sealed" : "free"
    }
    var used = [[Range<Int>]](repeating: [], count: count)
    parts.replaceSubrange(0..<min(3, count), with: [.header, .slots, .slots].prefix(count))
    names.replaceSubrange(
      0..<min(3, count),
      with: ["the file header"] + (0..<2).map { Self.slotName($0, newest) })
    for (sector, ranges) in [[0..<64], [0..<96, 2048..<2144], [0..<96, 2048..<2144]].enumerated()
    where sector < count { used[sector] = ranges }
    for node in xray.nodes {
      let first = Int(node.refBytes) / Self.sectorBytes
      for sector in first..<first + (node.sizeBytes + Self.sectorBytes - 1) / Self.sectorBytes {
        let left = node.sizeBytes - (sector - first) * Self.sectorBytes
        used[sector] = [0..<min(left, Self.sectorBytes)]
        parts[sector] = node.version == newest.version ? .newest : .nodes
        names[sector] = "\(node.kind) of version \(node.version)"
      }
    }
    if xray.isEncrypted {
      for sector in Self.sealedSectors(of: newest.version, in: bytes, end: min(end, count)) {
        parts[sector] = .newest
        names[sector] = "sealed node of version \(newest.version)"
      }
    }
    self.parts = parts
    self.used = used
    self.names = names
    version = newest.version
    logicalSizeBytes = newest.logicalSizeBytes
  }

  /// A file of which nobody knows the format: one part.
  init(unknown bytes: [UInt8]) {
    let count = (bytes.count + Self.sectorBytes - 1) / Self.sectorBytes
    parts = [FileStructure](repeating: .nodes, count: count)
    used = [[Range<Int>]](repeating: [], count: count)
    names = [String](repeating: "the file", count: count)
    version = 0
    logicalSizeBytes = UInt64(bytes.count)
  }

  private static func slotName(_ slot: Int, _ newest: XRay.Slot) -> String {
    "root slot \(slot), \(newest.version % 2 == UInt64(slot) ? "the newest" : "the older one")"
  }

  /// Sectors of sealed nodes that say in the clear that this version wrote them.
  private static func sealedSectors(
    of version: UInt64, in bytes: [UInt8], end: Int
  ) -> [Int] {
    func number(_ offset: Int, _ count: Int) -> UInt64 {
      (0..<count).reversed().reduce(0) { $0 << 8 | UInt64(bytes[offset + $1]) }
    }
    var found: [Int] = []
    var sector = 3
    while sector < end {
      let place = sector * sectorBytes
      let length = number(place + 16, 4)
      guard number(place, 8) == UInt64(place), number(place + 8, 8) == version, length >= 1,
        length <= UInt64(end - sector)
      else {
        sector += 1
        continue
      }
      found += sector..<sector + Int(length)
      sector += Int(length)
    }
    return found
  }

  /// What stands at an offset, in words.
  func name(at offsetBytes: UInt64) -> String {
    let sector = Int(clamping: offsetBytes) / Self.sectorBytes
    return names.indices.contains(sector) ? names[sector] : "behind the file's end"
  }

  /// The part that an offset belongs to.
  func part(at offsetBytes: UInt64) -> FileStructure {
    let sector = Int(clamping: offsetBytes) / Self.sectorBytes
    return parts.indices.contains(sector) ? parts[sector] : .free
  }
}

/// How much of which parts is damaged.
struct MediaDamage: Equatable {
  /// Damaged sectors of each part.
  var sectors: [FileStructure: Int] = [:]
  /// The file ends before the newest version does.
  var isCutShort = false

  /// Compares a file with what it was.
  /// - Parameters:
  ///   - bytes: The damaged file.
  ///   - before: The file as it was.
  ///   - faults: What happened to it.
  ///   - map: Its parts.
  init(
    _ bytes: [UInt8], was before: [UInt8], _ faults: [MediumFault], _ map: StructureMap
  ) {
    isCutShort = UInt64(bytes.count) < map.logicalSizeBytes
    var damaged: Set<Int> = []
    for fault in faults where fault.kind != .truncatedTail {
      let first = Int(clamping: fault.offsetBytes)
      for sector in first / Self.sectorBytes...(first + fault.countBytes - 1) / Self.sectorBytes {
        let range = (sector * Self.sectorBytes..<(sector + 1) * Self.sectorBytes)
          .clamped(to: bytes.indices)
        if !range.isEmpty, bytes[range] != before[range] { damaged.insert(sector) }
      }
    }
    for sector in damaged { sectors[map.parts[sector], default: 0] += 1 }
    guard bytes.count < before.count else { return }
    let lost = map.parts[(bytes.count / Self.sectorBytes)...]
    for part in lost where part != .free { sectors[part, default: 0] += 1 }
    // A cut of what nobody uses is one damage, however long it is.
    if lost.contains(.free) { sectors[.free, default: 0] += 1 }
  }

  private static var sectorBytes: Int { StructureMap.sectorBytes }
}
