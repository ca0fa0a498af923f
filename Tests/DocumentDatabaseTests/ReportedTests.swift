// ReportedTests.swift: what users of the real library have reported of its API, with the names of
// the reports: each test has the reporter's steps.

import DocumentDatabase
import Foundation
import Testing

@Suite("reported faults of the API")
struct ReportedTests {
  @Test("net 1225: an array that is added to keeps what it had")
  func addedTo() throws {
    let test = try TestDatabase()
    let collection = try test.collection()
    let document = MutableDocument(id: "a")
    document.setArray(MutableArrayObject(data: ["Test"]), forKey: "list")
    try collection.save(document: document)
    let again = try #require(try collection.document(id: "a")).toMutable()
    let list = try #require(again.array(forKey: "list"))
    list.addString("more")
    try collection.save(document: again)
    let found = try #require(try collection.document(id: "a")?.array(forKey: "list"))
    #expect((0..<found.count).map { found.string(at: $0) } == ["Test", "more"])
    try test.check()
  }

  @Test("ios 2619: a date in setData is saved, like one that is set alone")
  func dates() throws {
    let test = try TestDatabase()
    let collection = try test.collection()
    let date = Date(timeIntervalSince1970: 1_583_500_000.25)
    let one = MutableDocument(id: "1").setDate(date, forKey: "date")
    let other = MutableDocument(id: "2")
    other.setData(["date": date, "in": ["deep": [date]]])
    for document in [one, other] { try collection.save(document: document) }
    for id in ["1", "2"] {
      #expect(try collection.document(id: id)?.date(forKey: "date") == date)
    }
    let deep = try collection.document(id: "2")?.dictionary(forKey: "in")?.array(forKey: "deep")
    #expect(deep?.date(at: 0) == date)
    try test.check()
  }

  @Test("c 59, net 879: documents with nested and with empty collections are changed and saved")
  func nested() throws {
    let test = try TestDatabase()
    let collection = try test.collection()
    var json = #"{"key":"value"}"#
    for _ in 0..<30 { json = "{\"key\":[\(json),[],{}]}" }
    let document = try MutableDocument(id: "a", json: json)
    for number in 0..<3 {
      document.setInt(number, forKey: "n")
      try collection.save(document: document)
      let found = try #require(try collection.document(id: "a")).toMutable()
      found.setString("b", forKey: "a")
      try collection.save(document: found)
      #expect(try collection.save(document: document, concurrencyControl: .lastWriteWins))
    }
    var inner: DictionaryObject? = try collection.document(id: "a")?.array(forKey: "key")?
      .dictionary(at: 0)
    for _ in 0..<29 { inner = inner?.array(forKey: "key")?.dictionary(at: 0) }
    #expect(inner?.string(forKey: "key") == "value")
    try test.check()
  }

  @Test("c 19: a document keeps its properties over three batches")
  func batches() throws {
    let test = try TestDatabase()
    let collection = try test.collection()
    for number in 1...3 {
      try test.database.inBatch {
        let found = try collection.document(id: "foo")?.toMutable() ?? MutableDocument(id: "foo")
        found.setInt(number, forKey: "var\(number)")
        try collection.save(document: found)
        #expect(found.count == number)
      }
    }
    #expect(try collection.document(id: "foo")?.keys == ["var1", "var2", "var3"])
    try test.check()
  }

  @Test("ios 2473: a document that is purged while a conflict is decided is not found")
  func purgedInConflict() throws {
    let test = try TestDatabase()
    let collection = try test.collection()
    try collection.save(document: MutableDocument(id: "a", data: ["n": 1]))
    let mine = try #require(try collection.document(id: "a")).toMutable()
    let other = try #require(try collection.document(id: "a")).toMutable()
    try collection.save(document: other.setInt(2, forKey: "n"))
    mine.setInt(3, forKey: "n")
    let found = code {
      _ = try collection.save(document: mine) { _, current in
        #expect(current?.int(forKey: "n") == 2)
        try? collection.purge(id: "a")
        return true
      }
    }
    #expect(found == CBLError.notFound)
    #expect(try collection.document(id: "a") == nil)
    try test.check()
  }

  @Test("net 1146: a conflict that comes again while it is decided is decided again")
  func conflictAgain() throws {
    let test = try TestDatabase()
    let collection = try test.collection()
    try collection.save(document: MutableDocument(id: "a", data: ["n": 1]))
    let mine = try #require(try collection.document(id: "a")).toMutable().setInt(10, forKey: "m")
    func changeIt() throws {
      let other = try #require(try collection.document(id: "a")).toMutable()
      try collection.save(document: other.setInt(other.int(forKey: "n") + 1, forKey: "n"))
    }
    try changeIt()
    var seen: [Int] = []
    let isSaved = try collection.save(document: mine) { document, current in
      let number = current?.int(forKey: "n") ?? -1
      seen.append(number)
      // Another writer is faster, twice.
      if seen.count < 3 { try? changeIt() }
      document.setInt(number, forKey: "n")
      return true
    }
    #expect(isSaved && seen == [2, 3, 4])
    let found = try #require(try collection.document(id: "a"))
    #expect(found.int(forKey: "n") == 4 && found.int(forKey: "m") == 10)
    #expect(found.revisionID?.hasPrefix("5-") == true, "it stands on the newest revision")
    try test.check()
  }

