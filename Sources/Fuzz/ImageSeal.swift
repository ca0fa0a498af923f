// ImageSeal.swift: makes the checksums of a damaged image right, as an adversary would. It follows
// links with checks of its own and gives up where they lead nowhere.

import Engine

enum ImageSeal {
  /// Seals nodes bottom-up from each slot's top, then the slots and the header.
  static func seal(_ image: inout [UInt8]) {
    sealRecord(&image, at: 0, from: 16, to: Layout.fileHeaderRecordBytes)
    for slot in Layout.slotOffsetsBytes {
      var budget = 200
      let top = Int(truncatingIfNeeded: number(image, slot + 24))
      if let sum = sealNode(&image, at: top, depth: 0, budget: &budget) {
        set(&image, slot + 32, sum)
        set(&image, slot + 2048 + 32, sum)
      }
      sealRecord(&image, at: slot, from: 8, to: Layout.slotRecordBytes)
      sealRecord(&image, at: slot + 2048, from: 8, to: Layout.slotRecordBytes)
    }
  }

  private static func number(_ image: [UInt8], _ offset: Int) -> UInt64 {
    image[offset..<offset + 8].reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  private static func set(_ image: inout [UInt8], _ offset: Int, _ number: UInt64) {
    for index in 0..<8 {
      image[offset + index] = UInt8(truncatingIfNeeded: number >> UInt64(8 * index))
    }
  }

  private static func sealRecord(
    _ image: inout [UInt8], at offset: Int, from start: Int, to end: Int
  ) {
    guard number(image, offset + start) != 0 || start == 16 else { return }
    let record = Array(image[offset + start..<offset + end])
    set(&image, offset + start - 8, RawBytes.over(record) { Checksum.of($0) })
  }

  /// Where a node keeps its links, by kind: group, inner, leaf with long strings.
  private static func links(_ image: [UInt8], _ start: Int, _ size: Int) -> [Int] {
    let count = Int(number(image, start + 32) & 0xffff_ffff)
    switch image[start + 28] {
    case NodeKind.group.rawValue: return groupLinks(image, start, size, count)
    case NodeKind.inner.rawValue:
      guard count > 0, count <= Layout.childCountMax else { return [] }
      let first = start + 48 + 8 * (count - 1)
      return (0..<count).map { first + 16 * $0 }.filter { $0 + 16 <= start + size }
    default: return []
    }
  }

  private static func groupLinks(
    _ image: [UInt8], _ start: Int, _ size: Int, _ count: Int
  ) -> [Int] {
    var links = [start + 48]
    var offset = start + 72
    for _ in 0..<min(count, 8) {
      guard offset + 33 <= start + size else { break }
      links.append(offset + 8)
      let columns = Int(image[offset + 7])
      offset += 33 + Int(image[offset + 32])
      for _ in 0..<columns where offset + 40 <= start + size {
        let (type, flags) = (image[offset + 2], image[offset + 4])
        offset += 5
        if flags & 8 != 0 {
          links.append(offset)
          offset += 25
        }
        if type == ColumnType.link.rawValue { offset += 4 }
        offset += 1 + Int(image[offset])
      }
    }
    return links.filter { $0 + 16 <= start + size }
  }

  private static func sealNode(
    _ image: inout [UInt8], at start: Int, depth: Int, budget: inout Int
  ) -> UInt64? {
    guard depth < 8, budget > 0, start >= Layout.headerSizeBytes, start < image.count,
      start % Layout.sectorSizeBytes == 0
    else { return nil }
    budget -= 1
    let size = Int(number(image, start + 24) & 0xffff_ffff)
    guard size >= Layout.nodeHeaderBytes, size <= image.count - start else { return nil }
    for link in links(image, start, size) {
      let child = Int(truncatingIfNeeded: number(image, link))
      if let sum = sealNode(&image, at: child, depth: depth + 1, budget: &budget) {
        set(&image, link + 8, sum)
      }
    }
    let sum = RawBytes.over(Array(image[start + 8..<start + size])) { Checksum.of($0) }
    set(&image, start, sum)
    return sum
  }
}
