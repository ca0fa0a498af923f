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

  var mark: Mark? { .of(name) }

  /// What is held against the mark.
  fileprivate var measured: String {
    if case .atMost = mark { return "\(RowReport.number(ours)) \(unit)" }
    return String(format: "%.2f", ratio)
  }

  private enum CodingKeys: CodingKey {
    case name, ours, peer, peerName, unit, ratio, processorRatio, mark, reachesMark
  }

  func encode(to encoder: any Encoder) throws {
    var row = encoder.container(keyedBy: CodingKeys.self)
    try row.encode(name, forKey: .name)
    try row.encode(ours, forKey: .ours)
    try row.encode(peer, forKey: .peer)
    try row.encode(peerName, forKey: .peerName)
    try row.encode(unit, forKey: .unit)
    try row.encode(ratio, forKey: .ratio)
    try row.encodeIfPresent(processorRatio, forKey: .processorRatio)
    try row.encodeIfPresent(mark?.text, forKey: .mark)
    try row.encodeIfPresent(mark?.isReached(by: self), forKey: .reachesMark)
  }

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
  private static let widths = [30, 14, 14, 8, 9, 6, 12]

  static let heading =
    line(["name", "ours", "peer", "ratio", "of CPU", "mark", "unit", "peer's name"])

  static func table(_ row: Row) -> String {
    line([
      row.name, number(row.ours), number(row.peer), String(format: "%.2f", row.ratio),
      row.processorRatio.map { String(format: "%.2f", $0) } ?? "", row.mark?.text ?? "",
      row.unit, row.peerName,
    ])
  }

  static func json(_ rows: [Row]) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return try encoder.encode(rows) + Data("\n".utf8)
  }

  /// Which rows do not reach their marks, in the order of the table.
  static func missed(_ rows: [Row]) -> String {
    let marked = rows.filter { $0.mark != nil }
    let missed = marked.filter { row in row.mark.map { !$0.isReached(by: row) } ?? false }
    let list = missed.map { "\n  \($0.name): \($0.measured), mark \($0.mark?.text ?? "")" }
    return "\(marked.count - missed.count) of \(marked.count) rows with a mark reach it"
      + (list.isEmpty ? "" : "; these do not:") + list.joined()
  }

  static func number(_ value: Double) -> String {
    String(format: value >= 100 ? "%.0f" : "%.3g", value)
  }

  /// Text columns to the left, numbers to the right.
  private static func line(_ cells: [String]) -> String {
    let padded = zip(cells, widths).enumerated().map { index, pair in
      let blanks = String(repeating: " ", count: max(0, pair.1 - pair.0.count))
      return (1...5).contains(index) ? blanks + pair.0 : pair.0 + blanks
    }
    return (padded + cells.dropFirst(widths.count)).joined(separator: "  ")
  }
}
