// Run.swift: `faultline run`: runs scenarios, and prints the verdict.

import ArgumentParser
import Exploration
import Findings
import Foundation
import LabCore
import Reports
import Scenarios
import Workload

struct Run: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Run scenarios: power failures, kills and faults around a database.",
    discussion: """
      A scenario is a YAML file that describes one property and how to test it \
      (docs/reference/scenarios.md). A scenario with 'negative:' contains a bug, and fails if the \
      bug is not found.

      Examples:
        faultline run
        faultline run scenarios/durability --model posix --seed 7
        faultline run scenarios/negative/first-sync-ignored.yaml --junit report.xml
        faultline run scenarios --html report.html
        faultline run --backend in-process
        faultline run --list --tag slow
        faultline run --dry-run scenarios/processes/kill.yaml
        faultline run --filter growth --filter 'killed*.yaml' --without-tag slow
        faultline run --migrate scenarios faults.yaml model.yaml
      """)

  @Argument(help: "Scenario files, or folders of them.") var paths: [String] = ["scenarios"]
  @Flag(help: "Stop after the first scenario that fails.") var failFast = false
  @Flag(help: "List the scenarios and run nothing. With --json FILE as JSON; - is the console.")
  var list = false
  @Flag(help: "Print which steps of commits were hit by kills, power failures, EIO and ENOSPC.")
  var coverage = false
  @Flag(help: "Describe what would happen, and run nothing.") var dryRun = false
  @Flag(help: "Rewrite old spellings in files and run nothing (docs/reference/scenarios.md).")
  var migrate = false
  @Option(help: "Only scenarios with this text in path or title, or a glob. Can be repeated.")
  var filter: [String] = []
  @Option(help: "Only scenarios with this tag, or with one of several.") var tag: [String] = []
  @Option(help: "Only scenarios without this tag. Can be repeated.") var withoutTag: [String] = []
  @Option(
    name: [.customLong("backend"), .customLong("door")],
    help: "fuse (a mount) or in-process (no privileges, no kills). Default: fuse if it works.")
  var backend: BackendChoice?
  @OptionGroup var options: ExplorationArguments
  @OptionGroup var reports: ReportArguments
  @OptionGroup var resumption: ResumeArguments

  func run() throws {
    let console = Console()
    if migrate { return try rewrite(console) }
    var settings = try options.settings()
    if list || dryRun { return try explain(settings, console) }
    try reports.refuseUnwritable()
    guard !failFast || settings.shard.count == 1 else {
      throw LabError.usage(
        "--fail-fast in a shard would leave out cases that the other shards have; drop one of them")
    }
    let loaded = try ScenarioRunner.load(paths)
    let scenarios = try selection.chosen(from: loaded)
    let backend = backend.map { "\($0)" } ?? "default"
    let command = ["command=run", "backend=\(backend)", selection.identity]
    settings.progress = try resumption.journal(reports, command + settings.identity)
    let runner = try ScenarioRunner(settings: settings, console: console, backend: self.backend)
    let left = scenarios.count == loaded.count ? "" : " of \(loaded.count)"
    console.say(
      "faultline run  seed=\(settings.seed)  scenarios=\(scenarios.count)\(left)  "
        + "backend=\(runner.backendName)" + (try options.shardText()))
    resumption.announce(settings.progress, console)
    var report = RunReport(seed: settings.seed.rawValue)
    report.shard = ShardLabel(settings.shard)
    report.options = command + settings.partition
    for scenario in scenarios {
      report.cases.append(try runner.run(scenario))
      report.isInterrupted = Interruption.isRequested
      if report.isInterrupted { break }
      if failFast && report.outcome != .held { break }
    }
    try runner.end()
    if coverage { for line in CommitCoverageMatrix(report).lines { console.say(line) } }
    try reports.finish(report, console: console, progress: settings.progress)
  }

  private var selection: ScenarioSelection {
    ScenarioSelection(filters: filter, tags: tag, excludedTags: withoutTag)
  }

  /// Rewrites old spellings of keys; with `--dry-run`, only lists them.
  private func rewrite(_ console: Console) throws {
    let others = [
      ("--list", list), ("--coverage", coverage), ("--fail-fast", failFast),
      ("--filter", !filter.isEmpty), ("--tag", !tag.isEmpty),
      ("--without-tag", !withoutTag.isEmpty), ("--json", reports.json != nil),
    ]
    if let (option, _) = others.first(where: { $0.1 }) {
      throw LabError.usage("--migrate rewrites the files that it is given; leave \(option) out")
    }
    try reports.refuseAllButJSON(for: "--migrate")
    let outcome = try LanguageMigration.outcome(of: paths)
    if !dryRun { try LanguageMigration.write(outcome) }
    for file in outcome.changed { console.say(file.line) }
    for path in outcome.others { console.say("\(path): left as it is, not in this language") }
    let verb = dryRun ? "would be rewritten; nothing was written" : "rewritten"
    console.say(
      "\(outcome.changed.count) of \(Formatting.counted(outcome.files.count, "file")) \(verb)")
  }

  /// Lists the scenarios or describes what they would do; runs nothing.
  private func explain(_ settings: ExplorationSettings, _ console: Console) throws {
    guard !(list && dryRun) else {
      throw LabError.usage("--list names scenarios, --dry-run explains them; drop one")
    }
    try reports.refuseAllButJSON(for: list ? "--list" : "--dry-run")
    let scenarios = try selection.chosen(from: try ScenarioRunner.load(paths))
    guard list else {
      guard reports.json == nil else {
        throw LabError.usage("--dry-run explains in words; --list has a --json form")
      }
      for scenario in scenarios {
        console.say(console.bold(scenario.file) + "  \(scenario.title)")
        for line in try DryRun(scenario, settings: settings).lines() { console.say(line) }
      }
      return console.say("nothing was run")
    }
    let names = ScenarioList(scenarios)
    guard let path = reports.json else {
      for line in names.lines { console.say(line) }
      return
    }
    if path == "-" {
      console.say(try names.json().trimmingCharacters(in: .newlines))
    } else {
      try ReportArguments.refuseUnwritable([path])
      try ReportArguments.write(try names.json(), to: path)
    }
  }
}

extension BackendChoice: ExpressibleByArgument {}
