// SharedArguments.swift: options shared by several commands: the extent of exploration, the files
// for reports, and resuming an interrupted run.

import ArgumentParser
import CrashStates
import Exploration
import FaultFS
import Findings
import Foundation
import LabCore
import Reports
import Scenarios

/// The program that `explore` runs.
struct ProgramArguments: ParsableArguments {
  @Option(help: "Shell command to record. It runs in the directory $FAULTLINE_DIR.")
  var workload: String?
  @Argument(
    parsing: .postTerminator,
    help: "The program to record and its arguments, after --, instead of --workload.")
  var command: [String] = []
  @OptionGroup var checker: CheckArguments
  @Option(help: "Shell command that prepares the directory. What it writes is durable.")
  var setup: String?
  @OptionGroup var judging: JudgingArguments

  /// The program that the options name.
  /// - Throws: `LabError` with code `.usage` when they contradict each other.
  func program() throws(LabError) -> ProgramUnderTest {
    let workload: String
    switch (self.workload, command.isEmpty) {
    case (let text?, true): workload = text
    case (nil, false): workload = command.map(Self.quoted).joined(separator: " ")
    case (nil, true): throw .usage("give the program: --workload COMMAND, or -- PROGRAM ARGUMENTS")
    default: throw .usage("--workload and a program after -- are both given; leave one out")
    }
    return try ProgramUnderTest(
      workload: workload, setup: setup, judging.judging(try checker.chosen()))
  }

  /// One word for the shell.
  private static func quoted(_ word: String) -> String {
    let isPlain = word.allSatisfy {
      $0.isASCII && ($0.isLetter || $0.isNumber || "-_./=:,+@%".contains($0))
    }
    return isPlain && !word.isEmpty ? word : "'" + word.replacing("'", with: "'\\''") + "'"
  }
}

/// Options that `explore`, `run` and `replay` share.
struct ExplorationArguments: ParsableArguments {
  @Option(
    help: """
      What a power failure may leave: \(PersistenceModel.stockNames), or all. Default: ext4-ordered.
      """)
  var model: String?
  @Option(
    name: .customLong("model-file"),
    help: """
      Add a model of your own from a YAML file (docs/explanation/crash-model.md). Can be repeated.
      """)
  var modelFiles: [String] = []
  @Option(help: "Random seed. The same seed reproduces the run.") var seed: UInt64?
  @Option(help: "Maximum number of crash states to check for each model.") var budget: Int?
  @Option(
    name: .customLong("time-budget"),
    help: """
      Time limit of the checks for each model, as in 90s, 10m or 2h. Does not change which states \
      come first.
      """)
  var timeBudget: String?
  @Option(
    name: .customLong("explain-time"),
    help: """
      Time limit for explaining the findings of each model, as in 30s or 5m. Default: half the \
      time of the checks, and at least 20s.
      """)
  var explainTime: String?
  @Option(
    help: """
      Check only part I of N, written I/N with I from 1. Default: what the array job or CI matrix \
      sets.
      """)
  var shard: String?
  @Option(help: "Number of checkers that run in parallel. Default: one per CPU.") var jobs: Int?
  @Option(help: "Time limit of a checker, in seconds.") var timeout: Int = 20
  @Flag(help: "Show source lines in findings (docs/reference/call-stacks.md).")
  var stacks = false

  func settings() throws(LabError) -> ExplorationSettings {
    var settings = ExplorationSettings()
    if let model {
      settings.models = try PersistenceModel.chosen(model)
      settings.modelsAreChosen = true
    }
    if !modelFiles.isEmpty {
      var models = settings.modelsAreChosen ? settings.models : []
      for path in modelFiles {
        let model = try ModelFile.load(path)
        guard !models.contains(where: { $0.name == model.name }) else {
          throw .usage("--model-file \(path): model '\(model.name)' is given twice; rename one")
        }
        models.append(model)
      }
      settings.models = models
      settings.modelsAreChosen = true
    }
    if let seed {
      settings.seed = Seed(rawValue: seed)
      settings.seedIsChosen = true
    }
    if let budget {
      guard budget > 0 else { throw .usage("--budget \(budget): give at least 1 state") }
      settings.budget = budget
    }
    if let timeBudget {
      settings.timeBudgetSeconds = try Self.seconds(timeBudget, option: "--time-budget")
    }
    if let explainTime {
      settings.explainSeconds = try Self.seconds(explainTime, option: "--explain-time")
    }
    settings.shard = try shardChoice().shard
    if let jobs {
      guard (1...256).contains(jobs) else { throw .usage("--jobs \(jobs): give 1 to 256") }
      settings.jobs = jobs
    }
    guard timeout > 0 else { throw .usage("--timeout \(timeout): give at least 1 second") }
    settings.timeoutSeconds = timeout
    settings.recordsCallStacks = stacks
    return settings
  }

