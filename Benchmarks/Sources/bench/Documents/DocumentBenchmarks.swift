// DocumentBenchmarks.swift: documents against plain GRDB records with JSON text. Both sides begin
// with the same values of a Codable type, are equally durable, and must give the same results.

import DocumentDatabase
import DocumentStore
import Foundation
import GRDB

/// The same documents on both sides, 100,000 if not said otherwise, with the indexes of a row.
private final class ManyDocuments {
  let directory: URL
  let ours: OurDocuments
  let peer: PeerDocuments
  /// IDs in an order unlike the file's.
  let drawn: [String]

  init(_ set: DocumentSet = .large, versioning: DataFile.Versioning = .trees) throws {
    directory = try Scratch.makeDirectory("documents")
    ours = try OurDocuments(directory, versioning: versioning)
    peer = try PeerDocuments(directory)
    try ours.saveAll(set)
    try peer.saveAll(set)
    drawn = (0..<20_000).map { set.ids[$0 * 7919 % set.count] }
  }

  deinit { try? FileManager.default.removeItem(at: directory) }
}

extension Benchmark {
  static let documents: [Benchmark] = documentWrites + documentReads + documentSizes

  private static let grdb = "GRDB record, JSON text"

  // MARK: writing

  private static let documentWrites: [Benchmark] = [
    Benchmark(name: "documents-save-batch/grdb") { settings in
      try saving(settings, "documents-save-batch/grdb", .large, full: false) {
        try $0.saveAll($1)
      } peer: {
        try $0.saveAll($1)
      }
    },
    Benchmark(name: "documents-save-one/grdb") { settings in
      try saving(settings, "documents-save-one/grdb", .small, full: true) {
        try $0.saveEach($1)
      } peer: {
        try $0.saveEach($1)
      }
    },
  ]

  /// Saves on a disk, into a new database each time.
  private static func saving(
    _ settings: Settings, _ name: String, _ set: DocumentSet, full: Bool,
    ours: @escaping (OurDocuments, DocumentSet) throws -> Void,
    peer: @escaping (PeerDocuments, DocumentSet) throws -> Void
  ) throws -> Row {
    try ObjectWork(
      name: name, unit: "documents/s", peerName: grdb + (full ? ", FULL" : ""), count: set.count,
      timedOurs: {
        try Scratch.withDisk("documents") { directory in
          let store = try OurDocuments(directory, full: full)
          let (taken, _) = try Taken.by { try ours(store, set) }
          return (taken, Int(store.collection.count))
        }
      },
      timedPeer: {
        try Scratch.withDisk("documents") { directory in
          let store = try PeerDocuments(directory, full: full)
          let (taken, _) = try Taken.by { try peer(store, set) }
          return (taken, try store.queue.read { try PeerNote.fetchCount($0) })
        }
      }
    ).rate(settings)
  }

  // MARK: reading

