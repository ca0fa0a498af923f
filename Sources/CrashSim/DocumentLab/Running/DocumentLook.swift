// DocumentLook.swift: what a reader sees through the store: the documents of a collection, and
// whether counters and indexes agree with them within one snapshot.

import DocumentStore
import Foundation
import Workload

/// A look at a collection.
struct DocumentLook {
  /// A document that was seen.
  private struct Seen {
    let id: String
    let sequence: Int64
    let json: String
  }

  let collection: String
  /// Properties that have an index at some time, with values that documents have at some time.
  let properties: [String: Set<DocumentValue>]

  /// Looks.
  /// - Parameters:
  ///   - file: The data file.
  ///   - isSplit: Plants a bug: documents and indexes are read in a snapshot each.
  /// - Returns: What was seen, and what does not agree; nil when all does.
  /// - Throws: The store's errors.
  func observe(
    _ file: DataFile, isSplit: Bool
  ) throws -> (observation: DocumentObservation, problem: String?) {
    var found: (lines: [String], problem: String?, seen: [Seen]) = ([], nil, [])
    var problem: String?
    try file.read { snapshot in
      found = try documents(snapshot)
      if !isSplit { problem = try indexes(found.seen, snapshot) }
    }
    if isSplit { problem = try file.read { try indexes(found.seen, $0) } }
    let observation = DocumentObservation(view: .collection(collection), lines: found.lines)
    return (observation, found.problem ?? problem)
  }

  private func documents(
    _ snapshot: Snapshot
  ) throws -> (lines: [String], problem: String?, seen: [Seen]) {
    let store = try snapshot.collection(DocumentNames.collection(collection))
    let last = try store.lastSequence()
    let seen = try store.records().map { record in
      Seen(
        id: record.key, sequence: record.sequence,
        json: try record.body.map { $0.isEmpty ? "{}" : try snapshot.json(of: $0) } ?? "{}")
    }
    let lines = seen.map { DocumentView.line($0.id, sequence: $0.sequence, json: $0.json) }.sorted()
    let count = try store.count()
    var problem: String?
    if count != seen.count {
      problem = "the count is \(count), and \(seen.count) documents are there"
    } else if let above = seen.first(where: { $0.sequence > last }) {
      problem = "'\(above.id)' has sequence \(above.sequence), and the last one is \(last)"
    } else if Set(seen.map(\.sequence)).count != seen.count {
      problem = "a sequence is there twice: \(seen.map(\.sequence).sorted())"
    }
    return ([DocumentView.head(last: last, count: seen.count)] + lines, problem, seen)
  }

  /// What an index answers otherwise than the documents do.
  private func indexes(_ seen: [Seen], _ snapshot: Snapshot) throws -> String? {
    for (property, known) in properties.sorted(by: { $0.key < $1.key }) {
      var expected = Dictionary(uniqueKeysWithValues: known.map { ($0, [String]()) })
      for document in seen {
        guard let value = Self.value(of: property, in: document.json) else { continue }
        expected[value, default: []].append(document.id)
      }
      for (value, ids) in expected.sorted(by: { $0.key.json < $1.key.json }) {
        let found = try DocumentQueries.ids(
          where: property, equals: value, in: collection, snapshot)
        guard found.sorted() != ids.sorted() else { continue }
        return "a query finds \(found.sorted()) for \(property) = \(value.json), and the documents "
          + "of the same snapshot are \(ids.sorted())"
      }
    }
    return nil
  }

  /// A number or a text in a body.
  private static func value(of property: String, in json: String) -> DocumentValue? {
    let object = try? JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any]
    switch object?[property] {
    case let text as String: return .text(text)
    case let number as NSNumber: return .integer(number.int64Value)
    default: return nil
    }
  }
}

/// A live query over the documents whose property is a number.
final class DocumentWatch {
  private let live: LiveQuery
  private let view: DocumentView
  private var lines: [String] = []

  init(_ property: String, in collection: String, _ file: DataFile) throws {
    view = .property(property, in: collection)
    live = try file.live(
      StoreQuery(
        #"{"WHAT":[[".d._id"],[".d.\#(property)"]],"#
          + #""FROM":[{"COLLECTION":"\#(collection)","AS":"d"}],"#
          + #""WHERE":[">=",[".d.\#(property)"],0]}"#))
  }

  /// The result after what is committed now.
  func refresh() throws -> DocumentObservation {
    if let result = try live.refresh() {
      lines = result.rows.compactMap { row -> String? in
        guard case .text(let id)? = row.first, let number = row.last?.json.flatMap({ Int64($0) })
        else { return nil }
        return "\(id)=\(number)"
      }.sorted()
    }
    return DocumentObservation(view: view, lines: lines)
  }

  func close() throws { try live.close() }
}