  private func shardChoice() throws(LabError) -> ShardChoice {
    try ShardChoice.make(option: shard, environment: ProcessInfo.processInfo.environment)
  }

  /// The shard in the banner; empty if all states are checked.
  func shardText() throws(LabError) -> String {
    let choice = try shardChoice()
    guard let label = ShardLabel(choice.shard) else { return "" }
    return "  shard=\(label)" + (choice.variable.map { " (from \($0))" } ?? "")
  }

  /// The number of seconds in a duration such as `90s`, `10m` or `2h`.
  static func seconds(_ text: String, option: String) throws(LabError) -> Int {
    let units = ["s": 1, "m": 60, "h": 3600]
    guard let unit = text.last.flatMap({ units[String($0)] }), let number = Int(text.dropLast()),
      (1...1_000_000).contains(number)
    else {
      throw .usage(
        "\(option) \(text.prefix(60)): write a number and s, m or h, as in 90s, 10m, 2h")
    }
    return number * unit
  }
}

/// Faults during the recording of a program.
struct FaultArguments: ParsableArguments {
  @Option(
    help: "Inject the faults in this YAML file while the workload runs (docs/reference/faults.md).")
  var faults: String?
  @Option(help: "Inject one fault, as in 'on: sync, nth: 2, error: EIO'. Can be repeated.")
  var fault: [String] = []
  @Flag(help: "Allow errors that the manual page of the call does not list.") var anyErrno = false

  func rules() throws(LabError) -> [FaultRule] {
    var rules: [FaultRule] = []
    if let faults { rules = try FaultFile.load(faults, allowsAnyErrno: anyErrno) }
    for (index, text) in fault.enumerated() {
      rules += try FaultFile.parse(
        commandLine: text, file: "--fault \(index + 1)", allowsAnyErrno: anyErrno)
    }
    return rules
  }
}

/// Options for report files, and the verdict at the end.
struct ReportArguments: ParsableArguments {
  @Option(help: "Write the report as JSON to this file.") var json: String?
  @Option(help: "Write the report as JUnit XML to this file.") var junit: String?
  @Option(
    help: "Write the findings as SARIF 2.1.0 to this file for code scanning (docs/how-to/ci.md).")
  var sarif: String?
  @Option(help: "Write the report as one HTML page to this file (docs/reference/reports.md).")
  var html: String?
  @Option(
    name: .customLong("report"),
    help: "Write all reports to this directory: report.html, .json, .xml (JUnit) and .sarif.")
  var directory: String?

  /// Writes the reports, prints the verdict, and exits with its code if it is not 0.
  func finish(
    _ report: RunReport, console: Console, progress: ProgressJournal? = nil
  ) throws {
    if let directory { try Self.make(directory) }
    for path in paths(json, "report.json") { try Self.write(report.json(), to: path) }
    for path in paths(junit, "report.xml") { try Self.write(JUnit.xml(report), to: path) }
    let arguments = Array(CommandLine.arguments.dropFirst())
    for path in paths(sarif, "report.sarif") {
      try Self.write(SARIF(report, arguments: arguments).json(), to: path)
    }
    let pages = paths(html, "report.html")
    if !pages.isEmpty {
      let page = HTMLReport(report, arguments: arguments).text
      for path in pages { try Self.write(page, to: path) }
    }
    if let progress {
      let isDone = !report.isInterrupted && !report.cases.contains(where: \.isOutOfTime)
      if isDone { progress.remove() } else { console.say(progress.remedy) }
    }
    console.sayVerdict(of: report)
    if report.exitCode != .held { throw Leave(code: report.exitCode) }
  }

