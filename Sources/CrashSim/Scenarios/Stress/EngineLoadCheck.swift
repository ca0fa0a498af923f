// EngineLoadCheck.swift: the built-in workload's checker: applies the oracles to one crashed
// directory, and checks the isolation of the recorded history. It keeps what survived in the state
// directory, two files for each round, so that a round can be judged more than once and the whole
// output need not be read each time.

import Findings
import Foundation
import LabCore
import Oracles
import Workload

/// Judges the built-in workload's database after a power cut.
package struct EngineLoadCheck {
  /// Directory for the checker's own files.
  private let state: String
  private let options: EngineLoadOptions

  /// A checker of one load.
  /// - Parameters:
  ///   - state: Directory for the checker's own files.
  ///   - options: The options of the workload.
  package init(state: String, options: EngineLoadOptions) {
    self.state = state
    self.options = options
  }

  /// Judges a directory.
  /// - Parameters:
  ///   - directory: The crashed directory; it may be changed.
  ///   - acknowledged: The complete output of the workload, of all rounds.
  ///   - round: Number of the round.
  /// - Returns: The broken promises.
  /// - Throws: `LabError` when its files cannot be read or written.
  package func judge(
    directory: String, acknowledged: [UInt8], round: Int
  ) throws(LabError) -> [Violation] {
    var history = try load(path(round - 1))
    var record = EngineLoadRecord(
      text: try text(recordPath(round - 1)), mayFail: options.mayFail)
    try record.consume(acknowledged[min(history.consumedBytes, acknowledged.count)...])
    try history.consume(acknowledged)
    let allowed = history.allowed
    let bytes = FileManager.default.contents(atPath: "\(directory)/\(DatabaseFile.name)")
    let version = bytes.flatMap { XRay(Array($0)).chosen?.version }
    let check = EngineCheck(
      allowed, table: EngineLoadPlan.rows, database: options.declaration)
    var found = history.violations + check.judge(directory: directory, marksSeen: 0)
    if found.isEmpty { found = try record.violations() }
    // The record is kept also when a promise is broken, for inspection.
    try write(Data(record.text.utf8), to: recordPath(round))
    guard found.isEmpty else { return found }
    history.survive(version ?? allowed.acked.version) {
      bytes.flatMap { check.contentHash(of: Array($0)) }
    }
    found = try record.survive(history.version, lists: history.lists, round: round)
    if found.isEmpty {
      try save(history, to: path(round))
      try write(Data(record.text.utf8), to: recordPath(round))
      for path in [path(round - 2), recordPath(round - 2)] {
        try? FileManager.default.removeItem(atPath: path)
      }
    }
    return found
  }

  private func path(_ round: Int) -> String { "\(state)/round-\(round)" }
  private func recordPath(_ round: Int) -> String { "\(state)/history-\(round).jsonl" }

  private func text(_ path: String) throws(LabError) -> String {
    guard let data = FileManager.default.contents(atPath: path) else {
      return HistoryLine.header + "\n"
    }
    return String(decoding: data, as: UTF8.self)
  }

  private func load(_ path: String) throws(LabError) -> EngineLoadHistory {
    guard let data = FileManager.default.contents(atPath: path) else {
      return EngineLoadHistory(options)
    }
    do {
      return EngineLoadHistory(
        try JSONDecoder().decode(EngineLoadHistory.Saved.self, from: data), options)
    } catch {
      throw .lab("cannot read \(path): \(error)")
    }
  }

  private func save(_ history: EngineLoadHistory, to path: String) throws(LabError) {
    do {
      try write(try JSONEncoder().encode(history.saved), to: path)
    } catch let error as LabError {
      throw error
    } catch {
      throw .lab("cannot encode \(path): \(error)")
    }
  }

  private func write(_ data: Data, to path: String) throws(LabError) {
    do {
      try data.write(to: URL(fileURLWithPath: path), options: .atomic)
    } catch {
      throw .lab("cannot write \(path): \(error.localizedDescription)")
    }
  }
}