  private static let documentReads: [Benchmark] = [
    Benchmark(name: "documents-get/grdb") { settings in
      let both = try ManyDocuments()
      return try ObjectWork(
        name: "documents-get/grdb", unit: "documents/s", peerName: grdb, count: both.drawn.count
      ) {
        try both.ours.get(both.drawn)
      } peer: {
        try both.peer.get(both.drawn)
      }.rate(settings)
    },
    query(
      "documents-query/grdb", "SELECT META().id FROM _ WHERE age = $x ORDER BY META().id",
      "SELECT id FROM note WHERE json_extract(body, '$.age') = ? ORDER BY id", 40, repeats: 1),
    query(
      "documents-query-index/grdb", "SELECT META().id FROM _ WHERE age = $x ORDER BY META().id",
      "SELECT id FROM note WHERE json_extract(body, '$.age') = ? ORDER BY id", 40, repeats: 20
    ) { both in
      try both.ours.collection.createIndex(
        withName: "byAge", config: ValueIndexConfiguration(["age"]))
      try both.peer.execute("CREATE INDEX byAge ON note (json_extract(body, '$.age'))")
    },
    query(
      "documents-fts/grdb",
      "SELECT META().id FROM _ WHERE MATCH(words, 'harbor NOT stone') AND age < $x",
      """
      SELECT note.id FROM words JOIN note ON note.rowid = words.rowid
      WHERE words MATCH 'harbor NOT stone' AND json_extract(body, '$.age') < ?
      """, 5, repeats: 3
    ) { both in
      try both.ours.collection.createIndex(
        withName: "words", config: FullTextIndexConfiguration(["text"]))
      try both.peer.execute(
        """
        CREATE VIRTUAL TABLE words USING fts4(text, tokenize=unicode61);
        INSERT INTO words (rowid, text) SELECT rowid, json_extract(body, '$.text') FROM note;
        CREATE TRIGGER words_insert AFTER INSERT ON note BEGIN
          INSERT INTO words (rowid, text) VALUES (new.rowid, json_extract(new.body, '$.text'));
        END;
        """)
    },
    query(
      "documents-array-index/grdb",
      "SELECT META(d).id FROM _ AS d UNNEST d.tags AS t WHERE t = $x ORDER BY META(d).id",
      """
      SELECT note.id FROM tag JOIN note ON note.rowid = tag.note
      WHERE tag.tag = ? ORDER BY note.id
      """,
      "tag-17", repeats: 20
    ) { both in
      try both.ours.collection.createIndex(
        withName: "byTag", config: ArrayIndexConfiguration(path: "tags"))
      try both.peer.execute(
        """
        CREATE TABLE tag (note INTEGER, tag TEXT);
        INSERT INTO tag SELECT note.rowid, value FROM note, json_each(note.body, '$.tags');
        CREATE INDEX byTag ON tag (tag);
        CREATE TRIGGER tag_insert AFTER INSERT ON note BEGIN
          INSERT INTO tag SELECT new.rowid, value FROM json_each(new.body, '$.tags');
        END;
        """)
    },
    Benchmark(name: "documents-since/grdb") { settings in
      let both = try ManyDocuments()
      let (since, count) = (Int64(60_000), DocumentSet.large.count - 60_000)
      var options = DataFile.Options()
      options.creates = false
      let path = both.ours.database.path ?? ""
      let file = try DataFile(path: path, options: options)
      // The first enumeration asks the next writer for the index.
      _ = try both.ours.changes(since: since, file)
      try file.write { _ in }
      defer { try? file.close() }
      return try ObjectWork(
        name: "documents-since/grdb", unit: "documents/s", peerName: grdb, count: count
      ) {
        try both.ours.changes(since: since, file)
      } peer: {
        try both.peer.changes(since: since)
      }.rate(settings)
    },
  ]

  /// A query of documents, parsed and planned once, as is the peer's.
  private static func query(
    _ name: String, _ ours: String, _ peer: String,
    _ argument: any DatabaseValueConvertible & Sendable, repeats: Int,
    prepare: @escaping @Sendable (ManyDocuments) throws -> Void = { _ in }
  ) -> Benchmark {
    Benchmark(name: name) { settings in
      let both = try ManyDocuments()
      try prepare(both)
      let query = try both.ours.database.createQuery(ours)
      return try ObjectWork(
        name: name, unit: "queries/s", peerName: grdb + ", SQL", count: 1, repeats: repeats
      ) {
        try both.ours.texts(query, argument).sorted()
      } peer: {
        try both.peer.texts(peer, argument).sorted()
      }.rate(settings)
    }
  }

  // MARK: size

  private static let documentSizes = [
    size("documents-size/grdb", .long),
    size("documents-size-small/grdb", .large),
    size("documents-size-vectors/grdb", .large, versioning: .vectors),
  ]

  /// `set` is made when the row runs, not when the list of rows is.
  private static func size(
    _ name: String, _ set: @autoclosure @escaping @Sendable () -> DocumentSet,
    versioning: DataFile.Versioning = .trees
  ) -> Benchmark {
    Benchmark(name: name) { settings in
      let both = try ManyDocuments(set(), versioning: versioning)
      // The index by sequence, which the peer has from the start.
      let path = both.ours.database.path ?? ""
      let file = try DataFile(path: path)
      try file.write { _ = try $0.collection().record(sequence: 1) }
      try file.close()
      try both.ours.database.close()
      try both.peer.queue.close()
      let ours = try sizeBytes(both.ours.databasePath) / 1e6
      let peer = try sizeBytes(both.peer.path) / 1e6
      return .cost(
        name, ours: settings.peerOnBothSides ? peer : ours, peer: peer, peerName: grdb, unit: "MB")
    }
  }
}
