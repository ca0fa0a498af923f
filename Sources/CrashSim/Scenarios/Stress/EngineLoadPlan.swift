// EngineLoadPlan.swift: the content of a transaction of the built-in workload, derived from its
// seed: statements on rows, and lists that it reads or appends to. The process that runs it and the
// model that judges it use the same functions.
// A list is a row: its generation and its values as text. When a list is full, the row starts the
// next one, so that reads stay small; (row, generation) names a list in histories.
// the next one, so that reads stay small; (row, generation) names a list in histories.

import LabCore
import Oracles
import Workload

/// Everything derived from a transaction's seed.
struct EngineLoadPlan {
  /// One list of a transaction.
  struct ListStep {
    /// Key of the list's row.
    let key: Int64
    let appends: Bool
  }

  let statements: [Mutation]
  let lists: [ListStep]
  let isCancelled: Bool

  /// The table of rows; Faultline's own rows are added to it, too.
  static var rows: TableDeclaration {
    var number = ColumnDeclaration(name: "number", type: .int)
    number.isIndexed = true
    let text = ColumnDeclaration(name: "text", type: .string)
    return TableDeclaration(name: "Row", key: "_id", columns: [number, text])
  }

  /// The table of lists.
  static var listRows: TableDeclaration {
    TableDeclaration(
      name: "List", key: "_id",
      columns: [
        ColumnDeclaration(name: "generation", type: .int),
        ColumnDeclaration(name: "values", type: .string),
      ])
  }

  static var tables: [TableDeclaration] { [rows, listRows] }

  /// Deleting a missing row has no effect.
  init(_ seed: UInt64, _ options: EngineLoadOptions) {
    var random = PRNG(Seed(rawValue: seed))
    statements = (0..<1 + random.below(max(1, options.statementsMax))).map { _ in
      let key = Int64(random.below(max(1, options.keys)))
      if random.chance(Ratio(options.deletePercent, in: 100)) {
        return Mutation(.delete, Self.rows.name, key: key)
      }
      let letter = UInt8(ascii: "a") + UInt8(random.below(26))
      let bytes = [UInt8](repeating: letter, count: random.below(options.valueBytesMax + 1))
      let text = PlannedValue.string(String(decoding: bytes, as: UTF8.self))
      let number = PlannedValue.int(Int64(random.below(1 << 20)))
      return Mutation(.upsert, Self.rows.name, key: key, values: [number, text])
    }
    lists = Self.steps(&random, options)
    isCancelled = random.chance(Ratio(options.cancelPercent, in: 100))
  }

  private static func steps(
    _ random: inout PRNG, _ options: EngineLoadOptions
  ) -> [ListStep] {
    guard options.lists > 0, options.listsPerTransaction > 0 else { return [] }
    let first = random.below(options.lists)
    // Different lists, so that the order of a transaction's own steps does not matter.
    let count = 1 + random.below(min(options.lists, options.listsPerTransaction))
    return (0..<count).map { step in
      ListStep(
        key: Int64((first + step) % options.lists), appends: random.chance(Ratio(2, in: 3)))
    }
  }

  /// Lists that a reader reads.
  static func lookedAt(_ seed: UInt64, _ options: EngineLoadOptions) -> [Int64] {
    var random = PRNG(Seed(rawValue: seed).derived("look"))
    guard options.lists > 0 else { return [] }
    let first = random.below(options.lists)
    let count = 1 + random.below(min(options.lists, 5))
    return (0..<count).map { Int64((first + $0) % options.lists) }
  }
}

/// A list as stored in its row.
struct LoadList: Hashable {
  /// Most values of one generation.
  static let valuesMax = 24
  private static let generationsMax = 1_000_000

  let key: Int64
  var generation = 0
  var values: [Int] = []

  /// Its name in histories.
  var name: Int { Int(key) * Self.generationsMax + generation }

  /// A list without values.
  init(key: Int64) { self.key = key }

  /// The list in a row; nil if the row is not a list.
  init?(key: Int64, _ row: [PlannedValue]) {
    guard row.count == 2, case .int(let generation) = row[0], case .string(let text) = row[1]
    else { return nil }
    let words = text.split(separator: ",")
    values = words.compactMap { Int($0) }
    guard values.count == words.count else { return nil }
    self.key = key
    self.generation = Int(generation)
  }

  /// Appends a value; if the list is full, starts the next one.
  mutating func append(_ value: Int) {
    if values.count >= Self.valuesMax {
      generation += 1
      values = []
    }
    values.append(value)
  }

  /// The statement that writes its row.
  var mutation: Mutation {
    let text = values.map { "\($0)" }.joined(separator: ",")
    return Mutation(
      .upsert, EngineLoadPlan.listRows.name, key: key,
      values: [.int(Int64(generation)), .string(text)])
  }
}

extension EngineLoadPlan {
  /// Runs the transaction's steps on lists, wherever they are stored.
  /// - Parameters:
  ///   - number: Number of the transaction, from which its values are derived.
  ///   - read: Returns a list.
  ///   - write: Stores a list's new row.
  /// - Returns: The operations for a history.
  /// - Throws: Whatever `read` and `write` throw.
  func runLists<Failure: Error>(
    number: Int, read: (Int64) throws(Failure) -> LoadList,
    write: (Mutation) throws(Failure) -> Void
  ) throws(Failure) -> [HistoryOperation] {
    var operations: [HistoryOperation] = []
    for (index, step) in lists.enumerated() {
      var list = try read(step.key)
      operations.append(.read(list: list.name, values: list.values))
      guard step.appends else { continue }
      let value = number * 8 + index
      list.append(value)
      operations.append(.append(list: list.name, value: value))
      try write(list.mutation)
    }
    return operations
  }
}
