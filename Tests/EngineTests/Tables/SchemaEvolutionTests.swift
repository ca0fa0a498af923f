// SchemaEvolutionTests.swift: tables and columns come, go and are renamed; rows are not rewritten
// for it, and nothing leaks.

import Testing

@testable import Engine

@Suite("Schema evolution")
struct SchemaEvolutionTests {
  /// Bytes of nodes that a commit wrote, root slot aside.
  private static func writtenBytes(_ backend: TestBackend) -> Int {
    backend.log.reduce(0) { sum, operation in
      if case .write(let offset, let bytes) = operation, offset >= 12_288 {
        return sum + bytes.count
      }
      return sum
    }
  }

  @Test("a column of every kind is added to rows that are there, and removed again")
  func addAndRemove() throws {
    var random = TestRandom(21)
    var test = try ModelDatabase(Fixtures.dogs)
    try test.write { write in
      for key in 0..<400 { try test.put(Int64(key), Fixtures.dog(key), write) }
      try ColumnFixtures.makeTargets(write)
    }
    for column in ColumnFixtures.allColumns {
      test.backend.clearLog()
      try test.write { try $0.addColumn(column, to: "Dog") }
      #expect(Self.writtenBytes(test.backend) <= 3 * 4096, "adding rewrites no rows")
      test.schema.columns.append(column)
      let layout = ColumnLayout(
        id: 1, type: column.type, isOptional: column.isOptional, collection: column.collection,
        firstDescriptor: 1)
      for key in test.rows.keys { test.rows[key]?.append(layout.absentValue) }
      try test.check()
      // Rewritten rows have it for real, in leaves beside others that were never rewritten.
      try test.write { write in
        for _ in 0..<3 {
          let key = Int64(random.below(400))
          var row = test.rows[key] ?? []
          row[row.count - 1] = ColumnFixtures.value(column, &random)
          try test.put(key, row, write)
        }
      }
      try test.check()
      // Two columns of each kind stay for a while, so that leaves get all mixtures.
      guard test.schema.columns.count > 4 else { continue }
      let victim = random.below(test.schema.columns.count)
      test.backend.clearLog()
      try test.write { try $0.removeColumn(test.schema.columns[victim].name, from: "Dog") }
      #expect(Self.writtenBytes(test.backend) <= 4 * 4096, "removing rewrites no rows")
      test.schema.columns.remove(at: victim)
      for key in test.rows.keys { test.rows[key]?.remove(at: victim) }
      try test.check()
    }
  }

  @Test("columns are added and removed in the middle of a transaction that changes rows")
  func inOneTransaction() throws {
    var random = TestRandom(22)
    var test = try ModelDatabase(
      TableSchema(
        name: "T",
        columns: [
          ColumnSchema(name: "a", type: .int),
          ColumnSchema(name: "long", type: .string),
          ColumnSchema(name: "list", type: .binary, collection: .list),
        ]))
    for round in 0..<6 {
      let isKept = round % 3 != 2
      let before = (test.rows, test.schema)
      let write = try test.database.beginWrite()
      for _ in 0..<30 {
        try test.put(Int64(random.below(80)), ColumnFixtures.row(test.schema, &random), write)
      }
      let added = ColumnFixtures.allColumns.filter { $0.type != .link }[random.below(80)]
      try write.addColumn(added, to: "T")
      test.schema.columns.append(added)
      let absent = TableRecord.shape(
        test.schema,
        test.schema.columns.indices.map { ColumnRecord(id: UInt16($0 + 1), targetID: 0) }
      ).columns[test.schema.columns.count - 1].absentValue
      for key in test.rows.keys { test.rows[key]?.append(absent) }
      for _ in 0..<30 {
        try test.put(Int64(random.below(80)), ColumnFixtures.row(test.schema, &random), write)
      }
      let victim = random.below(test.schema.columns.count)
      try write.removeColumn(test.schema.columns[victim].name, from: "T")
      test.schema.columns.remove(at: victim)
      for key in test.rows.keys { test.rows[key]?.remove(at: victim) }
      for key in test.rows.keys.sorted().prefix(5) {
        #expect(try write.row(in: "T", key: key) == test.rows[key])
      }
      if isKept {
        try write.commit()
      } else {
        write.cancel()
        (test.rows, test.schema) = before
      }
      try test.check()
    }
  }

