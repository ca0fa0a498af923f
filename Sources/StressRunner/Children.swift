// Children.swift: hidden subcommands that the lab starts as processes of its own.

import ArgumentParser
import CrashStates
import EngineExploration
import Exploration
import FaultFS
import Foundation
import LabCore
import Scenarios
import Workers

/// The process in which the engine runs under test.
struct Worker: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Run the engine by commands on standard input.", shouldDisplay: false)

  @Argument var directory: String

  func run() throws {
    let status = EngineWorker.run(input: 0, output: 1, directory: directory)
    if status != 0 { throw Leave(code: .labFailed) }
  }
}

/// Judges the crash states of one shard.
struct CheckShard: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check-shard", abstract: "Judge one shard of a job's crash states.",
    shouldDisplay: false)

  @Argument var job: String
  @Argument var index: Int
  @Argument var count: Int
  @Argument var first: Int
  @Argument var progress: String

  func run() throws {
    guard count > 0, (0..<count).contains(index) else {
      throw LabError.usage("shard \(index) of \(count)")
    }
    try EngineShard.run(
      job: job, shard: Shard(index: index, of: count), from: first, progress: progress)
  }
}

/// Sweeps up behind a lab that was killed.
struct Guard: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Wait for the end of standard input, then sweep a run's directory.",
    shouldDisplay: false)

  @Argument var directory: String

  func run() throws { RunGuard.watch(path: directory, input: 0) }
}

/// Judges single states or directories.
struct Judge: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Judge states by questions on standard input.", shouldDisplay: false)

  @Argument var job: String

  func run() throws { try EngineJudgeServer.run(job: job) }
}

/// Has dirty pages of files written, for a daemon.
struct WritePages: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "write-pages", abstract: "Write dirty pages of files on a mount.",
    shouldDisplay: false)

  @Argument var mountPoint: String

  func run() throws { try PageWriter.run(mountPoint: mountPoint) }
}

/// Searches the schedules of a scenario.
struct SearchSchedules: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "search-schedules", abstract: "Search the schedules of a job.",
    shouldDisplay: false)

  @Argument var job: String
  @Argument var journal: String

  func run() throws { try ScheduleServer.run(job: job, journal: journal) }
}

/// Makes the kernel write something now, between the steps of a calibration's probe.
struct WriteBackStep: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "write-back", abstract: "Commit a journal, or write files out.",
    shouldDisplay: false)

  @Argument var what: String
  @Argument var fileSystem: String

  func run() throws {
    let system = try KernelFileSystem(parsing: fileSystem)
    guard let moment = CalibrationMoment(rawValue: what) else {
      throw LabError.usage("write-back \(what): no such moment")
    }
    try moment.bring(about: system, in: FileManager.default.currentDirectoryPath)
  }
}

/// What the lab gave to a command that it started, in the command's environment.
struct LaunchEnvironment {
  private let variables = ProcessInfo.processInfo.environment
  private let command: String

  /// Reads what the command was given.
  init(of command: any ParsableCommand.Type) {
    self.command = command.configuration.commandName ?? "\(command)"
  }

  /// A value that is given in some runs only.
  subscript(name: String) -> String? { variables[name] }

  /// A value that is always given.
  func text(_ name: String) throws(LabError) -> String {
    guard let text = variables[name] else {
      throw .usage("\(command) is started by faultline, which sets $\(name)")
    }
    return text
  }

  /// A number that is always given.
  func number<Number: FixedWidthInteger>(_ name: String) throws(LabError) -> Number {
    let text = try text(name)
    guard let number = Number(text) else {
      throw .usage("\(command) is started by faultline, and $\(name) is no number: '\(text)'")
    }
    return number
  }

  /// The directory in which a workload works, or which a checker judges.
  func directory() throws(LabError) -> String { try text("FAULTLINE_DIR") }

  /// What a workload had acknowledged before the crash that is judged.
  func acknowledged() throws(LabError) -> [UInt8] {
    let path = try text("FAULTLINE_OUTPUT")
    guard let data = FileManager.default.contents(atPath: path) else {
      throw .usage("\(command) is started by faultline, and there is no file \(path)")
    }
    return Array(data)
  }
}
