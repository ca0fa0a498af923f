// DocumentQueryTargets.swift: the fuzz targets of queries over documents.

import Fuzz

extension FuzzTarget {
  /// The targets of queries over documents.
  package static let ofDocumentQueries = [
    DocumentQueryTarget.json, DocumentQueryTarget.text, DocumentAnswersTarget.target,
  ]
}
