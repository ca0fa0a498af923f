// PeerDocuments.swift: documents as plain GRDB records: a table with the ID, a number of the
// change, and the contents as JSON text, which GRDB makes of a Codable property.

import Foundation
import GRDB

/// A record of GRDB.
struct PeerNote: Codable, FetchableRecord, PersistableRecord {
  static let databaseTableName = "note"
  var id: String
  var sequence: Int64
  var body: BenchNote
}

/// A database of records.
final class PeerDocuments {
  let queue: DatabaseQueue
  let path: String

  init(_ directory: URL, full: Bool = false) throws {
    path = directory.appending(path: "peer-\(UUID().uuidString).sqlite").path
    var configuration = Configuration()
    configuration.prepareDatabase { database in
      try database.execute(sql: "PRAGMA synchronous = \(full ? "FULL" : "NORMAL")")
      try database.execute(sql: "PRAGMA cache_size = -16384")
    }
    queue = try DatabaseQueue(path: path, configuration: configuration)
    _ = try queue.writeWithoutTransaction { database in
      try String.fetchOne(database, sql: "PRAGMA journal_mode = WAL")
    }
    try queue.write { database in
      try database.execute(
        sql: """
          CREATE TABLE note (id TEXT PRIMARY KEY, sequence INTEGER NOT NULL, body TEXT NOT NULL);
          CREATE UNIQUE INDEX note_sequence ON note (sequence);
          """)
    }
  }

  /// Saves all in one transaction.
  func saveAll(_ set: DocumentSet) throws {
    try queue.write { database in
      for index in 0..<set.count {
        try PeerNote(id: set.ids[index], sequence: Int64(index + 1), body: set.notes[index])
          .insert(database)
      }
    }
  }

  /// Saves each in a transaction of its own.
  func saveEach(_ set: DocumentSet) throws {
    for index in 0..<set.count {
      try queue.write { database in
        try PeerNote(id: set.ids[index], sequence: Int64(index + 1), body: set.notes[index])
          .insert(database)
      }
    }
  }

  func execute(_ sql: String) throws { try queue.write { try $0.execute(sql: sql) } }

  /// Values of all rows of a query, whose statement is kept.
  func texts(_ sql: String, _ argument: any DatabaseValueConvertible) throws -> [String] {
    try queue.read {
      try String.fetchAll(try $0.cachedStatement(sql: sql), arguments: [argument])
    }
  }

  /// Gets records by ID, each in a read of its own.
  func get(_ ids: [String]) throws -> NoteSum {
    var sum = NoteSum()
    for id in ids {
      guard let note = try queue.read({ try PeerNote.fetchOne($0, key: id) }) else { continue }
      sum.add(age: note.body.age, name: note.body.name)
    }
    return sum
  }

  /// The records since a number, whole.
  func changes(since sequence: Int64) throws -> NoteSum {
    var sum = NoteSum()
    try queue.read { database in
      let rows = try PeerNote.filter(Column("sequence") > sequence).order(Column("sequence"))
        .fetchCursor(database)
      while let note = try rows.next() { sum.add(age: note.body.age, name: note.body.name) }
    }
    return sum
  }
}
