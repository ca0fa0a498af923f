// MutantExercise.swift: [U] everything a caller can do with an image that may be damaged. Each
// call may throw; none may trap, hang or take memory without bound.

import Engine
import Glibc

/// How far the operations on an image got.
struct MutantOutcome {
  var isOpen = false
  var isWhole = false
  var isCommitted = false
  var rowsRead = 0
}

enum MutantExercise {
  /// Uses an image in every way.
  /// - Parameters:
  ///   - image: The content of the file.
  ///   - key: Its key; nil for one in the clear.
  ///   - choice: Which of several changes is made to it.
  ///   - folder: Where a copy is written; nil for none.
  /// - Returns: How far the operations got.
  static func run(
    _ image: [UInt8], key: [UInt8]?, choice: Int, folder: String? = nil
  ) -> MutantOutcome {
    var outcome = MutantOutcome()
    let backend = FuzzBackend(image)
    if let mapping = try? backend.map() { _ = FileInspection.inspect(mapping) }
    var options = Database.Options()
    options.encryptionKey = key
    guard let database = try? Database.open(backend: backend, options: options) else {
      return outcome
    }
    outcome.isOpen = true
    outcome.isWhole = (try? database.verify()) != nil
    if let snapshot = try? database.snapshot() {
      read(snapshot, &outcome)
      _ = try? snapshot.contentHash()
      snapshot.release()
    }
    if let folder { copy(database, to: folder + "/copy.realm", key: key) }
    let older = choice % 4 == 1 ? try? database.snapshot() : nil
    outcome.isCommitted = change(database, choice)
    // The old nodes, whose sectors a wrong free list may have released, as well as the new ones.
    if let snapshot = try? database.snapshot() {
      var again = MutantOutcome()
      read(snapshot, &again)
      if let older { _ = try? snapshot.changes(since: older) }
      snapshot.release()
    }
    older?.release()
    _ = database.statistics()
    _ = try? database.close()
    return outcome
  }

  private static func copy(_ database: Database, to path: String, key: [UInt8]?) {
    _ = try? database.writeCopy(to: path, encryptionKey: key)
    _ = unsafe unlink(path)
  }

  // MARK: reading

  private static func read(_ snapshot: Snapshot, _ outcome: inout MutantOutcome) {
    let tables = snapshot.tables
    for table in tables {
      var rows = 0
      var keys: [Int64] = []
      try? snapshot.forEach(in: table.name) { key, _ throws(EngineError) in
        rows += 1
        if keys.count < 3 { keys.append(key) }
      }
      outcome.rowsRead += rows
      for key in keys + [7, .min] { _ = try? snapshot.row(in: table.name, key: key) }
      if let reader = try? snapshot.reader(for: table.name) {
        for column in table.columns where column.collection == .none {
          scan(reader, column, keys)
        }
      }
      for column in table.columns {
        if column.collection != .none {
          for key in keys {
            readCollection(
              snapshot, CollectionPath(table: table.name, key: key, column: column.name), column)
          }
        } else if column.isIndexed || column.isUnique {
          search(snapshot, table.name, column)
        } else if column.isFullText {
          for text in Self.searches {
            _ = try? snapshot.keys(
              in: table.name, column: column.name, matching: WordSearch(text))
          }
        }
        if column.type == .link, let target = column.target {
          for key in [Int64(0), 2, .max] {
            _ = try? snapshot.backlinks(
              to: key, in: target, from: table.name, column: column.name)
            _ = try? snapshot.backlinkCount(
              to: key, in: target, from: table.name, column: column.name)
          }
        }
      }
    }
  }

  private static func scan(_ reader: TableReader, _ column: ColumnSchema, _ keys: [Int64]) {
    switch column.type {
    case .int, .link:
      guard let ints = try? reader.column(column.name, of: Int64.self) else { return }
      _ = try? reader.count(ints, where: .less(1 << 40))
      _ = try? reader.keys(ints, where: .notEqual(0))
      _ = try? reader.sum(ints)
      _ = try? reader.maximum(ints)
      for key in keys {
        guard let position = try? reader.find(key) else { continue }
        _ = try? reader.isNull(at: position, ints)
        _ = try? reader.int(at: position, ints)
      }
    case .bool:
      guard let bools = try? reader.column(column.name, of: Bool.self) else { return }
      for key in keys {
        guard let position = try? reader.find(key) else { continue }
        _ = try? reader.bool(at: position, bools)
      }
    case .float:
      guard let floats = try? reader.column(column.name, of: Float.self) else { return }
      _ = try? reader.count(floats, where: .atLeast(0.5))
      _ = try? reader.sum(floats)
      _ = try? reader.minimum(floats)
    case .double:
      guard let doubles = try? reader.column(column.name, of: Double.self) else { return }
      _ = try? reader.keys(doubles, where: .between(0, 1e300))
      _ = try? reader.sum(doubles)
      _ = try? reader.maximum(doubles)
    case .string:
      guard let strings = try? reader.column(column.name, of: String.self) else { return }
      _ = try? reader.count(strings, equalTo: "té1 ")
      _ = try? reader.keys(strings, withPrefix: "t")
      for key in keys {
        guard let position = try? reader.find(key) else { continue }
        _ = try? reader.string(at: position, strings)
        _ = try? reader.withUTF8(at: position, strings) { $0.count }
      }
    default: break
    }
  }

