// CorruptColumnTests.swift: bytes that an adversary chose, with right checksums: each is an error
// or a value, never a trap, and what verify promises to look at it finds.

import Testing

@testable import Engine

@Suite("Corrupt columns")
struct CorruptColumnTests {
  private struct Image {
    let bytes: [UInt8]
    let parents: [Int: [(parent: Int, offset: Int)]]
    let nodes: [NodeKind: [Int]]

    private static let kinds: [NodeKind] = [
      .group, .inner, .leaf, .string, .collectionInner, .collectionLeaf, .indexInner, .indexLeaf,
    ]

    init(_ schema: TableSchema, _ rows: [[Value]]) throws {
      let test = try ModelDatabase(schema)
      try test.write { write in
        // Links may lead to rows that come later, so all rows are there before they have values.
        let absent = TableRecord.shape(
          schema, schema.columns.indices.map { ColumnRecord(id: UInt16($0 + 1), targetID: 0) }
        ).columns.map(\.absentValue)
        for key in rows.indices { try write.insert(into: schema.name, key: Int64(key), absent) }
        for (key, row) in rows.enumerated() {
          try write.update(in: schema.name, key: Int64(key), row)
        }
      }
      bytes = test.backend.bytes
      var nodes: [NodeKind: [Int]] = [:]
      for kind in Self.kinds {
        nodes[kind] = try Reseal.nodes(test.database, kind)
      }
      self.nodes = nodes
      parents = Reseal.parents(bytes, nodes: nodes.values.flatMap { $0 })
      for kind in [NodeKind.leaf, .collectionLeaf, .collectionInner, .string] {
        for node in nodes[kind] ?? [] { #expect(parents[node]?.count == 1) }
      }
    }

    /// The code with which verify refuses the image with these bytes changed in a node.
    func verdict(_ node: Int, _ changes: [(offset: Int, byte: UInt8)]) -> EngineError.Code? {
      var damaged = bytes
      for change in changes { damaged[node + change.offset] = change.byte }
      Reseal.seal(&damaged, node: node, parents: parents)
      return errorCode {
        let database = try Database.open(backend: TestBackend(damaged))
        try database.verify()
      }
    }

    /// Reads everything of an image in every way; only errors may come of it.
    func exercise(_ damaged: [UInt8]) -> Bool {
      var hasError = false
      func attempt(_ body: () throws -> Void) {
        do { try body() } catch { hasError = true }
      }
      attempt {
        let database = try Database.open(backend: TestBackend(damaged))
        attempt { try database.verify() }
        let snapshot = try database.snapshot()
        attempt { _ = try snapshot.contentHash() }
        for table in snapshot.tables {
          attempt { try snapshot.forEach(in: table.name) { _, _ in } }
          for column in table.columns where column.type == .link {
            attempt {
              _ = try snapshot.backlinks(
                to: 1, in: table.name, from: table.name, column: column.name)
            }
          }
          for column in table.columns where column.collection != .none {
            let path = CollectionPath(table: table.name, key: 1, column: column.name)
            attempt { _ = try snapshot.element(at: 0, of: path) }
            attempt { try snapshot.forEach(in: path) { _, _ in } }
          }
        }
        snapshot.release()
        let write = try database.beginWrite()
        for table in write.tables {
          for key in Int64(0)..<3 { attempt { try write.delete(from: table.name, key: key) } }
          attempt { try write.removeTable(table.name) }
        }
        attempt { try write.commit() }
      }
      return hasError
    }
  }

  private static func image(_ type: ColumnType, _ collection: CollectionKind = .none) throws
    -> Image
  {
    let column = ColumnSchema(
      name: "c", type: type, isOptional: ColumnSchema.nullability(type, collection) ?? true,
      collection: collection, target: type == .link ? "T" : nil)
    var random = TestRandom(1)
    let rows = (0..<40).map { _ in [inside(ColumnFixtures.value(column, &random))] }
    return try Image(TableSchema(name: "T", columns: [column]), rows)
  }

