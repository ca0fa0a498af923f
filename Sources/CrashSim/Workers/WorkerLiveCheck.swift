// WorkerLiveCheck.swift: checks a scenario's assertions about the live database in its process.

import Engine
import Findings
import Workload

/// Checks assertions about an open database.
struct LiveCheck {
  private let database: Database

  init(_ database: Database) {
    self.database = database
  }

  /// Checks one assertion; the session handles pins itself.
  func judge(_ claim: LiveExpectation) throws(EngineError) -> WorkerAnswer {
    let version = database.version.rawValue
    switch claim {
    case .count(let table, let rows):
      let snapshot = try database.snapshot()
      defer { snapshot.release() }
      let count = try snapshot.count(of: table)
      return answer(count == rows, "'\(table)' should have \(rows) rows", "it has \(count)")
    case .version(let expected):
      return answer(version == expected, "the version should be \(expected)", "it is \(version)")
    case .versionAtLeast(let least):
      return answer(version >= least, "the version should be at least \(least)", "it is \(version)")
    case .fileBytesAtMost(let limit):
      let size = database.statistics().fileSizeBytes
      return answer(size <= limit, "the file should have at most \(limit) bytes", "it has \(size)")
    case .fileTimesContentAtMost(let times):
      let size = database.statistics().fileSizeBytes
      let content = try contentBytes()
      let (limit, overflow) = content.multipliedReportingOverflow(by: times)
      return answer(
        overflow || size <= limit,
        "the file should have at most \(times) × \(content) bytes of content, \(limit)",
        "it has \(size)")
    case .verifies:
      if let violation = try damage() { return .broken(violation) }
      return .done(version: version)
    case .pinnedUnchanged(let name):
      return .failed(code: WorkerAnswer.protocolCode, message: "no pin '\(name)' here")
    }
  }

  /// What the engine's verification finds, if anything.
  func damage() throws(EngineError) -> Violation? {
    do throws(EngineError) {
      _ = try database.verify()
      return nil
    } catch {
      guard error.code == .corrupted else { throw error }
      return Violation(.structure, promised: "verify finds nothing", got: "\(error)")
    }
  }

  private func answer(_ holds: Bool, _ promised: String, _ got: String) -> WorkerAnswer {
    holds
      ? .done(version: database.version.rawValue)
      : .broken(Violation(.expectation, promised: promised, got: got))
  }

  /// Bytes of keys and values, as `ReferenceModel.contentBytes` counts them.
  private func contentBytes() throws(EngineError) -> UInt64 {
    let snapshot = try database.snapshot()
    defer { snapshot.release() }
    var sum = 0
    for table in snapshot.tables {
      try snapshot.forEach(in: table.name) { _, values in
        sum += values.reduce(8) { $0 + (PlannedValue($1)?.contentBytes ?? 0) }
      }
    }
    return UInt64(sum)
  }
}
