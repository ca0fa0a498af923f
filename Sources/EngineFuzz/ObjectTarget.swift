// ObjectTarget.swift: bytes → operations on rows, collections, versions and handles, with a
// dictionary as the model. Invariants checked: every operation succeeds exactly when it does on the
// model; every version, newest or pinned, holds the model's rows at its time, in order, by walk, by
// key and by index; `changes(since:)` of two versions reports the difference of their models; the
// file passes `verify`.

import Engine
import Fuzz

enum ObjectTarget {
  static let target = FuzzTarget(
    name: "objects",
    judges: "rows, lists, commits, rollbacks, pins, reopens and changes against a dictionary",
    smokeCount: 120, seeds: { FuzzTarget.choiceSeeds("objects") }, run: { run($0) })

  private static func run(_ input: [UInt8]) -> FuzzOutcome {
    var choices = MutantChoices(bytes: input)
    do {
      var run = try ObjectRun()
      var steps = 0
      while !choices.isAtEnd, steps < 300 {
        try run.step(&choices)
        steps += 1
      }
      try run.finish()
      return .accepted
    } catch let failure as FuzzFailure {
      return .finding(failure.text)
    } catch { return .finding("an operation that must go well: \(error)") }
  }
}

/// A database and its model under operations.
private struct ObjectRun {
  typealias Rows = [Int64: [Value]]

  private static let schema = TableSchema(
    name: "T",
    columns: [
      ColumnSchema(name: "n", type: .int, isIndexed: true),
      ColumnSchema(name: "s", type: .string, isOptional: true),
      ColumnSchema(name: "list", type: .int, collection: .list),
      ColumnSchema(name: "any", type: .mixed),
    ])

  private var backend = FuzzBackend([])
  private var database: Database
  private var write: WriteTransaction?
  /// The rows of the newest version, and those of the open transaction.
  private var committed: Rows = [:]
  private var working: Rows = [:]
  private var pins: [(snapshot: Snapshot, rows: Rows)] = []

  init() throws {
    database = try Database.open(backend: backend)
    let write = try database.beginWrite()
    try write.createTable(Self.schema)
    try write.commit()
  }

  private static func row(_ choices: inout MutantChoices) -> [Value] {
    let number = Int64(bitPattern: choices.interesting())
    let text = String(repeating: "t\(number & 15) ", count: [0, 1, 40, 300][choices.below(4)])
    let elements = (0..<[0, 2, 9, 600][choices.below(4)]).map { Value.int(Int64($0) &* number) }
    let any: [Value] = [.null, .int(number), .string(text), .double(0.5), .bool(true)]
    return [
      .int(number), choices.below(4) == 0 ? .null : .string(text), .list(elements),
      any[choices.below(any.count)],
    ]
  }

  private mutating func transaction() throws -> WriteTransaction {
    if let write { return write }
    let begun = try database.beginWrite()
    (write, working) = (begun, committed)
    return begun
  }

  mutating func step(_ choices: inout MutantChoices) throws {
    let kind = choices.below(20)
    let key = Int64(choices.below(40)) - 3
    switch kind {
    case 0...7: try changeRow(kind, key, &choices)
    case 8...11: try changeList(kind, key, &choices)
    case 12: try insertMany(&choices)
    case 13, 14: try commit()
    case 15:
      write?.cancel()
      write = nil
    case 16: if pins.count < 4 { pins.append((try database.snapshot(), committed)) }
    case 17: if !pins.isEmpty { pins.remove(at: choices.below(pins.count)).snapshot.release() }
    case 18: try compare(choices.below(4))
    default: if choices.below(4) == 0 { try reopen() } else { try checkNewest() }
    }
  }

  /// The operation must succeed exactly when it does on the model.
  private func expect(
    _ isPossible: Bool, _ what: String, _ body: () throws -> Void
  ) throws {
    do { try body() } catch let error as EngineError {
      guard !isPossible else { throw FuzzFailure(text: "\(what) fails: \(error)") }
      return
    }
    guard isPossible else { throw FuzzFailure(text: "\(what) succeeds, and must not") }
  }

  private mutating func changeRow(
    _ kind: Int, _ key: Int64, _ choices: inout MutantChoices
  ) throws {
    let write = try transaction()
    let isThere = working[key] != nil
    if kind >= 6 {
      try expect(isThere, "delete \(key)") { try write.delete(from: "T", key: key) }
      working[key] = nil
      return
    }
    let row = Self.row(&choices)
    switch kind {
    case 0, 1:
      try expect(!isThere, "insert \(key)") { try write.insert(into: "T", key: key, row) }
      if !isThere { working[key] = row }
    case 2, 3:
      try expect(isThere, "update \(key)") { try write.update(in: "T", key: key, row) }
      if isThere { working[key] = row }
    default:
      try expect(true, "upsert \(key)") { try write.upsert(into: "T", key: key, row) }
      working[key] = row
    }
  }

