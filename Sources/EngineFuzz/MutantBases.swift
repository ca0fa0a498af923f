// MutantBases.swift: the base images for damage: small, and together with every kind of node,
// column and collection. They are made by the engine and are the same on every run.

import Engine
import Fuzz

extension MutantBase {
  /// All of them.
  static let all: [MutantBase] = {
    do {
      return [
        try make("empty") { _ in }, try make("scalars", scalars),
        try make("collections", collections),
        try make("long values", longValues), try make("rows", rows), try make("indexes", indexes),
        try make("schema", schemaHistory), try pinned(), try make("links", links),
        try make("trees", trees), try make("large indexes", largeIndexes),
        try make("encrypted", key: [UInt8](0..<64), rows),
        try make("one sync", by: .checksummed, rows),
        try segments(),
      ]
    } catch { preconditionFailure("a base image cannot be made: \(error)") }
  }()

  /// Added after `all`: the highest bytes choose it, so that stored inputs keep their meaning.
  static let patchedLeaves: MutantBase = {
    do { return try patched() } catch {
      preconditionFailure("a base image cannot be made: \(error)")
    }
  }()
  private static let patchedLeavesByteMin = 248
  /// Likewise, with a full-text index.
  static let fullText: MutantBase = {
    do { return try make("words", words) } catch {
      preconditionFailure("a base image cannot be made: \(error)")
    }
  }()
  private static let fullTextByteMin = 252

  /// The base of one of the highest bytes.
  private static func added(_ number: Int) -> MutantBase? {
    guard number >= patchedLeavesByteMin else { return nil }
    return number < fullTextByteMin ? patchedLeaves : fullText
  }

  /// For damage to slots: one whose newest slot edits leaves, inner nodes, indexes and the group.
  ///
  /// Damage to nodes needs bases without edits: an edited node that is sealed again is no longer
  /// the one that the slot edits.
  static let editedNodes: MutantBase = {
    do { return try edited() } catch {
      preconditionFailure("a base image cannot be made: \(error)")
    }
  }()

  /// A base for damage to slots; the highest bytes choose the one with edits.
  static func chooseForSlots(_ choices: inout MutantChoices) -> MutantBase {
    let number = Int(choices.number(1))
    return number >= 224 ? editedNodes : all[number % all.count]
  }

  /// How often each is chosen: the small ones are fast, and have most kinds of nodes.
  static let weights = [4, 12, 12, 8, 4, 12, 8, 6, 12, 2, 1, 2, 6, 4]

  /// One of the bases with visible nodes, all equally likely.
  static func chooseEvenly(_ choices: inout MutantChoices) -> MutantBase {
    let number = Int(choices.number(1))
    let bases = all.filter { !$0.nodes.isEmpty }
    return added(number) ?? bases[number % bases.count]
  }

  /// One of them, by their weights.
  static func choose(_ choices: inout MutantChoices) -> MutantBase {
    let number = Int(choices.number(1))
    if let added = added(number) { return added }
    var left = number % weights.reduce(0, +)
    for (base, weight) in zip(all, weights) {
      if left < weight { return base }
      left -= weight
    }
    return all[0]
  }

  private static func options(
    _ key: [UInt8]?, _ commitProtocol: CommitProtocol
  ) -> Database.Options {
    var options = Database.Options()
    options.commitProtocol = commitProtocol
    options.encryptionKey = key
    options.editsInSlots = false
    // Salts must not differ between runs.
    options.entropy = EntropySource { count in [UInt8](repeating: 7, count: count) }
    return options
  }

  private static func make(
    _ name: String, by commitProtocol: CommitProtocol = .twoPhase, key: [UInt8]? = nil,
    _ fill: (Database) throws -> Void
  ) throws -> MutantBase {
    let backend = FuzzBackend([])
    let database = try Database.open(backend: backend, options: options(key, commitProtocol))
    try fill(database)
    _ = try database.verify()
    try database.close()
    return MutantBase(name: name, bytes: backend.bytes, key: key)
  }

  private static func write(
    _ database: Database, _ body: (WriteTransaction) throws -> Void
  ) throws {
    let write = try database.beginWrite()
    try body(write)
    try write.commit()
  }

  // MARK: columns

  private static let dogs = TableSchema(
    name: "Dog", columns: [ColumnSchema(name: "n", type: .int)])

