// HeaderTarget.swift: bytes → UnverifiedFileHeader → FileHeader → recovery table. Invariant
// checked: reading a header never traps, and accepted headers are in the format's ranges.

import Engine
import Fuzz

enum HeaderTarget {
  static let target = FuzzTarget(
    name: "header", judges: "file header and slots, sealed or not: what is accepted is in range",
    smokeCount: 3000, seeds: { FuzzTarget.choiceSeeds("header") + wholeHeaders },
    run: { run($0) })

  /// The headers of valid images, so that mutated ones are nearly valid.
  private static var wholeHeaders: [[UInt8]] {
    MutantBase.all.map { base in
      [1]
        + ([0] + Layout.slotOffsetsBytes).flatMap { spot in
          base.bytes[spot..<spot + Layout.slotRecordBytes]
        }
    }
  }

  private static func run(_ input: [UInt8]) -> FuzzOutcome {
    let recordBytes = Layout.slotRecordBytes
    // A mutator rarely makes 12 KiB: short inputs are spread over the fields, and checksums are
    // corrected when the first byte says so, so that the checks after them are reached.
    var image = [UInt8](repeating: 0, count: Layout.headerSizeBytes)
    let spots = [0, Layout.slotOffsetsBytes[0], Layout.slotOffsetsBytes[1]]
    for (index, byte) in input.dropFirst().prefix(3 * recordBytes).enumerated() {
      image[spots[index / recordBytes] + index % recordBytes] = byte
    }
    if let first = input.first, first & 1 == 1 { seal(&image, spots) }
    let outcomes = [RawBytes.over(image) { check($0) }, RawBytes.over(input) { check($0) }]
    return outcomes.first { $0 != .refused } ?? .refused
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

  private static func check(_ bytes: RawBytes) -> FuzzOutcome {
    guard let unverified = try? UnverifiedFileHeader(bytes) else { return .refused }
    let slots = unverified.slots
    guard slots.count == 2 else { return .finding("there are \(slots.count) slots") }
    _ = RecoveryTable.action(SlotState(slots[0]), SlotState(slots[1]))
    for case .valid(let slot) in slots where slot.version < .first {
      return .finding("a slot of version \(slot.version) is valid")
    }
    guard let header = try? unverified.verified() else { return .refused }
    guard (FormatVersion.oldestRead ... .current).contains(header.formatVersion) else {
      return .finding("format \(header.formatVersion) is accepted")
    }
    return .accepted
  }
}
