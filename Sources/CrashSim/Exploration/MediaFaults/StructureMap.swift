// StructureMap.swift: which part of a database file each sector belongs to. The parts do not
// overlap: every sector is of one of them.

import CrashStates

/// The parts of one file.
package struct StructureMap {
  /// Bytes of the sectors that the format speaks of.
  package static let sectorBytes = 4096

  /// The part of each sector.
  let parts: [FileStructure]
  /// Bytes of each sector that mean something, first to last.
  let used: [[Range<Int>]]
  /// What stands in each sector, in words.
  let names: [String]
  /// The newest version.
  package let version: UInt64
  /// End of what it accounts for.
  let logicalSizeBytes: UInt64

  /// A file whose parts are known.
  /// - Parameters:
  ///   - parts: The part of each sector.
  ///   - used: Bytes of each sector that mean something.
  ///   - names: What stands in each sector, in words.
  ///   - version: The newest version.
  ///   - logicalSizeBytes: End of what it accounts for.
  package init(
    parts: [FileStructure], used: [[Range<Int>]], names: [String], version: UInt64,
    logicalSizeBytes: UInt64
  ) {
    self.parts = parts
    self.used = used
    self.names = names
    self.version = version
    self.logicalSizeBytes = logicalSizeBytes
  }

  /// A file of which nobody knows the format: one part.
  package init(unknown bytes: [UInt8]) {
    let count = (bytes.count + Self.sectorBytes - 1) / Self.sectorBytes
    parts = [FileStructure](repeating: .nodes, count: count)
    used = [[Range<Int>]](repeating: [], count: count)
    names = [String](repeating: "the file", count: count)
    version = 0
    logicalSizeBytes = UInt64(bytes.count)
  }

  /// What stands at an offset, in words.
  package func name(at offsetBytes: UInt64) -> String {
    let sector = Int(clamping: offsetBytes) / Self.sectorBytes
    return names.indices.contains(sector) ? names[sector] : "beyond the end of the file"
  }

  /// The part that an offset belongs to.
  func part(at offsetBytes: UInt64) -> FileStructure {
    let sector = Int(clamping: offsetBytes) / Self.sectorBytes
    return parts.indices.contains(sector) ? parts[sector] : .free
  }
}

/// How much of which parts is damaged.
package struct MediaDamage: Equatable {
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
  package init(
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
