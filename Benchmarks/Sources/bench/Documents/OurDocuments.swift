// OurDocuments.swift: the same documents in a document database, and in the store below it where
// the API has no name for the work.

import DocumentDatabase
import DocumentStore
import Fleece
import Foundation

/// A database of documents.
final class OurDocuments {
  let database: DocumentDatabase.Database
  let collection: DocumentDatabase.Collection

  init(
    _ directory: URL, full: Bool = false, versioning: DataFile.Versioning = .trees
  ) throws {
    var config = DatabaseConfiguration()
    config.directory = directory.path
    config.fullSync = full
    let name = "ours-\(UUID().uuidString)"
    // The database goes on with what the file has.
    var options = DataFile.Options()
    options.versioning = versioning
    try DataFile(path: "\(directory.path)/\(name).cblite2", options: options).close()
    database = try DocumentDatabase.Database(name: name, config: config)
    collection = try database.defaultCollection()
  }

  deinit { try? database.close() }

  var databasePath: String {
    database.config.directory + "/" + database.name + ".cblite2/db.sqlite3"
  }

  /// Saves all in one transaction.
  func saveAll(_ set: DocumentSet) throws {
    try database.inBatch { try saveEach(set) }
  }

  /// Saves each in a transaction of its own.
  func saveEach(_ set: DocumentSet) throws {
    for index in 0..<set.count {
      try collection.saveDocument(from: set.notes[index], id: set.ids[index])
    }
  }

  /// The first column of a query's rows.
  func texts(_ query: Query, _ argument: Any) throws -> [String] {
    query.parameters = Parameters().setValue(argument, forName: "x")
    return try query.execute().map { $0.string(at: 0) ?? "" }
  }

  /// Gets documents by ID, each in a read of its own.
  func get(_ ids: [String]) throws -> NoteSum {
    var sum = NoteSum()
    for id in ids {
      guard let document = try collection.document(id: id) else { continue }
      sum.add(age: document.int(forKey: "age"), name: document.string(forKey: "name") ?? "")
    }
    return sum
  }

  /// The documents since a sequence.
  func changes(since sequence: Int64, _ file: DataFile) throws -> NoteSum {
    var sum = NoteSum()
    try file.read { snapshot in
      let keys = snapshot.sharedKeys
      try snapshot.collection().enumerate(.changes(since: sequence)) { record in
        try FleeceBytes.over(record.body ?? []) { (bytes: FleeceBytes) in
          guard let dict = try FleeceValue.root(of: bytes).dict else { return }
          sum.add(
            age: Int(try dict.value(for: "age", in: keys)?.integer ?? 0),
            name: try dict.value(for: "name", in: keys)?.text ?? "")
        }
        return true
      }
    }
    return sum
  }
}
