// CollectionTests.swift: documents are saved, conflict, are deleted, purged and expire; listeners
// are told.

import DocumentDatabase
import Foundation
import Testing

@Suite("a collection")
struct CollectionTests {
  @Test("saves, changes and returns documents")
  func saving() throws {
    let test = try TestDatabase()
    let collection = try test.collection()
    let document = MutableDocument(id: "a", data: ["n": 1])
    #expect(document.collection == nil)
    try collection.save(document: document)
    #expect(document.sequence == 1 && document.collection == collection)
    #expect(document.revisionID?.hasPrefix("1-") == true)
    document.setInt(2, forKey: "n")
    #expect(try collection.document(id: "a")?.int(forKey: "n") == 1)
    try collection.save(document: document)
    let found = try #require(try collection.document(id: "a"))
    #expect(found.int(forKey: "n") == 2 && found.sequence == 2)
    #expect(found.revisionID == document.revisionID)
    #expect(collection["a"].exists && collection["a"]["n"].int == 2)
    #expect(!collection["b"].exists)
    #expect(MutableDocument().id != MutableDocument().id)
    try test.check()
  }

  @Test("refuses IDs and names that the format reserves, and documents of others")
  func refusals() throws {
    let test = try TestDatabase()
    let collection = try test.collection()
    for id in ["", "_a", "a\n", String(repeating: "x", count: 241)] {
      #expect(code { try collection.save(document: MutableDocument(id: id)) } == CBLError.badDocID)
    }
    let reserved = MutableDocument(id: "a", data: ["_id": 1])
    #expect(code { try collection.save(document: reserved) } == CBLError.corruptRevisionData)
    let other = try test.database.createCollection(name: "other")
    let document = MutableDocument(id: "a")
    try collection.save(document: document)
    #expect(code { try other.save(document: document) } == CBLError.invalidParameter)
    #expect(code { try other.delete(document: document) } == CBLError.invalidParameter)
    #expect(code { try other.purge(document: document) } == CBLError.invalidParameter)
    try test.check()
  }

  @Test("decides about conflicts as it is asked to")
  func conflicts() throws {
    let test = try TestDatabase()
    let collection = try test.collection()
    try collection.save(document: MutableDocument(id: "a", data: ["n": 0]))
    func pair() throws -> (MutableDocument, MutableDocument) {
      let found = try #require(try collection.document(id: "a"))
      return (found.toMutable().setInt(1, forKey: "n"), found.toMutable().setInt(2, forKey: "n"))
    }
    var (first, second) = try pair()
    try collection.save(document: first)
    #expect(try !collection.save(document: second, concurrencyControl: .failOnConflict))
    #expect(try collection.document(id: "a")?.int(forKey: "n") == 1)
    #expect(try collection.save(document: second, concurrencyControl: .lastWriteWins))
    #expect(try collection.document(id: "a")?.int(forKey: "n") == 2)
    // A new document with a taken ID is a conflict, too.
    let new = MutableDocument(id: "a")
    #expect(try !collection.save(document: new, concurrencyControl: .failOnConflict))
    (first, second) = try pair()
    try collection.save(document: first)
    var seen: [Int] = []
    let merged = try collection.save(document: second) { mine, other in
      seen.append(other?.int(forKey: "n") ?? -1)
      mine.setInt(mine.int(forKey: "n") + 10, forKey: "n")
      return true
    }
    #expect(merged && seen == [1])
    #expect(try collection.document(id: "a")?.int(forKey: "n") == 12)
    (first, second) = try pair()
    try collection.delete(document: first)
    seen = []
    let kept = try collection.save(document: second) { _, other in
      seen.append(other?.int(forKey: "n") ?? -1)
      return false
    }
    #expect(!kept && seen == [-1])
    try test.check()
  }

