// CompactionThreadTests.swift: one handle, whose threads read, write and compact at the same time.

import Synchronization
import Testing

@testable import Engine

@Suite("Compaction and other threads")
struct CompactionThreadTests {
  private final class Shared: Sendable {
    let database: Database
    let isOver = Atomic<Bool>(false)
    let failures = Mutex<[String]>([])

    init(_ database: Database) { self.database = database }

    func note(_ failure: String) { failures.withLock { $0.append(failure) } }
  }

  /// Reads what every version has: as many rows as its number says.
  private static func read(_ shared: Shared) throws {
    while !shared.isOver.load(ordering: .relaxed) {
      let snapshot = try shared.database.snapshot()
      var sum: Int64 = 0
      try snapshot.forEach(in: "Dog") { key, _ in sum += key }
      let count = Int64(try snapshot.count(of: "Dog"))
      if sum != count * (count - 1) / 2 || count != Int64(snapshot.version.rawValue) * 50 - 100 {
        shared.note("version \(snapshot.version): count=\(count) sum=\(sum)")
      }
      snapshot.release()
      Syscalls.sleep(milliseconds: 1)
    }
  }

  private static func write(_ shared: Shared, versions: Int) throws {
    for _ in 0..<versions {
      let write = try shared.database.beginWrite()
      let count = try write.count(of: "Dog")
      for key in count..<count + 50 {
        try write.insert(into: "Dog", key: Int64(key), Fixtures.dog(key))
      }
      try write.commit()
      Syscalls.sleep(milliseconds: 1)
    }
  }

  @Test("readers and writers see versions as they are, and compaction fits in between")
  func fitsIn() throws {
    try withTemporaryFolder { folder in
      let database = try Database.open(path: folder + "/a.realm")
      let first = try database.beginWrite()
      try first.createTable(Fixtures.dogs)
      try first.commit()
      let shared = Shared(database)
      let bodies: [@Sendable (Shared) throws -> Void] = [
        Self.read, { try Self.write($0, versions: 150) },
      ]
      let threads = bodies.map { body in
        startThread { do { try body(shared) } catch { shared.note("\(error)") } }
      }
      var compactions = 0
      for _ in 0..<3000 where compactions < 40 {
        if try database.compact() { compactions += 1 }
        Syscalls.sleep(milliseconds: 1)
      }
      threads[1].join()
      shared.isOver.store(true, ordering: .relaxed)
      threads[0].join()
      #expect(shared.failures.withLock { $0 } == [])
      #expect(compactions > 0)
      let report = try database.verify()
      #expect(report.version.rawValue == 152 && report.rows == 7500)
      try database.close()
    }
  }
}
