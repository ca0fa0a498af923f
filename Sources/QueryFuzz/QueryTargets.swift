// QueryTargets.swift: the fuzz targets of the query language, each held against the queries'
// reference (Sources/QueryReference), and the one of nested collections, with a model of its own.

import Fuzz
import Query

extension FuzzTarget {
  /// The targets of the query language, and of collections in mixed values.
  package static let ofQueries = [
    QueryTarget.target, QueryAnswersTarget.target, MixedCollectionsTarget.target,
  ]
}

extension FuzzMeasure {
  /// Reading of texts alone: the parser, on the seeds of the query target.
  package static func parse() {
    let texts = QueryTarget.target.seeds().map { String(decoding: $0, as: UTF8.self) }
    measure("parse", texts.count) { number in _ = try? ParsedQuery(parsing: texts[number]) }
  }
}
