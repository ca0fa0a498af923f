// EngineLoadCheck.swift: the built-in workload's checker: the oracles over one crashed directory.
// It keeps what survived in the state directory, one file for each round, so that a round can be
// judged more than once and the whole history need not be read for each.

import Foundation

/// Judges what a power cut left of the built-in workload's database.
public enum EngineLoadCheck {
  /// Judges a directory.
  /// - Parameters:
  ///   - directory: The crashed directory; it may be changed.
  ///   - acknowledged: All that the workload has said, in all rounds.
  ///   - state: Where the checker keeps its own files.
  ///   - round: Number of the round.
  /// - Returns: The broken promises.
  /// - Throws: `LabError` when its files cannot be read or written.
  public static func judge(
    directory: String, acknowledged: [UInt8], state: String, round: Int
  ) throws(LabError) -> [Violation] {
    var history = try load(path(state, round - 1))
    try history.consume(acknowledged)
    let allowed = history.allowed
    let bytes = FileManager.default.contents(atPath: "\(directory)/\(EngineWorker.fileName)")
    let version = bytes.flatMap { XRay(Array($0)).chosen?.version }
    let check = EngineCheck(allowed, table: EngineLoad.table)
    let found = history.violations + check.judge(directory: directory, marksSeen: 0)
    if found.isEmpty {
      history.survive(version ?? allowed.acked.version)
      try save(history, to: path(state, round))
      try? FileManager.default.removeItem(atPath: path(state, round - 2))
    }
    return found
  }

  private static func path(_ state: String, _ round: Int) -> String { "\(state)/round-\(round)" }

  private static func load(_ path: String) throws(LabError) -> EngineLoadHistory {
    guard let data = FileManager.default.contents(atPath: path) else { return EngineLoadHistory() }
    do {
      return EngineLoadHistory(try JSONDecoder().decode(EngineLoadHistory.Saved.self, from: data))
    } catch {
      throw .lab("cannot read \(path): \(error)")
    }
  }

  private static func save(_ history: EngineLoadHistory, to path: String) throws(LabError) {
    do {
      try JSONEncoder().encode(history.saved).write(to: URL(fileURLWithPath: path))
    } catch {
      throw .lab("cannot write \(path): \(error.localizedDescription)")
    }
  }
}
