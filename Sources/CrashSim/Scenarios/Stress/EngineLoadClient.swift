// EngineLoadClient.swift: one thread of the built-in workload: its transactions, one after the
// other, and its output about them.
// Invariant: a transaction's begin is written before the engine is called, its operations before it
// requests its commit, its end after the engine has answered; so the order of lines is
// chronological.

import Engine
import Glibc
import LabCore
import Oracles
import Workload

/// One thread of a load.
struct EngineLoadClient {
  let database: Database
  let options: EngineLoadOptions
  /// Its session in histories.
  let session: Int
  let seed: Seed
  let writes: Bool
  private var count = 0
  private var pin: (snapshot: Snapshot, hash: UInt64, looks: Int)?

  /// Most transactions of a session; each session has its own range of numbers.
  static let transactionsMax = 100_000

  init(
    database: Database, options: EngineLoadOptions, session: Int, seed: Seed, writes: Bool
  ) {
    self.database = database
    self.options = options
    self.session = session
    self.seed = seed
    self.writes = writes
  }

  /// Runs the next transaction.
  /// - Returns: The broken promise, in words; nil if there is none.
  /// - Throws: `EngineError` of the engine.
  mutating func step() throws(EngineError) -> String? {
    let number = session * Self.transactionsMax + count
    let own = seed.derived(UInt64(count)).rawValue
    count += 1
    if options.compactPercent > 0 {
      var random = PRNG(Seed(rawValue: own).derived("compact"))
      if random.chance(Ratio(options.compactPercent, in: 100)) { _ = try database.compact() }
    }
    return writes ? try write(number, own) : try look(number, own)
  }

  /// Releases what it holds.
  mutating func end() {
    pin?.snapshot.release()
    pin = nil
  }

  // MARK: - Writing

  private func write(_ number: Int, _ seed: UInt64) throws(EngineError) -> String? {
    EngineLoad.say(HistoryLine.begin(number, session: session))
    let transaction = try database.beginWrite()
    let version = transaction.nextVersion
    let plan = EngineLoadPlan(seed, options)
    let operations: [HistoryOperation]
    do throws(EngineError) {
      operations = try apply(plan, number, to: transaction)
    } catch {
      transaction.cancel()
      throw error
    }
    let line = HistoryLine.operations(number, operations)
    if plan.isCancelled {
      transaction.cancel()
      EngineLoad.say(line, HistoryLine.end(number, .aborted))
      return nil
    }
    EngineLoad.say("begin \(version) \(seed) \(number)", line)
    let committed = try transaction.commit()
    EngineLoad.say("commit \(committed)", HistoryLine.end(number, .committed))
    return committed == version
      ? nil : "the commit after version \(version.rawValue - 1) became version \(committed)"
  }

  private func apply(
    _ plan: EngineLoadPlan, _ number: Int, to transaction: WriteTransaction
  ) throws(EngineError) -> [HistoryOperation] {
    for table in EngineLoadPlan.tables {
      do throws(EngineError) {
        try transaction.createTable(table.schema)
      } catch  where error.code == .tableExists {}
    }
    for statement in plan.statements { try Self.apply(statement, to: transaction) }
    return try plan.runLists(
      number: number,
      read: { (key) throws(EngineError) in
        try Self.list(key, try transaction.row(in: EngineLoadPlan.listRows.name, key: key))
      },
      write: { (mutation) throws(EngineError) in try Self.apply(mutation, to: transaction) })
  }

  private static func apply(
    _ statement: Mutation, to transaction: WriteTransaction
  ) throws(EngineError) {
    switch statement.kind {
    case .delete:
      do throws(EngineError) {
        try transaction.delete(from: statement.table, key: statement.key)
      } catch  where error.code == .keyNotFound {}
    default:
      try transaction.upsert(
        into: statement.table, key: statement.key, statement.values.map(\.engineValue))
    }
  }

  /// The list in a row; a row of another form is damage.
  private static func list(_ key: Int64, _ row: [Value]?) throws(EngineError) -> LoadList {
    guard let row else { return LoadList(key: key) }
    guard row.count == 2, case .int(let generation) = row[0], case .string(let text) = row[1],
      let list = LoadList(key: key, [.int(generation), .string(text)])
    else {
      throw EngineError(code: .corrupted, message: "row \(key) of the lists is \(row)")
    }
    return list
  }

  // MARK: - Reading

  /// Reads some lists of the newest version, and reads a version that stays pinned twice.
  private mutating func look(_ number: Int, _ seed: UInt64) throws(EngineError) -> String? {
    // A read is much cheaper than a commit; without a pause all power cuts would hit reads.
    usleep(UInt32(clamping: options.lookPauseMicroseconds))
    EngineLoad.say(HistoryLine.begin(number, session: session))
    let snapshot = try database.snapshot()
    var isKept = false
    defer { if !isKept { snapshot.release() } }
    var operations: [HistoryOperation] = []
    // Before the first commit there is no table, so every list is empty.
    let hasLists = snapshot.tables.contains { $0.name == EngineLoadPlan.listRows.name }
    for key in EngineLoadPlan.lookedAt(seed, options) {
      let row = hasLists ? try snapshot.row(in: EngineLoadPlan.listRows.name, key: key) : nil
      let list = try Self.list(key, row)
      operations.append(.read(list: list.name, values: list.values))
    }
    EngineLoad.say(
      "seen \(number) \(snapshot.version)", HistoryLine.operations(number, operations),
      HistoryLine.end(number, .committed))
    guard var held = pin else {
      pin = (snapshot, try snapshot.contentHash(), 1)
      isKept = true
      return nil
    }
    held.looks += 1
    pin = held
    guard held.looks > options.looksPerPin else { return nil }
    pin = nil
    defer { held.snapshot.release() }
    guard try held.snapshot.contentHash() != held.hash else { return nil }
    return "isolation: version \(held.snapshot.version) changed while it was pinned"
  }
}