  /// Links lead to rows that are there.
  private static func inside(_ value: Value) -> Value {
    switch value {
    case .link(let key): .link(key & 31)
    case .list(let values): .list(values.map(inside))
    case .set(let values): Value.set(values.map(inside)).canonical
    case .dictionary(let entries):
      .dictionary(entries.map { DictionaryEntry(key: $0.key, value: inside($0.value)) })
    default: value
    }
  }

  /// Where array `index` of a leaf has its descriptor.
  private static func descriptor(_ index: Int) -> Int { 48 + 16 * index }

  @Test(
    "a wrong kind, width, base, offset or column id of any array is found",
    arguments: ColumnType.allCases)
  func descriptors(_ type: ColumnType) throws {
    let image = try Self.image(type)
    let leaf = try #require(image.nodes[.leaf]?.first)
    #expect(image.verdict(leaf, []) == nil)
    let count = Int(Reseal.number(image.bytes, leaf + 36, 4))
    for array in 0..<count {
      let start = Self.descriptor(array)
      #expect(image.verdict(leaf, [(start + 13, 0)]) == .corrupted, "no kind")
      #expect(image.verdict(leaf, [(start + 13, 99)]) == .corrupted, "unknown kind")
      let kind = image.bytes[leaf + start + 13]
      #expect(image.verdict(leaf, [(start + 13, kind % 13 + 1)]) == .corrupted, "other kind")
      #expect(image.verdict(leaf, [(start + 12, 3)]) == .corrupted, "no width")
      #expect(image.verdict(leaf, [(start + 11, 0x7f)]) == .corrupted, "far offset")
      #expect(image.verdict(leaf, [(start + 14, 9)]) == .corrupted, "other column")
    }
    #expect(image.verdict(leaf, [(36, 0)]) == .corrupted, "no arrays")
    #expect(image.verdict(leaf, [(36, 1), (37, 255)]) == .corrupted, "too many arrays")
    #expect(image.verdict(leaf, [(32, 0)]) == .corrupted, "no rows")
  }

  @Test(
    "an array over the header, the descriptors or the array before is found",
    arguments: ColumnType.allCases)
  func overlaps(_ type: ColumnType) throws {
    let image = try Self.image(type)
    let leaf = try #require(image.nodes[.leaf]?.first)
    var withBytes = 0
    for array in 0..<Int(Reseal.number(image.bytes, leaf + 36, 4)) {
      let start = Self.descriptor(array)
      let hasBytes = [5, 12, 13].contains(image.bytes[leaf + start + 13])
      func verdict(_ offset: Int) -> EngineError.Code? {
        image.verdict(
          leaf, [(start + 8, UInt8(offset & 0xff)), (start + 9, UInt8(offset >> 8))])
      }
      // Without bytes it stands nowhere.
      let expected: EngineError.Code? =
        hasBytes || image.bytes[leaf + start + 12] > 0 ? .corrupted : nil
      if expected != nil { withBytes += 1 }
      let offset = Self.content(image, leaf, array)
      for wrong in [0, 48, offset - 8] {
        #expect(verdict(wrong) == expected, "array \(array) at \(wrong)")
      }
    }
    #expect(withBytes > 1)
  }

  @Test("bits that are neither 0 nor 1, words with a base and short byte arrays are found")
  func bases() throws {
    let cases: [(ColumnType, Int)] = [
      (.bool, 1), (.float, 1), (.double, 1), (.objectId, 1), (.uuid, 1), (.decimal128, 1),
      (.string, 2), (.int, 2), (.date, 3), (.string, 3),
    ]
    for (type, array) in cases {
      let image = try Self.image(type)
      let leaf = try #require(image.nodes[.leaf]?.first)
      #expect(
        image.verdict(leaf, [(Self.descriptor(array) + 0, 77)]) == .corrupted, "\(type) \(array)")
    }
    // All floats equal: the base is the number, and has 32 bits.
    let equal = try Image(
      TableSchema(name: "T", columns: [ColumnSchema(name: "c", type: .float)]),
      Array(repeating: [.float(1)], count: 9))
    let leaf = try #require(equal.nodes[.leaf]?.first)
    #expect(equal.verdict(leaf, [(Self.descriptor(1) + 3, 77)]) == nil)
    #expect(equal.verdict(leaf, [(Self.descriptor(1) + 4, 1)]) == .corrupted)
  }

