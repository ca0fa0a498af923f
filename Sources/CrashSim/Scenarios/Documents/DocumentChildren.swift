// DocumentChildren.swift: a scenario on documents as programs: what prepares the directory, what
// does the steps, each process of them, and what judges.

import DocumentLab
import Exploration
import Findings
import Foundation
import LabCore
import Workload

/// The commands of a scenario on documents.
enum DocumentProgram {
  /// Set where operations may fail or processes are killed.
  static let disturbedVariable = "FAULTLINE_DISTURBED"
  /// In the place of a schedule where there is none.
  static let none = "-"
  /// Set where the power did not fail.
  static let survivedVariable = "FAULTLINE_SURVIVED"

  /// Setup, workload and checker for a shell.
  static func commands(
    _ scenario: Scenario, program: String, staying: Bool = true,
    schedule: DocumentSchedule? = nil
  ) -> ProgramUnderTest {
    let path = URL(fileURLWithPath: scenario.file).path
    let fingerprint = DocumentFingerprint.present + "." + (scenario.fingerprint?.scenario ?? "")
    func command(_ child: some ChildProgram) -> String {
      "exec \(child.shellCommand(program: program))"
    }
    let hasPreparation =
      scenario.documents.map { !$0.before.isEmpty || $0.format != nil } ?? false
    var under = ProgramUnderTest(
      workload: command(
        DocumentWork(
          scenario: path, schedule: schedule?.text ?? none, fingerprint: fingerprint)),
      check: command(DocumentCheck(scenario: path, schedule: schedule?.text ?? none)),
      setup: hasPreparation ? command(DocumentSetup(scenario: path)) : nil)
    under.checkStays = staying
    return under
  }

  /// A scenario and its plan.
  static func load(
    _ path: String
  ) throws(LabError) -> (scenario: Scenario, plan: DocumentPlan) {
    let scenario = try ScenarioRunner.load([path])[0]
    guard let documents = scenario.documents else {
      throw .usage("\(path) has no documents; this is a program of scenarios that do")
    }
    do throws(ScenarioError) {
      return (scenario, try DocumentPlan(documents, file: path))
    } catch {
      throw .usage("\(error)")
    }
  }
}

/// What tokens of scenarios on documents say of their versions.
package enum DocumentTokens {
  /// The remarks on a workload that was made with another store or scenario.
  package static func remarks(on workload: String) -> [String] {
    let words = workload.split(separator: "'")
    let path = words.first { $0.hasSuffix(".yaml") || $0.hasSuffix(".yml") }.map(String.init)
    let bytes = path.flatMap { FileManager.default.contents(atPath: $0) }
    return DocumentFingerprint.differences(
      in: workload, scenario: bytes.map { ReplayFingerprint(ofScenario: Array($0)).scenario })
  }
}

/// Prepares `$FAULTLINE_DIR`.
package struct DocumentSetup: ChildProgram {
  package static let name = "document-setup"
  package static let parameters = ["SCENARIO"]
  let scenario: String
  package var arguments: [String] { [scenario] }

  init(scenario: String) { self.scenario = scenario }

  package init(_ arguments: inout ChildArguments) throws(LabError) {
    scenario = arguments.text()
  }

  /// Does the steps before the run.
  package func run() throws(LabError) -> Int32 {
    let directory = try LaunchEnvironment(of: Self.self).directory()
    try DocumentPreparation.run(try DocumentProgram.load(scenario).plan, in: directory)
    return ExitCode.held.rawValue
  }
}

