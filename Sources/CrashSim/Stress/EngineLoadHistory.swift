// EngineLoadHistory.swift: what the built-in workload acknowledged, and so what a power cut may
// leave: the newest acknowledged version, or one of those that were begun after it.
// Invariants: versions rise by one; `begun` follows `base` without a hole. A version that is begun
// once more was not committed the first time, so it and all behind it are dropped. A group of
// commits may end in a version without changes, which nobody begins (CommitGroup).

/// The history of the built-in workload, up to one moment.
struct EngineLoadHistory {
  /// Bytes of acknowledgements that are taken in.
  private(set) var consumedBytes = 0
  /// False until an open was acknowledged.
  private(set) var mustExist = false
  /// Broken promises that show without a crash.
  private(set) var violations: [Violation] = []
  private var base = (version: UInt64(1), model: Self.emptyModel)
  private var begun: [(version: UInt64, model: ReferenceModel)] = []
  private let options: EngineLoadOptions

  /// Begins before the first open.
  init(_ options: EngineLoadOptions = EngineLoadOptions()) { self.options = options }

  private static var emptyModel: ReferenceModel {
    ReferenceModel(tables: EngineLoadPlan.tables, hasTables: false)
  }

  /// Takes in what was acknowledged, from where the last call ended.
  /// - Throws: `LabError` with code `.usage` for lines that are not the workload's.
  mutating func consume(_ acknowledged: [UInt8]) throws(LabError) {
    guard acknowledged.count >= consumedBytes else {
      throw .usage("\(acknowledged.count) bytes of acknowledgements, \(consumedBytes) were known")
    }
    for line in acknowledged[consumedBytes...].split(separator: UInt8(ascii: "\n")) {
      // Lines of the history of transactions are `EngineLoadRecord`'s.
      if line.first == UInt8(ascii: "{") { continue }
      let words = String(decoding: line, as: UTF8.self).split(separator: " ")
      let numbers = words.dropFirst().compactMap { UInt64($0) }
      switch (words.first, numbers.count) {
      case ("open", 1): mustExist = true
      case ("begin", 3): begin(numbers[0], seed: numbers[1], number: numbers[2])
      case ("commit", 1): commit(numbers[0])
      case ("storm", 0), ("calm", 0), ("seen", 2): break
      default: throw .usage("'\(String(decoding: line, as: UTF8.self))' is no acknowledgement")
      }
    }
    consumedBytes = acknowledged.count
  }

  private mutating func begin(_ version: UInt64, seed: UInt64, number: UInt64) {
    begun.removeAll { $0.version >= version }
    var newest = begun.last ?? base
    if options.groupsCommits, version == newest.version + 2 {
      newest.version += 1
      begun.append(newest)
    }
    guard version == newest.version + 1 else {
      let isLost = version <= base.version
      violations.append(
        Violation(
          isLost ? .durability : .prefix, promised: "version \(newest.version) was the newest",
          got: "the next transaction began version \(version)"))
      return
    }
    var model = newest.model
    model.createTables()
    let plan = EngineLoadPlan(seed, options)
    for statement in plan.statements { _ = model.apply(statement) }
    // Steps are on different lists, so none reads what another one wrote.
    let before = model
    _ = plan.runLists(
      number: Int(clamping: number), read: { Self.list($0, of: before) },
      write: { _ = model.apply($0) })
    begun.append((version, model))
  }

  private mutating func commit(_ version: UInt64) {
    if let content = begun.first(where: { $0.version == version }) {
      base = content
    } else if version > base.version {
      violations.append(
        Violation(
          .prefix, promised: "only what was begun is acknowledged", got: "commit \(version)"))
    }
    begun.removeAll { $0.version <= base.version }
  }

  /// What a crash may leave now.
  var allowed: AllowedOutcomes {
    AllowedOutcomes(
      mustExist: mustExist, acked: Self.state(base),
      candidates: (begun + unannounced).map { Self.state($0) })
  }

  /// The version without changes that a group may end in.
  private var unannounced: [(version: UInt64, model: ReferenceModel)] {
    let newest = begun.last ?? base
    guard options.groupsCommits, newest.model.hasTables else { return [] }
    return [(newest.version + 1, newest.model)]
  }

  private static func state(_ content: (version: UInt64, model: ReferenceModel)) -> CommittedState {
    let isEmpty = !content.model.hasTables
    return CommittedState(
      transaction: isEmpty ? nil : Int(clamping: content.version), version: content.version,
      content.model)
  }

  private static func list(_ key: Int64, of model: ReferenceModel) -> LoadList {
    let row = model.row(key, in: EngineLoadPlan.listRows.name)
    return row.flatMap { LoadList(key: key, $0) } ?? LoadList(key: key)
  }

  /// The lists of the newest content that must be there.
  var lists: [LoadList] {
    base.model.sortedRows(of: EngineLoadPlan.listRows.name).compactMap {
      LoadList(key: $0.key, $0.values)
    }
  }

  /// The newest version that must be there.
  var version: UInt64 { base.version }

  /// Goes on from what a power cut left: one of the allowed versions.
  mutating func survive(_ version: UInt64) {
    if let content = (begun + unannounced).first(where: { $0.version == version }) {
      base = content
    }
    begun = []
  }
}

extension EngineLoadHistory {
  /// The history between two power cuts, as a file keeps it.
  struct Saved: Codable {
    var consumedBytes: Int
    var mustExist: Bool
    var version: UInt64
    var hasTables: Bool
    var rows: [Mutation]
  }

  init(_ saved: Saved, _ options: EngineLoadOptions) {
    self.options = options
    consumedBytes = saved.consumedBytes
    mustExist = saved.mustExist
    var model = Self.emptyModel
    if saved.hasTables { model.createTables() }
    for row in saved.rows { _ = model.apply(row) }
    base = (saved.version, model)
  }

  var saved: Saved {
    let names = EngineLoadPlan.tables.map(\.name)
    return Saved(
      consumedBytes: consumedBytes, mustExist: mustExist, version: base.version,
      hasTables: base.model.hasTables,
      rows: names.flatMap { table in
        base.model.sortedRows(of: table).map {
          Mutation(.upsert, table, key: $0.key, values: $0.values)
        }
      })
  }
}
