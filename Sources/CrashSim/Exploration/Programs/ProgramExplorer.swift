// ProgramExplorer.swift: `faultline explore` as a library: records a program, refuses a checker
// that rejects undisturbed states, then judges the crash states under each model.
// Invariant: the judged states and the order of findings depend only on program, seed, models and
// budget.

import CrashStates
import Findings
import Foundation
import LabCore
import Recording

/// Records a program and explores the possible results of crashes.
public final class ProgramExplorer {
  package let program: ProgramUnderTest
  package let settings: ExplorationSettings
  private let keptTracePath: String?
  let console: Console
  private let run: RunDirectory
  /// The last recording of files, if there is one.
  private var files: Trace?
  private static let filesName = "files"
  /// Information about the last recording besides its trace.
  private(set) var notes = RecordingNotes()

  /// Number of states that are checked for each model unless the user sets it.
  public static let defaultBudget = 20_000
  /// The same for each real file system, whose states must be mounted.
  public static let defaultBudgetOfFileSystem = 2_000
  /// Number of recordings that replay makes to get the shape that the token names: with threads, or
  /// with the kernel's block writes, only some runs may have it.
  private static let recordingsOfReplay = 10
  /// Recordings of the same wrong shape after which replay stops: the program has changed.
  private static let sameShapesMax = 5

  /// Prepares an exploration in its own run directory.
  /// - Parameters:
  ///   - program: The program to explore.
  ///   - settings: The options.
  ///   - keptTracePath: Where to keep the trace file, if at all.
  ///   - console: The output for progress and findings.
  /// - Throws: `LabError` when no run directory can be created.
  public init(
    program: ProgramUnderTest, settings: ExplorationSettings, keepingTrace keptTracePath: String?,
    console: Console
  ) throws(LabError) {
    self.program = program
    self.settings = settings
    self.keptTracePath = keptTracePath
    self.console = console
    run = try RunDirectory()
  }

  deinit {
    run.killPrograms()
    run.remove()
  }

  /// Records, checks the checker, explores.
  /// - Returns: The results, model by model; partial when Faultline is asked to stop.
  public func explore() throws(LabError) -> CaseReport {
    var item = CaseReport(name: CaseReport.exploredName, title: program.workload)
    do throws(LabError) {
      try explore(into: &item)
    } catch {
      guard error.code == .interrupted else { throw error }
      item.isInterrupted = true
    }
    if item.explorations.contains(where: \.isInterrupted) { item.isInterrupted = true }
    item.outcome =
      item.findings.isEmpty ? (item.isInterrupted ? .interrupted : .held) : .broken
    item.noteCommonFindings()
    console.show(item, isShard: settings.shard.count > 1)
    return item
  }

  /// Records again and judges one state.
  /// - Parameters:
  ///   - recipe: What to record and which state to judge.
  ///   - recording: A trace file to use instead of recording again; nil for none.
  ///   - directory: Where to keep the crashed directory, if at all.
  /// - Returns: The checker's answer and the state in words.
  /// - Throws: `LabError` with code `.nondeterminism` when the program's behavior has changed.
  public func replay(
    _ recipe: ExploreRecipe, from recording: String? = nil, keepingImageIn directory: String?
  ) throws(LabError) -> (result: CheckResult, finding: Finding) {
    let system = settings.fileSystems.first
    let trace = try recordedAgain(recipe, from: recording)
    if let state = recipe.media {
      return try mediaExploration(trace, survived: recipe.survivedFaults ?? 0)
        .replay(recipe, state, keepingImageIn: directory)
    }
    var target = try makeTarget(trace, model: settings.models.first, system: system)
    target.ignoredSyncs = recipe.ignoredSyncs ?? []
    if let recovery = program.recovery, let crashes = recipe.recovered {
      return try recoveryExploration(recovery, target)
        .replay(recipe, through: crashes, keepingImageIn: directory)
    }
    let exploration = ProgramExploration(
      program: program, settings: settings, target: target, console: console)
    return try exploration.replay(recipe, keepingImageIn: directory)
  }