  @Test("long values and collections of a removed column, and all of a removed table, are released")
  func released() throws {
    var random = TestRandom(23)
    var test = try ModelDatabase(ColumnFixtures.all)
    let empty = try test.database.verify()
    try test.write { write in
      for key in 0..<20 {
        try test.put(Int64(key), ColumnFixtures.row(test.schema, &random), write)
      }
    }
    #expect(try test.database.verify().nodes > 100)
    try test.write { write in
      for column in test.schema.columns.reversed() where column.type != .int {
        try write.removeColumn(column.name, from: "All")
      }
    }
    for index in test.schema.columns.indices.reversed()
    where test.schema.columns[index].type != .int {
      test.schema.columns.remove(at: index)
      for key in test.rows.keys { test.rows[key]?.remove(at: index) }
    }
    try test.check()
    // The leaves still have the columns until they are rewritten, the nodes outside are gone; what
    // is left outside are lists and sets of integers.
    let database = test.database
    try test.write { write in
      try write.removeTable("All")
      try write.removeTable(ColumnFixtures.targets.name)
    }
    let report = try database.verify()
    #expect(report.nodes <= empty.nodes)
    #expect(report.tables == 0 && report.rows == 0)
    #expect(try database.snapshot().tables == [])
  }

  @Test("a table removed in the transaction that filled it leaves nothing")
  func removedAtOnce() throws {
    var random = TestRandom(24)
    let test = try ModelDatabase(ColumnFixtures.all)
    try test.write { write in
      try write.insert(into: "All", key: 0, ColumnFixtures.row(test.schema, &random))
    }
    try test.write { write in
      for key in 0..<10 {
        try write.upsert(into: "All", key: Int64(key), ColumnFixtures.row(test.schema, &random))
      }
      try write.removeTable("All")
      try write.createTable(TableSchema(name: "All", columns: []))
      try write.insert(into: "All", key: 5, [])
    }
    #expect(try test.database.verify().rows == 1 + UInt64(ColumnFixtures.edges(.link).count))
    let snapshot = try test.database.snapshot()
    #expect(try snapshot.tableID(of: "All") == 3)
    #expect(try snapshot.row(in: "All", key: 5) == [])
    snapshot.release()
  }

