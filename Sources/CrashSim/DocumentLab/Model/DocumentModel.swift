// DocumentModel.swift: the reference model: what a data file holds, as plain dictionaries. It
// knows neither SQL nor the store; `lines` is what both are compared by.

import LabCore
import Workload

/// The contents of a data file after one commit.
package struct DocumentModel: Hashable, Sendable {
  /// A document, deleted or not.
  package struct Document: Hashable, Sendable {
    var sequence: Int64
    var generation: UInt64
    var isDeleted = false
    var isConflicted = false
    var hasBlob = false
    var expiration: Int64?
    var body = DocumentValue.dict([])

    /// The flags of its record.
    var flags: Int64 { (isDeleted ? 1 : 0) | (isConflicted ? 2 : 0) | (hasBlob ? 4 : 0) }
  }

  /// A collection; its counters outlive it.
  package struct Collection: Hashable, Sendable {
    var exists = true
    var documents: [String: Document] = [:]
    var last: Int64 = 0
    var purges: Int64 = 0
    var deadPurges: Int64 = 0
  }

  /// An index.
  package struct Index: Hashable, Sendable {
    var collection: String
    var kind: DeclaredIndex
    var property: String
  }

  /// The default collection's name.
  package static let defaultCollection = "_default"

  /// The property of a document that is only a number.
  static let counted = "number"

  /// The body of such a document after an increment.
  static func counting(_ number: Int64, by name: String) -> DocumentValue {
    .dict([
      DocumentValue.Pair(counted, .integer(number)), DocumentValue.Pair("by", .text(name)),
    ])
  }

  /// The collections by name.
  package private(set) var collections = [Self.defaultCollection: Collection()]
  /// The indexes by name.
  package private(set) var indexes: [String: Index] = [:]
  /// The keys that bodies write as numbers.
  package private(set) var keys: [String] = []

  /// A new data file.
  package init() {}

  /// A document.
  func document(_ id: String, _ collection: String) -> Document? {
    collections[collection]?.documents[id]
  }

  /// What a data file is compared by: one line for each thing, in order.
  package var lines: [String] {
    var lines = ["keys \(keys.joined(separator: ","))"]
    for (name, collection) in collections {
      if collection.exists { lines.append("collection \(name)") }
      if collection.last != 0 || collection.purges != 0 || collection.deadPurges != 0 {
        lines.append(
          Self.counters(
            name, last: collection.last, purges: collection.purges, dead: collection.deadPurges))
      }
      for (id, document) in collection.documents {
        lines.append(
          Self.line(
            name, id, sequence: document.sequence, flags: document.flags,
            generation: document.generation, expiration: document.expiration,
            body: document.isDeleted ? "{}" : document.body.canonical))
      }
    }
    for (name, index) in indexes {
      lines.append("index \(name) of \(index.collection), \(index.kind.rawValue)")
    }
    return lines.sorted()
  }

  static func counters(_ name: String, last: Int64, purges: Int64, dead: Int64) -> String {
    "counters of \(name): last \(last), purges \(purges) and \(dead)"
  }

  static func line(
    _ collection: String, _ id: String, sequence: Int64, flags: Int64, generation: UInt64,
    expiration: Int64?, body: String
  ) -> String {
    "\(collection) '\(id)': sequence \(sequence), flags \(flags), generation \(generation), "
      + "expires \(expiration.map(String.init) ?? "never"), body \(body)"
  }
}

// MARK: - Changes

extension DocumentModel {
  /// Why an action cannot be done.
  package struct Refusal: Error {
    package let text: String
  }

