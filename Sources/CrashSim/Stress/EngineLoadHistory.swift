// EngineLoadHistory.swift: what the built-in workload acknowledged, and so what a power cut may
// leave: the newest acknowledged version, or one of those that were begun after it.
// Invariants: versions rise by one; `begun` follows `base` without a hole. A version that is begun
// once more was not committed the first time, so it and all behind it are dropped.

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

  private static var emptyModel: ReferenceModel {
    ReferenceModel(tables: [EngineLoad.table], hasTables: false)
  }

  /// Takes in what was acknowledged, from where the last call ended.
  /// - Throws: `LabError` with code `.usage` for lines that are not the workload's.
  mutating func consume(_ acknowledged: [UInt8]) throws(LabError) {
    guard acknowledged.count >= consumedBytes else {
      throw .usage("\(acknowledged.count) bytes of acknowledgements, \(consumedBytes) were known")
    }
    for line in acknowledged[consumedBytes...].split(separator: UInt8(ascii: "\n")) {
      let words = String(decoding: line, as: UTF8.self).split(separator: " ")
      let numbers = words.dropFirst().compactMap { UInt64($0) }
      switch (words.first, numbers.count) {
      case ("open", 1): mustExist = true
      case ("begin", 2): begin(numbers[0], seed: numbers[1])
      case ("commit", 1): commit(numbers[0])
      default: throw .usage("'\(String(decoding: line, as: UTF8.self))' is no acknowledgement")
      }
    }
    consumedBytes = acknowledged.count
  }

  private mutating func begin(_ version: UInt64, seed: UInt64) {
    begun.removeAll { $0.version >= version }
    let newest = begun.last ?? base
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
    for statement in EngineLoad.statements(seed) { _ = model.apply(statement) }
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
      mustExist: mustExist, acked: Self.state(base), candidates: begun.map { Self.state($0) })
  }

  private static func state(_ content: (version: UInt64, model: ReferenceModel)) -> CommittedState {
    let isEmpty = !content.model.hasTables
    return CommittedState(
      transaction: isEmpty ? nil : Int(clamping: content.version), version: content.version,
      content.model)
  }

  /// Goes on from what a power cut left: one of the allowed versions.
  mutating func survive(_ version: UInt64) {
    if let content = begun.first(where: { $0.version == version }) { base = content }
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

  init(_ saved: Saved) {
    consumedBytes = saved.consumedBytes
    mustExist = saved.mustExist
    var model = Self.emptyModel
    if saved.hasTables { model.createTables() }
    for row in saved.rows { _ = model.apply(row) }
    base = (saved.version, model)
  }

  var saved: Saved {
    let table = EngineLoad.table.name
    return Saved(
      consumedBytes: consumedBytes, mustExist: mustExist, version: base.version,
      hasTables: base.model.hasTables,
      rows: base.model.sortedRows(of: table).map {
        Mutation(.upsert, table, key: $0.key, values: $0.values)
      })
  }
}
