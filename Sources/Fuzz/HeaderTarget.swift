// HeaderTarget.swift: bytes → UnverifiedFileHeader → FileHeader → recovery table.
// Invariant checked: reading a header never traps, and what it accepts is in the format's ranges.

import Engine

enum HeaderTarget {
  private static let recordBytes = Layout.slotRecordBytes

  static func run(_ input: [UInt8]) {
    // A mutator rarely makes 12 KiB: short inputs are spread over the fields, and checksums are
    // made right when the first byte asks for it, so that the checks behind them are reached.
    var image = [UInt8](repeating: 0, count: Layout.headerSizeBytes)
    let spots = [0, Layout.slotOffsetsBytes[0], Layout.slotOffsetsBytes[1]]
    for (index, byte) in input.dropFirst().prefix(3 * recordBytes).enumerated() {
      image[spots[index / recordBytes] + index % recordBytes] = byte
    }
    if let first = input.first, first & 1 == 1 { seal(&image, spots) }
    RawBytes.over(image) { check($0) }
    RawBytes.over(input) { check($0) }
  }

  private static func seal(_ image: inout [UInt8], _ spots: [Int]) {
    for spot in spots {
      let start = spot == 0 ? 16 : 8
      let end = spot == 0 ? Layout.fileHeaderRecordBytes : Layout.slotRecordBytes
      let sum = RawBytes.over(Array(image[spot + start..<spot + end])) { Checksum.of($0) }
      for index in 0..<8 {
        image[spot + start - 8 + index] = UInt8(truncatingIfNeeded: sum >> UInt64(8 * index))
      }
    }
  }

  private static func check(_ bytes: RawBytes) {
    guard let unverified = try? UnverifiedFileHeader(bytes) else { return }
    let slots = unverified.slots
    precondition(slots.count == 2, "there are two slots")
    _ = RecoveryTable.action(SlotState(slots[0]), SlotState(slots[1]))
    for case .valid(let slot) in slots {
      precondition(slot.version >= .first, "versions start at 1")
    }
    if let header = try? unverified.verified() {
      precondition(header.formatVersion == .current, "other formats are refused")
    }
  }
}