  /// Long work whose report has no place to go would be lost: that is said first.
  func refuseUnwritable(and tracePath: String? = nil) throws(LabError) {
    try Self.refuseUnwritable([json, junit, sarif, html, directory, tracePath])
  }

  /// Rejects reports for a command line that runs nothing; its output can be written with `--json`.
  func refuseAllButJSON(for flag: String) throws(LabError) {
    let given = [
      ("--junit", junit), ("--sarif", sarif), ("--html", html), ("--report", directory),
    ]
    if let (option, _) = given.first(where: { $0.1 != nil }) {
      throw .usage("\(flag) runs nothing, so there is nothing to report; leave \(option) out")
    }
  }

  /// The files for one kind of report.
  private func paths(_ chosen: String?, _ name: String) -> [String] {
    [chosen, directory.map { "\($0)/\(name)" }].compactMap { $0 }
  }

  private static func make(_ directory: String) throws(LabError) {
    do {
      try FileManager.default.createDirectory(
        atPath: directory, withIntermediateDirectories: true)
    } catch {
      throw .lab("cannot make \(directory): \(error.localizedDescription)")
    }
  }

  /// Rejects paths in folders in which no file can be created.
  static func refuseUnwritable(_ paths: [String?]) throws(LabError) {
    for path in paths.compactMap({ $0 }) {
      let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
      guard FileManager.default.isWritableFile(atPath: folder) else {
        throw .usage("\(path): no file can be written in \(folder); make the directory first")
      }
    }
  }

  /// Writes a report.
  static func write(_ text: String, to path: String) throws(LabError) {
    do {
      try text.write(toFile: path, atomically: true, encoding: .utf8)
    } catch {
      throw .lab("cannot write \(path): \(error.localizedDescription)")
    }
  }
}

/// Options for resuming an interrupted run.
struct ResumeArguments: ParsableArguments {
  @Flag(
    help: """
      With --report: continue an interrupted run of the same command with the same directory.
      """)
  var resume = false

  /// The journal for the run's progress; nil without a directory for reports.
  /// - Throws: `LabError` with code `.usage` when there is nothing that this run could resume.
  func journal(
    _ reports: ReportArguments, _ identity: [String]
  ) throws(LabError) -> ProgressJournal? {
    guard let directory = reports.directory else {
      guard !resume else {
        throw .usage("--resume needs --report DIR, the directory of the interrupted run")
      }
      return nil
    }
    return try ProgressJournal.open(in: directory, identity, resumes: resume)
  }

  /// Prints how many verdicts are reused.
  func announce(_ progress: ProgressJournal?, _ console: Console) {
    guard resume, let progress else { return }
    console.say(
      progress.resumedCount == 0
        ? "nothing to resume: the run starts from the beginning"
        : "resuming: \(Formatting.counted(progress.resumedCount, "state")) already judged")
  }
}

/// Ends the command with a verdict that has been printed.
struct Leave: Error {
  let code: LabCore.ExitCode
}

/// When dirty mapped pages are written back: `explore`, `mount` and `stress`.
struct WriteBackArguments: ParsableArguments {
  @Option(
    name: .customLong("write-back"),
    help: "Write dirty mapped pages back at random moments: SEED or SEED:RATE.")
  var text: String?

  func parsed() throws(LabError) -> PageWriteBack? {
    try text.map { text throws(LabError) in try PageWriteBack(parsing: text) }
  }
}

/// Options for O_DIRECT: `explore` and `mount`.
struct DirectArguments: ParsableArguments {
  @Option(
    name: .customLong("direct-alignment"),
    help: """
      Reject O_DIRECT reads and writes whose offset or length is not a multiple of this number of \
      bytes: 512, 1024, 2048 or 4096.
      """)
  var text: String?

  func parsed() throws(LabError) -> DirectAlignment? {
    try text.map { text throws(LabError) in try DirectAlignment(parsing: text) }
  }
}
