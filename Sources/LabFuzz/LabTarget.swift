// LabTarget.swift: the whole of Faultline as a function from bytes: operations on a database over a
// faulty disk are recorded; then the power fails at some point, and the result is compared with a
// dictionary.
// Invariants checked: every operation succeeds as on the model, or fails with an error of the disk;
// a crash leaves the newest acknowledged version, or one that was in flight, whole and writable;
// pinned versions never change.

import CrashStates
import Engine
import Fuzz
import LabCore
import Scenarios

enum LabTarget {
  static let target = FuzzTarget(
    name: "lab",
    judges: "operations, faults and power failures on FaultFS, against a dictionary",
    smokeCount: 40, seeds: { FuzzTarget.choiceSeeds("lab") }, run: { run($0) }
  ).with { $0.describe = { describe($0) } }

  private static func run(_ input: [UInt8]) -> FuzzOutcome {
    var choices = MutantChoices(bytes: input)
    do {
      var run = try LabRun(&choices)
      try run.work(&choices)
      try run.cut()
      return .accepted
    } catch let failure as LabFailure {
      return .finding(failure.text)
    } catch { return .finding("what must go well: \(error)") }
  }

  private static func describe(_ input: [UInt8]) -> [String] {
    var choices = MutantChoices(bytes: input)
    guard var run = try? LabRun(&choices) else { return ["no disk"] }
    run.isTold = true
    do {
      try run.work(&choices)
      try run.cut()
    } catch { run.told.append("ends in \(error)") }
    return run.told
  }
}

/// A finding.
struct LabFailure: Error {
  let text: String
}

/// One run: a disk, a database, and its required content.
struct LabRun {
  typealias Rows = [Int64: [Value]]

  private static let table = TableSchema(
    name: "T",
    columns: [
      ColumnSchema(name: "n", type: .int, isIndexed: true),
      ColumnSchema(name: "s", type: .string, isOptional: true),
      ColumnSchema(name: "list", type: .int, collection: .list),
    ])

  private let disk: FuzzedDisk
  /// Where the power fails; drawn first, so that short inputs have cuts anywhere, too.
  private let cutSeed: UInt64
  private let options: Database.Options
  private var database: Database?
  private var write: WriteTransaction?
  private var working: Rows = [:]
  /// The content after each acknowledged commit; the first one is that of a database without the
  /// table.
  private var acked: [Rows?] = [nil]
  /// By number of acknowledged commits, the contents that failed commits may have left.
  private var onTheirWay: [Int: [Rows?]] = [:]
  private var pins: [(snapshot: Snapshot, rows: Rows?)] = []
  /// Whether steps are described in words, and the descriptions.
  var isTold = false
  var told: [String] = []

  static func options(isOneSync: Bool) -> Database.Options {
    var options = Database.Options()
    options.commitProtocol = isOneSync ? .checksummed : .twoPhase
    options.entropy = EntropySource { count in [UInt8](repeating: 7, count: count) }
    return options
  }

  init(_ choices: inout MutantChoices) throws {
    let setup = choices.below(8)
    cutSeed = choices.number(2)
    disk = try FuzzedDisk()
    var options = Self.options(isOneSync: setup & 1 == 1)
    if setup & 6 == 6 { options.encryptionKey = [UInt8](0..<64) }
    self.options = options
    database = try disk.open(options)
    disk.mark("0")
  }

  private mutating func tell(_ text: @autoclosure () -> String) {
    if isTold { told.append(text()) }
  }

  // MARK: work

  mutating func work(_ choices: inout MutantChoices) throws {
    try begin()
    try commit()
    var steps = 0
    while !choices.isAtEnd, steps < 120 {
      try step(&choices)
      steps += 1
    }
    disk.clearRules()
    try close()
  }

  private mutating func step(_ choices: inout MutantChoices) throws {
    let kind = choices.below(16)
    switch kind {
    case 0...5: try change(kind, Int64(choices.below(24)), &choices)
    case 6, 7, 8: try commit()
    case 9:
      tell("roll back")
      write?.cancel()
      write = nil
    case 10: try pin(&choices)
    case 11: try unpin(&choices)
    case 12: try refresh()
    case 13: try compact()
    case 14: try reopen()
    default: try fault(&choices)
    }
  }

