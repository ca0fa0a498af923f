// EngineLoadOptions.swift: the options of the built-in workload: its processes, amount and
// features. A run passes them to the processes as JSON in their environment.

import Engine
import Foundation
import LabCore
import Workload

/// The options of the built-in workload.
package struct EngineLoadOptions: Codable, Sendable, Hashable {
  /// Environment variable with the options.
  package static let environmentName = "FAULTLINE_LOAD"

  /// Processes.
  package var processes = 2
  /// Writer threads of each process.
  package var writers = 2
  /// Reader threads of each process.
  package var readers = 1
  /// Transactions of each thread in its part of the safety phase.
  ///
  /// The default is never reached: the power fails before.
  package var transactions = 20_000
  /// Keys that rows are drawn from.
  package var keys = 200
  /// Most bytes of a row's text.
  package var valueBytesMax = 300
  /// Most statements of a transaction.
  package var statementsMax = 6
  /// Percentage of statements that delete.
  package var deletePercent = 25
  /// Percentage of transactions that are cancelled.
  package var cancelPercent = 0
  /// Number of lists that grow at the same time.
  package var lists = 4
  /// Most lists that a transaction reads, or reads and appends to.
  package var listsPerTransaction = 2
  /// The commit protocol.
  package var commit = DeclaredProtocol.twoPhase
  /// Whether the database is encrypted.
  package var isEncrypted = false
  /// Whether commits of threads that wait for each other share their syncs.
  package var groupsCommits = false
  /// Whether commits are synced; if not, processes are only killed, and nothing may be lost.
  package var isDurable = true
  /// Percentage of transactions before which a thread tries to compact the file.
  package var compactPercent = 0
  /// Microseconds that a reader waits before each read.
  package var lookPauseMicroseconds = 2000
  /// Number of reads during which a reader keeps one version pinned.
  package var looksPerPin = 1
  /// A process kills itself before one of this many first steps of its commits; 0 is never.
  package var killStepsMax = 0
  /// Whether calls may fail because of injected faults.
  package var mayFail = false

  /// The default load: two processes with two writers and a reader each.
  package init() {}

  /// How the database is opened, for the checker.
  var declaration: DatabaseDeclaration {
    var declaration = DatabaseDeclaration()
    declaration.commit = commit
    declaration.key = isEncrypted ? .first : .none
    return declaration
  }

  /// How a process opens the database.
  func databaseOptions(failpoint: Failpoint?) -> Database.Options {
    var options = declaration.options()
    options.groupedCommits = groupsCommits
    options.durability = isDurable ? .full : .unsafe
    options.failpoint = failpoint
    return options
  }

  /// The environment variables of a process.
  /// - Throws: `LabError` when the options cannot be encoded.
  func environment() throws(LabError) -> [String: String] {
    [
      Self.environmentName: try json(),
      "FAULTLINE_PROCESSES": (0..<processes).map { "\($0)" }.joined(separator: " "),
    ]
  }

  /// The options in one line, always the same for equal options.
  func json() throws(LabError) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    do {
      return String(decoding: try encoder.encode(self), as: UTF8.self)
    } catch {
      throw .internalError("the options of the load cannot be encoded: \(error)")
    }
  }

  /// The options in a process's or checker's environment.
  /// - Throws: `LabError` with code `.usage` when they are invalid.
  package static func found() throws(LabError) -> EngineLoadOptions {
    guard let text = ProcessInfo.processInfo.environment[environmentName] else {
      return EngineLoadOptions()
    }
    do {
      return try JSONDecoder().decode(EngineLoadOptions.self, from: Data(text.utf8))
    } catch {
      throw .usage("\(environmentName) cannot be read: \(error)")
    }
  }
}
