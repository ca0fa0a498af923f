// ScenarioChildren.swift: a scenario as a program, for `crash: {on: …}` and `stress SCENARIO`: the
// processes that run its steps and that judge the result of a crash.

import Findings
import LabCore
import Workload

/// A child that plans a scenario by itself.
package protocol ScenarioChild: ChildProgram {
  /// The scenario's file.
  var scenario: String { get }
  /// The seed for expanding its steps.
  var seed: UInt64 { get }
  /// Sets the scenario.
  init(scenario: String, seed: UInt64)
}

extension ScenarioChild {
  package static var parameters: [String] { ["SCENARIO", "SEED"] }

  package var arguments: [String] { [scenario, "\(seed)"] }

  package init(_ arguments: inout ChildArguments) throws(LabError) {
    self.init(scenario: arguments.text(), seed: try arguments.number())
  }
}

/// Runs a scenario's steps in `$FAULTLINE_DIR`.
package struct ScenarioWork: ScenarioChild {
  package static let name = "scenario-work"
  package let scenario: String
  package let seed: UInt64

  package init(scenario: String, seed: UInt64) {
    self.scenario = scenario
    self.seed = seed
  }

  /// Runs the steps.
  package func run() throws(LabError) -> Int32 {
    let environment = LaunchEnvironment(of: Self.self)
    let directory = try environment.directory()
    // The steps start with an empty directory; what a kill left is judged as it is.
    if let segment = environment[StressRun.segmentName], segment != "0" {
      return ExitCode.held.rawValue
    }
    let violations = try ScenarioProgram.work(
      scenario, seed: seed,
      history: ScenarioProgram.history(ofRound: environment[StressRun.seedName]), in: directory,
      mayFail: environment[StressRun.faultsName].map { $0 != "0" } ?? false)
    for violation in violations { Console().complain("\(violation)") }
    return ExitCode(of: violations).rawValue
  }
}

/// Judges a scenario's database after a crash.
package struct ScenarioJudge: ScenarioChild {
  package static let name = "scenario-judge"
  package let scenario: String
  package let seed: UInt64

  package init(scenario: String, seed: UInt64) {
    self.scenario = scenario
    self.seed = seed
  }

  /// Judges the directory.
  package func run() throws(LabError) -> Int32 {
    let environment = LaunchEnvironment(of: Self.self)
    let found = try ScenarioProgram.judge(
      scenario, seed: seed,
      history: ScenarioProgram.history(ofRound: environment[StressRun.seedName]),
      directory: try environment.directory(),
      acknowledged: try environment.acknowledged())
    for violation in found { Console().say("\(violation.oracle.rawValue): \(violation.got)") }
    return ExitCode(of: found).rawValue
  }
}

extension ExitCode {
  /// The exit code of a process that found violations, or none.
  init(of found: [Violation]) { self = found.isEmpty ? .held : .broken }
}