  /// A value of a type; the same for the same number.
  static func value(_ type: ColumnType, _ number: Int, long: Bool = false) -> Value {
    let text = String(repeating: "té\(number) ", count: long ? 90 : 1)
    return switch type {
    case .int: .int(Int64(number) &* 0x9e37_79b9)
    case .string: .string(text)
    case .bool: .bool(number % 2 == 0)
    case .float: .float(Float(number) / 7)
    case .double: .double(Double(number) * 1e100)
    case .binary: .binary(Array(text.utf8.reversed()))
    case .date: .date(seconds: Int64(number) * 1000, nanoseconds: Int64(number % 1000))
    case .objectId: ObjectId(bytes: bytes(number, 12)).map { .objectId($0) } ?? .null
    case .uuid: UUIDBytes(bytes: bytes(number, 16)).map { .uuid($0) } ?? .null
    case .decimal128: .decimal128(Decimal128(high: 7, low: UInt64(number)))
    case .link: .link(Int64(number % 3))
    case .mixed: value(long ? .string : mixed[number % mixed.count], number, long: long)
    }
  }

  private static func bytes(_ number: Int, _ count: Int) -> [UInt8] {
    [UInt8](repeating: UInt8(number & 255), count: count)
  }

  private static let mixed: [ColumnType] = [.int, .string, .bool, .double, .date, .uuid]

  private static func scalars(_ database: Database) throws {
    var columns: [ColumnSchema] = []
    for type in ColumnType.allCases where type != .link {
      columns.append(ColumnSchema(name: "\(type)", type: type))
      if type != .mixed {
        columns.append(ColumnSchema(name: "\(type)?", type: type, isOptional: true))
      }
    }
    try write(database) { write in
      try write.createTable(TableSchema(name: "Scalars", columns: columns))
      for key in 0..<4 {
        try write.insert(
          into: "Scalars", key: Int64(key * 3),
          columns.enumerated().map { index, column in
            column.isOptional && (key + index) % 3 == 0 ? .null : value(column.type, key + index)
          })
      }
    }
    try write(database) { try $0.delete(from: "Scalars", key: 3) }
  }

  private static func collections(_ database: Database) throws {
    var columns: [ColumnSchema] = []
    for kind in [CollectionKind.list, .set, .dictionary] {
      for type in [ColumnType.int, .string, .mixed, .bool, .date] {
        let isOptional = type == .int ? true : nil
        columns.append(
          ColumnSchema(
            name: "\(kind) \(type)", type: type, isOptional: isOptional, collection: kind))
      }
    }
    try write(database) { write in
      try write.createTable(TableSchema(name: "Collections", columns: columns))
      for key in 0..<3 {
        try write.insert(
          into: "Collections", key: Int64(key), columns.map { collection($0, count: key * 2) })
      }
    }
  }

  private static func collection(_ column: ColumnSchema, count: Int, long: Bool = false) -> Value {
    let values = (0..<count).map { value(column.type, $0, long: long) }
    return switch column.collection {
    case .none, .list: .list(values)
    case .set: .set(Array(Set(values)))
    case .dictionary:
      .dictionary(
        values.enumerated().map { index, value in
          DictionaryEntry(key: String(repeating: "k\(index)", count: long ? 200 : 1), value: value)
        })
    }
  }

  private static func longValues(_ database: Database) throws {
    let columns = [ColumnType.string, .binary, .mixed].map { ColumnSchema(name: "\($0)", type: $0) }
    try write(database) { write in
      try write.createTable(TableSchema(name: "Long", columns: columns))
      for key in 0..<2 {
        try write.insert(
          into: "Long", key: Int64(key), columns.map { value($0.type, key, long: true) })
      }
    }
  }

  /// Collections that are trees, one with inner nodes and one with long keys.
  private static func trees(_ database: Database) throws {
    let columns = [
      ColumnSchema(name: "list", type: .string, collection: .list),
      ColumnSchema(name: "set", type: .int, collection: .set),
      ColumnSchema(name: "dictionary", type: .int, collection: .dictionary),
      ColumnSchema(name: "mixed", type: .mixed, collection: .list),
    ]
    try write(database) { write in
      try write.createTable(TableSchema(name: "Trees", columns: columns))
      try write.insert(
        into: "Trees", key: 1,
        [
          .list((0..<330).map { .string("a text of some thirty bytes \($0)") }),
          collection(columns[1], count: 300), collection(columns[2], count: 4, long: true),
          collection(columns[3], count: 3, long: true),
        ])
      try write.insert(into: "Trees", key: 9, [.list([]), .set([]), .dictionary([]), .list([])])
    }
  }

