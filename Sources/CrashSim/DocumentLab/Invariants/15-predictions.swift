// 15-predictions.swift: invariant 15: predictive indexes have the results for the documents.

import FleeceReference
import Workload

enum PredictionsInvariant: DocumentInvariant {
  static let promise = DocumentPromise.predictions

  static func problems(_ evidence: DocumentEvidence) throws -> [String] {
    var problems: [String] = []
    for index in evidence.sight.indexes where index.kind == .predictive {
      guard let store = evidence.store(of: index), let property = evidence.property(of: index),
        let table = evidence.sight.table(of: index)
      else { continue }
      var expected: [String] = []
      for (row, body) in evidence.bodies(store) {
        guard case .integer(let number)? = body[property] else { continue }
        expected.append("\(row.number): {\"twice\":\(DocumentMachine.twice(number))}")
      }
      let found = (evidence.sight.itemRows[table] ?? []).map { row in
        "\(row.number): \(text(row.value))"
      }
      if found.sorted() != expected.sorted() {
        problems.append(
          "index \(index.name) has \(found.sorted()), and the results are \(expected.sorted())")
      }
    }
    return problems
  }

  private static func text(_ bytes: [UInt8]) -> String {
    guard case .success(let value) = NaiveReader.read(bytes) else { return "damaged" }
    return PlainText.canonical(value, []) ?? "damaged"
  }
}
