// DocumentedModel.swift: a persistence model as docs/explanation/crash-model.md has it: the words
// of the page's tables, and nothing of the code that they describe.

import Foundation
import Testing

/// The parameters of a stock model, read from the page.
struct DocumentedModel: Sendable {
  let name: String
  private let words: [String: String]

  static let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("docs/explanation/crash-model.md")

  /// All models of the page, in its order: each half of the table begins with a line of names.
  static func all() throws -> [DocumentedModel] {
    let text = try String(contentsOf: page, encoding: .utf8)
    var columns: [(name: String, words: [String: String])] = []
    var open: Range<Int> = 0..<0
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      guard line.hasPrefix("|") else {
        open = 0..<0
        continue
      }
      let cells = line.split(separator: "|").map {
        $0.trimmingCharacters(in: CharacterSet(charactersIn: " `"))
      }
      if cells[0] == "parameter", !cells.contains("values") {
        open = columns.count..<columns.count + cells.count - 1
        columns += cells.dropFirst().map { ($0, [:]) }
      } else if !open.isEmpty, cells[0] != "---" {
        for (column, cell) in zip(open, cells.dropFirst()) {
          columns[column].words[cells[0]] = cell
        }
      }
    }
    return columns.map { DocumentedModel(name: $0.name, words: $0.words) }
  }

  func word(_ parameter: String) -> String {
    guard let word = words[parameter] else { preconditionFailure("\(name) has no \(parameter)") }
    return word
  }

  func allows(_ parameter: String) -> Bool { word(parameter) == "true" }
  var blockBytes: UInt64 { UInt64(word("dataUnitBytes")) ?? 0 }
  var isTotal: Bool { word("metadataOrder") == "total" }
  var hasJournal: Bool { word("metadataOrder") == "journal" }
  var journalsData: Bool { word("dataOrder") == "journal" }
}