  /// A recording with the shape that a recipe names, or the one in a file.
  /// - Throws: `LabError` with code `.nondeterminism` when no recording has that shape.
  package func recordedAgain(
    _ recipe: ExploreRecipe, from recording: String?
  ) throws(LabError) -> Trace {
    let system = settings.fileSystems.first
    if let recording {
      let trace = try TraceFile.load(recording)
      try system?.demand()
      if hasShape(of: recipe, trace) { return trace }
      throw LabError(
        .nondeterminism,
        "\(recording) is the recording of another run (trace shape \(trace.shape); the token "
          + "names \(recipe.shape)): give the file that explore --trace wrote in the run that "
          + "printed the token, or leave --trace out to record the workload again")
    }
    var seen: [String: Int] = [:]
    for _ in 0..<Self.recordingsOfReplay {
      let trace = try record(on: system)
      if hasShape(of: recipe, trace) { return trace }
      seen[trace.shape, default: 0] += 1
      if system == nil, seen == [trace.shape: Self.sameShapesMax] { break }
    }
    throw Self.otherShape(seen, recipe)
  }

  /// True for a recording that contains the recipe's state: with the same shape up to the crash
  /// point, or as a whole for recipes of recoveries, of damage at rest, and older ones.
  private func hasShape(of recipe: ExploreRecipe, _ trace: Trace) -> Bool {
    if recipe.shape == trace.shape { return true }
    guard let key = StateKey(parsing: recipe.state) else { return false }
    return recipe.shape == trace.shape(ofFirst: key.crashPoint)
  }

  private static func otherShape(_ seen: [String: Int], _ recipe: ExploreRecipe) -> LabError {
    let shapes = seen.sorted { $0.key < $1.key }.map { shape, count in
      count == 1 ? shape : "\(shape) \(count) times"
    }
    return LabError(
      .nondeterminism,
      "the workload did something else this time (trace shapes: \(shapes.joined(separator: ", ")); "
        + "the token names \(recipe.shape)): the token belongs to another version or input of the "
        + "program, or threads or the kernel's block writes went in another order; explore --trace "
        + "FILE keeps a recording, and replay --trace FILE judges it")
  }

  /// Explores each model, then each file system.
  private func explore(into item: inout CaseReport) throws(LabError) {
    var targets: [(system: KernelFileSystem?, models: [PersistenceModel?])] = []
    if !settings.models.isEmpty { targets.append((nil, settings.models)) }
    targets += settings.fileSystems.map { ($0, [nil]) }
    var files: Trace?
    for (system, models) in targets {
      let trace = try record(on: system)
      item.skipped += unrecorded(trace)
      noteRules(in: &item)
      if system == nil { files = trace }
      let recording = item.timelines.count
      item.timelines.append(Timeline(trace))
      defer { item.timelines[recording].show(trace, findings: item.findings(of: recording)) }
      var checkers: [any StateChecker] = []
      for model in models {
        try Interruption.check()
        let target = try makeTarget(trace, model: model, system: system, checkers: checkers)
        if checkers.isEmpty { try refuseBadChecker(target, &item.skipped) }
        checkers = target.checkers
        let exploration = ProgramExploration(
          program: program, settings: settings, target: target, console: console)
        var report = try exploration.explore(firstNumber: item.findings.count + 1)
        report.recording = recording
        item.explorations.append(report)
        guard let recovery = program.recovery, system == nil else { continue }
        try Interruption.check()
        item.explorations.append(
          try recoveryExploration(recovery, target)
            .explore(firstNumber: item.findings.count + 1))
      }
    }
    if let media = settings.media { try explore(media, of: files, into: &item) }
  }

  /// What a recording lacks, which limits the meaning of "held".
  func unrecorded(_ trace: Trace) -> [String] {
    var parts = notes.ownFailures
    if notes.syncsError != 0 { parts.append(UnseenSyncs.text(notes.syncsError)) }
    parts += RefusedCalls.texts(ofModes: notes.refusedModes)
    if notes.strayCount > 0 {
      parts.append(
        "what the workload left running (processes: \(notes.strayCount)) would have done later: it "
          + "was killed when the workload's shell ended; let the workload wait for it")
    }
    if trace.events.count == trace.markCount {
      parts.append(
        "every crash: the workload changed nothing in its directory, $FAULTLINE_DIR, where it "
          + "starts")
    }
    return parts
  }

  private func noteRules(in item: inout CaseReport) {
    item.rules = notes.rules.isEmpty ? nil : notes.rules
  }