  @Test("deletes with a tombstone, and purges without")
  func deletion() throws {
    let test = try TestDatabase()
    let collection = try test.collection()
    let document = MutableDocument(id: "a", data: ["n": 0])
    #expect(code { try collection.delete(document: document) } == CBLError.notFound)
    try collection.save(document: document)
    let stale = try #require(try collection.document(id: "a"))
    try collection.save(document: document)
    #expect(try !collection.delete(document: stale, concurrencyControl: .failOnConflict))
    try collection.delete(document: document)
    #expect(try collection.document(id: "a") == nil && collection.count == 0)
    #expect(document.sequence == 3)
    try collection.delete(document: document)
    let deleted = "SELECT META().id FROM _ WHERE META().deleted"
    #expect(try test.database.createQuery(deleted).execute().allResults().count == 1)
    try collection.save(document: document)
    #expect(collection.count == 1)
    try collection.purge(document: document)
    #expect(try collection.document(id: "a") == nil)
    #expect(code { try collection.purge(id: "a") } == CBLError.notFound)
    #expect(code { try collection.delete(document: document) } == CBLError.notFound)
    try collection.save(document: document)
    #expect(collection.count == 1)
    try test.check()
  }

  @Test("purges documents when they expire")
  func expiration() throws {
    let test = try TestDatabase()
    let collection = try test.collection()
    try test.fill([#"{"n": 1}"#, #"{"n": 2}"#])
    #expect(try collection.getDocumentExpiration(id: "1") == nil)
    let later = Date(timeIntervalSince1970: 4_000_000_000.25)
    try collection.setDocumentExpiration(id: "1", expiration: later)
    #expect(try collection.getDocumentExpiration(id: "1") == later)
    try collection.setDocumentExpiration(id: "1", expiration: nil)
    #expect(try collection.getDocumentExpiration(id: "1") == nil)
    for seconds in [1e300, .infinity, .nan] {
      let never = Date(timeIntervalSince1970: seconds)
      try collection.setDocumentExpiration(id: "1", expiration: never)
      #expect(try collection.getDocumentExpiration(id: "1")?.timeIntervalSince1970 ?? 0 > 9e15)
    }
    try collection.setDocumentExpiration(id: "1", expiration: nil)
    let missing = code { try collection.setDocumentExpiration(id: "x", expiration: later) }
    #expect(missing == CBLError.notFound)
    #expect(code { _ = try collection.getDocumentExpiration(id: "x") } == CBLError.notFound)
    let arrivals = Arrivals<[String]>()
    let token = collection.addChangeListener(queue: arrivals.queue) {
      arrivals.add($0.documentIDs)
    }
    try collection.setDocumentExpiration(id: "2", expiration: Date().addingTimeInterval(0.05))
    #expect(arrivals.wait(for: 1) == [["2"]])
    #expect(try collection.document(id: "2") == nil && collection.count == 1)
    token.remove()
    try test.check()
  }

  @Test("tells listeners which documents changed, once for each commit")
  func listeners() throws {
    let test = try TestDatabase()
    let collection = try test.collection()
    let other = try test.reopened()
    let (all, one) = (Arrivals<[String]>(), Arrivals<String>())
    let tokens = [
      collection.addChangeListener(queue: all.queue) { all.add($0.documentIDs) },
      collection.addDocumentChangeListener(id: "2", queue: one.queue) { one.add($0.documentID) },
    ]
    try test.fill(["{}", "{}"])
    #expect(all.wait(for: 1) == [["1", "2"]])
    try other.defaultCollection().save(document: MutableDocument(id: "3"))
    #expect(all.wait(for: 2) == [["1", "2"], ["3"]], "by another handle of this process")
    struct Refusal: Error {}
    _ = try? test.database.inBatch {
      try collection.purge(id: "2")
      throw Refusal()
    }
    try collection.purge(id: "2")
    #expect(all.wait(for: 3) == [["1", "2"], ["3"], ["2"]])
    #expect(one.wait(for: 2) == ["2", "2"])
    for token in tokens { token.remove() }
    try collection.save(document: MutableDocument(id: "4"))
    usleep(20_000)
    #expect(all.wait(for: 3).count == 3)
    try other.close()
  }
}
