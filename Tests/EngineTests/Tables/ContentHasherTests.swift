// ContentHasherTests.swift: the hash of a snapshot is the hash of its values, and every value
// counts.

import Testing

@testable import Engine

@Suite("Content hash")
struct ContentHasherTests {
  private static func hash(_ rows: [(Int64, [Value])], name: String = "Dog") -> UInt64 {
    var hasher = ContentHasher()
    hasher.beginTable(TableSchema(name: name, columns: Fixtures.dogs.columns))
    for (key, values) in rows { hasher.combine(key: key, values) }
    return hasher.finalize()
  }

  @Test("strings of all lengths and texts hash the same in the file and as values")
  func sameInFile() throws {
    var test = try TestDatabase()
    let write = try test.database.beginWrite()
    for length in 0..<600 {
      let text = length % 3 == 0 ? "é" : "x"
      let values: [Value] = [
        .int(Int64.min + Int64(length)), .string(String(repeating: text, count: length)),
      ]
      test.model[Int64(length * 3 - 700)] = values
      try write.insert(into: "Dog", key: Int64(length * 3 - 700), values)
    }
    try write.commit()
    try test.check()
  }

  @Test("every key, value, swap and table name counts, and the order of rows does not")
  func everythingCounts() {
    let rows: [(Int64, [Value])] = [
      (1, [.int(1), .string("a")]), (2, [.int(2), .string("b")]), (3, [.int(3), .string("")]),
    ]
    var seen: Set<UInt64> = [Self.hash(rows), Self.hash(rows, name: "Cat")]
    var count = 2
    func add(_ changed: [(Int64, [Value])]) {
      seen.insert(Self.hash(changed))
      count += 1
    }
    for index in rows.indices {
      var changed = rows
      changed[index].0 += 10
      add(changed)
      changed = rows
      changed[index].1[0] = .int(9)
      add(changed)
      changed = rows
      changed[index].1[1] = .string("\0")
      add(changed)
      changed.remove(at: index)
      add(changed)
    }
    add([(1, rows[1].1), (2, rows[0].1), rows[2]])
    add([(1, [.int(2), .string("a")]), (2, [.int(1), .string("b")]), rows[2]])
    add([(1, [.int(1), .string("b")]), (2, [.int(2), .string("a")]), rows[2]])
    #expect(seen.count == count)
    #expect(Self.hash(rows) == Self.hash(rows.reversed()))
  }
}
