// Stress.swift: `faultline stress`: cuts the power of a working program again and again.

import ArgumentParser
import CrashStates
import FaultFS
import Findings
import Foundation
import LabCore
import Scenarios
import Workload

struct Stress: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Cut the power under a running program, again and again.",
    discussion: """
      Each round mounts what the last power failure left, runs --recover and the workload, and \
      cuts the power at a random moment. It picks one of the states that the disk could have, \
      checks it against everything acknowledged since the setup, and goes on from there.

      The commands run as under 'faultline explore'. The workload finds the number of the round \
      in $FAULTLINE_ROUND and a seed in $FAULTLINE_SEED. The checker may keep files in \
      $FAULTLINE_STATE.

      Without --workload the program is Faultline's own database engine, with several processes \
      and threads. Its options (how many, which features, faults, kills, the model) are drawn from \
      the seed and stay for some rounds. Half of the time it runs drawn histories, as scenarios \
      with 'history' do. Options that you give hold for the whole run.

      With a SCENARIO each round runs its steps from the beginning, with faults and kills drawn \
      around them (docs/reference/stress.md). With one on synchronization power fails and disks \
      have faults at any node, while the steps go on.

      Examples:
        faultline stress --cuts 1000
        faultline stress --for 10m --report failed --metrics stress.prom
        faultline stress --options failed/round-12/options-thinned.json --cuts 200
        faultline stress --no-swarm --kills 2
        faultline stress scenarios/durability/commits.yaml --for 10m
        faultline stress scenarios/histories/sync.yaml --for 1h
        faultline stress --workload 'sh work.sh' --check 'sh check.sh' --recover 'sh repair.sh'
        faultline stress --faults 'on: sync, every: 3, ignore: true'
      """)

  @Argument(help: "Run this scenario file in each round.") var scenario: String?
  @Option(help: "Shell command to run until the power fails, in each round.")
  var workload: String?
  @OptionGroup var checker: CheckArguments
  @Option(help: "Shell command that prepares the first directory. What it writes is durable.")
  var setup: String?
  @Option(help: "Shell command to run before the workload of each later round.")
  var recover: String?
  @Option(help: "Number of power failures. Default: 100, or no limit with --for.") var cuts: Int?
  @Option(
    name: .customLong("for"),
    help: "How long to run, as in 90s, 10m or 2h. The power then fails at random times.")
  var duration: String?
  @Flag(help: "Stop after the first finding.") var failFast = false
  @Option(help: "Maximum number of kills before each power failure. Default: 0, or drawn.")
  var kills: Int?
  @Option(
    help: "Cut the power within this number of operations and outputs. Default: 400, or drawn.")
  var within: Int?
  @Option(
    help: """
      What a power failure may leave: \(PersistenceModel.stockNames). Default: ext4-ordered, or \
      drawn.
      """)
  var model: String?
  @Option(help: "Random seed. The same seed reproduces the run.") var seed: UInt64 = 1
  @Option(help: "Fault rules for every round: a YAML file, or one rule as text.")
  var faults: String?
  @Flag(help: "Allow errors that the manual page of the call does not list.") var anyErrno = false
  @OptionGroup var writeBack: WriteBackArguments
  @OptionGroup var marks: MarksArguments
  @Option(
    help: "Time limit of a checker, a recovery or a round, in seconds. Default: 20 or 60.")
  var timeout: Int?
  @Flag(
    name: .customLong("no-swarm"),
    help: "Do not draw options: two processes, two writers and a reader in each.")
  var noSwarm = false
  @Option(help: "Use the options in this file, which a failing run kept.")
  var options: String?
  @Flag(
    name: .customLong("no-thinning"),
    help: "Do not look for fewer options with which it still fails.")
  var noThinning = false
  @Option(help: "Write figures for Prometheus to this file (docs/reference/stress.md).")
  var metrics: String?
  /// Its directory is also used for the failing rounds.
  @OptionGroup var reports: ReportArguments

  func run() throws {
    let console = Console()
    let scenario = try loadedScenario()
    let isSync = scenario?.sync != nil || scenario?.history?.content == .sync
    let settings = try settings(scenario)
    try reports.refuseUnwritable()
    try ReportArguments.refuseUnwritable([metrics])
    try refuseUsedReportDirectory()
    let model = settings.isSwarm ? "" : "  model=\(settings.model.name)"
    console.say("faultline stress  seed=\(settings.seed)\(model)")
    let item: CaseReport
    if let scenario, isSync {
      try refuseRules(beside: scenario)
      var stress = try SyncStress(scenario, settings, console)
      item = try stress.stress()
    } else {
      let program = try program(scenario)
      item = try StressRun(program: program, settings: settings, console: console).stress()
    }
    var report = RunReport(seed: settings.seed.rawValue, cases: [item])
    report.isInterrupted = item.isInterrupted
    try reports.finish(report, console: console)
  }

  /// Nodes are in this process, and their disks have faults of their own.
  private func refuseRules(beside scenario: Scenario) throws(LabError) {
    guard faults == nil, writeBack.text == nil, timeout == nil else {
      throw .usage(
        "\(scenario.file): --faults, --write-back and --timeout are for programs on a mount; the "
          + "disks of synchronization have faults that are drawn")
    }
  }

  /// Rounds of two runs in one directory could not be distinguished.
  private func refuseUsedReportDirectory() throws(LabError) {
    guard let directory = reports.directory else { return }
    let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    guard names.isEmpty else {
      throw .usage(
        "--report \(directory): the directory is not empty; name a new or an empty one")
    }
  }

  private func loadedScenario() throws(LabError) -> Scenario? {
    guard let path = scenario else { return nil }
    guard workload == nil, try checker.chosen() == nil, setup == nil, recover == nil, !noSwarm,
      options == nil
    else {
      throw .usage(
        "a scenario cannot be combined with --workload, --check, --setup, --recover, --options or "
          + "--no-swarm; remove them")
    }
    let loaded = try ScenarioRunner.load([path])
    guard loaded.count == 1 else { throw .usage("\(path): a stress run takes one scenario file") }
    return loaded[0]
  }

  private func program(_ scenario: Scenario?) throws(LabError) -> StressProgram {
    if let scenario { return try .scenario(scenario, seed: Seed(rawValue: seed)) }
    let checker = try checker.chosen()
    guard let workload, let checker else {
      guard workload == nil, checker == nil, setup == nil, recover == nil else {
        throw .usage(
          "a program of your own needs both --workload and --check: stress ends a run at a moment "
            + "that it draws, and cannot know what the files were to become; faultline explore "
            + "needs no checker")
      }
      return .engine
    }
    var program = StressProgram(
      workload: workload, check: checker.command, setup: setup, recover: recover)
    if checker.stays { program.checkStays = true }
    return program
  }

  private func settings(_ scenario: Scenario?) throws(LabError) -> StressSettings {
    var settings = StressSettings()
    settings.cuts = duration == nil ? cuts ?? 100 : cuts
    if let cuts, cuts < 1 { throw .usage("--cuts \(cuts): give at least 1") }
    settings.seconds = try duration.map { text throws(LabError) in
      try ExplorationArguments.seconds(text, option: "--for")
    }
    if let kills, !(0...16).contains(kills) {
      throw .usage("--kills \(kills): give 0 to 16")
    }
    if let within, !(2...1_000_000).contains(within) {
      throw .usage("--within \(within): give 2 to 1000000 operations")
    }
    if let timeout, timeout < 1 { throw .usage("--timeout \(timeout): give at least 1 second") }
    let models = try PersistenceModel.chosen(model ?? PersistenceModel.ext4Ordered.name)
    guard models.count == 1 else {
      throw .usage("--model \(model ?? ""): a stress run has one model; name one")
    }
    settings.failsFast = failFast
    settings.killsPerRound = kills ?? 0
    settings.eventsPerRound = within ?? 400
    settings.model = models[0]
    settings.seed = Seed(rawValue: seed)
    settings.timeoutSeconds = timeout ?? (workload == nil ? 60 : 20)
    settings.reportDirectory = reports.directory
    settings.metricsPath = metrics
    settings.thins = !noThinning
    settings.writeBack = try writeBack.parsed()
    settings.marks = marks.marks
    if let faults {
      settings.faults =
        FileManager.default.fileExists(atPath: faults)
        ? try FaultFile.load(faults, allowsAnyErrno: anyErrno)
        : try FaultFile.parse(
          commandLine: faults, file: "--faults", allowsAnyErrno: anyErrno)
    }
    settings.ownFaults = try scenario?.rulesOfFaults() ?? []
    try addLoad(to: &settings, scenario)
    return settings
  }

  /// The options of the built-in workload; the user's choices override drawn ones.
  private func addLoad(
    to settings: inout StressSettings, _ scenario: Scenario?
  ) throws(LabError) {
    guard workload == nil else {
      guard options == nil, !noSwarm else {
        throw .usage("--options and --no-swarm are for the engine's load, without --workload")
      }
      settings.cutsAtTimes = duration != nil
      return
    }
    settings.isSwarm = !noSwarm
    settings.cutsAtTimes = duration != nil && noSwarm
    settings.isScenario = scenario != nil
    if let scenario { settings.drawnFaults = DrawnFaults(for: scenario) }
    if let scenario, faults != nil, !scenario.goesOnAfterFailures {
      throw .usage(
        "--faults: the steps of \(scenario.file) do not continue after a failure (links, pins, "
          + "inserts, updates and deletes need to know which rows are there)")
    }
    if scenario == nil { settings.load = EngineLoadOptions() }
    // The steps of a history cannot continue after errors that the user's rules may cause.
    settings.drawsHistories = scenario == nil && faults == nil
    settings.roundsPerLife = scenario == nil ? 12 : 1
    settings.load?.mayFail = !settings.faults.isEmpty
    let writeBack = writeBack.text
    if let options {
      guard kills == nil, within == nil, model == nil, faults == nil, writeBack == nil, !noSwarm
      else { throw .usage("--options sets all options; give no others with it") }
      settings.lifeOptions = try StressLifeOptions.load(options)
    }
    let chosen = settings
    settings.choose = { [kills, within, model, faults, seed] options in
      if let kills { options.kills = kills }
      if let within { options.within = within }
      if let model { options.model = model }
      if writeBack != nil { options.writeBack = chosen.writeBack }
      if let declared = scenario?.writeBack, writeBack == nil {
        options.writeBack = declared.rule(seed)
      }
      if faults != nil {
        options.faults = chosen.faults
        options.faultNames = chosen.faults.map(\.what.word)
        options.load.mayFail = true
      }
    }
  }
}