  private static func readCollection(
    _ snapshot: Snapshot, _ path: CollectionPath, _ column: ColumnSchema
  ) {
    let count = (try? snapshot.count(of: path)) ?? 0
    for index in [0, count / 2, count - 1] { _ = try? snapshot.element(at: index, of: path) }
    _ = try? snapshot.contains(MutantBase.value(column.type, 1), in: path)
    _ = try? snapshot.value(forKey: "k1", in: path)
    try? snapshot.forEach(in: path) { (_, _) throws(EngineError) in }
  }

  private static func search(_ snapshot: Snapshot, _ table: String, _ column: ColumnSchema) {
    let (low, high) = (MutantBase.value(column.type, 0), MutantBase.value(column.type, 5))
    _ = try? snapshot.keys(in: table, column: column.name, equalTo: low)
    _ = try? snapshot.keys(in: table, column: column.name, equalTo: .null)
    _ = try? snapshot.firstKey(in: table, column: column.name, equalTo: high)
    _ = try? snapshot.keys(in: table, column: column.name, between: low, and: high)
    _ = try? snapshot.count(in: table, column: column.name, between: low, and: high)
  }

  // MARK: writing

  /// One transaction of one sort, and one more.
  /// - Returns: Whether it was committed.
  private static func change(_ database: Database, _ choice: Int) -> Bool {
    guard let write = try? database.beginWrite() else { return false }
    switch choice % 4 {
    case 0: changeRows(write)
    case 1: changeCollections(write)
    case 2: changeColumns(write)
    default:
      for table in write.tables.reversed() {
        _ = try? write.renameTable(table.name, to: table.name + "!")
        _ = try? write.removeTable(table.name + "!")
      }
    }
    let isCommitted = (try? write.commit()) != nil
    if !isCommitted { write.cancel() }
    guard let next = try? database.beginWrite() else { return isCommitted }
    _ = try? next.createTable(TableSchema(name: "New", columns: []))
    _ = try? next.insert(into: "New", key: 1, [])
    _ = try? next.commit()
    next.cancel()
    return isCommitted
  }

  private static func sample(_ column: ColumnSchema, _ number: Int) -> Value {
    switch column.collection {
    case .none: MutantBase.value(column.type, number)
    case .list: .list([MutantBase.value(column.type, number)])
    case .set: .set([MutantBase.value(column.type, number)])
    case .dictionary:
      .dictionary([DictionaryEntry(key: "k", value: MutantBase.value(column.type, number))])
    }
  }

  private static let searches = ["te1 w*", "internationalization -w31", "w62", "x"]

  private static func changeRows(_ write: WriteTransaction) {
    for table in write.tables {
      for key: Int64 in [0, 1, 4, 1 << 50] {
        _ = try? write.upsert(
          into: table.name, key: key, table.columns.map { sample($0, Int(key & 7)) })
      }
      for key: Int64 in [0, 2, 5] { _ = try? write.delete(from: table.name, key: key) }
      _ = try? write.row(in: table.name, key: 3)
      for column in table.columns where column.isIndexed && column.collection == .none {
        _ = try? write.keys(
          in: table.name, column: column.name, equalTo: MutantBase.value(column.type, 1))
      }
      for column in table.columns where column.isFullText {
        _ = try? write.keys(in: table.name, column: column.name, matching: WordSearch("w*"))
      }
    }
  }

  private static func changeCollections(_ write: WriteTransaction) {
    for table in write.tables {
      for column in table.columns where column.collection != .none {
        let value = MutantBase.value(column.type, 2)
        for key: Int64 in 0..<3 {
          let path = CollectionPath(table: table.name, key: key, column: column.name)
          _ = try? write.append(value, to: path)
          _ = try? write.insert(value, into: path)
          _ = try? write.insert(value, at: 1, in: path)
          _ = try? write.set(value, forKey: "k0", in: path)
          _ = try? write.remove(at: 0, from: path)
          _ = try? write.remove(value, from: path)
          _ = try? write.removeValue(forKey: "k1", from: path)
          if key == 2 { _ = try? write.removeAll(from: path) }
        }
      }
    }
  }

  private static func changeColumns(_ write: WriteTransaction) {
    for table in write.tables {
      let first = table.columns.first
      if let first { _ = try? write.removeColumn(first.name, from: table.name) }
      for column in table.columns.dropFirst() where column.collection == .none {
        if column.isIndexed || column.isFullText {
          _ = try? write.removeIndex(from: column.name, in: table.name)
        } else {
          let isOfWords = column.type == .string && table.columns.count < 3
          _ =
            try? isOfWords
            ? write.addFullTextIndex(to: column.name, in: table.name)
            : write.addIndex(to: column.name, in: table.name)
        }
      }
      _ = try? write.addColumn(ColumnSchema(name: "new", type: .mixed), to: table.name)
      _ = try? write.upsert(
        into: table.name, key: 1,
        (write.tables.first { $0.name == table.name })?.columns.map {
          sample($0, 1)
        } ?? [])
    }
  }
}
