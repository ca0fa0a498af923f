// DocumentReading.swift: names, queries and whole contents through the store itself.

import DocumentStore
import Fleece
import Workload

/// Names of collections and indexes.
enum DocumentNames {
  /// A collection of the default scope.
  static func collection(_ name: String) throws -> CollectionName {
    name == DocumentModel.defaultCollection ? .default : try CollectionName(name)
  }

  /// An index.
  static func index(
    _ name: String, _ kind: DeclaredIndex, _ property: String
  ) -> IndexSpecification {
    switch kind {
    case .value: IndexSpecification(name, .value, json: #"[[".\#(property)"]]"#)
    case .fullText:
      IndexSpecification(name, .fullText(FullTextOptions()), json: #"[[".\#(property)"]]"#)
    case .array: IndexSpecification(name, .array(path: property), json: "[]")
    case .predictive:
      IndexSpecification(
        name, .predictive,
        json: #"[["PREDICTION()","\#(DocumentMachine.name)",{"number":"#
          + #"[".\#(property)"]},".twice"]]"#)
    }
  }
}

/// The model of predictive indexes: it doubles a number.
enum DocumentMachine {
  static let name = "double"

  /// A dict with the double; no result without a number.
  static let model: PredictiveModel = { input in
    guard let number = try input.dict?.value(for: "number")?.integer else { return nil }
    return try FleeceEncoder.bytes(ofJSON: #"{"twice":\#(twice(number))}"#)
  }

  /// The result for a number.
  static func twice(_ number: Int64) -> Int64 { number.multipliedReportingOverflow(by: 2).0 }
}

/// Questions to a snapshot.
enum DocumentQueries {
  private static func from(_ collection: String) -> String {
    #""FROM":[{"COLLECTION":"\#(collection)","AS":"d"}"#
  }

  /// The IDs of documents whose property has a value.
  static func ids(
    where property: String, equals value: DocumentValue, in collection: String,
    _ snapshot: Snapshot
  ) throws -> [String] {
    try texts(
      #"{"WHAT":[[".d._id"]],\#(from(collection))],"#
        + #""WHERE":["=",[".d.\#(property)"],\#(value.json)]}"#,
      snapshot)
  }

  /// The IDs of documents with a word.
  static func ids(
    matching word: String, of index: String, in collection: String, _ snapshot: Snapshot
  ) throws -> [String] {
    try texts(
      #"{"WHAT":[[".d._id"]],\#(from(collection))],"WHERE":["MATCH()","d.\#(index)","\#(word)"]}"#,
      snapshot)
  }

  /// The items of an array of all documents, as `ID=item`.
  static func items(
    of property: String, in collection: String, _ snapshot: Snapshot
  ) throws -> [String] {
    let query =
      #"{"WHAT":[[".d._id"],[".t"]],\#(from(collection)),{"UNNEST":[".d.\#(property)"],"AS":"t"}]}"#
    return try snapshot.run(StoreQuery(query)).rows.map { row in
      row.map { $0.json ?? "missing" }.joined(separator: "=")
    }
  }

  /// The first column of a query that yields texts.
  private static func texts(_ query: String, _ snapshot: Snapshot) throws -> [String] {
    try snapshot.run(StoreQuery(query)).rows.map { row in
      guard case .text(let text)? = row.first else { return row.first?.json ?? "nothing" }
      return text
    }
  }
}

/// Contents through the store.
enum DocumentReading {
  /// All records, counters and indexes of a snapshot.
  static func texts(_ snapshot: Snapshot) throws -> [String] {
    var texts = ["keys \(snapshot.sharedKeys.keys)"]
    for name in try snapshot.collections() {
      let store = try snapshot.collection(name)
      texts.append("\(name): \(try store.lastSequence()) \(try store.purgeCount())")
      var all = KeyStore.Enumeration()
      all.includesDeleted = true
      try store.enumerate(all) { record in
        texts.append("\(name) \(record)")
        return true
      }
    }
    for index in try snapshot.indexes() { texts.append("\(index)") }
    return texts
  }
}

/// How two lists of lines differ.
package enum DocumentDifference {
  /// The first differences, in words.
  package static func text(_ found: [String], _ expected: [String]) -> String {
    let (has, wants) = (Set(found), Set(expected))
    let surplus = found.filter { !wants.contains($0) }.prefix(2).map { "has \($0.prefix(300))" }
    let missing = expected.filter { !has.contains($0) }.prefix(2).map {
      "lacks \($0.prefix(300))"
    }
    return (surplus + missing).joined(separator: "; ")
  }
}
