// BundleUse.swift: does with a bundle what can be done with it, and says what came of it.

import Foundation

@testable import DocumentStore

/// What became of a damaged bundle.
enum BundleOutcome {
  /// It does not open, or is not verified, for a reason that is an error of the store.
  case refused
  /// `verify` finds something.
  case found
  /// `verify` finds nothing, and all that was tried works.
  case sound
  /// Something else: a wrong error, or something that does not work in a file that passed.
  case fault(String)
}

/// Opens, verifies, reads, asks, changes, compacts and verifies again.
struct BundleUse {
  private let path: String
  private let isReadOnly: Bool

  init(_ path: String, isReadOnly: Bool) { (self.path, self.isReadOnly) = (path, isReadOnly) }

  func outcome() -> BundleOutcome {
    var options = TemporaryFolder.options()
    options.isReadOnly = isReadOnly
    options.busyTimeoutMilliseconds = 100
    options.nanoseconds = { 1_000_000_000 }
    let file: DataFile
    do { file = try DataFile(path: path, options: options) } catch { return refused(error) }
    defer { try? file.close() }
    file.setModel(IndexGoldenTests.textinfo, named: "textinfo")
    let found: Verification
    do { found = try file.verify() } catch {
      _ = (try? read(file), try? change(file))
      return refused(error)
    }
    guard found.problems.isEmpty, found.unlistedCount == 0 else {
      _ = (try? read(file), try? change(file), try? file.compact())
      return .found
    }
    do {
      try read(file)
      guard !isReadOnly else { return .sound }
      try change(file)
      try file.compact()
      let after = try file.verify()
      return after.problems.isEmpty
        ? .sound : .fault("sound, and after changes \(after.problems[0])")
    } catch { return .fault("sound, and then \(error)") }
  }

  /// Every error of an open and of a verification is the store's.
  private func refused(_ error: any Error) -> BundleOutcome {
    error is DocumentStoreError ? .refused : .fault("\(type(of: error)): \(error)")
  }

  private func read(_ file: DataFile) throws {
    try file.read { snapshot in
      let hasVectors = try snapshot.versioning() == .vectors
      for name in try snapshot.keyStores() {
        guard let store = try snapshot.keyStore(name) else { continue }
        _ = try (store.count(), store.lastSequence(), store.nextExpiration())
        for record in try store.records(.changes(since: 0)) where name.isCollection {
          if hasVectors {
            _ = try VectorDocument(record, keys: snapshot.sharedKeys)
          } else {
            let document = try TreeDocument(record)
            for revision in document.tree.revisions {
              _ = try revision.body.map { try snapshot.json(of: $0) }
            }
          }
        }
      }
      for index in try snapshot.indexes() {
        guard let collection = index.keyStore.collection else { continue }
        try ask(index, collection, snapshot)
      }
    }
  }

  /// A query for which the index is there.
  private func ask(
    _ index: IndexInfo, _ collection: CollectionName, _ snapshot: Snapshot
  ) throws {
    // Collections that the real library deleted have leftovers.
    guard try snapshot.collections().contains(collection) else { return }
    let from = "{\"COLLECTION\":\(quoted(collection.name)),\"SCOPE\":\(quoted(collection.scope)),"
    let query: String
    switch index.kind {
    case .fullText:
      let name = quoted(index.name)
      query =
        "{\"WHAT\":[[\"._id\"]],\"FROM\":[\(from)\"AS\":\"d\"}],"
        + "\"WHERE\":[\"MATCH()\",\(name),\"a*\"]}"
    case .value, .predictive, .array, .vector:
      query = "{\"WHAT\":[[\"count()\",[\".\"]]],\"FROM\":[\(from)\"AS\":\"d\"}]}"
    }
    _ = try snapshot.run(StoreQuery(query, timeLimitMilliseconds: 5000))
  }

  /// A text of JSON.
  private func quoted(_ text: String) -> String {
    let bytes = try? JSONSerialization.data(withJSONObject: [text])
    return bytes.map { String(decoding: $0.dropFirst().dropLast(), as: UTF8.self) } ?? "\"\""
  }

  private func change(_ file: DataFile) throws {
    let json = #"{"some new key":[1,{"k":2}],"bio":"a river","tags":["x"],"name":"new","n":101}"#
    try file.write { transaction in
      let store = try transaction.collection()
      let keys = try store.records().map(\.key).prefix(2)
      for (id, isDeleted) in [("new", false)] + keys.map({ ($0, $0 == keys.first) }) {
        let body = try isDeleted ? nil : transaction.encode(json: json)
        if try transaction.snapshot.versioning() == .vectors {
          var document = try store.vectorDocument(id) ?? VectorDocument(id: id)
          try store.save(&document, body: body)
        } else {
          try store.save(id, body: body, parent: try store.document(id)?.current?.id)
        }
      }
      _ = try keys.last.map { try store.purge($0) }
    }
  }
}
