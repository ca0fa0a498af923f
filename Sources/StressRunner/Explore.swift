// Explore.swift: `faultline explore`: records any program under FUSE, for any checker to judge.

import ArgumentParser
import Exploration
import FaultFS
import Findings
import Foundation
import LabCore

struct Explore: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Find what a program loses when the power fails.",
    discussion: """
      Faultline runs --workload once in a directory of its own, records its file operations, and \
      builds the states that a power failure could leave. It runs --check in each of them. Without \
      --check it compares the files with what the program wrote (docs/reference/judging.md).

      Each line that the workload prints is an acknowledgement: its effect must survive. The \
      checker finds this output in the file $FAULTLINE_OUTPUT. It exits with 0 if the directory is \
      fine. Otherwise the first line that it prints says what is wrong.

      Examples:
        faultline explore -- python3 save.py settings.json
        faultline explore --workload 'sh work.sh' --check 'sh check.sh' --html report.html
        faultline explore \\
          --workload 'echo new > t && mv t file && echo saved' \\
          --check 'grep -q saved "$FAULTLINE_OUTPUT" && exec grep -q new file; true'

      A second power failure while the program recovers: --recover runs on crash states of the \
      workload, and the crash states of each recovery are checked as well:
        faultline explore --workload 'sh work.sh' --check 'sh check.sh' --recover 'sh recover.sh'

      A fault while the workload runs (docs/reference/faults.md):
        faultline explore --fault 'on: sync, nth: 1, error: EIO' \\
          --workload 'sh work.sh' --check 'sh check.sh'

      The kernel's own file system in place of a model: its block writes are recorded, and the \
      kernel mounts and recovers each crash state (docs/reference/real-file-systems.md):
        faultline explore --on ext4:noauto_da_alloc --on xfs \\
          --workload 'echo new > t && mv t file && sync . && echo saved' \\
          --check 'grep -q saved "$FAULTLINE_OUTPUT" && exec grep -q new file; true'
      """)

  @OptionGroup(title: "What to run") var commands: ProgramArguments
  @OptionGroup(title: "What to run") var marks: MarksArguments
  @OptionGroup(title: "What may happen, and how far to look") var options: ExplorationArguments
  @OptionGroup(title: "A second power failure") var recovery: RecoveryArguments
  @Option(
    name: .customLong("on"),
    help: """
      Run on a real file system: ext4, xfs or btrfs, mount options after a colon, then \
      mkfs= and options of mkfs, as in 'ext4:mkfs=-b 1024'. Can be repeated. \
      Models are explored as well only if --model names them.
      """)
  var fileSystems: [String] = []
  @Flag(help: "With --on: run the file system's own checker after each state.")
  var fsck = false
  @OptionGroup(title: "Faults") var faults: FaultArguments
  @OptionGroup(title: "Faults") var writeBack: WriteBackArguments
  @OptionGroup(title: "Faults") var direct: DirectArguments
  @OptionGroup(title: "Damaged files") var media: MediaArguments
  @OptionGroup(title: "Output") var reports: ReportArguments
  @OptionGroup(title: "Output") var resumption: ResumeArguments
  @Option(name: .customLong("trace"), help: "Keep the recording in this SQLite file.")
  var tracePath: String?

  func run() throws {
    let console = Console()
    var settings = try self.settings()
    settings.directAlignment = try direct.parsed()
    settings.marks = marks.marks
    guard settings.directAlignment == nil || settings.fileSystems.isEmpty else {
      throw LabError.usage(
        "--direct-alignment is about FaultFS, --on has the kernel's file systems, which ask for "
          + "their own; drop one")
    }
    settings.writeBack = try writeBack.parsed()
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
    var program = try commands.program()
    program.recovery = try recovery.chosen()
    try Self.refuseWithoutChecker(program, settings)
    let judging = program.judging.map {
      "none, ignoring=\($0.ignored), durable=\($0.isDurable)"
    }
    let command = [
      "command=explore", "workload=\(program.workload)",
      "\(program.checkStays ? "check-loop" : "check")=\(judging ?? program.check)",
      "setup=\(commands.setup ?? "")",
      "recover=\(program.recovery.map { "\($0)" } ?? "")",
    ]
    settings.progress = try resumption.journal(reports, command + settings.identity)
    resumption.announce(settings.progress, console)
    let explorer = try ProgramExplorer(
      program: program, settings: settings, keepingTrace: tracePath, console: console)
    let item = try explorer.explore()
    var report = RunReport(seed: settings.seed.rawValue, cases: [item])
    report.isInterrupted = item.isInterrupted
    report.shard = ShardLabel(settings.shard)
    report.options = command + settings.partition
    try reports.finish(report, console: console, progress: settings.progress)
  }

  /// What only a checker can judge.
  private static func refuseWithoutChecker(
    _ program: ProgramUnderTest, _ settings: ExplorationSettings
  ) throws(LabError) {
    guard program.judging != nil else { return }
    guard settings.media == nil else {
      throw .usage(
        "--media needs a checker: damage changes bytes of files, and only a program that reads "
          + "them can say whether it notices; add --check COMMAND")
    }
    guard program.recovery == nil || settings.fileSystems.isEmpty else {
      throw .usage(
        "--recover with --on needs a checker, which recovers by itself on the mounted state; add "
          + "--check COMMAND, or drop one")
    }
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
    settings.faults = try faults.rules()
    guard settings.faults.isEmpty || fileSystems.isEmpty else {
      throw .usage(
        "--fault, --faults: rules are about FaultFS, and --on has the kernel's file systems; drop "
          + "one")
    }
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

/// Options for crashes during recovery.
struct RecoveryArguments: ParsableArguments {
  @Option(
    help: """
      Shell command that recovers in a crashed directory; it is recorded on crash states of the \
      workload, and crashes in it are explored under the same models.
      """)
  var recover: String?
  @Option(
    name: .customLong("recover-states"),
    help: "Most crash states to recover from, for each model; 200 unless given.")
  var states: Int?
  @Option(
    name: .customLong("recover-depth"),
    help: "In how many recoveries in a row power fails again: 1 (default), 2 or 3.")
  var depth: Int?

  func chosen() throws(LabError) -> ProgramRecovery? {
    guard let recover else {
      guard states == nil, depth == nil else {
        throw .usage("--recover-states and --recover-depth go with --recover COMMAND; add it")
      }
      return nil
    }
    var recovery = ProgramRecovery(command: recover)
    recovery.statesMax = states ?? recovery.statesMax
    recovery.depth = depth ?? 1
    guard (1...1_000_000).contains(recovery.statesMax) else {
      throw .usage("--recover-states \(recovery.statesMax): give 1 to 1000000")
    }
    guard (1...ProgramRecovery.depthMax).contains(recovery.depth) else {
      throw .usage("--recover-depth \(recovery.depth): give 1, 2 or 3")
    }
    return recovery
  }
}

/// Options for faults of the medium at rest.
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
