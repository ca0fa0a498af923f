// Replay.swift: `faultline replay`: one failure again, exactly.

import ArgumentParser
import CrashSim
import Foundation

struct Replay: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Reproduce one failure; --keep leaves the crashed directory for inspection.",
    discussion: """
      A token holds the commands or the scenario, the seed, the model and the crash state. The run \
      is recorded again and must have the same shape. On a real file system (explore --on) the \
      kernel may write its blocks in another order each time: the run is then recorded up to ten \
      times, and --trace takes the recording that explore --trace kept. A failing round of \
      'faultline stress' that was kept is judged as it was by --kept.

      Examples:
        faultline replay fl1-eyJ… --keep /tmp/crashed
        faultline replay fl1-eyJ… --trace /tmp/recording.sqlite
        faultline replay failed/round-7/token --kept failed/round-7
      """)

  @Argument(help: "A token as a finding prints it, or a file that holds one.") var token: String
  @Option(help: "Leave the crashed directory in this new or empty directory.") var keep: String?
  @Option(
    name: .customLong("trace"),
    help: "Judge the recording in this file, which explore --trace kept, instead of a new one.")
  var tracePath: String?

  @Option(help: "Judge the round of a stress run that this directory holds; play nothing.")
  var kept: String?

  @Flag(help: "Record call stacks, so that the finding names source lines.") var stacks = false

  func run() throws {
    let console = Console()
    let text = (try? String(contentsOfFile: token, encoding: .utf8)) ?? token
    switch try ReplayToken.decode(text) {
    case .stress(let recipe):
      guard tracePath == nil, !stacks else {
        throw LabError.usage(
          "--trace, --stacks: this token is of a stress run; its trace is in --kept DIR")
      }
      try replay(recipe, console: console)
    case _ where kept != nil: throw LabError.usage("--kept is for tokens of faultline stress")
    case .explore(let recipe): try replay(recipe, console: console)
    case .scenario(let recipe):
      if tracePath != nil {
        throw LabError.usage("--trace: this token is of a scenario; leave the option out")
      }
      var settings = ExplorationSettings()
      settings.recordsCallStacks = stacks
      let runner = try ScenarioRunner(
        settings: settings, console: console, door: recipe.door)
      let finding = try runner.replay(recipe, keepingImageIn: keep)
      try runner.end()
      try finish(finding, console: console)
    }
  }

  private func replay(_ recipe: ExploreRecipe, console: Console) throws {
    var settings = ExplorationSettings()
    if let name = recipe.fileSystem {
      settings.models = []
      settings.fileSystems = [try KernelFileSystem(parsing: name)]
      settings.runsFsck = recipe.runsFsck ?? false
    } else {
      settings.models = try PersistenceModel.chosen(recipe.model)
    }
    settings.seed = Seed(rawValue: recipe.seed)
    settings.jobs = 1
    settings.recordsCallStacks = stacks
    settings.writeBack = recipe.writeBack
    settings.timeoutSeconds = recipe.timeoutSeconds
    let program = ProgramUnderTest(
      workload: recipe.workload, check: recipe.check, setup: recipe.setup)
    let explorer = try ProgramExplorer(
      program: program, settings: settings, keepingTrace: nil, console: console)
    let (result, finding) = try explorer.replay(
      recipe, from: tracePath, keepingImageIn: keep)
    try finish(result.ending.isSuccess ? nil : finding, console: console)
  }

  private func replay(_ recipe: StressRecipe, console: Console) throws {
    var settings = StressSettings()
    settings.model = try PersistenceModel.chosen(recipe.model)[0]
    settings.seed = Seed(rawValue: recipe.seed)
    settings.faults = recipe.faults
    settings.writeBack = recipe.writeBack
    settings.load = recipe.load
    settings.timeoutSeconds = recipe.timeoutSeconds
    let stress = try StressRun(program: recipe.program, settings: settings, console: console)
    let (result, finding) =
      if let kept {
        try stress.judge(recipe, kept: KeptRound(directory: kept), keepingImageIn: keep)
      } else {
        try stress.replay(recipe, keepingImageIn: keep)
      }
    try finish(result.ending.isSuccess ? nil : finding, console: console)
  }

  private func finish(_ finding: Finding?, console: Console) throws {
    if let keep { console.say("the crashed directory is in \(keep)") }
    guard let finding else {
      console.say("verdict: held; the failure did not come back")
      return
    }
    for line in Console.lines(of: finding) { console.say(line) }
    console.say("verdict: broken, reproduced")
    console.say("replay: faultline replay \(finding.token)")
    throw Leave(code: .broken)
  }
}
