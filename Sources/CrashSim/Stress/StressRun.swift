// StressRun.swift: `faultline stress` as a library: power cuts one after another, each on what the
// last one left, judged with the acknowledgements of all rounds.
// Invariants: a round that was found broken is the last of its life: the next one begins with the
// setup's tree and no acknowledgements; memory does not grow with the rounds but by the
// acknowledgements of the present life.

import Foundation

/// Cuts the power under a program again and again.
public final class StressRun {
  /// Variable that holds this program's own path, for workloads that are part of it.
  static let commandName = "FAULTLINE_COMMAND"
  /// Variable that holds the directory in which a checker may keep things from round to round.
  public static let stateName = "FAULTLINE_STATE"
  /// Variable that holds the number of the round.
  public static let roundName = "FAULTLINE_ROUND"
  /// Variable that holds the seed of the round.
  public static let seedName = "FAULTLINE_SEED"

  let program: StressProgram
  let settings: StressSettings
  let console: Console
  private let run: RunDirectory
  let checker: CommandChecker
  let stateDirectory: String

  /// What goes on from round to round.
  struct Life {
    var firstRound: Int
    var tree: TreeImage
    var acknowledged: [UInt8] = []
    var stops: [[Int]] = []
  }

  var setupTree = TreeImage()
  private var findings: [Finding] = []
  private var places: [String: Int] = [:]
  private var counts = StressCounts()
  private var leaks = LeakWatch()
  private var window: Int

  /// Prepares a run in a directory of its own.
  /// - Throws: `LabError` when no run directory can be made.
  public init(
    program: StressProgram, settings: StressSettings, console: Console
  ) throws(LabError) {
    self.program = program
    self.settings = settings
    self.console = console
    window = settings.eventsPerRound
    run = try RunDirectory()
    stateDirectory = try run.subdirectory("state")
    checker = try CommandChecker(
      command: program.check, slot: try run.subdirectory("checker"),
      timeoutSeconds: settings.timeoutSeconds, environment: run.programEnvironment)
  }

  deinit {
    run.killPrograms()
    run.remove()
  }

  /// What every command of a round has in its environment.
  static func environment(round: Int, _ seed: Seed) -> [String: String] {
    [
      commandName: (try? LineProcess.program()) ?? "faultline", roundName: "\(round)",
      seedName: "\(StressRound.seed(of: round, seed))",
    ]
  }

  // MARK: - The run

  /// Goes on until the cuts are made, the time is over, or the lab is asked to stop.
  /// - Returns: What was found, and how much was done.
  /// - Throws: `LabError` when the lab fails, or the setup does.
  public func stress() throws(LabError) -> CaseReport {
    let clock = ContinuousClock()
    let start = clock.now
    var isInterrupted = false
    do throws(LabError) {
      try prepare()
      var life = Life(firstRound: 0, tree: setupTree)
      var round = 0
      func isOver() -> Bool {
        if let cuts = settings.cuts, round >= cuts { return true }
        if settings.failsFast && !findings.isEmpty { return true }
        guard let seconds = settings.seconds else { return false }
        return start.duration(to: clock.now) >= .seconds(seconds)
      }
      while !isOver() {
        try Interruption.check()
        try play(round, of: &life)
        round += 1
        let seconds = max(0.001, start.duration(to: clock.now).inSeconds)
        console.progress(
          "\(Formatting.counted(round, "power cut")), "
            + "\(Formatting.counted(findings.count, "finding")), "
            + "\(Formatting.fixed(Double(round) / seconds, 1)) cuts/s")
      }
    } catch {
      guard error.code == .interrupted else { throw error }
      isInterrupted = true
    }
    return report(isInterrupted, seconds: start.duration(to: clock.now).inSeconds)
  }

  /// Runs the setup, and refuses a checker that rejects what it leaves.
  func prepare() throws(LabError) {
    guard let setup = program.setup else { return }
    let recorder = ProgramRecorder(run: run, timeoutSeconds: settings.timeoutSeconds)
    let trace = try recorder.record(
      ProgramUnderTest(workload: "true", check: program.check, setup: setup))
    setupTree = trace.initial
    let result = try checker.check(setupTree, acknowledged: [], variables: variables(round: 0))
    try emptyState()
    guard result.ending.isSuccess else {
      throw .usage(
        "your checker rejects the directory that the setup leaves: \(result.ending)\n"
          + result.output)
    }
  }

  func variables(round: Int) -> [String: String] {
    var variables = Self.environment(round: round, settings.seed)
    variables[Self.stateName] = stateDirectory
    return variables
  }

  private func emptyState() throws(LabError) { try DirectoryWriter(path: stateDirectory).clear() }

  func makeRound(_ number: Int, of life: Life, stops: [Int]? = nil) -> StressRound {
    StressRound(
      program: program, settings: settings, run: run, number: number,
      recovers: number > life.firstRound, window: window, stops: stops)
  }

