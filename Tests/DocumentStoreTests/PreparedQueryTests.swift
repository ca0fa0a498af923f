// PreparedQueryTests.swift: queries whose statements are kept between runs answer as new ones do:
// after changes of the schema by whomever, after rollbacks, errors, and within themselves.

import DocumentStore
import Foundation
import Synchronization
import Testing

@Suite("A query that runs again")
struct PreparedQueryTests {
  private static let match = StoreQuery(#"{"WHAT":[["._id"]],"WHERE":["MATCH()","words","river"]}"#)
  private static let unnest = StoreQuery(
    "SELECT META(d).id AS id FROM _ AS d UNNEST d.tags AS t WHERE t = $t ORDER BY id",
    language: .text)
  private static let words = IndexSpecification(
    "words", .fullText(FullTextOptions()), json: #"[[".t"]]"#)
  private static let tags = IndexSpecification("tags", .array(path: "tags"), json: "[]")

  private static func fill(_ file: DataFile) throws {
    try QueryTests.put(#"{"t":"a river","tags":["a","b"]}"#, "x", file)
    try QueryTests.put(#"{"t":"a stone","tags":["b"]}"#, "y", file)
  }

  private static func ids(
    _ query: StoreQuery, _ snapshot: Snapshot, t: String? = nil
  ) throws -> [QueryValue] {
    try snapshot.run(query, t.map { ["t": .text($0)] } ?? [:]).rows.map { $0[0] }
  }

  @Test("uses the indexes that there are, also those of another data file object")
  func indexes() throws {
    let folder = try TemporaryFolder()
    let (file, other) = (try folder.make(), try folder.make())
    try Self.fill(file)
    for _ in 0..<2 {
      #expect(code { try file.read { _ = try Self.ids(Self.match, $0) } } == .missingIndex)
      #expect(try file.read { try Self.ids(Self.unnest, $0, t: "b").count } == 2)
      #expect(try file.read { try !$0.explain(Self.unnest).sql.contains("docid") })
      try other.write { transaction in
        let store = try transaction.collection()
        try store.createIndex(Self.words)
        try store.createIndex(Self.tags)
      }
      #expect(try file.read { try Self.ids(Self.match, $0) } == [.text("x")])
      #expect(try file.read { try Self.ids(Self.unnest, $0, t: "b").count } == 2)
      #expect(try file.read { try $0.explain(Self.unnest).sql.contains("docid") })
      try other.write { transaction in
        for name in ["words", "tags"] { _ = try transaction.deleteIndex(name) }
      }
    }
    try other.close()
    try file.close()
  }

  @Test("follows changes of the schema within a transaction, and their rollback")
  func rollback() throws {
    struct Undo: Error {}
    let folder = try TemporaryFolder()
    let file = try folder.make()
    try Self.fill(file)
    func run(_ path: String, isNested: Bool) throws {
      try file.write { transaction in
        let work: (WriteTransaction) throws -> Void = { transaction in
          let store = try transaction.collection()
          try store.createIndex(IndexSpecification("i", .array(path: path), json: "[]"))
          try store.createIndex(Self.words)
          let snapshot = transaction.snapshot
          #expect(try Self.ids(Self.unnest, snapshot, t: "b").count == 2)
          #expect(try Self.ids(Self.match, snapshot) == [.text("x")])
          #expect(try transaction.deleteIndex("words"))
          #expect(code { _ = try Self.ids(Self.match, snapshot) } == .missingIndex)
          throw Undo()
        }
        #expect(throws: Undo.self) {
          if isNested { try transaction.nested(work) } else { try work(transaction) }
        }
        if !isNested { throw Undo() }
      }
    }
    // The second path takes the numbers that the schema had with the first one.
    for path in ["tags", "more", "tags"] {
      try run(path, isNested: true)
      #expect(throws: Undo.self) { try run(path, isNested: false) }
      #expect(try file.read { try Self.ids(Self.unnest, $0, t: "b").count } == 2)
    }
    try file.close()
  }

  @Test("keeps no statement of a schema that was taken back, and whose number comes again")
  func sameNumber() throws {
    struct Undo: Error {}
    let folder = try TemporaryFolder()
    let file = try folder.make()
    try Self.fill(file)
    for path in ["tags", "more"] {
      #expect(throws: Undo.self) {
        try file.write { transaction in
          try transaction.collection().createIndex(
            IndexSpecification("i", .array(path: path), json: "[]"))
          #expect(try Self.ids(Self.unnest, transaction.snapshot, t: "b").count == 2)
          throw Undo()
        }
      }
    }
    try file.close()
  }

  @Test("may run within itself, keeps no parameter, and goes on after errors")
  func again() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    try Self.fill(file)
    try file.read { snapshot in
      var found: [[QueryValue]] = []
      try snapshot.enumerate(Self.unnest, ["t": .text("b")]) { row in
        found.append(row + (try Self.ids(Self.unnest, snapshot, t: "a")))
        return true
      }
      #expect(found == [[.text("x"), .text("x")], [.text("y"), .text("x")]])
      #expect(try Self.ids(Self.unnest, snapshot) == [])
      let damaged = code { _ = try snapshot.run(Self.unnest, ["t": .collection([1, 2, 3])]) }
      #expect(damaged == .invalidParameter)
      #expect(throws: CancellationError.self) {
        try snapshot.enumerate(Self.unnest, ["t": .text("b")]) { _ in throw CancellationError() }
      }
      #expect(try Self.ids(Self.unnest, snapshot, t: "a") == [.text("x")])
    }
    try file.close()
    // SQLite removes its log when the last connection closes, which none does with a statement.
    #expect(!FileManager.default.fileExists(atPath: folder.bundle + "/db.sqlite3-wal"))
  }

  @Test("has the same rows on all threads while indexes come and go")
  func threads() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    try Self.fill(file)
    let wrong = Mutex<[String]>([])
    DispatchQueue.concurrentPerform(iterations: 4) { number in
      do {
        for _ in 0..<12 {
          if number == 0 {
            try file.write { try $0.collection().createIndex(Self.tags) }
            try file.write { _ = try $0.deleteIndex("tags") }
          } else {
            let ids = try file.read { try Self.ids(Self.unnest, $0, t: "b") }
            if ids != [.text("x"), .text("y")] { wrong.withLock { $0.append("\(ids)") } }
          }
        }
      } catch {
        wrong.withLock { $0.append("\(error)") }
      }
    }
    #expect(wrong.withLock { $0 } == [])
    try file.close()
  }
}