  /// Damages the files at the program's end, in the existing recording, or a new one.
  private func explore(
    _ media: ProgramMedia, of recorded: Trace?, into item: inout CaseReport
  ) throws(LabError) {
    try Interruption.check()
    let trace: Trace
    if let recorded {
      trace = recorded
    } else {
      trace = try record(on: nil)
      item.skipped += notes.ownFailures
      noteRules(in: &item)
    }
    let recording = item.timelines.count
    item.timelines.append(Timeline(trace))
    defer { item.timelines[recording].show(trace, findings: item.findings(of: recording)) }
    try refuseBadChecker(try makeTarget(trace, model: nil, system: nil))
    var report = try mediaExploration(trace, survived: media.survivedCount)
      .explore(firstNumber: item.findings.count + 1)
    report.recording = recording
    item.explorations.append(report)
  }

  private func mediaExploration(
    _ trace: Trace, survived: Int
  ) throws(LabError) -> ProgramMediaExploration {
    var media = settings.media ?? ProgramMedia()
    media.survivedCount = survived
    let target = try makeTarget(trace, model: nil, system: nil)
    return ProgramMediaExploration(
      program: program, settings: settings, media: media, trace: trace,
      checkers: target.checkers, console: console)
  }

  func record(on system: KernelFileSystem?) throws(LabError) -> Trace {
    let name = system.map { "on \($0)" } ?? Self.filesName
    let trace: Trace
    if let known = try settings.progress?.recording(name) {
      (trace, notes) = known
    } else {
      (trace, notes) = try recordAnew(on: system)
      try settings.progress?.keep(trace, notes, as: name)
    }
    for line in notes.lines { console.say("  \(line)") }
    if let keptTracePath { try TraceFile.save(trace, to: keptTracePath) }
    if system == nil { files = trace }
    return trace
  }

  package func recoveryExploration(
    _ recovery: ProgramRecovery, _ target: ExplorationTarget
  ) throws(LabError) -> ProgramRecoveryExploration {
    ProgramRecoveryExploration(
      program: program, recovery: recovery, settings: settings, target: target,
      recorder: makeRecorder(), console: console)
  }

  private func makeRecorder() -> ProgramRecorder {
    ProgramRecorder(
      run: run, timeoutSeconds: settings.recordingTimeoutSeconds, writeBack: settings.writeBack,
      directAlignment: settings.directAlignment, recordsCallStacks: settings.recordsCallStacks,
      marks: settings.marks)
  }

  private func recordAnew(
    on system: KernelFileSystem?
  ) throws(LabError) -> (trace: Trace, notes: RecordingNotes) {
    console.progress("recording …")
    let recorder = makeRecorder()
    OwnCommands.begin(at: run.ownCommandsPath)
    var recorded: (trace: Trace, notes: RecordingNotes)
    if let system {
      recorded = (try recorder.record(program, on: system), RecordingNotes())
      recorded.notes.strayCount = run.strayCount
    } else {
      recorded = try recorder.record(program, under: settings.faults)
    }
    recorded.notes.ownFailures = OwnCommands.failures(at: run.ownCommandsPath)
    return recorded
  }

  package func makeTarget(
    _ trace: Trace, model: PersistenceModel?, system: KernelFileSystem?,
    checkers: [any StateChecker] = []
  ) throws(LabError) -> ExplorationTarget {
    var checkers = checkers
    let device = system.map { DeviceCheck(system: $0, runsFsck: settings.runsFsck) }
    let jobs = min(settings.jobs, system?.mountsMax ?? settings.jobs)
    for index in checkers.count..<jobs {
      let slot = system.map { "checker-\($0.kind.rawValue)-\(index)" } ?? "checker-\(index)"
      if let judging = program.judging {
        checkers.append(
          try makeTraceChecker(
            trace, judging, try run.subdirectory(slot), device, like: checkers.first))
        continue
      }
      checkers.append(try makeChecker(in: slot, device))
    }
    var target = ExplorationTarget(
      trace: trace, model: model ?? .blockDevice, system: system, checkers: checkers)
    if system == nil { target.syncsError = notes.syncsError }
    return target
  }

  /// What judges without a checker.
  ///
  /// Of a real file system the recording holds blocks, so the files are recorded apart.
  private func makeTraceChecker(
    _ trace: Trace, _ judging: JudgingOptions, _ slot: String, _ device: DeviceCheck?,
    like first: (any StateChecker)?
  ) throws(LabError) -> TraceChecker {
    var passage = StatePassage.Kind.none
    if let device {
      passage = .device(device)
    } else if let recovery = program.recovery {
      passage = .recovery(
        command: recovery.command, timeoutSeconds: settings.timeoutSeconds,
        environment: run.programEnvironment)
    }
    if let first = first as? TraceChecker {
      return try TraceChecker(like: first, slot: slot, passage: passage)
    }
    let files: Trace
    if device == nil { files = trace } else { files = try recordFiles() }
    var undisturbed: [(tree: TreeImage, acknowledged: [UInt8])] = []
    if device != nil || program.recovery != nil {
      undisturbed = [
        (trace.initial, []), (trace.final, trace.acknowledged(trace.markCount)),
      ]
    }
    return try TraceChecker(
      files, judging, slot: slot, passage: passage, undisturbed: undisturbed)
  }