  private func play(_ number: Int, of life: inout Life) throws(LabError) {
    let record = try makeRound(number, of: life).play(on: life.tree)
    life.stops.append(record.stops)
    if let end = record.ownEnd {
      window = max(2, min(settings.eventsPerRound, end + end / 8))
    } else {
      window = min(settings.eventsPerRound, window + window / 4 + 1)
    }
    counts.add(record)
    let judged = try judge(record, number, life)
    leaks.sample("lab", ProcessFootprint(process: getpid()))
    leaks.sample("daemon", record.daemon)
    leaks.endRound()
    guard let failed = judged.failure else {
      life.tree = judged.tree
      life.acknowledged = judged.acknowledged
      return
    }
    try add(failed, record, number, life, judged)
    life = Life(firstRound: number + 1, tree: setupTree)
    try emptyState()
  }

  // MARK: - Judgement

  struct Judged {
    var state: CrashState?
    var tree = TreeImage()
    var acknowledged: [UInt8] = []
    /// The checker's answer, or that of a command, when it is a failure.
    var failure: CheckResult?
  }

  /// Chooses what the power cut leaves, and has it judged.
  func judge(
    _ record: RoundRecord, _ number: Int, _ life: Life
  ) throws(LabError) -> Judged {
    var judged = Judged()
    judged.acknowledged = life.acknowledged + record.trace.marks.flatMap(\.bytes)
    if let failure = record.failure {
      judged.failure = CheckResult(
        ending: failure.ending, output: "the \(failure.role) failed\n" + failure.said,
        promised: "the \(failure.role) succeeds while nothing disturbs it")
      return judged
    }
    let enumerator = try makeEnumerator(record.trace, number)
    let seed = StressRound.seed(of: number, settings.seed).derived("state")
    let state = try enumerator.drawFinalState(seed)
    judged.state = state
    judged.tree = try enumerator.withImage(of: state) { (image) throws(LabError) in
      image.treeImage()
    }
    let result = try checker.check(
      judged.tree, acknowledged: judged.acknowledged, variables: variables(round: number))
    if !result.ending.isSuccess { judged.failure = result }
    return judged
  }

  func makeEnumerator(
    _ trace: Trace, _ number: Int
  ) throws(LabError) -> CrashStateEnumerator {
    try CrashStateEnumerator(
      trace: trace, model: settings.model, seed: StressRound.seed(of: number, settings.seed))
  }

  /// Makes a finding of a failing round, or counts it with those that say the same.
  private func add(
    _ result: CheckResult, _ record: RoundRecord, _ number: Int, _ life: Life, _ judged: Judged
  ) throws(LabError) {
    let key = FailureClass.key(of: result)
    if let place = places[key] {
      findings[place].stateCount += 1
      return
    }
    var recipe = StressRecipe(
      program: program, model: settings.model.specification, seed: settings.seed.rawValue,
      faults: settings.faults, writeBack: settings.writeBack, firstRound: life.firstRound,
      stops: life.stops, state: nil, shape: record.trace.shape,
      timeoutSeconds: settings.timeoutSeconds)
    let finding = try explain(result, record, number, judged, &recipe)
    places[key] = findings.count
    findings.append(finding)
    console.show(finding, Annotation(file: CaseReport.stressedName, line: nil))
    if let directory = settings.reportDirectory {
      let kept = KeptRound(directory: "\(directory)/round-\(number)")
      try kept.save(
        trace: record.trace, image: judged.tree, acknowledged: judged.acknowledged,
        state: stateDirectory, token: finding.token)
      console.say("  kept in \(kept.directory)")
    }
  }

  func explain(
    _ result: CheckResult, _ record: RoundRecord, _ number: Int, _ judged: Judged,
    _ recipe: inout StressRecipe
  ) throws(LabError) -> Finding {
    let enumerator = try makeEnumerator(record.trace, number)
    let maker = try FindingMaker(enumerator: enumerator, model: settings.model)
    let moment = "round \(number), power cut \(Formatting.grouped(number + 1))"
    guard let drawn = judged.state else {
      return try maker.finding(
        number: findings.count + 1, state: enumerator.lastState(), result: result,
        stateCount: 1, token: ReplayToken.encode(.stress(recipe)), context: "\(moment) not reached")
    }
    var state = drawn
    var smallest = result
    do throws(LabError) {
      state = try maker.shrink(drawn) { (candidate) throws(LabError) in
        let tree = try enumerator.withImage(of: candidate) { (image) throws(LabError) in
          image.treeImage()
        }
        let again = try checker.check(
          tree, acknowledged: judged.acknowledged, variables: variables(round: number))
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
      token: ReplayToken.encode(.stress(recipe)), context: moment)
  }

  private func report(_ isInterrupted: Bool, seconds: Double) -> CaseReport {
    var item = CaseReport(name: CaseReport.stressedName, title: program.workload)
    item.isInterrupted = isInterrupted
    var exploration = ExplorationReport(
      title: program.workload, model: settings.model.name, seed: settings.seed.rawValue,
      operationCount: counts.operations, markCount: counts.marks, crashPointCount: counts.cuts,
      candidateCount: counts.cuts, distinctCount: counts.cuts, exploredCount: counts.cuts,
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
    item.complaints = leaks.leaks.map { "a leak of the lab: \($0)" }
    for complaint in item.complaints { console.say("  " + console.red(complaint)) }
    if !findings.isEmpty {
      item.outcome = .broken
    } else if !item.complaints.isEmpty {
      item.outcome = .labFailed
    } else {
      item.outcome = isInterrupted ? .interrupted : .held
    }
    return item
  }
}