  /// Opens the database again after an error of the disk; without faults that must succeed.
  private mutating func open() throws {
    guard database == nil else { return }
    do throws(EngineError) {
      database = try disk.open(options)
    } catch {
      tell("cannot open: \(error.code)")
      disk.clearRules()
      database = try disk.open(options)
    }
    // The effect of a failed commit is known now.
    let found = try newest()
    guard allowed(acked.count - 1).contains(found) else {
      throw LabFailure(text: "reopened: \(found?.count ?? -1) rows, acked \(acked.count - 1)")
    }
    if found != acked[acked.count - 1] { acknowledge(found) }
    tell("open: \(found?.count ?? -1) rows")
  }

  private mutating func acknowledge(_ rows: Rows?) {
    acked.append(rows)
    disk.mark("\(acked.count - 1)")
  }

  private func allowed(_ marks: Int) -> [Rows?] {
    [acked[marks]] + onTheirWay[marks, default: []]
  }

  private mutating func begin() throws {
    try open()
    guard write == nil, let database else { return }
    do throws(EngineError) {
      write = try database.beginWrite()
    } catch {
      try surrender("begin", error)
      return try begin()
    }
    working = acked[acked.count - 1] ?? [:]
    if acked[acked.count - 1] == nil, let write { try write.createTable(Self.table) }
  }

  /// Gives up the handle after an error of the disk, like a program.
  private mutating func surrender(_ what: String, _ error: EngineError) throws {
    tell("\(what) fails: \(error.code)")
    switch error.code {
    case .io, .noSpace, .poisoned: break
    default: throw LabFailure(text: "\(what): \(error)")
    }
    try close()
    disk.clearRules()
    try open()
  }

  private mutating func close() throws {
    write?.cancel()
    write = nil
    for (snapshot, rows) in pins {
      try check(snapshot, rows)
      snapshot.release()
    }
    pins = []
    guard let database else { return }
    self.database = nil
    try? database.close()
  }

  private mutating func change(
    _ kind: Int, _ key: Int64, _ choices: inout MutantChoices
  ) throws {
    try begin()
    guard let write else { return }
    let number = Int64(bitPattern: choices.interesting())
    let text = String(repeating: "t", count: [0, 3, 60, 700][choices.below(4)])
    let row: [Value] = [.int(number), number & 3 == 0 ? .null : .string(text), .list([.int(key)])]
    let isThere = working[key] != nil
    tell("\(["upsert", "upsert", "insert", "update", "delete", "append"][kind]) \(key)")
    do throws(EngineError) {
      switch kind {
      case 0, 1: try write.upsert(into: "T", key: key, row)
      case 2: try write.insert(into: "T", key: key, row)
      case 3: try write.update(in: "T", key: key, row)
      case 4: try write.delete(from: "T", key: key)
      default:
        try write.append(.int(number), to: CollectionPath(table: "T", key: key, column: "list"))
      }
    } catch {
      if kind == 2 ? isThere : kind > 2 && !isThere { return }
      return try surrender("change", error)
    }
    guard kind < 2 || isThere == (kind > 2) else {
      throw LabFailure(text: "statement \(kind) of \(key) succeeds, and must not")
    }
    if kind < 4 {
      working[key] = row
    } else if kind == 4 {
      working[key] = nil
    } else if case .list(let elements) = working[key]?[2] {
      working[key]?[2] = .list(elements + [.int(number)])
    }
  }

  private mutating func commit() throws {
    guard let write else { return }
    self.write = nil
    let (marks, rows) = (acked.count - 1, working)
    onTheirWay[marks, default: []].append(rows)
    do throws(EngineError) {
      try write.commit()
    } catch { return try surrender("commit", error) }
    acknowledge(working)
    tell("commit \(marks + 1): \(rows.count) rows")
  }

  // MARK: versions

  private mutating func pin(_ choices: inout MutantChoices) throws {
    try open()
    guard pins.count < 3, let database else { return }
    tell("pin")
    pins.append((try database.snapshot(), acked[acked.count - 1]))
  }