/// Does a scenario's steps in `$FAULTLINE_DIR`.
package struct DocumentWork: ChildProgram {
  package static let name = "document-work"
  // `DocumentFingerprint` reads the last word.
  package static let parameters = ["SCENARIO", "SCHEDULE", "FINGERPRINT"]
  let scenario: String
  let schedule: String
  let fingerprint: String
  package var arguments: [String] { [scenario, schedule, fingerprint] }

  init(scenario: String, schedule: String, fingerprint: String) {
    self.scenario = scenario
    self.schedule = schedule
    self.fingerprint = fingerprint
  }

  package init(_ arguments: inout ChildArguments) throws(LabError) {
    scenario = arguments.text()
    schedule = arguments.text()
    fingerprint = arguments.text()
  }

  /// Does the steps.
  package func run() throws(LabError) -> Int32 {
    let environment = LaunchEnvironment(of: Self.self)
    let directory = try environment.directory()
    // The steps start once; what a kill left is judged as it is.
    if let segment = environment[StressRun.segmentName], segment != "0" {
      return ExitCode.held.rawValue
    }
    let (scenario, plan) = try DocumentProgram.load(scenario)
    if schedule != DocumentProgram.none {
      try runActors(of: plan, scenario, in: directory)
      return ExitCode.held.rawValue
    }
    let mayFail = environment[StressRun.faultsName].map { $0 != "0" } ?? false
    let isKilled = environment[DocumentProgram.disturbedVariable] != nil
    let isAlone = plan.declaration.processes.count == 1 && !isKilled
    let path = self.scenario
    let conductor = DocumentConductor(
      plan, isDisturbed: isKilled || mayFail || !scenario.faults.isEmpty,
      mayStop: mayFail || !scenario.faults.isEmpty,
      start: { (process) throws(LabError) -> any DocumentActor in
        if isAlone { return DocumentHand(plan, directory: directory) }
        return try RemoteHand(
          DocumentHandProgram(scenario: path, process: process),
          environment: ["FAULTLINE_DIR": directory])
      },
      write: { (line) throws(LabError) in StandardStream.output.write(line + "\n") })
    _ = try conductor.run()
    return ExitCode.held.rawValue
  }

  /// Does the steps, then those of the actors under the schedule.
  private func runActors(
    of plan: DocumentPlan, _ scenario: Scenario, in directory: String
  ) throws(LabError) {
    let actors = plan.together.map(\.name)
    let schedule = try DocumentSchedule(reading: schedule, actors: actors)
    try SQLitePoints.install(checkpointPages: plan.declaration.checkpointPages)
    try DocumentPreparation.doSteps(plan, in: directory) { (line) throws(LabError) in
      StandardStream.output.write(line + "\n")
    }
    let (block, record) = try DocumentScheduledPlan.perform(
      plan, ReplayChooser(schedule.schedule), in: directory,
      points: (scenario.schedule ?? ScheduleDeclaration()).points, limits: ScheduleLimits(),
      on: ScheduleThreads(count: actors.count),
      acknowledge: { StandardStream.output.write("commit \($0)\n") })
    guard record.ending == .finished, DocumentOrder(block.order) == schedule.order else {
      throw LabError(
        .nondeterminism, "the actors did something else than before: \(record.ending)")
    }
    for problem in block.end() { StandardStream.output.write("broken \(problem.named)\n") }
  }
}

/// One process of a scenario's steps.
package struct DocumentHandProgram: ChildProgram {
  package static let name = "document-hand"
  package static let parameters = ["SCENARIO", "PROCESS"]
  let scenario: String
  let process: String
  package var arguments: [String] { [scenario, process] }

  init(scenario: String, process: String) {
    self.scenario = scenario
    self.process = process
  }

  package init(_ arguments: inout ChildArguments) throws(LabError) {
    scenario = arguments.text()
    process = arguments.text()
  }

  /// Does the steps that it is asked to do.
  package func run() throws(LabError) -> Int32 {
    let directory = try LaunchEnvironment(of: Self.self).directory()
    // Fault rules know a process by the name of its thread.
    ProcessCalls.nameThisThread(process)
    let plan = try DocumentProgram.load(scenario).plan
    try RemoteHand.serve(DocumentHand(plan, directory: directory))
    return ExitCode.held.rawValue
  }
}

