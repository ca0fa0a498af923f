// Explore.swift: `faultline explore`: any program, recorded under FUSE and judged by any checker.

import ArgumentParser
import CrashSim
import Foundation

struct Explore: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Record any program, explore the states a crash may leave, judge each by a checker.",
    discussion: """
      The commands run in a shell with the faulty directory as working directory and as \
      $FAULTLINE_DIR. Each write of the workload to standard output is an acknowledgement, in \
      order with its file operations. The checker runs in a crashed directory and finds the \
      acknowledged output in the file $FAULTLINE_OUTPUT; exit status 0 means that the state is \
      fine, and its first line of output names the promise that was broken.

      Examples:
        faultline explore \\
          --workload 'echo new > t && mv t file && echo saved' \\
          --check 'grep -q saved "$FAULTLINE_OUTPUT" && exec grep -q new file; true'
        faultline explore --workload 'sh work.sh' --check 'sh check.sh' --html report.html

      With --on the program runs on the kernel's own file system, on a device that lies on \
      FaultFS; crash states are what is left of the block writes since the last flush, each \
      mounted and recovered by the kernel (docs/real-file-systems.md):
        faultline explore --on ext4:noauto_da_alloc --on xfs \
          --workload 'echo new > t && mv t file && sync . && echo saved' \
          --check 'grep -q saved "$FAULTLINE_OUTPUT" && exec grep -q new file; true'
      """)

  @Option(help: "Shell command that is recorded and crashed.") var workload: String
  @Option(help: "Shell command that judges a crashed directory by its exit status.")
  var check: String
  @Option(help: "Shell command that prepares the directory; what it writes is durable.")
  var setup: String?
  @Option(
    name: .customLong("on"),
    help: """
      Run on a real file system: ext4, xfs or btrfs, mount options after a colon; can be \
      repeated. Models are explored beside it only where --model names them.
      """)
  var fileSystems: [String] = []
  @Flag(help: "With --on: run the file system's own checker after each state.")
  var fsck = false
  @OptionGroup var media: MediaArguments
  @OptionGroup var options: ExplorationArguments
  @OptionGroup var reports: ReportArguments
  @OptionGroup var resumption: ResumeArguments
  @Option(name: .customLong("trace"), help: "Also keep the recorded trace in this SQLite file.")
  var tracePath: String?

  @Option(
    name: .customLong("write-back"),
    help: "Write dirty mapped pages back at seeded moments: SEED or SEED:RATE.")
  var writeBack: String?

  func run() throws {
    let console = Console()
    var settings = try self.settings()
    settings.writeBack = try writeBack.map { text throws(LabError) in
      try PageWriteBack(parsing: text)
    }
    guard settings.writeBack == nil || settings.fileSystems.isEmpty else {
      throw LabError.usage(
        "--write-back is about pages that FaultFS itself serves, --on has the kernel's; drop one")
    }
    try reports.refuseUnwritable(and: tracePath)
    let names =
      settings.models.map(\.name) + settings.fileSystems.map { "on \($0)" }
      + (settings.media == nil ? [] : ["media"])
    let models = names.joined(separator: ",")
    let shard = try options.shardText()
    console.say("faultline explore  seed=\(settings.seed)  model=\(models)\(shard)")
    let program = ProgramUnderTest(workload: workload, check: check, setup: setup)
    settings.progress = try resumption.journal(
      reports,
      ["command=explore", "workload=\(workload)", "check=\(check)", "setup=\(setup ?? "")"]
        + settings.identity)
    resumption.announce(settings.progress, console)
    let explorer = try ProgramExplorer(
      program: program, settings: settings, keepingTrace: tracePath, console: console)
    let item = try explorer.explore()
    var report = RunReport(seed: settings.seed.rawValue, cases: [item])
    report.isInterrupted = item.isInterrupted
    report.shard = ShardLabel(settings.shard)
    try reports.finish(report, console: console, progress: settings.progress)
  }

  private func settings() throws(LabError) -> ExplorationSettings {
    var settings = try options.settings()
    for text in fileSystems {
      let system = try KernelFileSystem(parsing: text)
      guard !settings.fileSystems.contains(system) else {
        throw .usage("--on \(text): given twice; leave one out")
      }
      settings.fileSystems.append(system)
    }
    guard fsck == false || !fileSystems.isEmpty else {
      throw .usage("--fsck checks a real file system; add --on ext4, xfs or btrfs")
    }
    guard !settings.recordsCallStacks || fileSystems.isEmpty else {
      throw .usage(
        "--stacks is about the program's calls, and --on records what the kernel writes; drop one")
    }
    settings.runsFsck = fsck
    settings.media = try media.chosen()
    let isOnlyAsked = !fileSystems.isEmpty || settings.media != nil
    if isOnlyAsked && !settings.modelsAreChosen { settings.models = [] }
    let recordings =
      settings.fileSystems.count + (settings.models.isEmpty ? 0 : 1)
      + (settings.media == nil ? 0 : 1)
    guard tracePath == nil || recordings == 1 else {
      throw .usage(
        "--trace keeps one recording; give --on or --media once, and no --model beside it")
    }
    return settings
  }
}

