// LiveQueryTests.swift: results that follow commits: of this data file, of another one on the same
// bundle, and of whatever changes rows.

import DocumentStore
import Testing

@Suite("Live queries")
struct LiveQueryTests {
  @Test("a result changes with commits that change it, and with no others")
  func follows() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    let other = try DataFile(path: folder.bundle)
    let live = try file.live(StoreQuery(#"{"WHAT":[["._id"]],"WHERE":[">",[".n"],1]}"#))
    #expect(try live.refresh()?.rows == [])
    #expect(try live.refresh() == nil)
    try QueryTests.put(#"{"n":2}"#, "a", file)
    #expect(try live.refresh()?.rows == [[.text("a")]])
    // Somebody else's connection, as another process has one.
    try QueryTests.put(#"{"n":3}"#, "b", other)
    #expect(try live.refresh()?.rows == [[.text("a")], [.text("b")]])
    try QueryTests.put(#"{"n":1}"#, "c", other)
    #expect(try live.refresh() == nil)
    try file.write { _ = try $0.collection().purge("a") }
    #expect(try live.refresh()?.rows == [[.text("b")]])
    try live.close()
    let after = code { _ = try live.refresh() }
    #expect(after == .notOpen)
    try other.close()
    try file.close()
  }

  @Test("a purge of a deleted document is seen")
  func purges() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    try QueryTests.put(#"{"n":1}"#, "a", file)
    try file.write { transaction in
      let store = try transaction.collection()
      let found = try store.record("a")
      var record = try #require(found)
      record.flags = .deleted
      try store.set(&record)
    }
    let live = try file.live(StoreQuery(#"{"WHAT":[["._id"]],"WHERE":["._deleted"]}"#))
    #expect(try live.refresh()?.rows == [[.text("a")]])
    try file.write { _ = try $0.collection().purge("a") }
    #expect(try live.refresh()?.rows == [])
    try live.close()
    try file.close()
  }

  @Test("a rolled back transaction changes nothing")
  func rollsBack() throws {
    struct Stop: Error {}
    let folder = try TemporaryFolder()
    let file = try folder.make()
    let live = try file.live(StoreQuery(#"{"WHAT":[["._id"]]}"#))
    #expect(try live.refresh()?.rows == [])
    _ = try? file.write { transaction in
      var record = Record(key: "a", body: try transaction.encode(json: "{}"))
      try transaction.collection().set(&record)
      throw Stop()
    }
    #expect(try live.refresh() == nil)
    try live.close()
    try file.close()
  }

  @Test("a stream has the first result and then each new one", .timeLimit(.minutes(1)))
  func streams() async throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    let live = try file.live(StoreQuery(#"{"WHAT":[["count()",["."]]]}"#))
    var counts: [QueryValue] = []
    for try await result in live.results(every: 1) {
      counts.append(result.rows[0][0])
      if counts.count == 3 { break }
      try QueryTests.put("{}", "d\(counts.count)", file)
    }
    #expect(counts == [.integer(0), .integer(1), .integer(2)])
    try live.close()
    try file.close()
  }

  @Test("java-ce-root 24, core 578: deleted and purged in one batch, and expired")
  func goes() throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    for id in ["a", "b"] { try QueryTests.put(#"{"t":{"k":"x"}}"#, id, file) }
    let live = try file.live(
      StoreQuery("SELECT META().id WHERE t.k = 'x' LIMIT 1", language: .text))
    #expect(try live.refresh()?.rows == [[.text("a")]])
    try file.write { transaction in
      let store = try transaction.collection()
      let found = try store.record("a")
      var record = try #require(found)
      record.flags = .deleted
      try store.set(&record)
      #expect(try store.purge("a"))
    }
    #expect(try live.refresh()?.rows == [[.text("b")]])
    try file.write { transaction throws in
      #expect(try transaction.collection().setExpiration(5000, of: "b"))
    }
    #expect(try file.purgeExpired(nowMilliseconds: 4999).isEmpty)
    #expect(try live.refresh() == nil)
    #expect(try file.purgeExpired(nowMilliseconds: 5000).map(\.id) == ["b"])
    #expect(try live.refresh()?.rows == [])
    try live.close()
    try file.close()
  }
}
