// StructureMap+XRay.swift: the parts of an engine's database file, as read by the X-ray and never
// by the engine.

import Exploration
import Oracles

extension StructureMap {
  /// Reads a database file.
  /// - Throws: `XRayFault` when the X-ray finds no valid version in it.
  init(_ bytes: [UInt8]) throws(XRayFault) {
    let xray = XRay(bytes)
    if let fault = xray.faults.first { throw fault }
    guard let newest = xray.chosen else { throw XRayFault("no version") }
    let count = (bytes.count + Self.sectorBytes - 1) / Self.sectorBytes
    let end = Int(clamping: newest.logicalSizeBytes) / Self.sectorBytes
    let rest: FileStructure = xray.isEncrypted ? .nodes : .free
    var parts = (0..<count).map { $0 < end ? rest : FileStructure.free }
    var names = (0..<count).map {
      $0 >= end ? "after the logical end" : xray.isEncrypted ? "sealed" : "free"
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
    self.init(
      parts: parts, used: used, names: names, version: newest.version,
      logicalSizeBytes: newest.logicalSizeBytes)
  }

  private static func slotName(_ slot: Int, _ newest: XRay.Slot) -> String {
    "root slot \(slot), \(newest.version % 2 == UInt64(slot) ? "the newest" : "the older one")"
  }

  /// Sectors of sealed nodes whose unencrypted header names this version.
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
}