/// Options about faults of the medium at rest.
struct MediaArguments: ParsableArguments {
  @Option(
    help: """
      Damage the program's files at rest: all, or some with commas of bitFlip, zeroSector, \
      staleSector, misdirectedSector, truncatedTail. Models are explored beside it only where \
      --model names them.
      """)
  var media: String?
  @Option(name: .customLong("media-files"), help: "Glob over the files to damage; default: all.")
  var files: String?
  @Option(
    name: .customLong("media-survives"),
    help: """
      With at most so many faults (0 to 2) the checker must exit 0; with more, status 77 \
      ($FAULTLINE_DETECTED) says that the damage was noticed.
      """)
  var survives: Int?

  func chosen() throws(LabError) -> ProgramMedia? {
    guard let media else {
      guard files == nil, survives == nil else {
        throw .usage("--media-files and --media-survives go with --media; add --media all")
      }
      return nil
    }
    var chosen = ProgramMedia()
    chosen.kinds = try ProgramMedia.kinds(parsing: media)
    chosen.fileGlob = files ?? chosen.fileGlob
    chosen.survivedCount = survives ?? 0
    guard (0...ProgramMedia.faultsMax).contains(chosen.survivedCount) else {
      throw .usage("--media-survives \(chosen.survivedCount): give 0, 1 or 2")
    }
    return chosen
  }
}

/// Options that `explore`, `run` and `replay` share.
struct ExplorationArguments: ParsableArguments {
  @Option(
    help: "Persistence model: \(PersistenceModel.stockNames), or all.")
  var model: String?
  @Option(
    name: .customLong("model-file"),
    help: "Also a model of your own, from a YAML file (docs/crash-model.md); can be repeated.")
  var modelFiles: [String] = []
  @Option(help: "The number from which all choices follow.") var seed: UInt64?
  @Option(help: "Most crash states to check, for each model.") var budget: Int?
  @Option(
    name: .customLong("time-budget"),
    help: "Most time of checking, for each model: 90s, 10m, 2h. Decides how far, never what.")
  var timeBudget: String?
  @Option(
    help: "Check part I of N only: I/N, from 1; default: as the array job or CI matrix says.")
  var shard: String?
  @Option(help: "Checkers side by side; default: one for each CPU.") var jobs: Int?
  @Option(help: "Seconds after which a checker has failed.") var timeout: Int = 20
  @Flag(help: "Record call stacks, so that findings name source lines (docs/call-stacks.md).")
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

  /// The shard for the banner; empty when all states are checked.
  func shardText() throws(LabError) -> String {
    let choice = try shardChoice()
    guard let label = ShardLabel(choice.shard) else { return "" }
    return "  shard=\(label)" + (choice.variable.map { " (from \($0))" } ?? "")
  }

  /// The seconds of a duration such as `90s`, `10m` or `2h`.
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

/// Where reports go, and the verdict at the end.
struct ReportArguments: ParsableArguments {
  @Option(help: "Write the report as JSON to this file.") var json: String?
  @Option(help: "Write the report as JUnit XML to this file.") var junit: String?
  @Option(help: "Write the report as one self-contained page (docs/reports.md) to this file.")
  var html: String?
  @Option(
    name: .customLong("report"),
    help: "Make this directory: report.html, report.json, report.xml (JUnit).")
  var directory: String?

  /// Writes the reports, prints the verdict, and leaves with its exit code when it is not 0.
  func finish(
    _ report: RunReport, console: Console, progress: ProgressJournal? = nil
  ) throws {
    if let directory { try Self.make(directory) }
    for path in paths(json, "report.json") { try Self.write(report.json(), to: path) }
    for path in paths(junit, "report.xml") { try Self.write(JUnit.xml(report), to: path) }
    let pages = paths(html, "report.html")
    if !pages.isEmpty {
      let page = HTMLReport(report, arguments: Array(CommandLine.arguments.dropFirst())).text
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
    try Self.refuseUnwritable([json, junit, html, directory, tracePath])
  }

  /// Where one kind of report goes.
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

  /// Refuses paths in folders where nothing can be made.
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

/// Going on with a run that was stopped.
struct ResumeArguments: ParsableArguments {
  @Flag(
    help: """
      With --report: go on where the run with this command and directory stopped, or was killed.
      """)
  var resume = false

  /// Where the run keeps its progress; nil without a directory for reports.
  /// - Throws: `LabError` with code `.usage` when there is nothing that this run could go on with.
  func journal(
    _ reports: ReportArguments, _ identity: [String]
  ) throws(LabError) -> ProgressJournal? {
    guard let directory = reports.directory else {
      guard !resume else {
        throw .usage("--resume goes on with what --report DIR keeps; give that DIR, too")
      }
      return nil
    }
    return try ProgressJournal.open(in: directory, identity, resumes: resume)
  }

  /// Says how much is taken over.
  func announce(_ progress: ProgressJournal?, _ console: Console) {
    guard resume, let progress else { return }
    console.say(
      progress.resumedCount == 0
        ? "nothing to go on with: the run begins anew"
        : "going on behind \(progress.resumedCount) verdicts")
  }
}

/// The end of the command with a verdict that has been printed.
struct Leave: Error {
  let code: CrashSim.ExitCode
}
