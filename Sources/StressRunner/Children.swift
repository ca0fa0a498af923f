// Children.swift: hidden subcommands that the lab starts as processes of its own.

import ArgumentParser
import CrashSim
import Foundation

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
