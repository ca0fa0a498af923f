// Row.swift: one line of the result: we and a peer at the same work, side by side in one run.

import Foundation

/// What one benchmark found.
struct Row: Encodable {
  /// Fixed, so that runs can be compared.
  let name: String
  let ours: Double
  let peer: Double
  let peerName: String
  let unit: String
  /// More than 1 means that we are better.
  let ratio: Double
  /// The same of processor time, which other programs on the machine disturb less.
  var processorRatio: Double?

  /// A row for a quantity of which more is better, such as operations per second.
  static func rate(
    _ name: String, ours: Double, peer: Double, peerName: String, unit: String
  ) -> Row {
    Row(name: name, ours: ours, peer: peer, peerName: peerName, unit: unit, ratio: ours / peer)
  }

  /// A row for a quantity of which less is better, such as seconds or bytes.
  static func cost(
    _ name: String, ours: Double, peer: Double, peerName: String, unit: String
  ) -> Row {
    Row(name: name, ours: ours, peer: peer, peerName: peerName, unit: unit, ratio: peer / ours)
  }
}

/// Rows as people and as programs read them.
enum RowReport {
  private static let widths = [30, 14, 14, 8, 9, 12]

  static let heading =
    line(["name", "ours", "peer", "ratio", "of CPU", "unit", "peer's name"])

  static func table(_ row: Row) -> String {
    line([
      row.name, number(row.ours), number(row.peer), String(format: "%.2f", row.ratio),
      row.processorRatio.map { String(format: "%.2f", $0) } ?? "", row.unit, row.peerName,
    ])
  }

  static func json(_ rows: [Row]) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return try encoder.encode(rows) + Data("\n".utf8)
  }

  private static func number(_ value: Double) -> String {
    String(format: value >= 100 ? "%.0f" : "%.3g", value)
  }

  /// Text columns to the left, numbers to the right.
  private static func line(_ cells: [String]) -> String {
    let padded = zip(cells, widths).enumerated().map { index, pair in
      let blanks = String(repeating: " ", count: max(0, pair.1 - pair.0.count))
      return (1...4).contains(index) ? blanks + pair.0 : pair.0 + blanks
    }
    return (padded + cells.dropFirst(widths.count)).joined(separator: "  ")
  }
}
