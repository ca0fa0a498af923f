// ScenarioCommands.swift: a scenario as a program, for `crash: {on: …}` and `stress SCENARIO`.

import ArgumentParser
import Findings
import Scenarios

/// Runs a scenario's steps in a directory.
struct ScenarioWork: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: ScenarioProgram.workName, abstract: "Run a scenario's steps in $FAULTLINE_DIR.",
    shouldDisplay: false)

  @Argument var scenario: String
  @Argument var seed: UInt64

  func run() throws {
    let environment = LaunchEnvironment(of: Self.self)
    let directory = try environment.directory()
    // The steps begin with an empty directory; what a kill left is judged as it is.
    if let segment = environment[StressRun.segmentName], segment != "0" { return }
    let violations = try ScenarioProgram.work(
      scenario, seed: seed, in: directory,
      mayFail: environment[StressRun.faultsName].map { $0 != "0" } ?? false)
    for violation in violations { Console().complain("\(violation)") }
    if !violations.isEmpty { throw Leave(code: .broken) }
  }
}

/// Judges what a crash left of a scenario's database.
struct ScenarioJudge: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: ScenarioProgram.judgeName, abstract: "Judge a crash of a scenario.",
    shouldDisplay: false)

  @Argument var scenario: String
  @Argument var seed: UInt64

  func run() throws {
    let environment = LaunchEnvironment(of: Self.self)
    let found = try ScenarioProgram.judge(
      scenario, seed: seed, directory: try environment.directory(),
      acknowledged: try environment.acknowledged())
    for violation in found { Console().say("\(violation.oracle.rawValue): \(violation.got)") }
    if !found.isEmpty { throw Leave(code: .broken) }
  }
}