  /// Does what an action does.
  mutating func apply(_ action: DocumentAction, in name: String) throws(Refusal) {
    switch action {
    case .save(let id, let body, let blobBytes):
      guard case .dict = body, blobBytes == nil || body["blob"] == nil else {
        throw Refusal(text: "a body is a dict, and 'blob' in it is the blob")
      }
      try save(id, DocumentBlob.body(body, blobBytes, of: id), hasBlob: blobBytes != nil, in: name)
    case .saveStale: break
    case .conflict(let id, let body):
      note(keysOf: body)
      try change(id, in: name) { $0.isConflicted = true }
    case .resolve(let id):
      guard document(id, name)?.isConflicted == true else {
        throw Refusal(text: "'\(id)' has no conflict")
      }
      try change(id, in: name) { $0.isConflicted = false }
    case .delete(let id):
      guard document(id, name)?.isConflicted != true else {
        throw Refusal(text: "'\(id)' has a conflict; resolve it before")
      }
      try change(id, in: name) {
        $0.isDeleted = true
        $0.generation += 1
        $0.body = .dict([])
      }
      collections[name]?.purges += 1
    case .purge(let id):
      guard let document = document(id, name) else { throw missing(id) }
      collections[name]?.documents[id] = nil
      if document.isDeleted {
        collections[name]?.deadPurges += 1
      } else {
        collections[name]?.purges += 1
      }
    case .expire(let id, let time):
      guard document(id, name) != nil else { throw missing(id) }
      collections[name]?.documents[id]?.expiration = time == 0 ? nil : time
    case .increment(let id, let by, _):
      guard case .integer(let number)? = document(id, name)?.body[Self.counted] else {
        throw Refusal(text: "'\(id)' is no document {\(Self.counted): …}")
      }
      try save(id, Self.counting(number + 1, by: by), hasBlob: false, in: name)
    case .purgeExpired(let now): purgeExpired(now)
    case .openAndPurge: purgeExpired(DocumentHand.nowMilliseconds)
    case .createIndex(let index, let kind, let property):
      try demand(name)
      indexes[index] = Index(collection: name, kind: kind, property: property)
    case .deleteIndex(let index):
      guard indexes.removeValue(forKey: index) != nil else {
        throw Refusal(text: "there is no index '\(index)'")
      }
    case .createCollection: collections[name, default: Collection()].exists = true
    case .deleteCollection:
      guard name != Self.defaultCollection else {
        throw Refusal(text: "the default collection cannot be deleted")
      }
      try demand(name)
      collections[name]?.exists = false
      collections[name]?.documents = [:]
      indexes = indexes.filter { $0.value.collection != name }
    case .transaction(let steps, let cancels):
      guard !cancels else { return }
      for step in steps { try apply(step.action, in: step.collection) }
    case .query, .hold, .release, .close, .open, .look, .watch, .refresh, .compact, .reindex,
      .plant, .plantLostBlob:
      break
    }
  }

  private func missing(_ id: String) -> Refusal { Refusal(text: "there is no document '\(id)'") }

  private func demand(_ name: String) throws(Refusal) {
    guard collections[name]?.exists == true else {
      throw Refusal(text: "there is no collection '\(name)'; write {createCollection: \(name)}")
    }
  }

  private mutating func save(
    _ id: String, _ body: DocumentValue, hasBlob: Bool, in name: String
  ) throws(Refusal) {
    try demand(name)
    note(keysOf: body)
    if let old = document(id, name) {
      if old.isDeleted { collections[name]?.deadPurges += 1 }
      guard old.isDeleted || old.body.canonical != body.canonical else {
        throw Refusal(text: "'\(id)' has this body already, so nothing would be written")
      }
      try change(id, in: name) {
        $0.isDeleted = false
        $0.generation += 1
        // An older revision's name keeps the flag.
        $0.hasBlob = $0.hasBlob || hasBlob
        $0.body = body
      }
      return
    }
    let last = (collections[name]?.last ?? 0) + 1
    collections[name]?.last = last
    var document = Document(sequence: last, generation: 1)
    document.hasBlob = hasBlob
    document.body = body
    collections[name]?.documents[id] = document
  }

  /// A change that takes a sequence.
  private mutating func change(
    _ id: String, in name: String, _ body: (inout Document) -> Void
  ) throws(Refusal) {
    try demand(name)
    guard var collection = collections[name], var document = collection.documents[id] else {
      throw missing(id)
    }
    collection.last += 1
    body(&document)
    document.sequence = collection.last
    collection.documents[id] = document
    collections[name] = collection
  }

  private mutating func purgeExpired(_ now: Int64) {
    for (name, collection) in collections {
      for (id, document) in collection.documents where document.expiration ?? .max <= now {
        collections[name]?.documents[id] = nil
      }
    }
  }

  /// The keys of a body, in the order in which they are written.
  private mutating func note(keysOf value: DocumentValue) {
    switch value {
    case .null, .boolean, .integer, .text: break
    case .array(let items): for item in items { note(keysOf: item) }
    case .dict(let pairs):
      for pair in pairs {
        if Self.isShared(pair.key), !keys.contains(pair.key), keys.count < 2048 {
          keys.append(pair.key)
        }
        note(keysOf: pair.value)
      }
    }
  }

  /// Whether a key is written as a number.
  static func isShared(_ key: String) -> Bool {
    let bytes = key.utf8
    return (1...16).contains(bytes.count)
      && bytes.allSatisfy {
        (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0) || $0 == 95
          || $0 == 45
      }
  }
}
