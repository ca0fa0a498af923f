// ColumnTypeTests.swift: values of every type, optional or not, alone and in every collection, come
// back as they were.

import Testing

@testable import Engine

@Suite("Columns of every type")
struct ColumnTypeTests {
  @Test("every type in every collection survives insert, update, delete, rollback and reopen")
  func everyColumn() throws {
    var random = TestRandom(7)
    var test = try ModelDatabase(ColumnFixtures.all)
    #expect(test.schema.columns.count == 88)
    for round in 0..<3 {
      let write = try test.database.beginWrite()
      for _ in 0..<8 {
        let key = Int64(random.below(20)) * (round % 2 == 0 ? 1 : 1 << 30)
        if test.rows[key] != nil, random.below(4) == 0 {
          try write.delete(from: "All", key: key)
          test.rows[key] = nil
        } else {
          try test.put(key, ColumnFixtures.row(test.schema, &random), write)
          #expect(try write.row(in: "All", key: key) == test.rows[key])
        }
      }
      try write.commit()
      try test.check()
      let dropped = try test.database.beginWrite()
      for key in test.rows.keys.sorted().prefix(3) {
        try dropped.update(in: "All", key: key, ColumnFixtures.row(test.schema, &random))
      }
      try dropped.delete(from: "All", key: test.rows.keys.sorted()[4])
      dropped.cancel()
      try test.check()
    }
    try test.write { write in
      for key in test.rows.keys { try write.delete(from: "All", key: key) }
    }
    test.rows = [:]
    try test.check()
    // The group, the free list, and the leaf of the rows that links led to.
    #expect(try test.database.verify().nodes <= 3)
  }

