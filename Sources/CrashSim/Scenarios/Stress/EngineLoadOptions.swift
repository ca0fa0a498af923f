// EngineLoadOptions.swift: how the built-in workload works: who, how much, with which features.
// A run hands it to the processes as JSON in their environment.

import Engine
import Foundation
import LabCore
import Workload

/// How the built-in workload works.
package struct EngineLoadOptions: Codable, Sendable, Hashable {
  /// Variable that holds the options.
  package static let environmentName = "FAULTLINE_LOAD"

  /// Processes.
  package var processes = 2
  /// Threads of each that write.
  package var writers = 2
  /// Threads of each that read.
  package var readers = 1
  /// Transactions of each thread until it has done its part of the safety phase.
  ///
  /// By default nobody waits for so many: the power goes before.
  package var transactions = 20_000
  /// Keys that rows are drawn from.
  package var keys = 200
  /// Most bytes of a row's text.
  package var valueBytesMax = 300
  /// Most statements of a transaction.
  package var statementsMax = 6
  /// Of a hundred statements so many delete.
  package var deletePercent = 25
  /// Of a hundred transactions so many are cancelled.
  package var cancelPercent = 0
  /// Lists that grow at the same time.
  package var lists = 4
  /// Most lists that a transaction reads, or reads and appends to.
  package var listsPerTransaction = 2
  /// The protocol of commits.
  package var commit = DeclaredProtocol.twoPhase
  /// Whether the database is encrypted.
  package var isEncrypted = false
  /// Whether commits of threads that wait for each other share their syncs.
  package var groupsCommits = false
  /// Whether commits are synced; without, nothing is lost when the power goes, for it does not.
  package var isDurable = true
  /// Before so many of a hundred transactions a thread tries to compact the file.
  package var compactPercent = 0
  /// Microseconds that a reader waits before each look.
  package var lookPauseMicroseconds = 2000
  /// Looks for which a reader keeps one version pinned.
  package var looksPerPin = 1
  /// A process kills itself before one of so many first steps of its commits; 0 is never.
  package var killStepsMax = 0
  /// Whether calls may fail because a fault was injected.
  package var mayFail = false

  /// The load without a swarm: two processes with two writers and a reader each.
  package init() {}

  /// How the database is opened, for whoever judges it.
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

  /// What a process has in its environment.
  /// - Throws: `LabError` when the options cannot be encoded.
  func environment() throws(LabError) -> [String: String] {
    [
      Self.environmentName: try json(),
      "FAULTLINE_PROCESSES": (0..<processes).map { "\($0)" }.joined(separator: " "),
    ]
  }

  /// The options in one line, always the same for the same ones.
  func json() throws(LabError) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    do {
      return String(decoding: try encoder.encode(self), as: UTF8.self)
    } catch {
      throw .internalError("the options of the load cannot be encoded: \(error)")
    }
  }

  /// The options that a process or a checker finds in its environment.
  /// - Throws: `LabError` with code `.usage` when they are none.
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