  /// Where the bytes of an array of a leaf start.
  private static func content(_ image: Image, _ node: Int, _ array: Int) -> Int {
    Int(Reseal.number(image.bytes, node + descriptor(array) + 8, 4))
  }

  @Test("nanoseconds, types of mixed values, UTF-8 and order are looked at")
  func contents() throws {
    func image(_ column: ColumnSchema, _ value: Value) throws -> (Image, Int) {
      let image = try Image(TableSchema(name: "T", columns: [column]), [[value], [value]])
      return (image, try #require(image.nodes[.leaf]?.first))
    }
    var (found, leaf) = try image(
      ColumnSchema(name: "d", type: .date), .date(seconds: 1, nanoseconds: 999_999_999))
    // Nanoseconds stand at base 0 in 32 bits, so the highest byte of one makes it too large.
    #expect(found.verdict(leaf, [(Self.content(found, leaf, 2) + 3, 0x3c)]) == .corrupted)

    (found, leaf) = try image(ColumnSchema(name: "m", type: .mixed), .string("ab"))
    let mixed = Self.content(found, leaf, 3)
    #expect(found.verdict(leaf, [(mixed, ColumnType.mixed.rawValue)]) == .corrupted)
    #expect(found.verdict(leaf, [(mixed, 0)]) == .corrupted)
    #expect(found.verdict(leaf, [(mixed, ColumnType.date.rawValue)]) == .corrupted)
    #expect(found.verdict(leaf, [(mixed + 1, 0xff)]) == .corrupted)
    #expect(found.verdict(leaf, [(mixed, ColumnType.binary.rawValue)]) == nil)

    let three: [Value] = [.int(1), .int(2), .int(3)]
    (found, leaf) = try image(ColumnSchema(name: "s", type: .int, collection: .set), .set(three))
    var start = Self.content(found, leaf, 3)
    #expect(found.verdict(leaf, [(start + 1, 2)]) == .corrupted, "a set with a value twice")
    #expect(found.verdict(leaf, [(start + 2, 2)]) == .corrupted, "a set that descends")
    #expect(found.verdict(leaf, [(start + 2, 0x80)]) == .corrupted, "a number without end")

    (found, leaf) = try image(ColumnSchema(name: "l", type: .int, collection: .list), .list(three))
    start = Self.content(found, leaf, 3)
    #expect(found.verdict(leaf, [(start + 2, 2)]) == nil, "a list has any order")

    let entries = ["a", "b"].map { DictionaryEntry(key: $0, value: .null) }
    (found, leaf) = try image(
      ColumnSchema(name: "d", type: .bool, isOptional: true, collection: .dictionary),
      .dictionary(entries))
    start = Self.content(found, leaf, 3)
    #expect(found.verdict(leaf, [(start + 1, UInt8(ascii: "c"))]) == .corrupted, "keys descend")
    #expect(found.verdict(leaf, [(start + 2, 2)]) == .corrupted, "null is 0 or 1")
    #expect(found.verdict(leaf, [(start + 0, 90)]) == .corrupted, "a key behind the end")
  }

  @Test("counts, links and order of a collection's tree are looked at")
  func trees() throws {
    let numbers = (0..<20_000).map { Value.int(Int64($0) &* 0x1_0000_0001) }
    let image = try Image(
      TableSchema(
        name: "T", columns: [ColumnSchema(name: "s", type: .int, collection: .set)]),
      [[.set(numbers)]])
    let inner = try #require(image.nodes[.collectionInner]?.first)
    #expect((image.nodes[.collectionLeaf]?.count ?? 0) > 2)
    let children = Int(Reseal.number(image.bytes, inner + 32, 4))
    for child in 0..<children {
      let end = image.bytes[inner + 48 + 8 * child]
      #expect(image.verdict(inner, [(48 + 8 * child, end &+ 1)]) == .corrupted)
      #expect(image.verdict(inner, [(48 + 8 * child + 7, 0xff)]) == .corrupted)
    }
    #expect(image.verdict(inner, [(29, 2)]) == .corrupted)
    #expect(image.verdict(inner, [(32, 1)]) == .corrupted)
    for leaf in image.nodes[.collectionLeaf] ?? [] {
      let count = image.bytes[leaf + 32]
      #expect(image.verdict(leaf, [(32, count &- 1)]) == .corrupted)
      #expect(image.verdict(leaf, [(32, 0), (33, 0xff)]) == .corrupted)
      let first = Int(Reseal.number(image.bytes, leaf + 48 + 8, 4))
      #expect(image.verdict(leaf, [(first + 15, 0x80)]) == .corrupted, "descends")
    }
    // The row: more elements, fewer, another level.
    let leaf = try #require(image.nodes[.leaf]?.first)
    let entry = Self.content(image, leaf, 3)
    for (offset, byte) in [(16, 0), (17, 0xff), (22, 1), (23, 0), (23, 2), (23, 200)] {
      #expect(image.verdict(leaf, [(entry + offset, UInt8(byte))]) == .corrupted, "\(offset)")
    }
  }

  @Test("the group's types, flags, ids and targets are looked at")
  func group() throws {
    let image = try Self.image(.link)
    let group = try #require(image.nodes[.group]?.first)
    // Table "T": 33 bytes and its name of 1; column "c": id 2, type, collection, flags, index 25,
    // target 4, name.
    let table = 72
    let column = table + 34
    let wrong: [(Int, UInt8)] = [
      (64, 1), (68, 1), (table, 0), (table, 9), (table + 4, 1), (table + 6, 99),
      (table + 7, 2), (table + 7, 0), (table + 32, 0), (column, 0), (column, 2), (column + 2, 0),
      (column + 2, 13), (column + 3, 4), (column + 4, 0), (column + 4, 16), (column + 4, 1),
      (column + 4, 11), (column + 5, 9), (column + 21, 99), (column + 29, 1), (column + 30, 9),
      (column + 34, 0), (column + 34, 2),
    ]
    for (offset, byte) in wrong {
      #expect(image.verdict(group, [(offset, byte)]) == .corrupted, "offset \(offset)")
    }
  }

  @Test("random bytes with right checksums never trap", arguments: 0..<12)
  func randomBytes(_ part: Int) throws {
    let type = ColumnType.allCases[part]
    var random = TestRandom(UInt64(part) + 100)
    var errors = 0
    for collection in CollectionKind.allCases {
      let image = try Self.image(type, collection)
      let nodes = [NodeKind.group, .leaf, .collectionInner, .collectionLeaf, .string, .indexLeaf]
        .flatMap { image.nodes[$0] ?? [] }
      for _ in 0..<25 {
        var damaged = image.bytes
        let node = nodes[random.below(nodes.count)]
        let size = Int(Reseal.number(image.bytes, node + 24, 4))
        for _ in 0...random.below(3) {
          // Headers and descriptors are more interesting than values.
          let offset = 24 + random.below(random.below(2) == 0 ? min(size - 24, 200) : size - 24)
          let bytes: [UInt8] = [0, 1, 0x7f, 0x80, 0xff, UInt8(random.below(256))]
          damaged[node + offset] = bytes[random.below(6)]
        }
        Reseal.seal(&damaged, node: node, parents: image.parents)
        errors += image.exercise(damaged) ? 1 : 0
      }
    }
    #expect(errors > 12)
  }
}
