// ThreadTests.swift: the thread rules that docs/reference/documents-api.md promises: any thread may
// use everything; a batch belongs to its thread; a read sees one commit.

import DocumentDatabase
import Foundation
import Testing

@Suite("threads")
struct ThreadTests {
  /// Runs a closure on threads of their own, and waits for all.
  private static func threads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
    let group = DispatchGroup()
    for number in 0..<count {
      group.enter()
      Thread.detachNewThread {
        body(number)
        group.leave()
      }
    }
    group.wait()
  }

  @Test("may save to one collection at once: no change is lost")
  func saves() throws {
    let test = try TestDatabase()
    let collection = try test.collection()
    try collection.save(document: MutableDocument(id: "sum", data: ["n": 0]))
    Self.threads(4) { number in
      for round in 0..<10 {
        do {
          try collection.save(document: MutableDocument(id: "\(number)-\(round)"))
          guard let sum = try collection.document(id: "sum")?.toMutable() else { continue }
          // Equal contents on the same revision would be the same revision.
          sum.setInt(sum.int(forKey: "n") + 1, forKey: "n").setInt(number, forKey: "by")
          try collection.save(document: sum) { mine, other in
            mine.setInt((other?.int(forKey: "n") ?? 0) + 1, forKey: "n")
            return true
          }
        } catch { Issue.record(error) }
      }
    }
    #expect(collection.count == 41)
    #expect(try collection.document(id: "sum")?.int(forKey: "n") == 40)
    try test.check()
  }

  @Test("see a batch of another thread when it is committed, and not before")
  func batches() throws {
    let test = try TestDatabase()
    let collection = try test.collection()
    try test.fill([#"{"n": 0}"#, #"{"n": 0}"#])
    let query = try test.database.createQuery("SELECT SUM(n) AS n FROM _")
    Self.threads(4) { number in
      do {
        for _ in 0..<20 {
          guard number < 2 else {
            let sum = try query.execute().next()?.int(forKey: "n") ?? -1
            #expect(sum % 2 == 0, "half a batch: \(sum)")
            continue
          }
          try test.database.inBatch {
            for id in ["1", "2"] {
              guard let document = try collection.document(id: id)?.toMutable() else { return }
              document["n"].int += 1
              try collection.save(document: document)
            }
          }
        }
      } catch { Issue.record(error) }
    }
    #expect(try query.execute().next()?.int(forKey: "n") == 80)
    try test.check()
  }

  @Test("wait for a batch to save, and read without waiting")
  func waiting() throws {
    let test = try TestDatabase()
    let collection = try test.collection()
    try test.fill([#"{"n": 1}"#])
    let (begun, read) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let saved = Arrivals<Int>()
    Thread.detachNewThread {
      begun.wait()
      saved.add((try? collection.document(id: "1")?.int(forKey: "n")) ?? -1)
      read.signal()
      try? collection.save(document: MutableDocument(id: "2"))
      saved.add(2)
    }
    try test.database.inBatch {
      try collection.save(document: MutableDocument(id: "1", data: ["n": 5]))
      begun.signal()
      #expect(read.wait(timeout: .now() + 10) == .success, "the other thread reads meanwhile")
      usleep(10_000)
      #expect(saved.wait(for: 1) == [1], "it saw the commit before, and has not saved")
      #expect(collection.count == 1)
    }
    #expect(saved.wait(for: 2) == [1, 2])
    #expect(collection.count == 2)
  }

  @Test("may change one document at once")
  func oneDocument() throws {
    let document = MutableDocument(id: "a", data: ["list": [Int]()])
    let list = try #require(document.array(forKey: "list"))
    Self.threads(4) { number in
      for round in 0..<200 {
        list.addInt(round)
        document.setInt(round, forKey: "\(number)-\(round % 10)")
        if round % 20 == 0 { _ = document.toJSON() }
      }
    }
    #expect(list.count == 800 && document.count == 41)
  }

  @Test("of two handles of one file wait for each other")
  func handles() throws {
    let test = try TestDatabase()
    let other = try test.reopened()
    let handles = [test.database, other]
    Self.threads(4) { number in
      do {
        let collection = try handles[number % 2].defaultCollection()
        for round in 0..<10 {
          try collection.save(document: MutableDocument(id: "\(number)-\(round)"))
        }
      } catch { Issue.record(error) }
    }
    #expect(try test.collection().count == 40)
    try other.close()
    try test.check()
  }
}