/// Opens a data file, which recovers it, and closes it.
package struct DocumentRecover: ChildProgram {
  package static let name = "document-recover"
  package static let parameters = ["SCENARIO"]
  let scenario: String
  package var arguments: [String] { [scenario] }

  init(scenario: String) { self.scenario = URL(fileURLWithPath: scenario).path }

  package init(_ arguments: inout ChildArguments) throws(LabError) {
    scenario = arguments.text()
  }

  /// Recovers the file in `$FAULTLINE_DIR`.
  package func run() throws(LabError) -> Int32 {
    let directory = try LaunchEnvironment(of: Self.self).directory()
    let hand = DocumentHand(try DocumentProgram.load(scenario).plan, directory: directory)
    do {
      try hand.recover()
      return ExitCode.held.rawValue
    } catch {
      Console().complain("the file cannot be recovered: \(error)")
      return ExitCode.broken.rawValue
    }
  }
}

/// Judges states, one for each line of requests.
package struct DocumentCheck: ChildProgram {
  package static let name = "document-check"
  package static let parameters = ["SCENARIO", "SCHEDULE"]
  let scenario: String
  let schedule: String
  package var arguments: [String] { [scenario, schedule] }

  init(scenario: String, schedule: String) {
    self.scenario = scenario
    self.schedule = schedule
  }

  package init(_ arguments: inout ChildArguments) throws(LabError) {
    scenario = arguments.text()
    schedule = arguments.text()
  }

  /// The plan, with the commits of actors side by side in the order of the schedule.
  private func plan() throws(LabError) -> DocumentPlan {
    let plan = try DocumentProgram.load(scenario).plan
    guard schedule != DocumentProgram.none else { return plan }
    let order = try DocumentSchedule(reading: schedule, actors: plan.together.map(\.name)).order
    do throws(DocumentModel.Refusal) { return try plan.following(order.places) } catch {
      throw .usage("\(scenario): the schedule's commits are not possible: \(error.text)")
    }
  }

  /// Whether the scenario damages the database file; one that says what breaks wants to see it.
  private func isDatabaseDamaged() throws(LabError) -> Bool {
    let (scenario, plan) = try DocumentProgram.load(scenario)
    guard plan.declaration.breaks == nil, let media = scenario.media else { return false }
    return Glob(media.fileGlob).matches(Array("\(DocumentHand.bundle)/db.sqlite3".utf8))
  }

  private struct Request: Decodable {
    let directory: String
    let output: String
    let environment: [String: String]
  }

  /// Judges until its input ends; without requests, the directory in `$FAULTLINE_DIR`.
  package func run() throws(LabError) -> Int32 {
    let plan = try plan()
    let judge = DocumentJudge(plan)
    let isDatabaseDamaged = try isDatabaseDamaged()
    let environment = LaunchEnvironment(of: Self.self)
    if environment["FAULTLINE_OUTPUT"] != nil, environment["FAULTLINE_DIR"] != nil {
      let found = judge.problems(
        in: try environment.directory(), output: try environment.acknowledged(),
        hasPower: environment[DocumentProgram.survivedVariable] != nil)
      for problem in found { Console().say(problem.line) }
      return (found.isEmpty ? ExitCode.held : .broken).rawValue
    }
    while let line = readLine(strippingNewline: true) {
      let request: Request = try JSONLine.decode(Array(line.utf8))
      let output = FileManager.default.contents(atPath: request.output) ?? Data()
      let isDamaged = request.environment[ProgramMedia.detectedVariable] != nil
      if isDamaged, let noticed = judge.notices(in: request.directory) {
        StandardStream.output.write("noticed \(noticed.replacing("\n", with: " "))\n")
        continue
      }
      var found = judge.problems(
        in: request.directory, output: Array(output),
        hasPower: request.environment[DocumentProgram.survivedVariable] != nil)
      if isDamaged, isDatabaseDamaged {
        found.removeAll { !$0.promise.holdsOnDamagedMedia }
      }
      for problem in found.dropFirst() { StandardStream.errors.write(problem.line + "\n") }
      let words = found.first.map { $0.line.replacing("\n", with: " ") }
      StandardStream.output.write(words.map { "broken \($0)\n" } ?? "held\n")
    }
    return ExitCode.held.rawValue
  }
}