  private mutating func unpin(_ choices: inout MutantChoices) throws {
    guard !pins.isEmpty else { return }
    tell("release a pin")
    let (snapshot, rows) = pins.remove(at: choices.below(pins.count))
    try check(snapshot, rows)
    snapshot.release()
  }

  private mutating func refresh() throws {
    try open()
    guard try newest() == acked[acked.count - 1] else {
      throw LabFailure(text: "the newest version is not the acked one")
    }
  }

  private func newest() throws -> Rows? {
    guard let database else { return nil }
    let snapshot = try database.snapshot()
    defer { snapshot.release() }
    return try Self.rows(snapshot)
  }

  private func check(_ snapshot: Snapshot, _ rows: Rows?) throws {
    guard try Self.rows(snapshot) == rows else {
      throw LabFailure(text: "a pinned version changed")
    }
  }

  private static func rows(_ snapshot: Snapshot) throws -> Rows? {
    guard snapshot.tables.contains(where: { $0.name == table.name }) else { return nil }
    var rows: Rows = [:]
    try snapshot.forEach(in: table.name) { key, values throws(EngineError) in rows[key] = values }
    for (key, values) in rows.sorted(by: { $0.key < $1.key }).prefix(2) {
      guard try snapshot.keys(in: table.name, column: "n", equalTo: values[0]).contains(key) else {
        throw LabFailure(text: "the index does not find row \(key)")
      }
    }
    return rows
  }

  private mutating func compact() throws {
    try open()
    guard write == nil, let database else { return }
    tell("compact")
    do throws(EngineError) {
      _ = try database.compact()
    } catch {
      // A database over its own backend, or with pins, reports that it cannot.
      switch error.code {
      case .io, .noSpace, .poisoned: return try surrender("compact", error)
      default: tell("compact is refused: \(error.code)")
      }
    }
  }

  private mutating func reopen() throws {
    tell("reopen")
    try close()
    try open()
  }

  private mutating func fault(_ choices: inout MutantChoices) throws {
    let kind = ["write", "sync", "allocate", "truncate"][choices.below(4)]
    let error = choices.below(2) == 0 ? "EIO" : kind == "sync" ? "EIO" : "ENOSPC"
    let nth = 1 + choices.below(6)
    let text = "on: \(kind), nth: \(nth), error: \(error)"
    guard
      let rules = try? FaultFile.parse(
        commandLine: text, file: "fault", allowsAnyErrno: kind == "truncate", warn: { _ in })
    else { throw LabFailure(text: "a valid rule is refused: \(text)") }
    tell("fault: \(text)")
    try disk.addRules(rules)
  }

  // MARK: power

  /// The power fails at some points of the recording.
  mutating func cut() throws {
    var choices = MutantChoices(seed: cutSeed)
    let trace = disk.endRecording()
    let models = PersistenceModel.stock
    for _ in 0..<3 {
      let model = models[choices.below(models.count)]
      let events = trace.events.count - choices.below(trace.events.count)
      let crash = try FuzzedDisk.crash(
        of: trace, model: model, afterEvents: events, seed: choices.number(4))
      tell("power fails after \(events) of \(trace.events.count) events: \(crash.key)")
      if let wrong = try wrongAfter(crash) {
        throw LabFailure(text: "\(crash.key): \(wrong)")
      }
    }
  }

  private func wrongAfter(_ crash: FuzzedDisk.Crash) throws -> String? {
    guard let backend = crash.backend else {
      return crash.marksSeen == 0 ? nil : "the file is gone, acked \(crash.marksSeen - 1)"
    }
    do throws(EngineError) {
      let database = try Database.open(backend: backend, options: options)
      _ = try database.verify()
      let snapshot = try database.snapshot()
      let rows: Rows?
      do { rows = try Self.rows(snapshot) } catch { return "\(error)" }
      snapshot.release()
      let marks = crash.marksSeen - 1
      guard marks < 0 ? rows == nil : allowed(marks).contains(rows) else {
        return "\(rows?.count ?? -1) rows, not those of version \(marks) nor of one on its way"
      }
      let write = try database.beginWrite()
      try write.createTable(TableSchema(name: "after", columns: []))
      try write.commit()
      _ = try database.verify()
      try database.close()
      return nil
    } catch { return "after the cut: \(error)" }
  }
}
