// StressRun.swift: `faultline stress` as a library: consecutive power cuts, each on the result of
// the previous one, judged with the acknowledgements of all rounds.
// Invariants: a broken round is the last of its life: the next one starts with the setup's tree and
// no acknowledgements; memory does not grow with the rounds except for the acknowledgements of the
// current life.

import CrashStates
import Exploration
import Findings
import Foundation
import LabCore
import Recording

/// Cuts the power of a program again and again.
package final class StressRun {
  /// Variable with this program's own path, for workloads that are part of it.
  static let commandName = "FAULTLINE_COMMAND"
  /// Variable with the directory in which a checker may keep files from round to round.
  static let stateName = "FAULTLINE_STATE"
  /// Variable with the number of the round.
  static let roundName = "FAULTLINE_ROUND"
  /// Variable with the number of fault rules in force.
  static let faultsName = "FAULTLINE_FAULTS"
  /// Variable with the content of a drawn history of the built-in workload; empty for the load.
  static let drawnName = "FAULTLINE_DRAWN"
  /// Variable with the number of the part of the round.
  static let segmentName = "FAULTLINE_SEGMENT"
  /// Variable with the seed of the round.
  static let seedName = "FAULTLINE_SEED"

  let program: StressProgram
  let settings: StressSettings
  let console: Console
  private let run: RunDirectory
  let checker: any StateChecker
  let stateDirectory: String

  /// The state that is kept from round to round.
  struct Life {
    let firstRound: Int
    var tree: TreeImage
    var acknowledged: [UInt8] = []
    var stops: [[Int]] = []
    var settings: StressSettings
    /// Its drawn options, if any.
    var options: StressLifeOptions?
    /// Number of events within which the next round's power fails.
    var window: Int

    init(firstRound: Int, tree: TreeImage, settings: StressSettings) {
      self.firstRound = firstRound
      self.tree = tree
      self.settings = settings
      window = settings.eventsPerRound
    }

    /// Whether the next life begins.
    var isOver: Bool {
      guard let rounds = options?.rounds ?? settings.roundsPerLife else { return false }
      return stops.count >= rounds
    }

    /// A cut after the workload's end shows nothing that the end does not show.
    mutating func adapt(to record: RoundRecord) {
      if let end = record.ownEnd {
        window = max(2, min(settings.eventsPerRound, end + end / 8))
      } else {
        window = min(settings.eventsPerRound, window + window / 4 + 1)
      }
    }
  }

  var setupTree = TreeImage()
  private var findings: [Finding] = []
  private var places: [String: Int] = [:]
  private var counts = StressCounts()
  private var leaks = LeakWatch()
  private var board: StressBoard

  /// Prepares a run in its own directory.
  /// - Throws: `LabError` when no run directory can be created.
  package init(
    program: StressProgram, settings: StressSettings, console: Console
  ) throws(LabError) {
    self.program = program
    self.settings = settings
    self.console = console
    board = StressBoard(console: console, path: settings.metricsPath)
    run = try RunDirectory()
    stateDirectory = try run.subdirectory("state")
    let slot = try run.subdirectory("checker")
    checker =
      if program.checkStays ?? false {
        try LoopChecker(
          command: program.check, slot: slot, timeoutSeconds: settings.timeoutSeconds,
          environment: run.programEnvironment)
      } else {
        try CommandChecker(
          command: program.check, slot: slot, timeoutSeconds: settings.timeoutSeconds,
          environment: run.programEnvironment)
      }
  }

  deinit {
    run.killPrograms()
    run.remove()
  }

  /// The environment variables of every command in a round.
  static func environment(
    round: Int, _ settings: StressSettings
  ) throws(LabError) -> [String: String] {
    let common = [
      commandName: (try? LineProcess.program()) ?? "faultline", roundName: "\(round)",
      seedName: "\(StressRound.seed(of: round, settings.seed))",
      faultsName: "\(settings.faults.count - settings.ownFaults.count)",
      drawnName: settings.drawn?.rawValue ?? "",
    ]
    return common.merging(try settings.load?.environment() ?? [:]) { $1 }
  }

  // MARK: - The run

  /// Runs until the cuts are made, the time is up, or Faultline is asked to stop.
  /// - Returns: The findings and counts.
  /// - Throws: `LabError` when Faultline or the setup fails.
  package func stress() throws(LabError) -> CaseReport {
    let clock = ContinuousClock()
    let start = clock.now
    var isInterrupted = false
    do throws(LabError) {
      OwnCommands.begin(at: run.ownCommandsPath)
      try prepare()
      var life = try makeLife(0)
      var round = 0
      func isOver() -> Bool {
        if let cuts = settings.cuts, round >= cuts { return true }
        if settings.failsFast && !findings.isEmpty { return true }
        guard let seconds = settings.seconds else { return false }
        return start.duration(to: clock.now) >= .seconds(seconds)
      }
      while !isOver() {
        try Interruption.check()
        if life.isOver {
          try emptyState()
          life = try makeLife(round)
        }
        try play(round, of: &life)
        round += 1
        try board.show(
          StressMetrics(
            counts: counts, findings: findings.count,
            seconds: start.duration(to: clock.now).inSeconds, footprints: leaks.footprints))
      }
    } catch {
      guard error.code == .interrupted else { throw error }
      isInterrupted = true
    }
    let seconds = start.duration(to: clock.now).inSeconds
    try board.finish(
      StressMetrics(
        counts: counts, findings: findings.count, seconds: seconds, footprints: leaks.footprints))
    return report(isInterrupted, seconds: seconds)
  }

  /// Runs the setup, and refuses a checker that rejects its result.
  func prepare() throws(LabError) {
    guard let setup = program.setup else { return }
    let recorder = ProgramRecorder(
      run: run, timeoutSeconds: settings.timeoutSeconds,
      environment: try Self.environment(round: 0, settings))
    let trace = try recorder.record(
      ProgramUnderTest(workload: "true", check: program.check, setup: setup))
    setupTree = trace.initial
    let result = try checker.check(
      setupTree, acknowledged: [], variables: try variables(round: 0, settings))
    try emptyState()
    guard result.ending.isSuccess else {
      throw .usage(
        "your checker rejects the directory that the setup leaves: \(result.ending)\n"
          + result.output.quotedLines)
    }
  }

  func variables(round: Int, _ settings: StressSettings) throws(LabError) -> [String: String] {
    var variables = try Self.environment(round: round, settings)
    variables[Self.stateName] = stateDirectory
    return variables
  }

  func emptyState() throws(LabError) { try DirectoryCleaner(path: stateDirectory).clear() }

  func makeRound(_ number: Int, of life: Life, stops: [Int]? = nil) -> StressRound {
    StressRound(
      program: program, settings: life.settings, run: run, number: number,
      recovers: number > life.firstRound, window: life.window, stops: stops)
  }

  /// A new life, whose options are printed first.
  private func makeLife(_ firstRound: Int) throws(LabError) -> Life {
    counts.lives += 1
    guard settings.isSwarm else {
      return Life(firstRound: firstRound, tree: setupTree, settings: settings)
    }
    let seed = settings.seed.derived("life").derived(UInt64(firstRound))
    var options: StressLifeOptions
    if let chosen = settings.lifeOptions {
      options = chosen
    } else {
      options = try StressLifeOptions.drawn(
        seed, ofLoad: !settings.isScenario, drawsHistories: settings.drawsHistories,
        faults: settings.drawnFaults)
      settings.choose(&options)
    }
    let text = options.text(ofScenario: settings.isScenario)
    console.say("options from round \(firstRound): \(text)")
    var life = Life(
      firstRound: firstRound, tree: setupTree, settings: try options.applied(to: settings))
    life.options = options
    return life
  }

  private func play(_ number: Int, of life: inout Life) throws(LabError) {
    let record = try makeRound(number, of: life).play(on: life.tree)
    life.stops.append(record.stops)
    life.adapt(to: record)
    counts.add(record)
    let judged = try judge(record, number, life)
    leaks.sample("lab", ProcessFootprint(process: getpid()))
    leaks.sample("daemon", record.daemon)
    leaks.endRound()
    if let limit = judged.limit {
      counts.unjudged += 1
      console.say("round \(number) not judged, and new options are drawn: \(limit)")
      try emptyState()
      life = try makeLife(number + 1)
      return
    }
    guard let failed = judged.failure else {
      life.tree = judged.tree
      life.acknowledged = judged.acknowledged
      return
    }
    try add(failed, record, number, life, judged)
    try emptyState()
    life = try makeLife(number + 1)
  }

  // MARK: - Judgement

  struct Judged {
    var state: CrashState?
    var tree = TreeImage()
    var acknowledged: [UInt8] = []
    /// The answer of the checker or of a command, if it is a failure.
    var failure: CheckResult?
    /// Why the built-in checker could not answer.
    var limit: String?
  }

  /// Chooses the result of the power cut, and has it judged.
  func judge(
    _ record: RoundRecord, _ number: Int, _ life: Life
  ) throws(LabError) -> Judged {
    var judged = Judged()
    judged.acknowledged = life.acknowledged + record.trace.marks.flatMap(\.bytes)
    if let failure = record.failure {
      let waiting = try life.settings.load.map { _ throws(LabError) in
        try Self.waiting(in: record.trace)
      }
      // Different reasons give different findings.
      let line = failure.output.split(separator: "\n").first
      judged.failure = CheckResult(
        ending: failure.ending,
        output: "the \(failure.role) failed: \(line ?? "\(failure.ending)")\n" + failure.output
          + (waiting ?? ""),
        promised: "the \(failure.role) succeeds while nothing disturbs it")
      return judged
    }
    let enumerator = try makeEnumerator(record.trace, number, life.settings)
    let seed = StressRound.seed(of: number, settings.seed).derived("state")
    // Unsynced commits need not survive a power cut, so only a kill is simulated: all is kept.
    let isKept = life.settings.load?.isDurable == false
    let state = isKept ? enumerator.lastState() : try enumerator.drawFinalState(seed)
    judged.state = state
    judged.tree = try enumerator.withImage(of: state) { (image) throws(LabError) in
      image.treeImage()
    }
    let result = try checker.check(
      judged.tree, acknowledged: judged.acknowledged,
      variables: try variables(round: number, life.settings))
    judged.limit = limit(of: result, life.settings)
    if judged.limit == nil, !result.ending.isSuccess { judged.failure = result }
    return judged
  }

  /// Why the built-in checker could not answer, if so; a user's checker always answers.
  func limit(of result: CheckResult, _ settings: StressSettings) -> String? {
    let codes: [ExitCode] = [.usage, .labFailed]
    let isOurs = settings.load != nil || program.isJudgedByLab
    let isLimit = isOurs && codes.contains { result.ending == .exited($0.rawValue) }
    return isLimit ? result.headline : nil
  }

  /// The built-in workload's threads with an unfinished transaction, one per line.
  private static func waiting(in trace: Trace) throws(LabError) -> String {
    var record = EngineLoadRecord()
    try record.consume(trace.marks.flatMap(\.bytes)[...])
    return try record.waiting().map { "in a transaction to the last: \($0)\n" }.joined()
  }

  func makeEnumerator(
    _ trace: Trace, _ number: Int, _ settings: StressSettings
  ) throws(LabError) -> CrashStateEnumerator {
    try CrashStateEnumerator(
      trace: trace, model: settings.model, seed: StressRound.seed(of: number, settings.seed))
  }

  /// Makes a finding of a failing round, or counts it with those of the same class.
  private func add(
    _ result: CheckResult, _ record: RoundRecord, _ number: Int, _ life: Life, _ judged: Judged
  ) throws(LabError) {
    // Faultline's own load and scenarios call neither.
    if life.settings.load == nil, !life.settings.isScenario, life.settings.drawn == nil {
      try UnseenSyncs.refuse(run.syncsError, result.headline)
    }
    let key = FailureClass.key(of: result)
    if let place = places[key] {
      findings[place].stateCount += 1
      return
    }
    let settings = life.settings
    var recipe = StressRecipe(
      program: program, model: settings.model.specification, seed: settings.seed.rawValue,
      faults: settings.faults, writeBack: settings.writeBack, load: settings.load,
      drawn: settings.drawn,
      firstRound: life.firstRound, stops: life.stops, state: nil, shape: record.trace.shape,
      timeoutSeconds: settings.timeoutSeconds)
    recipe.marks = settings.marks
    let finding = try explain(result, record, number, judged, settings, &recipe)
    places[key] = findings.count
    findings.append(finding)
    console.show(finding, Annotation(file: CaseReport.stressedName, line: nil))
    let kept = settings.reportDirectory.map { KeptRound(directory: "\($0)/round-\(number)") }
    if let kept {
      try kept.save(
        trace: record.trace, image: judged.tree, acknowledged: judged.acknowledged,
        state: stateDirectory, token: finding.token)
      console.say("  kept in \(kept.directory)")
    }
    guard let options = life.options else { return }
    try kept?.save(options, as: KeptRound.optionsName)
    guard settings.thins else { return }
    let thinned = try thin(options, life, result)
    console.say(
      "  thinned in \(Formatting.counted(thinned.rounds, "round")): "
        + (thinned.dropped.isEmpty
          ? "nothing could be left out"
          : "it still fails with " + thinned.options.text(ofScenario: settings.isScenario)))
    try kept?.save(thinned.options, as: KeptRound.thinnedName)
  }

  func explain(
    _ result: CheckResult, _ record: RoundRecord, _ number: Int, _ judged: Judged,
    _ settings: StressSettings, _ recipe: inout StressRecipe
  ) throws(LabError) -> Finding {
    let enumerator = try makeEnumerator(record.trace, number, settings)
    let maker = try FindingMaker(enumerator: enumerator, model: settings.model)
    let moment = "round \(number), power cut \(Formatting.grouped(number + 1))"
    guard let drawn = judged.state else {
      return try maker.finding(
        number: findings.count + 1, state: enumerator.lastState(), result: result,
        stateCount: 1, token: ReplayRecipe.stress(recipe).token, context: "\(moment) not reached")
    }
    let judge = judgement(
      of: enumerator, acknowledged: judged.acknowledged, round: number, settings)
    var state = drawn
    var smallest = result
    do throws(LabError) {
      state = try maker.shrink(drawn) { (candidate) throws(LabError) in
        let again = try judge(candidate)
        guard FailureClass.key(of: again) == FailureClass.key(of: result) else { return false }
        smallest = again
        return true
      }
    } catch {
      guard error.code == .interrupted else { throw error }
    }
    recipe.state = enumerator.key(of: state).description
    return try maker.finding(
      number: findings.count + 1, state: state, result: smallest, stateCount: 1,
      token: ReplayRecipe.stress(recipe).token, context: moment
    ) { (other) throws(LabError) in try judge(other).ending.isSuccess }
  }

  /// The checker, for queries about states of a round.
  func judgement(
    of enumerator: CrashStateEnumerator, acknowledged: [UInt8], round: Int,
    _ settings: StressSettings
  ) -> (CrashState) throws(LabError) -> CheckResult {
    { (state) throws(LabError) in
      let tree = try enumerator.withImage(of: state) { (image) throws(LabError) in
        image.treeImage()
      }
      return try self.checker.check(
        tree, acknowledged: acknowledged, variables: try self.variables(round: round, settings))
    }
  }

  private func report(_ isInterrupted: Bool, seconds: Double) -> CaseReport {
    var item = CaseReport(name: CaseReport.stressedName, title: program.workload)
    item.isInterrupted = isInterrupted
    var exploration = ExplorationReport(
      title: program.workload, model: settings.model.name, seed: settings.seed.rawValue,
      operationCount: counts.operations, markCount: counts.marks, crashPointCount: counts.cuts,
      candidateCount: counts.cuts, distinctCount: counts.cuts,
      exploredCount: counts.cuts - counts.unjudged,
      bound: "\(counts.cuts)", isInterrupted: isInterrupted, seconds: seconds, findings: [])
    exploration.findings = findings
    item.explorations = [exploration]
    let rate = seconds > 0 ? Double(counts.cuts) / seconds : 0
    console.say(
      "  \(settings.model.name): \(Formatting.counted(counts.cuts, "power cut")) and "
        + "\(Formatting.counted(counts.kills, "kill")) in \(Formatting.fixed(seconds, 1)) s "
        + "(\(Formatting.fixed(rate, 1)) cuts/s); "
        + "\(Formatting.counted(counts.operations, "operation")), "
        + "\(Formatting.counted(counts.marks, "acknowledgement")), "
        + "\(Formatting.counted(counts.ownEnds, "round")) to the workload's own end")
    console.say("  \(leaks.text)")
    if settings.watchesLeaks { item.complaints = leaks.leaks.map { "a leak in Faultline: \($0)" } }
    if counts.unjudged > 0 {
      console.say("  \(Formatting.counted(counts.unjudged, "power cut")) not judged")
      if counts.unjudged == counts.cuts { item.complaints.append("no power cut was judged") }
    }
    for complaint in item.complaints { console.say("  " + console.red(complaint)) }
    item.skipped = OwnCommands.failures(at: run.ownCommandsPath)
    for part in item.skipped { console.say("  skipped: \(part)") }
    item.decideStress()
    return item
  }
}