  private mutating func changeList(
    _ kind: Int, _ key: Int64, _ choices: inout MutantChoices
  ) throws {
    let write = try transaction()
    let path = CollectionPath(table: "T", key: key, column: "list")
    var elements: [Value]?
    if case .list(let found) = working[key]?[2] { elements = found }
    let index = choices.below((elements?.count ?? 0) + 2)
    let value = Value.int(Int64(bitPattern: choices.interesting()))
    switch kind {
    case 8:
      try expect(elements != nil, "append to \(key)") { try write.append(value, to: path) }
      elements?.append(value)
    case 9:
      let isInside = elements.map { index <= $0.count } ?? false
      try expect(isInside, "insert at \(index) of \(key)") {
        try write.insert(value, at: index, in: path)
      }
      if isInside { elements?.insert(value, at: index) }
    default:
      let isInside = elements.map { index < $0.count } ?? false
      try expect(isInside, "change at \(index) of \(key)") {
        if kind == 10 {
          try write.remove(at: index, from: path)
        } else {
          try write.replace(at: index, with: value, in: path)
        }
      }
      if isInside, kind == 10 { elements?.remove(at: index) }
      if isInside, kind == 11 { elements?[index] = value }
    }
    if let elements { working[key]?[2] = .list(elements) }
  }

  /// Inserts enough rows that leaves split, or removes the same ones again.
  private mutating func insertMany(_ choices: inout MutantChoices) throws {
    let write = try transaction()
    let start = Int64(choices.below(4)) * 1000
    for key in start..<start + Int64(choices.below(256)) {
      if working.removeValue(forKey: key) != nil {
        try write.delete(from: "T", key: key)
      } else {
        let row: [Value] = [.int(key % 7), .string("many"), .list([]), .null]
        try write.insert(into: "T", key: key, row)
        working[key] = row
      }
    }
  }

  private mutating func commit() throws {
    guard let write else { return }
    self.write = nil
    try write.commit()
    committed = working
  }

  // MARK: checks

  private func check(_ snapshot: Snapshot, _ rows: Rows) throws {
    var keys: [Int64] = []
    try snapshot.forEach(in: "T") { key, values throws(EngineError) in
      if rows[key] == values { keys.append(key) }
    }
    guard keys == rows.keys.sorted(), try snapshot.count(of: "T") == rows.count else {
      throw FuzzFailure(
        text: "version \(snapshot.version) has \(try snapshot.count(of: "T")) rows, "
          + "\(keys.count) of them right; the model has \(rows.count)")
    }
    for key in [keys.first, keys.last, 17].compactMap({ $0 }) {
      guard try snapshot.row(in: "T", key: key) == rows[key] else {
        throw FuzzFailure(text: "version \(snapshot.version) has another row \(key)")
      }
    }
    for value in [.int(0), rows[keys.first ?? 0]?[0] ?? .int(1)] as [Value] {
      let found = try snapshot.keys(in: "T", column: "n", equalTo: value)
      guard found == rows.filter({ $0.value[0] == value }).keys.sorted() else {
        throw FuzzFailure(text: "version \(snapshot.version): the index finds \(found) by \(value)")
      }
    }
  }

  private func checkNewest() throws {
    let snapshot = try database.snapshot()
    defer { snapshot.release() }
    try check(snapshot, committed)
  }

  /// The changes since a pinned version.
  private func compare(_ choice: Int) throws {
    guard choice < pins.count else { return }
    let (older, rows) = pins[choice]
    try check(older, rows)
    let newer = try database.snapshot()
    defer { newer.release() }
    let found = try newer.changes(since: older)["T"]
    let modified = committed.keys.filter { rows[$0] != nil && rows[$0] != committed[$0] }.sorted()
    let inserted = committed.keys.filter { rows[$0] == nil }.sorted()
    let deleted = rows.keys.filter { committed[$0] == nil }.sorted()
    guard found?.insertions ?? [] == inserted, found?.deletions ?? [] == deleted,
      found?.modifications.map(\.key) ?? [] == modified
    else {
      throw FuzzFailure(text: "changes from \(older.version) to \(newer.version) are not right")
    }
    for modification in found?.modifications ?? [] {
      let (before, after) = (rows[modification.key] ?? [], committed[modification.key] ?? [])
      let names = Self.schema.columns.indices.filter { before[$0] != after[$0] }
        .map { Self.schema.columns[$0].name }
      guard modification.columns == names else {
        throw FuzzFailure(
          text: "row \(modification.key) differs in \(names), not in \(modification.columns)")
      }
    }
  }

  /// Closes the database, and opens the file again.
  private mutating func reopen() throws {
    for (snapshot, rows) in pins {
      try check(snapshot, rows)
      snapshot.release()
    }
    pins = []
    write?.cancel()
    write = nil
    _ = try database.verify()
    try database.close()
    backend = FuzzBackend(backend.bytes)
    database = try Database.open(backend: backend)
    try checkNewest()
  }

  mutating func finish() throws {
    try commit()
    for choice in pins.indices { try compare(choice) }
    try reopen()
    _ = try database.verify()
    try database.close()
  }
}
