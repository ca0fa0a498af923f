// DocumentView.swift: what a reader beside writers sees of a data file, and the same of the model.

import Foundation

/// What is looked at.
package enum DocumentView: Sendable, Hashable {
  /// All documents of a collection, with its counters.
  case collection(String)
  /// The documents of a collection whose property is a number of at least 0.
  case property(String, in: String)

  /// The first line of a collection.
  static func head(last: Int64, count: Int) -> String { "last \(last), \(count) documents" }

  /// A document.
  static func line(_ id: String, sequence: Int64, json: String) -> String {
    "'\(id)': sequence \(sequence), body \(sorted(json))"
  }

  /// JSON with its keys in order; other text as it is.
  private static func sorted(_ json: String) -> String {
    guard let object = try? JSONSerialization.jsonObject(with: Data(json.utf8)),
      let data = try? JSONSerialization.data(withJSONObject: object, options: [.sortedKeys])
    else { return json }
    return String(decoding: data, as: UTF8.self)
  }
}

/// What a reader saw.
package struct DocumentObservation: Sendable, Hashable {
  package let view: DocumentView
  package let lines: [String]
}

extension DocumentModel {
  /// What a reader sees of these contents.
  func lines(of view: DocumentView) -> [String] {
    switch view {
    case .collection(let name):
      guard let collection = collections[name], collection.exists else { return [] }
      let live = collection.documents.filter { !$0.value.isDeleted }
      let lines = live.map { id, document in
        DocumentView.line(id, sequence: document.sequence, json: document.body.json)
      }
      return [DocumentView.head(last: collection.last, count: live.count)] + lines.sorted()
    case .property(let property, let name):
      let live = collections[name]?.documents.filter { !$0.value.isDeleted } ?? [:]
      return live.compactMap { id, document -> String? in
        guard case .integer(let number)? = document.body[property], number >= 0 else { return nil }
        return "\(id)=\(number)"
      }.sorted()
    }
  }
}
