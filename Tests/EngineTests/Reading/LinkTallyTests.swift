// LinkTallyTests.swift: the groups of rows that link to each row are those that looking at every
// row gives, in plain and encrypted files, for near and far keys.

import Testing

@testable import Engine

@Suite("Tallies of links")
struct LinkTallyTests {
  /// Keys that have a place of their own, and keys that do not.
  private static let owners: [Int64] = [0, 1, 5, 900, 4_000, -3, 1 << 40]

  private static func filled(_ options: Database.Options) throws -> (Database, [[Value]]) {
    var random = TestRandom(61)
    let database = try Database.open(backend: TestBackend(), options: options)
    let write = try database.beginWrite()
    try write.createTable(TableSchema(name: "Owner", columns: []))
    try write.createTable(
      TableSchema(
        name: "Pet",
        columns: [
          ColumnSchema(name: "owner", type: .link, target: "Owner"),
          ColumnSchema(name: "int", type: .int, isOptional: true),
          ColumnSchema(name: "double", type: .double, isOptional: true),
        ]))
    for owner in owners { try write.insert(into: "Owner", key: owner, []) }
    let ints: [Int64] = [-3, 0, 1, 2, .max, .min]
    var rows: [[Value]] = []
    for key in 0..<3_000 {
      func optional(_ value: Value) -> Value { random.below(4) == 0 ? .null : value }
      let row = [
        optional(.link(owners[random.below(owners.count - 1)])),
        optional(.int(ints[random.below(ints.count)])),
        optional(.double(Double(random.below(9)) / 8)),
      ]
      try write.insert(into: "Pet", key: Int64(key), row)
      rows.append(row)
    }
    try write.commit()
    return (database, rows)
  }

  /// Holds groups against those of looking at every row.
  private static func check(
    _ tally: LinkTally, _ rows: [[Value]], _ column: Int?, _ passes: (Int, [Value]) -> Bool
  ) {
    for owner in owners {
      var expected = LinkTally.Group()
      for (key, row) in rows.enumerated() where row[0] == .link(owner) && passes(key, row) {
        expected.rows += 1
        switch column.map({ row[$0] }) {
        case .int(let number):
          expected.numbers += 1
          expected.total += Int128(number)
          expected.sum += Double(number)
          expected.least = min(expected.least, number)
          expected.greatest = max(expected.greatest, number)
        case .double(let number):
          expected.numbers += 1
          expected.sum += number
        default: break
        }
      }
      #expect(tally[owner] == expected, "owner \(owner)")
    }
    #expect(tally[77] == LinkTally.Group())
    #expect(tally[.max] == LinkTally.Group() && tally[.min] == LinkTally.Group())
  }

  @Test("are those of looking at every row", arguments: [false, true])
  func groups(isEncrypted: Bool) throws {
    var options = Database.Options()
    if isEncrypted { options.encryptionKey = (0..<64).map { UInt8($0) } }
    let (database, rows) = try Self.filled(options)
    let snapshot = try database.snapshot()
    let reader = try snapshot.reader(for: "Pet")
    let links = try reader.column("owner", of: Int64.self)
    let ints = try reader.column("int", of: Int64.self)
    let positive = try reader.test(ints, .greater(0))
    func isPositive(_ key: Int, _ row: [Value]) -> Bool {
      if case .int(let number) = row[1] { number > 0 } else { false }
    }
    Self.check(try reader.tally(by: links, where: positive), rows, nil, isPositive)
    Self.check(try reader.tally("int", by: links, where: positive), rows, 1, isPositive)
    Self.check(try reader.tally("double", by: links, where: positive), rows, 2, isPositive)
    Self.check(try reader.tally("int", by: links, where: .all([])), rows, 1) { _, _ in true }
    let keys = (0..<3_000).filter { $0 % 7 == 3 }
    let some = try reader.tally(
      by: links, where: .all([]), keys: RowKeySet(keys.map { Int64($0) }))
    Self.check(some, rows, nil) { key, _ in key % 7 == 3 }
    let wrong = #expect(throws: EngineError.self) {
      try reader.tally("none", by: links, where: .all([]))
    }
    #expect(wrong?.code == .noSuchColumn)
    snapshot.release()
    let closed = #expect(throws: EngineError.self) {
      try reader.tally(by: links, where: .all([]))
    }
    #expect(closed?.code == .closed)
    try database.close()
  }
}
