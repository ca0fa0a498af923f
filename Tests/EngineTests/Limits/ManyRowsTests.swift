// ManyRowsTests.swift: a table of many rows: ten million in `make test-large`, which builds for
// release; some thousand elsewhere.

import Testing

@testable import Engine

@Suite struct ManyRowsTests {
  @Test("a table of many rows is written in one go, verified, and read at random")
  func manyRows() throws {
    let count = TableSize.isFull ? 10_000_000 : 20_000
    try withTemporaryFolder { folder in
      let clock = ContinuousClock()
      let start = clock.now
      let database = try Database.open(path: folder + "/large.realm")
      let write = try database.beginWrite()
      try write.createTable(Fixtures.dogs)
      try write.insert(into: "Dog", count: count) { row, key throws(EngineError) in
        try row.append(Int64(key % 100))
        try row.append("dog number \(key)")
        return Int64(key)
      }
      try write.commit()
      let written = clock.now
      #expect(try database.verify().rows == UInt64(count))
      let verified = clock.now
      let snapshot = try database.snapshot()
      let reader = try snapshot.reader(for: "Dog")
      let ages = try reader.column("age", of: Int64.self)
      #expect(try reader.count(ages, where: .equal(7)) == count / 100)
      var random = TestRandom(1)
      for _ in 0..<count / 100 {
        let key = random.below(count)
        let position = try #require(try reader.find(Int64(key)))
        #expect(try reader.int(at: position, ages) == Int64(key % 100))
      }
      snapshot.release()
      let bytes = database.statistics().logicalSizeBytes
      try database.close()
      print("rows \(count) bytes \(bytes) insert \(written - start) verify \(verified - written)")
    }
  }
}
