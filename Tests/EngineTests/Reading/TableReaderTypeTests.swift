// TableReaderTypeTests.swift: columns of every type that is read in place, with nulls, constant
// leaves, and leaves that were written before the column was there.

import Testing

@testable import Engine

@Suite("Table reader, types")
struct TableReaderTypeTests {
  private static let schema = TableSchema(
    name: "T",
    columns: [
      ColumnSchema(name: "int", type: .int, isOptional: true),
      ColumnSchema(name: "double", type: .double),
      ColumnSchema(name: "maybe", type: .double, isOptional: true),
      ColumnSchema(name: "float", type: .float, isOptional: true),
      ColumnSchema(name: "bool", type: .bool),
      ColumnSchema(name: "text", type: .string, isOptional: true),
      ColumnSchema(name: "list", type: .int, collection: .list),
    ])

  private static func row(_ random: inout TestRandom) -> [Value] {
    func optional(_ value: Value) -> Value { random.below(4) == 0 ? .null : value }
    let number = Double(random.below(2000)) / 8 - 100
    return [
      optional(.int(Int64(random.below(50)))), .double(random.below(20) == 0 ? .nan : number),
      optional(.double(number)), optional(.float(Float(number))), .bool(random.below(3) == 0),
      optional(.string("s\(random.below(9))")), .list([.int(1)]),
    ]
  }

  private static func filled(
    _ count: Int, options: Database.Options = .init(),
    _ make: (Int, inout TestRandom) -> [Value]
  ) throws -> (database: Database, rows: [[Value]]) {
    var random = TestRandom(21)
    let database = try Database.open(backend: TestBackend(), options: options)
    let write = try database.beginWrite()
    try write.createTable(Self.schema)
    let rows = (0..<count).map { make($0, &random) }
    for (key, row) in rows.enumerated() {
      try write.insert(into: "T", key: Int64(key) * 3, row)
    }
    try write.commit()
    return (database, rows)
  }

  private static func number(_ value: Value) -> Double? {
    switch value {
    case .double(let number): number
    case .float(let number): Double(number)
    case .int(let number): Double(number)
    default: nil
    }
  }

  private static func passes(_ value: Double?, _ comparison: Comparison<Double>) -> Bool {
    guard let value else {
      if case .notEqual = comparison { return true }
      return false
    }
    return switch comparison {
    case .less(let bound): value < bound
    case .atMost(let bound): value <= bound
    case .equal(let bound): value == bound
    case .notEqual(let bound): value != bound
    case .atLeast(let bound): value >= bound
    case .greater(let bound): value > bound
    case .between(let first, let last): value >= first && value <= last
    }
  }

  private static func comparisons(_ bounds: [Double]) -> [Comparison<Double>] {
    bounds.flatMap { bound -> [Comparison<Double>] in
      [
        .less(bound), .atMost(bound), .equal(bound), .notEqual(bound), .atLeast(bound),
        .greater(bound), .between(-3, bound),
      ]
    }
  }

  private static func converted<Bound>(
    _ comparison: Comparison<Double>, _ bound: (Double) -> Bound
  ) -> Comparison<Bound> {
    switch comparison {
    case .less(let first): .less(bound(first))
    case .atMost(let first): .atMost(bound(first))
    case .equal(let first): .equal(bound(first))
    case .notEqual(let first): .notEqual(bound(first))
    case .atLeast(let first): .atLeast(bound(first))
    case .greater(let first): .greater(bound(first))
    case .between(let first, let last): .between(bound(first), bound(last))
    }
  }

  private static func keys(_ rows: [[Value]], _ isWanted: ([Value]) -> Bool) -> [Int64] {
    rows.indices.filter { isWanted(rows[$0]) }.map { Int64($0) * 3 }
  }

  private static func laneSum(_ numbers: [Double?]) -> Double {
    var lanes = [Double](repeating: 0, count: 8)
    for (row, number) in numbers.enumerated() { lanes[row % 8] += number ?? 0 }
    let four = (0..<4).map { lanes[$0] + lanes[$0 + 4] }
    return (four[0] + four[2]) + (four[1] + four[3])
  }