  @Test("tables and columns are renamed, and links follow")
  func renamed() throws {
    var test = try ModelDatabase(
      TableSchema(
        name: "Node",
        columns: [
          ColumnSchema(name: "next", type: .link, target: "Node"),
          ColumnSchema(name: "all", type: .link, collection: .list, target: "Node"),
        ]))
    try test.write { try test.put(1, [.link(1), .list([.link(1), .link(1)])], $0) }
    try test.write { write in
      try write.createTable(
        TableSchema(
          name: "Edge", columns: [ColumnSchema(name: "to", type: .link, target: "Node")]))
      #expect(errorCode { try write.removeTable("Node") } == .schemaMismatch)
      #expect(errorCode { try write.renameTable("Node", to: "Edge") } == .tableExists)
      #expect(errorCode { try write.renameTable("Nothing", to: "N") } == .noSuchTable)
      #expect(errorCode { try write.renameTable("Node", to: "") } == .schemaMismatch)
      try write.renameTable("Node", to: "Vertex")
      try write.renameColumn("next", in: "Vertex", to: "après\0")
      #expect(
        errorCode { try write.renameColumn("all", in: "Vertex", to: "après\0") }
          == .columnExists)
      #expect(errorCode { try write.renameColumn("next", in: "Vertex", to: "x") } == .noSuchColumn)
      #expect(
        errorCode {
          try write.addColumn(
            ColumnSchema(name: "all", type: .int), to: "Vertex")
        } == .columnExists)
      #expect(
        errorCode {
          try write.addColumn(
            ColumnSchema(name: "l", type: .link, target: "Node"), to: "Vertex")
        } == .noSuchTable)
      #expect(
        errorCode {
          try write.addColumn(
            ColumnSchema(name: "l", type: .link), to: "Vertex")
        } == .schemaMismatch)
      #expect(
        errorCode {
          try write.addColumn(
            ColumnSchema(name: "l", type: .mixed, isOptional: false), to: "Vertex")
        }
          == .schemaMismatch)
      #expect(errorCode { try write.row(in: "Node", key: 1) } == .noSuchTable)
    }
    test.schema = TableSchema(
      name: "Vertex",
      columns: [
        ColumnSchema(name: "après\0", type: .link, target: "Vertex"),
        ColumnSchema(name: "all", type: .link, collection: .list, target: "Vertex"),
      ])
    try test.check()
    let snapshot = try test.database.snapshot()
    #expect(snapshot.tables.last?.columns[0].target == "Vertex")
    snapshot.release()
    try test.write { write in
      try write.removeTable("Edge")
      try write.removeTable("Vertex")
    }
    #expect(try test.database.verify().tables == 0)
  }

  @Test("ids of columns and tables are never given twice")
  func idsStay() throws {
    let database = try ModelDatabase(
      TableSchema(name: "T", columns: [ColumnSchema(name: "a", type: .int)])
    ).database
    for round in 0..<5 {
      let write = try database.beginWrite()
      try write.addColumn(ColumnSchema(name: "b", type: .int), to: "T")
      try write.upsert(into: "T", key: 1, [.int(1), .int(Int64(round))])
      try write.commit()
      let again = try database.beginWrite()
      try again.removeColumn("b", from: "T")
      try again.createTable(TableSchema(name: "U", columns: []))
      try again.removeTable("U")
      try again.addColumn(ColumnSchema(name: "b", type: .int), to: "T")
      #expect(try again.row(in: "T", key: 1) == [.int(1), .int(0)])
      try again.removeColumn("b", from: "T")
      try again.commit()
      try database.verify()
    }
    let snapshot = try database.snapshot()
    #expect(snapshot.state.group.tables[0].nextColumnID == 12)
    #expect(snapshot.state.group.nextTableID == 7)
    snapshot.release()
  }

  @Test("1,024 tables of 128 columns fit, and one more of either does not")
  func limits() throws {
    let columns = (0..<128).map { ColumnSchema(name: "c\($0)", type: $0 % 2 == 0 ? .int : .string) }
    let backend = TestBackend()
    let database = try Database.open(backend: backend)
    var write = try database.beginWrite()
    for table in 0..<1024 {
      try write.createTable(TableSchema(name: "table \(table)", columns: columns))
    }
    let extra = TableSchema(name: "extra", columns: [])
    #expect(errorCode { try write.createTable(extra) } == .limit)
    let row = columns.indices.map { $0 % 2 == 0 ? Value.int(Int64($0)) : .string("s\($0)") }
    try write.insert(into: "table 0", key: 1, row)
    try write.insert(into: "table 1023", key: 1, row)
    #expect(
      errorCode { try write.addColumn(ColumnSchema(name: "x", type: .int), to: "table 7") }
        == .limit)
    try write.commit()
    try database.verify()
    let reopened = try Database.open(backend: TestBackend(backend.bytes))
    let snapshot = try reopened.snapshot()
    #expect(snapshot.tables.count == 1024)
    #expect(try snapshot.row(in: "table 1023", key: 1) == row)
    snapshot.release()
    write = try database.beginWrite()
    try write.removeTable("table 3")
    try write.createTable(extra)
    try write.commit()
    try database.verify()
  }
}
