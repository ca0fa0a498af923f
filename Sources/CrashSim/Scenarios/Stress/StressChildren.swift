// StressChildren.swift: the built-in workload's processes, which shell commands start.

import Findings
import LabCore

/// One process of the built-in workload: commits to the engine until it is killed.
package struct StressLoad: ChildProgram {
  package static let name = "stress-load"
  package static let parameters = ["PROCESS", "GENERATION"]
  /// Number of the process.
  let process: Int
  /// Number of earlier starts.
  let generation: Int

  package var arguments: [String] { ["\(process)", "\(generation)"] }

  package init(_ arguments: inout ChildArguments) throws(LabError) {
    process = try arguments.number()
    generation = try arguments.number()
  }

  /// Runs the process.
  package func run() throws(LabError) -> Int32 {
    let environment = LaunchEnvironment(of: Self.self)
    let place = EngineLoad.Place(
      round: try environment.number(StressRun.roundName),
      segment: try environment.number(StressRun.segmentName), process: process,
      generation: generation)
    let ending = EngineLoad.run(
      directory: try environment.directory(), place: place,
      options: try EngineLoadOptions.found(),
      seed: Seed(rawValue: try environment.number(StressRun.seedName)))
    return ending.rawValue
  }
}

/// The checker of the built-in workload.
package struct StressJudge: ChildProgram {
  package static let name = "stress-judge"
  package static let parameters: [String] = []

  package var arguments: [String] { [] }

  package init(_ arguments: inout ChildArguments) {}

  /// Judges a power cut.
  package func run() throws(LabError) -> Int32 {
    let environment = LaunchEnvironment(of: Self.self)
    let check = EngineLoadCheck(
      state: try environment.text(StressRun.stateName), options: try EngineLoadOptions.found())
    let found = try check.judge(
      directory: try environment.directory(), acknowledged: try environment.acknowledged(),
      round: try environment.number(StressRun.roundName))
    for violation in found { Console().say("\(violation)") }
    return ExitCode(of: found).rawValue
  }
}