  private static func check(_ reader: TableReader, _ rows: [[Value]]) throws {
    let int = try reader.column("int", of: Int64.self)
    let float = try reader.column("float", of: Float.self)
    for comparison in comparisons([0, 7, -40, 49, 1e9]) {
      for name in ["double", "maybe"] {
        let column = try reader.column(name, of: Double.self)
        let index = name == "double" ? 1 : 2
        let expected = keys(rows) { passes(number($0[index]), comparison) }
        #expect(try reader.keys(column, where: comparison) == expected, "\(name) \(comparison)")
        #expect(try reader.count(column, where: comparison) == expected.count)
      }
      let floats = converted(comparison) { Float($0) }
      let expected = keys(rows) { passes(number($0[3]), comparison) }
      #expect(try reader.keys(float, where: floats) == expected)
      #expect(try reader.count(float, where: floats) == expected.count)
      let ints = converted(comparison) { Int64($0) }
      let wanted = keys(rows) { passes(number($0[0]), comparison) }
      #expect(try reader.keys(int, where: ints) == wanted)
      #expect(try reader.count(int, where: ints) == wanted.count)
    }
    try checkSums(reader, rows)
    try checkOthers(reader, rows)
  }

  private static func checkSums(_ reader: TableReader, _ rows: [[Value]]) throws {
    let maybe = try reader.column("maybe", of: Double.self)
    let doubles = rows.map { number($0[2]) }
    #expect(try reader.sum(maybe) == laneSum(doubles))
    #expect(try reader.minimum(maybe) == doubles.compactMap(\.self).min())
    #expect(try reader.maximum(maybe) == doubles.compactMap(\.self).max())
    let float = try reader.column("float", of: Float.self)
    let floats = rows.map { number($0[3]) }
    #expect(try reader.sum(float) == laneSum(floats))
    #expect(try reader.minimum(float).map { Double($0) } == floats.compactMap(\.self).min())
    #expect(try reader.maximum(float).map { Double($0) } == floats.compactMap(\.self).max())
    let int = try reader.column("int", of: Int64.self)
    let ints = rows.compactMap { number($0[0]) }
    #expect(try reader.sum(int) == Int64(ints.reduce(0, +)))
    #expect(try reader.minimum(int).map { Double($0) } == ints.min())
    #expect(try reader.maximum(int).map { Double($0) } == ints.max())
    let double = try reader.column("double", of: Double.self)
    let numbers = rows.compactMap { number($0[1]) }.filter { !$0.isNaN }
    #expect(try reader.minimum(double) == numbers.min())
    #expect(try reader.sum(double).isNaN == (rows.contains { number($0[1])?.isNaN == true }))
  }

