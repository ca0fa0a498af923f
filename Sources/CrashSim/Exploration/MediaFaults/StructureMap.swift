// StructureMap.swift: the part of a database file to which each sector belongs. The parts do not
// overlap and cover every sector.

import CrashStates

/// The parts of one file.
package struct StructureMap {
  /// Size of the format's sectors.
  package static let sectorBytes = 4096

  /// The part of each sector.
  let parts: [FileStructure]
  /// Ranges of each sector's bytes that have a meaning, in order.
  let used: [[Range<Int>]]
  /// The content of each sector, in words.
  let names: [String]
  /// The newest version.
  package let version: UInt64
  /// End of the space that it accounts for.
  let logicalSizeBytes: UInt64

  /// A file with known parts.
  /// - Parameters:
  ///   - parts: The part of each sector.
  ///   - used: Ranges of each sector's bytes that have a meaning.
  ///   - names: The content of each sector, in words.
  ///   - version: The newest version.
  ///   - logicalSizeBytes: End of the space that it accounts for.
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

  /// A file with an unknown format: one part.
  package init(unknown bytes: [UInt8]) {
    let count = (bytes.count + Self.sectorBytes - 1) / Self.sectorBytes
    parts = [FileStructure](repeating: .nodes, count: count)
    used = [[Range<Int>]](repeating: [], count: count)
    names = [String](repeating: "the file", count: count)
    version = 0
    logicalSizeBytes = UInt64(bytes.count)
  }

  /// The content at an offset, in words.
  package func name(at offsetBytes: UInt64) -> String {
    let sector = Int(clamping: offsetBytes) / Self.sectorBytes
    return names.indices.contains(sector) ? names[sector] : "beyond the end of the file"
  }

  /// The part of an offset.
  func part(at offsetBytes: UInt64) -> FileStructure {
    let sector = Int(clamping: offsetBytes) / Self.sectorBytes
    return parts.indices.contains(sector) ? parts[sector] : .free
  }
}

/// The amount of damage in each part.
package struct MediaDamage: Equatable {
  /// Damaged sectors of each part.
  var sectors: [FileStructure: Int] = [:]
  /// The file ends before the newest version.
  var isCutShort = false

  /// Compares a file with its original.
  /// - Parameters:
  ///   - bytes: The damaged file.
  ///   - before: The original.
  ///   - faults: The faults in it.
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
    // A cut of unused space counts as one damage, however long it is.
    if lost.contains(.free) { sectors[.free, default: 0] += 1 }
  }

  private static var sectorBytes: Int { StructureMap.sectorBytes }
}