  @Test("each edge value alone in its column", arguments: ColumnType.allCases)
  func edges(_ type: ColumnType) throws {
    let target = type == .link ? ColumnFixtures.targets.name : nil
    let isOptional = ColumnSchema.nullability(type, .none) ?? false
    var test = try ModelDatabase(
      TableSchema(
        name: "E",
        columns: [
          ColumnSchema(name: "a", type: type, isOptional: isOptional, target: target),
          ColumnSchema(name: "b", type: type, isOptional: true, target: target),
        ]))
    let edges = ColumnFixtures.edges(type)
    // One value in all rows, then two, then all: widths 0, small and full.
    for distinct in [1, 2, edges.count] {
      try test.write { write in
        for key in 0..<200 {
          let value = edges[key % distinct]
          try test.put(
            Int64(key), [value, key % 3 == 0 ? .null : edges[(key / 3) % distinct]], write)
        }
      }
      try test.check()
    }
    let snapshot = try test.database.snapshot()
    for key in 0..<200 {
      #expect(
        try snapshot.value(in: "E", key: Int64(key), column: "b") == test.rows[Int64(key)]?[1])
    }
    #expect(try snapshot.value(in: "E", key: 1000, column: "b") == nil)
    #expect(errorCode { try snapshot.value(in: "E", key: 1, column: "x") } == .noSuchColumn)
    snapshot.release()
  }

  @Test("widths grow and shrink when a leaf is rewritten")
  func widths() throws {
    var test = try ModelDatabase(
      TableSchema(name: "W", columns: [ColumnSchema(name: "n", type: .int, isOptional: true)]))
    func width() throws -> [Int] {
      let snapshot = try test.database.snapshot()
      defer { snapshot.release() }
      let table = try snapshot.state.group.table(named: "W")
      var widths: [Int] = []
      try snapshot.tree(table).forEachLeaf { leaf throws(EngineError) in
        widths = [
          try leaf.integers(0, table.shape).width, try leaf.nulls(0, table.shape).width,
        ]
      }
      return widths
    }
    func put(_ number: Int64?) throws {
      try test.write { write in
        try test.put(1, [number.map { .int($0) } ?? .null], write)
      }
      try test.check()
    }
    try test.write { write in for key in 2..<50 { try test.put(Int64(key), [.int(7)], write) } }
    let steps: [(Int64, Int)] = [
      (7, 0), (8, 1), (9, 2), (22, 4), (23, 8), (263, 16), (65_543, 32), (1 << 40, 64),
      (.max, 64), (.min, 64), (6, 1), (7, 0),
    ]
    for (number, expected) in steps {
      try put(number)
      #expect(try width() == [expected, 0])
    }
    // A null takes a bit, and makes no number wider.
    try put(nil)
    #expect(try width() == [0, 1])
    try test.write { write in for key in 1..<50 { try test.put(Int64(key), [.null], write) } }
    #expect(try width() == [0, 0])
    // The number that stands under a null follows the others.
    try test.write { write in
      for key in 2..<50 { try test.put(Int64(key), [.int(1 << 40)], write) }
    }
    #expect(try width() == [0, 1])
    try test.check()
  }

  @Test("the longest string, binary and mixed value are kept, and longer ones refused")
  func longest() throws {
    let types: [ColumnType] = [.string, .binary, .mixed]
    let columns = types.map { ColumnSchema(name: "\($0)", type: $0) }
    let lists = types.map { ColumnSchema(name: "\($0)s", type: $0, collection: .list) }
    var test = try ModelDatabase(TableSchema(name: "L", columns: columns + lists))
    let longest = Value.string(String(repeating: "y", count: 16 << 20))
    let bytes = Value.binary([UInt8](repeating: 9, count: 16 << 20))
    try test.write { write in
      try test.put(
        1, [longest, .binary([1]), .null, .list([]), .list([bytes]), .list([longest])],
        write)
    }
    try test.check()
    let write = try test.database.beginWrite()
    let text = Value.string(String(repeating: "y", count: 16 << 20 + 1))
    let blob = Value.binary([UInt8](repeating: 9, count: 16 << 20 + 1))
    let empty: [Value] = [.string(""), .binary([]), .null, .list([]), .list([]), .list([])]
    for (column, value) in [(0, text), (1, blob), (2, text), (2, blob)] {
      var row = empty
      row[column] = value
      #expect(errorCode { try write.insert(into: "L", key: 9, row) } == .valueTooLarge)
      row = empty
      row[column + 3] = .list([value])
      #expect(errorCode { try write.insert(into: "L", key: 9, row) } == .valueTooLarge)
    }
    try write.update(in: "L", key: 1, empty)
    try write.commit()
    test.rows[1] = empty
    try test.check()
  }

  @Test("values of up to 512 bytes stand in the leaf, longer ones in nodes of their own")
  func outOfLine() throws {
    let types: [ColumnType] = [.string, .binary, .mixed]
    var test = try ModelDatabase(
      TableSchema(name: "O", columns: types.map { ColumnSchema(name: "\($0)", type: $0) }))
    for (length, expected) in [(511, 0), (512, 1), (513, 3)] {
      let text = String(repeating: "x", count: length)
      let row: [Value] = [.string(text), .binary(Array(text.utf8)), .string(text)]
      try test.write { try test.put(1, row, $0) }
      #expect(try Reseal.nodes(test.database, .string).count == expected)
      try test.check()
    }
  }

  @Test("a value that does not fit its column is refused, and changes nothing")
  func mismatches() throws {
    var test = try ModelDatabase(ColumnFixtures.all)
    var random = TestRandom(3)
    try test.write { try test.put(1, ColumnFixtures.row(test.schema, &random), $0) }
    let write = try test.database.beginWrite()
    var wrong = 0
    for (index, column) in test.schema.columns.enumerated() {
      var candidates = ColumnType.allCases.compactMap { ColumnFixtures.edges($0).first }
      candidates += [.null, .list([]), .set([]), .dictionary([])]
      candidates += [.date(seconds: 0, nanoseconds: -1)]
      candidates += [.date(seconds: 0, nanoseconds: 1_000_000_000)]
      candidates += [.list([.list([])]), .set([.null]), .typedLink(table: 1, key: 1)]
      for value in candidates where !Self.fits(value, column) {
        var row = test.rows[1] ?? []
        row[index] = value
        #expect(
          errorCode { try write.update(in: "All", key: 1, row) } == .schemaMismatch,
          "\(value) in \(column.name)")
        wrong += 1
      }
    }
    #expect(wrong > 88 * 12)
    #expect(errorCode { try write.update(in: "All", key: 1, []) } == .schemaMismatch)
    try write.commit()
    try test.check()
  }

  /// The rules again, written the other way round.
  private static func fits(_ value: Value, _ column: ColumnSchema) -> Bool {
    func fitsElement(_ value: Value) -> Bool {
      if case .date(_, let nanoseconds) = value, !(0..<1_000_000_000).contains(nanoseconds) {
        return false
      }
      switch value {
      case .null: return column.isOptional
      case .list, .set, .dictionary: return false
      case .typedLink: return column.type == .mixed
      case .link: return column.type == .link
      default: return column.type == .mixed || value.rank == column.type.rawValue
      }
    }
    switch (column.collection, value) {
    case (.none, _): return fitsElement(value)
    case (.list, .list(let values)), (.set, .set(let values)):
      return values.allSatisfy(fitsElement)
    case (.dictionary, .dictionary): return true
    default: return false
    }
  }

  @Test("values are equal by their bits and sets sort by a total order")
  func equality() {
    #expect(Value.double(.nan) == .double(.nan))
    #expect(Value.double(0) != .double(-0.0))
    #expect(Value.float(0) != .float(-0.0))
    #expect(Value.string("é") != .string("e\u{301}"))
    #expect(Value.link(1) != .typedLink(table: 0, key: 1))
    let all = [Value.null] + ColumnType.allCases.flatMap { ColumnFixtures.edges($0) }
    for left in all {
      for right in all {
        #expect(Value.order(left, right) == -Value.order(right, left))
        #expect((left == right) == (Value.order(left, right) == 0))
        if left == right { #expect(left.hashValue == right.hashValue) }
      }
    }
    guard case .set(let sorted) = Value.set(all.reversed()).canonical else { return }
    #expect(sorted.count == Set(all).count)
    #expect(zip(sorted, sorted.dropFirst()).allSatisfy { Value.precedes($0, $1) })
    // Bytes decide, the first one first, in words of eight and behind them.
    var random = TestRandom(9)
    for _ in 0..<500 {
      let texts = (0..<2).map { _ in
        String((0..<random.below(20)).map { _ in ["a", "b", "é", "\0"][random.below(4)] }.joined())
      }
      #expect(
        Value.precedes(.string(texts[0]), .string(texts[1]))
          == Array(texts[0].utf8).lexicographicallyPrecedes(Array(texts[1].utf8)))
      #expect(
        Value.precedes(.binary(Array(texts[0].utf8)), .binary(Array(texts[1].utf8)))
          == Array(texts[0].utf8).lexicographicallyPrecedes(Array(texts[1].utf8)))
    }
    let entries = ["b", "a", "b"].enumerated().map {
      DictionaryEntry(key: $1, value: .int(Int64($0)))
    }
    #expect(
      Value.dictionary(entries).canonical
        == .dictionary([entries[1], entries[2]]))
    #expect(ObjectId(bytes: [1, 2]) == nil)
    #expect(ObjectId(bytes: Array(1...12))?.bytes == Array(1...12))
    #expect(UUIDBytes(bytes: Array(1...16))?.bytes == Array(1...16))
    #expect(UUIDBytes(bytes: Array(1...17)) == nil)
  }

  @Test("the hash tells values apart that look alike")
  func hashes() {
    var seen: Set<UInt64> = []
    var count = 0
    func add(_ type: ColumnType, _ collection: CollectionKind, _ value: Value) {
      var hasher = ContentHasher()
      hasher.beginTable(
        TableSchema(
          name: "H", columns: [ColumnSchema(name: "v", type: type, collection: collection)]))
      hasher.combine(key: 1, [value])
      seen.insert(hasher.finalize())
      count += 1
    }
    for value in Set([.null] + ColumnFixtures.edges(.mixed)) {
      add(.mixed, .none, value)
      add(.mixed, .list, .list([value]))
      add(.mixed, .list, .list([value, value]))
      add(.mixed, .set, .set([value]))
      add(.mixed, .dictionary, .dictionary([DictionaryEntry(key: "k", value: value)]))
      add(.mixed, .dictionary, .dictionary([DictionaryEntry(key: "l", value: value)]))
    }
    for row in [[Value.null, .int(1)], [.int(1), .null], [.null, .null], [.int(1), .int(1)]] {
      var hasher = ContentHasher()
      let columns = ["a", "b"].map { ColumnSchema(name: $0, type: .int, isOptional: true) }
      hasher.beginTable(TableSchema(name: "H", columns: columns))
      hasher.combine(key: 1, row)
      seen.insert(hasher.finalize())
      count += 1
    }
    add(.mixed, .list, .list([]))
    add(.mixed, .set, .set([]))
    #expect(seen.count == count)
  }
}
