// Children.swift: the hidden subcommand with which `faultline` starts itself as a child, and the
// table of its programs. Each program is next to the code that starts it.

import ArgumentParser
import EngineExploration
import Exploration
import FaultFS
import Foundation
import LabCore
import Scenarios
import Workers

/// Runs one of the programs that Faultline starts as separate processes.
struct Child: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Run a program that faultline starts itself.", shouldDisplay: false)

  /// All child programs.
  static let programs: [any ChildProgram.Type] = [
    WorkerProgram.self, EngineShard.self, EngineJudgeServer.self, ScheduleServer.self,
    PageWriter.self, RunSweeper.self, CalibrationStep.self, CalibrationCall.self, StressLoad.self,
    StressJudge.self, ScenarioWork.self, ScenarioJudge.self, DocumentSetup.self,
    DocumentWork.self, DocumentHandProgram.self, DocumentRecover.self, DocumentCheck.self,
  ]

  /// Programs that commands in old replay tokens start without the subcommand.
  private static let namesInOldTokens = [
    StressLoad.name, StressJudge.name, ScenarioWork.name, ScenarioJudge.name,
  ]

  @Argument var program: String
  @Argument(parsing: .captureForPassthrough) var arguments: [String] = []

  func run() throws {
    guard let found = Self.programs.first(where: { $0.name == program }) else {
      let names = Self.programs.map { $0.name }.sorted().joined(separator: ", ")
      throw LabError.usage(
        "child \(program): no such program; there are \(names), and faultline starts them itself")
    }
    let status = try found.started(with: arguments).run()
    if status != LabCore.ExitCode.held.rawValue { Foundation.exit(status) }
  }

  /// The arguments of a command line, with the subcommand added before a name from an old token.
  static func completed(_ arguments: [String]) -> [String] {
    guard let first = arguments.first, namesInOldTokens.contains(first) else { return arguments }
    return [StressLoad.subcommand] + arguments
  }
}