  private static func checkOthers(_ reader: TableReader, _ rows: [[Value]]) throws {
    let bool = try reader.column("bool", of: Bool.self)
    for wanted in [false, true] {
      let expected = keys(rows) { $0[4] == .bool(wanted) }
      #expect(try reader.keys(bool, equalTo: wanted) == expected)
      #expect(try reader.count(bool, equalTo: wanted) == expected.count)
    }
    let text = try reader.column("text", of: String.self)
    for wanted in ["s1", "s", ""] {
      let expected = keys(rows) { $0[5] == .string(wanted) }
      #expect(try reader.keys(text, equalTo: wanted) == expected)
      #expect(try reader.count(text, equalTo: wanted) == expected.count)
      let prefixed = keys(rows) {
        if case .string(let text) = $0[5] { text.hasPrefix(wanted) } else { false }
      }
      #expect(try reader.keys(text, withPrefix: wanted) == prefixed)
      #expect(try reader.count(text, withPrefix: wanted) == prefixed.count)
    }
    let double = try reader.column("double", of: Double.self)
    let maybe = try reader.column("maybe", of: Double.self)
    let float = try reader.column("float", of: Float.self)
    for (index, row) in rows.enumerated().prefix(300) {
      let position = try #require(try reader.find(Int64(index) * 3))
      #expect(try .double(reader.double(at: position, double)) == row[1])
      #expect(try reader.isNull(at: position, maybe) == (row[2] == .null))
      if row[2] != .null { #expect(try .double(reader.double(at: position, maybe)) == row[2]) }
      if row[3] != .null { #expect(try .float(reader.float(at: position, float)) == row[3]) }
      #expect(try .bool(reader.bool(at: position, bool)) == row[4])
      #expect(try reader.isNull(at: position, text) == (row[5] == .null))
      if row[5] != .null { #expect(try .string(reader.string(at: position, text)) == row[5]) }
    }
  }

  @Test("random rows, one to many leaves", arguments: [0, 1, 63, 64, 65, 2000])
  func randomRows(_ count: Int) throws {
    let (database, rows) = try Self.filled(count) { Self.row(&$1) }
    let snapshot = try database.snapshot()
    defer { snapshot.release() }
    try Self.check(snapshot.reader(for: "T"), rows)
  }

  @Test("an encrypted file reads the same through a small cache, and keeps nothing in memory")
  func encrypted() throws {
    var options = Database.Options()
    options.encryptionKey = (0..<64).map { UInt8($0) }
    options.pageCacheBytesMax = 1 << 20
    let (database, rows) = try Self.filled(60_000, options: options) { Self.row(&$1) }
    let snapshot = try database.snapshot()
    defer { snapshot.release() }
    let reader = try snapshot.reader(for: "T")
    let cache = try #require(snapshot.state.reader.plaintextCache)
    let bool = try reader.column("bool", of: Bool.self)
    let double = try reader.column("double", of: Double.self)
    let text = try reader.column("text", of: String.self)
    let int = try reader.column("int", of: Int64.self)
    // Positions outlive the nodes that they were found in.
    let places = try (0..<300).map { try #require(try reader.find(Int64($0) * 600)) }
    let expected = Self.keys(rows) { $0[4] == .bool(true) }
    #expect(try reader.count(bool, equalTo: true) == expected.count)
    #expect(try reader.keys(bool, equalTo: true) == expected)
    for (number, place) in places.enumerated() {
      let row = rows[number * 200]
      #expect(place.key == Int64(number) * 600)
      #expect(try .double(reader.double(at: place, double)) == row[1])
      if row[5] != .null {
        #expect(try .string(reader.string(at: place, text)) == row[5])
        #expect(try reader.withUTF8(at: place, text) { $0.count } == 2)
      }
    }
    var visited = 0
    try reader.forEach(int, where: .equal(7)) { place throws(EngineError) in
      visited += try reader.int(at: place, int) == 7 ? 1 : 0
    }
    #expect(visited == Self.keys(rows) { $0[0] == .int(7) }.count)
    #expect(cache.unguardedLoads == 0)
    #expect(try database.verify().rows == 60_000)
  }

  @Test("rows that are all alike need no elements in their leaves")
  func constantRows() throws {
    let alike: [Value] = [
      .int(7), .double(2.5), .double(-0.0), .float(0.5), .bool(true), .string("s1"), .list([]),
    ]
    let empty: [Value] = [
      .null, .double(0), .null, .null, .bool(false), .null, .list([]),
    ]
    for row in [alike, empty] {
      let (database, rows) = try Self.filled(500) { _, _ in row }
      let snapshot = try database.snapshot()
      defer { snapshot.release() }
      try Self.check(snapshot.reader(for: "T"), rows)
    }
  }

  @Test("a column added later reads as null or 0 in old leaves, one removed is unknown")
  func evolution() throws {
    let (database, _) = try Self.filled(700) { Self.row(&$1) }
    let write = try database.beginWrite()
    try write.removeColumn("int", from: "T")
    try write.addColumn(ColumnSchema(name: "new", type: .double, isOptional: true), to: "T")
    try write.addColumn(ColumnSchema(name: "zero", type: .int), to: "T")
    try write.commit()
    let snapshot = try database.snapshot()
    defer { snapshot.release() }
    let reader = try snapshot.reader(for: "T")
    #expect(errorCode { try reader.column("int", of: Int64.self) } == .noSuchColumn)
    let new = try reader.column("new", of: Double.self)
    #expect(try reader.count(new, where: .notEqual(0)) == 700)
    #expect(try reader.count(new, where: .atLeast(0)) == 0)
    #expect(try reader.sum(new) == 0)
    #expect(try reader.maximum(new) == nil)
    let zero = try reader.column("zero", of: Int64.self)
    #expect(try reader.count(zero, where: .equal(0)) == 700)
    #expect(try reader.maximum(zero) == 0)
    let position = try #require(try reader.find(3))
    #expect(try reader.isNull(at: position, new))
    #expect(try !reader.isNull(at: position, zero))
    #expect(try reader.int(at: position, zero) == 0)
  }

  @Test("types are not mixed up, and a collection is none of them")
  func mismatches() throws {
    let (database, _) = try Self.filled(3) { Self.row(&$1) }
    let snapshot = try database.snapshot()
    defer { snapshot.release() }
    let reader = try snapshot.reader(for: "T")
    #expect(errorCode { try reader.column("list", of: Int64.self) } == .schemaMismatch)
    #expect(errorCode { try reader.column("double", of: Float.self) } == .schemaMismatch)
    #expect(errorCode { try reader.column("float", of: Double.self) } == .schemaMismatch)
    #expect(errorCode { try reader.column("bool", of: Int64.self) } == .schemaMismatch)
    #expect(errorCode { try reader.column("int", of: Bool.self) } == .schemaMismatch)
  }
}
