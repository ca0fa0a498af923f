// InspectionReport+Text.swift: an inspection as lines of text, with the file drawn as a map.
// Invariant: names and messages come from the file, so terminal control characters are replaced.

import Foundation
import LabCore

extension InspectionReport {
  private static let sectorBytes: UInt64 = 4096
  private static let mapColumns = 64
  private static let mapRowsMax = 16
  /// The letter for each use; if uses share a character's bytes, the later one is shown.
  private static let letters: [(use: String, letter: Character)] = [
    ("unused", "-"), ("free", "."), ("pending", "p"), ("string", "S"), ("leaf", "L"),
    ("inner", "I"), ("collectionLeaf", "c"), ("collectionInner", "C"), ("indexLeaf", "x"),
    ("wordLeaf", "w"),
    ("indexInner", "X"), ("freeListSegment", "f"), ("freeList", "F"), ("group", "G"),
    ("header", "H"), ("unaccounted", "?"),
  ]

  /// The report as lines.
  package func lines() -> [String] {
    let format = formatVersion.map { "format version \($0)" } ?? "no readable header"
    var lines = ["\(file): \(Self.bytes(fileSizeBytes)), \(format)"]
    for (index, slot) in slots.enumerated() { lines.append(line(of: slot, index)) }
    if let version { lines.append("version \(version) is what an open finds") }
    for table in tables { lines += Self.lines(of: table) }
    if !space.isEmpty {
      lines.append("space")
      for entry in space { lines.append(line(of: entry)) }
      lines += mapLines()
    }
    if let verification {
      lines.append(
        "verify: \(verification.nodes) nodes, \(verification.rows) rows, "
          + "\(Self.bytes(verification.reachableBytes)) reachable, "
          + "\(Self.bytes(verification.freeBytes)) free, "
          + "\(Self.bytes(verification.pendingBytes)) pending")
    }
    if let xray { lines.append(xray.line) }
    lines.append(verdict)
    return lines.map(Self.printable)
  }

  private var verdict: String {
    if let corruption { return "DAMAGED: \(corruption.code): \(corruption.message)" }
    if let disagreement = xray?.disagreement { return "DISAGREE: \(disagreement)" }
    return xray?.isEncrypted == true && version == nil
      ? "encrypted: give its key with --key to see more" : "sound"
  }

  private func line(of slot: Slot, _ index: Int) -> String {
    let head = "slot \(index): \(slot.state)"
    guard let number = slot.version, let top = slot.topRefBytes, let size = slot.logicalSizeBytes
    else { return slot.reason.map { "\(head), \($0)" } ?? head }
    return "\(head), version \(number), top at \(top), uses \(Self.bytes(size))"
      + (number == version ? "  <- current" : "")
  }

  private static func lines(of table: Table) -> [String] {
    let columns = table.columns.map { "\($0.name) \($0.type)" }
    return [
      "table \(table.name): \(table.rows) rows, depth \(table.depth), \(table.nodes) nodes, "
        + "root at \(table.rootRefBytes)",
      "  columns: \((["key int"] + columns).joined(separator: ", "))",
    ]
  }

  private func line(of entry: Space) -> String {
    let share = fileSizeBytes > 0 ? 100 * Double(entry.sizeBytes) / Double(fileSizeBytes) : 0
    let name = entry.use.padding(toLength: 12, withPad: " ", startingAt: 0)
    return "  \(name) \(Self.bytes(entry.sizeBytes)) (\(Formatting.fixed(share, 1)) %) in "
      + Formatting.counted(entry.runCount, "run")
  }

  // MARK: - Map

  private func mapLines() -> [String] {
    let cellsMax = UInt64(Self.mapColumns * Self.mapRowsMax)
    let sectors = max(1, fileSizeBytes / Self.sectorBytes)
    let cellBytes = (sectors + cellsMax - 1) / cellsMax * Self.sectorBytes
    var ranks = [Int](repeating: -1, count: Int((fileSizeBytes + cellBytes - 1) / cellBytes))
    for run in map where run.sizeBytes > 0 {
      let rank = Self.letters.firstIndex { $0.use == run.use } ?? Self.letters.count - 1
      let first = Int(run.offsetBytes / cellBytes)
      let last = Int((run.offsetBytes + (run.sizeBytes - 1)) / cellBytes)
      for cell in first...last { ranks[cell] = max(ranks[cell], rank) }
    }
    let cells = ranks.map { $0 < 0 ? Character("?") : Self.letters[$0].letter }
    let legend = Self.letters.map { "\($0.letter) \($0.use)" }.joined(separator: ", ")
    var lines = ["map, one character is \(Self.bytes(cellBytes)): \(legend)"]
    for start in stride(from: 0, to: cells.count, by: Self.mapColumns) {
      let row = String(cells[start..<min(start + Self.mapColumns, cells.count)])
      let offset = "\(UInt64(start) * cellBytes)"
      lines.append(String(repeating: " ", count: max(0, 14 - offset.count)) + offset + "  " + row)
    }
    return lines
  }

  // MARK: - Text

  private static func bytes(_ count: UInt64) -> String {
    "\(Formatting.grouped(Int(clamping: count))) bytes"
  }

  /// Text with everything unprintable replaced by its number.
  private static func printable(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned:
        result += "\\u{\(String(scalar.value, radix: 16))}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