  @Test("net 1152: the handler may run long, and others save meanwhile")
  func handlerHoldsNoLock() throws {
    let test = try TestDatabase()
    let collection = try test.collection()
    try collection.save(document: MutableDocument(id: "a", data: ["n": 1]))
    let mine = try #require(try collection.document(id: "a")).toMutable().setInt(5, forKey: "n")
    let other = try #require(try collection.document(id: "a")).toMutable().setInt(2, forKey: "n")
    try collection.save(document: other)
    let isSaved = try collection.save(document: mine) { _, _ in
      let saver = Thread { try? collection.save(document: MutableDocument(id: "b")) }
      saver.start()
      let end = ContinuousClock.now + .seconds(10)
      while collection.count < 2, ContinuousClock.now < end { usleep(1000) }
      return collection.count == 2
    }
    #expect(isSaved)
    try test.check()
  }

  @Test("ios 2450: a listener that comes later gets the current result, too")
  func secondListener() throws {
    let test = try TestDatabase()
    try test.fill([#"{"n": 1}"#])
    let query = try test.database.createQuery("SELECT n FROM _")
    let (first, second) = (Arrivals<Int>(), Arrivals<Int>())
    let one = query.addChangeListener(withQueue: first.queue) { change in
      first.add(change.results?.allResults().count ?? -1)
    }
    #expect(first.wait(for: 1) == [1])
    let two = query.addChangeListener(withQueue: second.queue) { change in
      second.add(change.results?.allResults().count ?? -1)
    }
    #expect(second.wait(for: 1) == [1])
    try test.collection().save(document: MutableDocument(id: "x"))
    #expect(first.wait(for: 2) == [1, 2] && second.wait(for: 2) == [1, 2])
    for token in [one, two] { query.removeChangeListener(withToken: token) }
  }

  @Test("ios 1801: a live query follows its own database, and no other one")
  func ownDatabase() throws {
    let (test, other) = (try TestDatabase(), try TestDatabase())
    try test.fill([#"{"n": 1}"#])
    let arrivals = Arrivals<Int>()
    let query = try test.database.createQuery("SELECT n FROM _")
    let token = query.addChangeListener(withQueue: arrivals.queue) { change in
      arrivals.add(change.results?.allResults().count ?? -1)
    }
    #expect(arrivals.wait(for: 1) == [1])
    try other.fill([#"{"n": 1}"#, #"{"n": 2}"#])
    try test.collection().save(document: MutableDocument(id: "x"))
    #expect(arrivals.wait(for: 2) == [1, 2])
    query.removeChangeListener(withToken: token)
  }

  @Test("net 257: a batch that throws saves nothing")
  func thrown() throws {
    struct Refusal: Error {}
    let test = try TestDatabase()
    let collection = try test.collection()
    let document = MutableDocument(id: "a", data: ["n": 1])
    #expect(throws: Refusal.self) {
      try test.database.inBatch {
        try collection.save(document: document)
        throw Refusal()
      }
    }
    #expect(collection.count == 0)
    try collection.save(document: document)
    #expect(try collection.document(id: "a")?.int(forKey: "n") == 1)
    try test.check()
  }

  @Test("couchbase_lite 56, 61: a blob in a row is a blob, and keeps its type when saved again")
  func blobs() throws {
    let test = try TestDatabase()
    let collection = try test.collection()
    let blob = Blob(contentType: "image/png", data: Data([1, 2, 3]))
    try collection.save(document: MutableDocument(id: "a").setBlob(blob, forKey: "logo"))
    let query = try test.database.createQuery("SELECT logo, META().id FROM _")
    let found = try #require(try query.execute().next()?.blob(forKey: "logo"))
    #expect(found.content == Data([1, 2, 3]) && found.contentType == "image/png")
    try collection.save(document: MutableDocument(id: "b").setBlob(found, forKey: "logo"))
    let again = try #require(try collection.document(id: "b")).toMutable()
    again.setInt(1, forKey: "n")
    try collection.save(document: again)
    try collection.purge(id: "a")
    try test.database.performMaintenance(type: .compact)
    let kept = try #require(try collection.document(id: "b")?.blob(forKey: "logo"))
    #expect(kept.content == Data([1, 2, 3]) && kept.contentType == "image/png")
    #expect(kept.length == 3 && kept.digest == blob.digest)
    try test.check()
  }

  @Test("ios 3315: a document can be made before any database")
  func noDatabase() throws {
    let document = MutableDocument(id: "a", data: ["n": 1, "list": [1, "x"]])
    document.setBlob(Blob(contentType: "a/b", data: Data([1])), forKey: "logo")
    #expect(document.toDictionary().keys.sorted() == ["list", "logo", "n"])
    #expect(document.array(forKey: "list")?.string(at: 1) == "x")
    #expect(document.sequence == 0 && document.revisionID == nil)
  }
}