  /// The recording of files, which is made when there is none.
  private func recordFiles() throws(LabError) -> Trace {
    if let files { return files }
    let notes = self.notes
    defer { self.notes = notes }
    let trace: Trace
    if let known = try settings.progress?.recording(Self.filesName) {
      trace = known.trace
    } else {
      let recorded = try recordAnew(on: nil)
      try settings.progress?.keep(recorded.trace, recorded.notes, as: Self.filesName)
      trace = recorded.trace
    }
    files = trace
    return trace
  }

  private func makeChecker(
    in slot: String, _ device: DeviceCheck?
  ) throws(LabError) -> any StateChecker {
    if program.checkStays {
      return try LoopChecker(
        command: program.check, slot: try run.subdirectory(slot),
        timeoutSeconds: settings.timeoutSeconds, environment: run.programEnvironment,
        device: device)
    }
    return try CommandChecker(
      command: program.check, slot: try run.subdirectory(slot),
      timeoutSeconds: settings.timeoutSeconds, environment: run.programEnvironment, device: device)
  }

  /// The same; without a checker, the report says what cannot be judged.
  func refuseBadChecker(
    _ target: ExplorationTarget, _ skipped: inout [String]
  ) throws(LabError) {
    guard let checker = target.checkers.first as? TraceChecker else {
      return try refuseBadChecker(target)
    }
    skipped += checker.knowledge.skipped.filter { !skipped.contains($0) }
  }

  /// A checker that rejects a state without any crash would make every state a finding.
  func refuseBadChecker(_ target: ExplorationTarget) throws(LabError) {
    let trace = target.trace
    var undisturbed = [("before the workload", trace.initial, 0)]
    // With faults, the final directory is judged as a separate state.
    if settings.faults.isEmpty {
      undisturbed.append(("after the workload", trace.final, trace.markCount))
    }
    for (name, tree, marks) in undisturbed {
      let result = try target.checkers[0].check(
        tree, acknowledged: trace.acknowledged(marks), variables: [:])
      guard result.ending.isSuccess else {
        throw .usage(
          "your checker rejects the state without any crash (the directory \(name)): "
            + "\(result.ending)\n\(result.output.quotedLines)")
      }
    }
  }
}

extension Duration {
  /// The duration in seconds.
  package var inSeconds: Double {
    Double(components.seconds) + Double(components.attoseconds) * 1e-18
  }
}

extension Trace {
  /// Number of marks.
  package var markCount: Int {
    events.count { if case .mark = $0.body { true } else { false } }
  }

  /// The tree after all operations, without files that have no name any more.
  package var final: TreeImage {
    var final = initial
    for case .operation(let operation) in events.map(\.body) { final.apply(operation) }
    var named: Set<InodeNumber> = [.root]
    var open: [InodeNumber] = [.root]
    while let number = open.popLast() {
      for child in (final.inodes[number]?.entries ?? [:]).values
      where named.insert(child).inserted {
        open.append(child)
      }
    }
    final.inodes = final.inodes.filter { named.contains($0.key) }
    return final
  }

  /// The bytes of the first `count` marks, one after another.
  package func acknowledged(_ count: Int) -> [UInt8] { Acknowledgements(self)[count] }
}

/// The bytes acknowledged after 0, 1, 2 … marks.
struct Acknowledgements {
  private var bytes: [UInt8]
  /// Number of bytes acknowledged by 0, 1, 2 … marks.
  private var counts: [Int]

  /// Reads the marks of a trace, which follow earlier acknowledgements.
  /// - Complexity: O(events + bytes).
  init(_ trace: Trace, after before: [UInt8] = []) {
    bytes = before
    counts = [before.count]
    for event in trace.events {
      guard case .mark(let mark) = event.body else { continue }
      bytes += mark.bytes
      counts.append(bytes.count)
    }
  }

  /// The earlier bytes and those of the first marks, one after another.
  subscript(marks: Int) -> [UInt8] { Array(bytes[..<counts[marks]]) }
}
