// DocumentAnswersTarget.swift: bytes → a seed → drawn queries: each becomes SQL that SQLite
// prepares, however deeply nested it is. Invariant checked: a drawn query, which the naive
// evaluator can answer, is never rejected.

import DocumentQuery
import DocumentQueryReference
import Fuzz

enum DocumentAnswersTarget {
  static let target = FuzzTarget(
    name: "document-query-drawn",
    judges: "drawn queries over documents: taken by the translator and by SQLite",
    smokeCount: 300, seeds: { FuzzTarget.choiceSeeds("document-query-drawn") }, run: { run($0) }
  ).with {
    $0.describe = { input in queries(input).map(\.json) }
    $0.sizeMax = 64
  }

  private static func queries(_ input: [UInt8]) -> [PlainValue] {
    let seed = input.reduce(UInt64(input.count)) { ($0 &* 0x0100_0000_01b3) ^ UInt64($1) }
    var generator = PlainGenerator(seed: seed)
    return (0..<4).map { _ in generator.query() }
  }

  private static func run(_ input: [UInt8]) -> FuzzOutcome {
    for query in queries(input) {
      let outcome = DocumentQueryTarget.run { () throws(DocumentQueryError) in
        try QueryTranslation(json: query.json, schema: DocumentQueryTarget.schema)
      }
      switch outcome {
      case .accepted: continue
      case .refused: return .finding("refused: \(query.json)")
      default: return outcome
      }
    }
    return .accepted
  }
}