  // MARK: trees, indexes, links

  private static func rows(_ database: Database) throws {
    let columns = [ColumnSchema(name: "n", type: .int), ColumnSchema(name: "s", type: .string)]
    try write(database) { write in
      try write.createTable(TableSchema(name: "Rows", columns: columns))
      try write.createTable(TableSchema(name: "Empty", columns: []))
      for key in 0..<26 {
        let text = String(repeating: "\(key) ", count: 150)
        try write.insert(into: "Rows", key: Int64(key * 5), [.int(7), .string(text)])
      }
    }
    try write(database) { try $0.delete(from: "Rows", key: 10) }
  }

  private static let indexed = [
    ColumnSchema(name: "int", type: .int, isIndexed: true),
    ColumnSchema(name: "int?", type: .int, isOptional: true, isUnique: true),
    ColumnSchema(name: "string", type: .string, isIndexed: true),
    ColumnSchema(name: "date", type: .date, isOptional: true, isIndexed: true),
    ColumnSchema(name: "bool", type: .bool, isIndexed: true),
    ColumnSchema(name: "uuid", type: .uuid, isUnique: true),
  ]

  private static func indexes(_ database: Database) throws {
    try write(database) { write in
      try write.createTable(TableSchema(name: "Indexed", columns: indexed))
      for key in 0..<6 {
        try write.insert(
          into: "Indexed", key: Int64(key),
          indexed.map { value($0.type, $0.isUnique ? key : key / 2) })
      }
    }
  }

  private static func largeIndexes(_ database: Database) throws {
    try write(database) { write in
      try write.createTable(TableSchema(name: "Indexed", columns: [indexed[0], indexed[2]]))
      for key in 0..<420 {
        try write.insert(
          into: "Indexed", key: Int64(key),
          [.int(Int64(key) &* 0x1357_9bdf_0246_8ace), .string("\(key)")])
      }
    }
  }

  /// Texts whose words fill several leaves of a full-text index, some of them cut.
  private static func words(_ database: Database) throws {
    let text = ColumnSchema(name: "text", type: .string, isOptional: true, isFullText: true)
    try write(database) { write in
      try write.createTable(TableSchema(name: "Words", columns: [text]))
      for key in 0..<90 {
        let words = (0..<6).map { "w\(key &* 31 &* ($0 + 1) % 257)" }.joined(separator: " ")
        try write.insert(
          into: "Words", key: Int64(key),
          [key % 9 == 0 ? .null : .string("té\(key % 3) internationalization \(words)")])
      }
    }
    try write(database) { try $0.delete(from: "Words", key: 10) }
  }

  private static func links(_ database: Database) throws {
    let columns = [
      ColumnSchema(name: "one", type: .link, target: "Dog"),
      ColumnSchema(name: "list", type: .link, collection: .list, target: "Dog"),
      ColumnSchema(name: "set", type: .link, collection: .set, target: "Dog"),
      ColumnSchema(name: "dictionary", type: .link, collection: .dictionary, target: "Dog"),
    ]
    try write(database) { write in
      try write.createTable(dogs)
      try write.createTable(TableSchema(name: "Owner", columns: columns))
      for key in 0..<3 { try write.insert(into: "Dog", key: Int64(key), [.int(Int64(key))]) }
      for key in 0..<4 {
        let entry = DictionaryEntry(key: "k", value: .link(Int64(key % 3)))
        try write.insert(
          into: "Owner", key: Int64(key),
          [
            key == 2 ? .null : .link(Int64(key % 3)), .list([.link(0), .link(1), .link(0)]),
            .set([.link(Int64(key % 2)), .link(2)]), .dictionary([entry]),
          ])
      }
    }
  }

  // MARK: history

  /// Tables and columns that were added and removed.
  private static func schemaHistory(_ database: Database) throws {
    try write(database) { write in
      for table in 0..<4 {
        let columns = (0..<3).map { ColumnSchema(name: "c\($0)", type: .int, isIndexed: $0 == 1) }
        try write.createTable(TableSchema(name: "Table \(table)", columns: columns))
        for key in 0..<3 {
          try write.insert(
            into: "Table \(table)", key: Int64(key),
            (0..<3).map { _ in .int(Int64(key)) })
        }
      }
    }
    try write(database) { write in
      try write.removeTable("Table 1")
      try write.removeColumn("c0", from: "Table 2")
      try write.addColumn(
        ColumnSchema(name: "added", type: .string, isOptional: true), to: "Table 3")
      try write.addColumn(
        ColumnSchema(name: "list", type: .mixed, collection: .list), to: "Table 3")
      try write.insert(into: "Table 2", key: 7, [.int(1), .int(2)])
    }
  }

