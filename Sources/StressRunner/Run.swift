// Run.swift: `faultline run`: scenarios, and the verdict over them.

import ArgumentParser
import CrashSim
import Foundation

struct Run: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Run scenarios: crashes, kills and faults around the engine, judged by oracles.",
    discussion: """
      A scenario is a YAML file with one property (docs/scenarios.md). Scenarios with 'negative:' \
      plant a bug, and fail when it is not found.

      Examples:
        faultline run
        faultline run scenarios/durability --model posix --seed 7
        faultline run scenarios/negative/first-sync-ignored.yaml --junit report.xml
        faultline run scenarios --html report.html
        faultline run --door in-process
      """)

  @Argument(help: "Scenario files, or folders of them.") var paths: [String] = ["scenarios"]
  @Flag(help: "Stop after the first scenario that fails.") var failFast = false
  @Option(
    help: "fuse (a mount, can kill) or in-process (no privileges); default: fuse if it works.")
  var door: DoorChoice?
  @OptionGroup var options: ExplorationArguments
  @OptionGroup var reports: ReportArguments
  @OptionGroup var resumption: ResumeArguments

  func run() throws {
    let console = Console()
    var settings = try options.settings()
    try reports.refuseUnwritable()
    guard !failFast || settings.shard.count == 1 else {
      throw LabError.usage(
        "--fail-fast in a shard would leave out cases that the other shards have; drop one of them")
    }
    let scenarios = try ScenarioRunner.load(paths)
    let door = door.map { "\($0)" } ?? "default"
    settings.progress = try resumption.journal(
      reports, ["command=run", "door=\(door)"] + settings.identity)
    let runner = try ScenarioRunner(settings: settings, console: console, door: self.door)
    console.say(
      "faultline run  seed=\(settings.seed)  scenarios=\(scenarios.count)  door=\(runner.doorName)"
        + (try options.shardText()))
    resumption.announce(settings.progress, console)
    var report = RunReport(seed: settings.seed.rawValue)
    report.shard = ShardLabel(settings.shard)
    for scenario in scenarios {
      report.cases.append(try runner.run(scenario))
      report.isInterrupted = Interruption.isRequested
      if report.isInterrupted { break }
      if failFast && report.outcome != .held { break }
    }
    try runner.end()
    try reports.finish(report, console: console, progress: settings.progress)
  }
}

extension DoorChoice: ExpressibleByArgument {}
