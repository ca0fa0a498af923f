// RowKeySetTests.swift: tests for links that lead to one of some rows agree with looking at each
// row, whether the keys lie close together or far apart, and with nulls among the links.

import Testing

@testable import Engine

@Suite("Links to one of some rows")
struct RowKeySetTests {
  private static let table = TableSchema(
    name: "T",
    columns: [
      ColumnSchema(name: "number", type: .int),
      ColumnSchema(name: "link", type: .link, target: "T"),
    ])

  @Test("a set has its keys and no others", arguments: [1, 40, 1 << 40])
  func membership(step: Int64) {
    var random = TestRandom(5)
    for count in [0, 1, 2, 63, 64, 65, 500] {
      let keys = (0..<count).map { Int64($0) * step - 70 * step }
      let set = RowKeySet(keys)
      let known = Set(keys)
      for _ in 0..<300 {
        let key = Int64(random.below(600)) * step - 80 * step + Int64(random.below(2))
        #expect(set.contains(key) == known.contains(key))
      }
      for key in [Int64.min, .max, 0] { #expect(set.contains(key) == known.contains(key)) }
    }
    let ends = RowKeySet([.min, .max])
    #expect(ends.contains(.min) && ends.contains(.max) && !ends.contains(0))
  }

  @Test("a test of links agrees with the rows", arguments: [false, true])
  func links(isFarApart: Bool) throws {
    var random = TestRandom(6)
    let database = try Database.open(backend: TestBackend())
    let write = try database.beginWrite()
    try write.createTable(Self.table)
    let step: Int64 = isFarApart ? 1 << 33 : 3
    let keys = (0..<700).map { Int64($0) * step - 300 * step }
    for key in keys { try write.insert(into: "T", key: key, [.int(key), .null]) }
    var targets: [Int64: Int64] = [:]
    for key in keys where random.below(4) > 0 {
      let target = keys[random.below(keys.count)]
      targets[key] = target
      try write.set(.link(target), in: "T", key: key, column: "link")
    }
    try write.commit()
    let snapshot = try database.snapshot()
    defer { snapshot.release() }
    let reader = try snapshot.reader(for: "T")
    let column = try reader.column("link", of: Int64.self)
    for share in [1, 2, 50, 1_000] {
      let wanted = keys.filter { _ in random.below(share) == 0 }
      let test = try reader.test(column, leadsToOneOf: wanted)
      let known = Set(wanted)
      let expected = keys.filter { targets[$0].map { known.contains($0) } ?? false }
      #expect(try reader.keys(where: test) == expected)
      #expect(try reader.count(where: test) == expected.count)
      #expect(try reader.count(where: .not(test)) == keys.count - expected.count)
    }
    #expect(try reader.count(where: reader.test(column, leadsToOneOf: [])) == 0)
  }
}