  /// Versions under pins, so the free list has pending spans.
  private static func pinned() throws -> MutantBase {
    let backend = FuzzBackend([])
    let database = try Database.open(backend: backend, options: options(nil, .twoPhase))
    try rows(database)
    let first = try database.snapshot()
    for round in 0..<3 {
      try write(database) {
        try $0.upsert(into: "Rows", key: Int64(round * 40), [.int(1), .string("x")])
      }
    }
    let second = try database.snapshot()
    try write(database) { try $0.delete(from: "Rows", key: 20) }
    let bytes = backend.bytes
    first.release()
    second.release()
    try database.close()
    return MutantBase(name: "pinned", bytes: bytes)
  }

  /// Leaves with patches.
  private static func patched() throws -> MutantBase {
    let backend = FuzzBackend([])
    let database = try Database.open(backend: backend, options: options(nil, .twoPhase))
    try write(database) { write in
      try write.createTable(dogs)
      for key in 0..<2500 {
        try write.insert(into: "Dog", key: Int64(key), [value(.int, key)])
      }
    }
    var pins: [Snapshot] = []
    for round in 0..<6 {
      pins.append(try database.snapshot())
      try write(database) { write in
        for key in stride(from: round, to: 2500, by: round < 2 ? 100 : 400) {
          try write.update(in: "Dog", key: Int64(key), [value(.int, key + round + 1)])
        }
      }
    }
    for pin in pins { pin.release() }
    try database.close()
    let base = MutantBase(name: "patched leaves", bytes: backend.bytes)
    precondition(
      base.nodes.contains {
        base.bytes[$0 + NodeField.kind] == NodeKind.inner.rawValue
          && base.bytes[$0 + NodeField.auxiliary] > 0
      }, "an inner node has patches")
    return base
  }

  /// Small commits over a tree with inner nodes, an index of numbers and one of words.
  private static func edited() throws -> MutantBase {
    let backend = FuzzBackend([])
    let database = try Database.open(backend: backend)
    let columns = [
      ColumnSchema(name: "n", type: .int, isIndexed: true),
      ColumnSchema(name: "text", type: .string, isFullText: true),
    ]
    // Pairs and words stay in their leaves.
    func row(_ number: Int, change: Int = 0) -> [Value] {
      [
        .int(Int64(number * 10 + change)),
        .string("word\((number + change) % 7 + 10) of \(number % 50 + 10)"),
      ]
    }
    try write(database) { write in
      try write.createTable(TableSchema(name: "Edited", columns: columns))
      for key in 0..<900 { try write.insert(into: "Edited", key: Int64(key), row(key)) }
    }
    for key in [10, 310, 610] {
      try write(database) { try $0.update(in: "Edited", key: Int64(key), row(key, change: 3)) }
    }
    let bytes = backend.bytes
    try database.close()
    precondition(
      Layout.slotOffsetsBytes.contains { bytes.number($0 + SlotField.editsChecksum) != 0 },
      "a slot has edits")
    return MutantBase(name: "edited nodes", bytes: bytes)
  }

  /// Enough pins that the free list has segments.
  private static func segments() throws -> MutantBase {
    let backend = FuzzBackend([])
    let database = try Database.open(backend: backend, options: options(nil, .checksummed))
    try write(database) { write in
      try write.createTable(dogs)
      try write.insert(into: "Dog", key: 1, [.int(1)])
    }
    var snapshots: [Snapshot] = []
    for round in 0..<180 {
      snapshots.append(try database.snapshot())
      try write(database) { try $0.upsert(into: "Dog", key: 1, [.int(Int64(round))]) }
    }
    let segmentCount = database.statistics().freeListSegments
    precondition(segmentCount > 0, "pins of 180 versions need segments")
    let bytes = backend.bytes
    for snapshot in snapshots { snapshot.release() }
    try database.close()
    return MutantBase(name: "segments", bytes: bytes)
  }
}
