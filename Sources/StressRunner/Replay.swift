// Replay.swift: `faultline replay`: reproduces one failure exactly.

import ArgumentParser
import CrashStates
import Exploration
import Findings
import Foundation
import LabCore
import Reports
import Scenarios

struct Replay: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Reproduce a failure.",
    discussion: """
      A token holds the commands or the scenario, the seed, the model and the crash state. \
      Faultline records the run again and checks this state. Exit codes: 1 the failure is there \
      again, 0 it is not, 4 the program did something else.

      The commands are printed first. If no run of yours on this machine made the token, Faultline \
      asks before it runs them. Without a terminal it refuses, unless you give --trust.

      --keep leaves the directory as the power failure left it. --step walks through the \
      recording, and through those of recoveries. --gdb stops a scenario's process in one \
      operation. --kept judges a failing round of 'faultline stress' as it was \
      (docs/reference/replay.md).

      On a real file system (explore --on) the kernel may write its blocks in another order each \
      time. The run is then recorded up to ten times, or taken from --trace.

      Examples:
        faultline replay fl1-eyJ… --keep /tmp/crashed
        faultline replay fl1-eyJ… --trace /tmp/recording.sqlite
        faultline replay failed/round-7/token --kept failed/round-7
        faultline replay fl1-eyJ… --step --stacks
        faultline replay fl1-eyJ… --gdb --at 17 --gdb-command bt
      """)

  @Argument(help: "The token of a finding, or a file that holds one.") var token: String
  @Option(help: "Leave the crashed files in this new or empty directory.") var keep: String?
  @Option(
    name: .customLong("trace"),
    help: "Use the recording in this file, which explore --trace kept.")
  var tracePath: String?

  @Option(help: "Judge the round of a stress run in this directory; run nothing.")
  var kept: String?

  @Flag(help: "Run the commands of a token that no run of yours on this machine made.")
  var trust = false

  @Flag(help: "Record call stacks, so that the finding names source lines.") var stacks = false

  @Flag(
    help: """
      Walk through the recording one operation at a time. Checks nothing.
      """)
  var step = false
  @Flag(help: "Stop the scenario's process in an operation, and run gdb on it. Checks nothing.")
  var gdb = false
  @Option(
    name: .customLong("at"),
    help: """
      With --gdb: the number of the operation, as --step shows it. Default: the last before the \
      failure.
      """)
  var event: EventPlace?
  @Option(
    name: .customLong("gdb-command"),
    help: "With --gdb: run this command instead of a prompt. Can be repeated.")
  var gdbCommands: [String] = []

  func validate() throws {
    guard !(step && gdb) else { throw ValidationError("--step and --gdb: give one of them") }
    guard keep == nil || !(step || gdb) else {
      throw ValidationError("--keep keeps a checked directory; --step and --gdb check nothing")
    }
    guard gdb || (event == nil && gdbCommands.isEmpty) else {
      throw ValidationError("--at and --gdb-command go with --gdb")
    }
    if let event, event.recovery > 0 {
      throw ValidationError(
        "--at \(event): a recovery runs inside Faultline, where no worker can be stopped; "
          + "give an event of the workload, or walk through it with --step")
    }
  }

  func run() throws {
    let console = Console()
    let text = (try? String(contentsOfFile: token, encoding: .utf8)) ?? token
    let recipe = try ReplayRecipe(token: text)
    try TokenTrust.confirm(recipe, of: text, isTrusted: trust, console: console)
    switch recipe {
    case .stress where step || gdb:
      throw LabError.usage(
        "--step, --gdb: a stress run has no recording to walk through; use --kept or --keep")
    case .stress(let recipe):
      guard tracePath == nil, !stacks else {
        throw LabError.usage(
          "--trace, --stacks: this token is of a stress run; its trace is in --kept DIR")
      }
      try replay(recipe, console: console)
    case _ where kept != nil: throw LabError.usage("--kept takes tokens of faultline stress only")
    case .explore(let recipe): try replay(recipe, console: console)
    case .scenario(let recipe):
      if tracePath != nil {
        throw LabError.usage("--trace: this token is of a scenario; leave the option out")
      }
      var settings = ExplorationSettings()
      settings.recordsCallStacks = stacks
      let runner = try ScenarioRunner(
        settings: settings, console: console, backend: recipe.backend)
      if step || gdb { return try look(recipe, runner, console) }
      let finding = try runner.replay(recipe, keepingImageIn: keep)
      try runner.end()
      try finish(finding, console: console)
    }
  }

  /// Steps through a scenario's recording, or stops its worker in a debugger.
  private func look(
    _ recipe: ScenarioRecipe, _ runner: ScenarioRunner, _ console: Console
  ) throws {
    if gdb {
      let debugger = try Debugger(commands: gdbCommands)
      for line in try runner.debug(recipe, at: event?.number, with: debugger) { console.say(line) }
    } else {
      try walk(try runner.walk(recipe), console)
    }
    try runner.end()
  }

  private func walk(_ walk: FailureWalk, _ console: Console) throws {
    var stepper = TraceStepper(walk, console: console, input: StandardInput())
    try stepper.run()
    console.say("nothing was checked; without --step the failure is checked")
  }

  private func replay(_ recipe: ExploreRecipe, console: Console) throws {
    guard !gdb else {
      throw LabError.usage(
        "--gdb is for tokens of scenarios; start your program under gdb on 'faultline mount DIR'")
    }
    for line in DocumentTokens.remarks(on: recipe.workload) { console.say(line) }
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
    settings.directAlignment = recipe.directAlignment
    settings.marks = recipe.marks ?? .writes
    settings.faults = recipe.faults ?? []
    settings.timeoutSeconds = recipe.timeoutSeconds
    var program = ProgramUnderTest(
      workload: recipe.workload, check: recipe.check, setup: recipe.setup)
    program.checkStays = recipe.checkStays ?? false
    program.judging = recipe.judging
    program.recovery = recipe.recover.map { ProgramRecovery(command: $0) }
    let explorer = try ProgramExplorer(
      program: program, settings: settings, keepingTrace: nil, console: console)
    if step { return try walk(try explorer.walk(recipe, from: tracePath), console) }
    let (result, finding) = try explorer.replay(
      recipe, from: tracePath, keepingImageIn: keep)
    if result.ending.isSuccess, recipe.judging != nil {
      for line in result.output.split(separator: "\n") { console.say("  \(line)") }
    }
    try finish(result.ending.isSuccess ? nil : finding, console: console)
  }

  private func replay(_ recipe: StressRecipe, console: Console) throws {
    var settings = StressSettings()
    settings.model = try PersistenceModel.chosen(recipe.model)[0]
    settings.seed = Seed(rawValue: recipe.seed)
    settings.faults = recipe.faults
    settings.writeBack = recipe.writeBack
    settings.marks = recipe.marks ?? .writes
    settings.load = recipe.load
    settings.drawn = recipe.drawn
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

extension EventPlace: ExpressibleByArgument {
  /// Parses an event number as printed by `--step` after `#`.
  public init?(argument: String) { self.init(parsing: argument) }
}
