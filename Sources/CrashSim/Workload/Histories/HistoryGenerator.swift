// HistoryGenerator.swift: expands the parameters of a history to steps, in scenario syntax. It
// tracks which actors have the database open, what is pinned and which process is stopped, so that
// each step is possible at its place; only the plan knows which rows exist, so statements take as
// many as there are ('upTo').
// Invariants: the same parameters and seed give the same text; every pin is released, no process
// remains stopped, and the last steps check the content through every handle.

import LabCore

/// The state of a history during drawing.
struct HistoryGenerator {
  let parameters: HistoryParameters
  let stepsMax: Int
  var random: PRNG
  private(set) var steps: [String] = []
  /// Actors that have the database open, in the order of their opens.
  var open: [String] = []
  var pins: [Pin] = []
  /// The stopped process, and the step at which it continues.
  var stopped: (process: String, until: Int)?
  private var phase = Phase.grow
  private var phaseLeft = 0
  private var writer = ""
  private var hasWritten = false
  /// Whether it already has its concurrent steps.
  var hasBlock = false
  private var nameCount = 0
  /// The version of the program's classes, in histories of objects.
  var schemaVersion = 1

  struct Pin {
    let name: String
    let actor: String
    let until: Int
  }

  /// What most transactions do for a while.
  private enum Phase: CaseIterable {
    case grow
    case shrink
    case change
    case mix
  }

  /// A step that can be drawn, and its weight.
  private typealias Choice = (weight: Int, step: (inout HistoryGenerator) -> Void)

  /// Draws a history.
  /// - Parameters:
  ///   - scenario: The scenario, which has a declaration of histories.
  ///   - seed: The run's seed.
  ///   - number: Number of the history, from 0.
  /// - Returns: The history.
  /// - Complexity: O(steps × actors).
  fileprivate static func draw(_ scenario: Scenario, seed: Seed, number: Int) -> DrawnHistory {
    let parameters = HistoryParameters(scenario, seed: seed, number: number)
    let stepsMax = scenario.history?.steps ?? 1
    let random = PRNG(seed.derived("history").derived(UInt64(number)).derived("steps"))
    guard parameters.content != .sync else {
      let text = SyncHistoryGenerator.text(parameters, steps: stepsMax, random)
      return DrawnHistory(parameters: parameters, text: text)
    }
    var generator = HistoryGenerator(
      parameters: parameters, stepsMax: stepsMax, random: random)
    generator.drawSteps()
    return DrawnHistory(parameters: parameters, text: generator.text)
  }

  private init(parameters: HistoryParameters, stepsMax: Int, random: PRNG) {
    self.parameters = parameters
    self.stepsMax = stepsMax
    self.random = random
  }

  func has(_ feature: HistoryFeature) -> Bool { parameters.features.contains(feature) }

  mutating func emit(_ step: String) { steps.append("  - \(step)") }

  mutating func makeName(_ letter: String) -> String {
    nameCount += 1
    return "\(letter)\(nameCount)"
  }

  func process(of actor: String) -> ProcessDeclaration {
    parameters.processes.first { $0.actors.contains(actor) } ?? parameters.processes[0]
  }

  /// Actors that can currently act.
  var ready: [String] { open.filter { process(of: $0).name != stopped?.process } }

  mutating func pick<Element>(_ elements: [Element]) -> Element {
    elements[random.below(elements.count)]
  }

  // MARK: - Steps

  private mutating func drawSteps() {
    // The block is placed among steps in lockstep.
    let blockPlace = parameters.isScheduled ? stepsMax / 4 + random.below(stepsMax / 2 + 1) : nil
    while steps.count < stepsMax {
      drawStep()
      if let blockPlace, !hasBlock, steps.count >= blockPlace { runTogether() }
      if random.below(parameters.checkEvery) == 0 { look() }
    }
    if parameters.isScheduled, !hasBlock { runTogether() }
    finish()
  }

  private mutating func drawStep() {
    if let stopped, stopped.until <= steps.count { goOn() }
    let due = pins.firstIndex {
      $0.until <= steps.count && process(of: $0.actor).name != stopped?.process
    }
    if let due { release(due) }
    guard !ready.isEmpty else {
      if open.isEmpty || random.below(2) == 0 { return openOne() }
      return goOn()
    }
    if phaseLeft == 0 {
      phaseLeft = 3 + random.below(12)
      phase = pick(Phase.allCases)
      let doomed = ready.filter { parameters.doomed.contains($0) }
      writer = pick(doomed.isEmpty || random.below(3) == 0 ? ready : doomed)
    }
    phaseLeft -= 1
    let choices = choices
    var place = random.below(choices.reduce(0) { $0 + $1.weight })
    for choice in choices {
      place -= choice.weight
      if place < 0 { return choice.step(&self) }
    }
  }

  private var choices: [Choice] {
    var choices: [Choice] = [(14, { $0.write() })]
    func add(_ weight: Int, _ feature: HistoryFeature, _ step: @escaping (inout Self) -> Void) {
      if has(feature) { choices.append((weight, step)) }
    }
    if pins.count < parameters.pinsMax { choices.append((6, { $0.pin() })) }
    if open.count < parameters.processes.reduce(0, { $0 + $1.actors.count }) {
      choices.append((3, { $0.openOne() }))
    }
    choices.append((1, { $0.closeOne() }))
    add(3, .diffs) { $0.diff() }
    add(1, .reopens) { $0.reopen() }
    add(1, .copies) { $0.copy() }
    add(1, .compact) { $0.compact() }
    add(1, .launch) { $0.launch() }
    add(1, .exits) { $0.end(by: "exit") }
    add(1, .kills) { $0.end(by: "kill") }
    add(1, .stops) { $0.stop() }
    add(3, .refreshes) { $0.refresh() }
    // Otherwise a dozen queries of an empty database would make up most of a short history.
    if hasWritten { add(4, .queries) { $0.query() } }
    add(3, .observers) { $0.observe() }
    add(1, .misuses) { $0.misuse() }
    add(1, .migrations) { $0.migrate() }
    return choices
  }

  /// Checks the content, usually through a handle that was idle.
  private mutating func look() {
    guard !ready.isEmpty else { return }
    let actor = pick(ready)
    if has(.pins), random.below(4) == 0 {
      let name = makeName("r")
      emit("\(actor): {pin: \(name)}")
      emit("\(actor): {release: \(name)}")
    } else {
      emit("\(actor): verify")
    }
  }

  private mutating func finish() {
    goOn()
    while !pins.isEmpty { release(pins.count - 1) }
    if open.isEmpty { openOne() }
    var seen: Set<String> = []
    for actor in open where seen.insert(process(of: actor).name).inserted {
      emit("\(actor): verify")
    }
  }

  // MARK: - Writes

  private mutating func write() {
    let actor = ready.contains(writer) && random.below(4) > 0 ? writer : pick(ready)
    // Otherwise a history could consist of changes and deletes of nothing.
    if !hasWritten { phase = .grow }
    hasWritten = true
    var keys = ""
    let isRun = has(.runs) && random.below(3) == 0
    if isRun { keys += "repeat: \(2 + random.below(parameters.runLength)), " }
    let count = 1 + random.below(3)
    var statements = (0..<count).map { _ in statement(isRun: isRun) }
    var end = ""
    if has(.refusals), random.below(10) == 0 {
      let table =
        parameters.content == .objects ? "Dog, _id" : "\(pick(parameters.tables).name), k"
      statements.append("{delete: \(table): -7}")
      end = ", fails: keyNotFound"
    } else if has(.cancels), random.below(8) == 0 {
      end = ", cancel: true"
    }
    if has(.copiesInWrites), !isRun, !end.contains("fails"), random.below(16) == 0 {
      end += ", copy: \(makeName("w"))"
    }
    if has(.asyncWrites), random.below(3) == 0 { end += ", async: true" }
    emit("\(actor): {\(keys)write: [\(statements.joined(separator: ", "))]\(end)}")
  }

  private mutating func statement(isRun: Bool) -> String {
    let (table, values) = makeTarget()
    let most = isRun ? min(4, parameters.statementRows) : parameters.statementRows
    var phase = phase == .mix ? pick([.grow, .shrink, .change]) : phase
    if phase == .shrink, !has(.deletes) { phase = .change }
    let rows = parameters.rows
    switch phase {
    case .shrink:
      if has(.nearlyEmpty), !isRun, random.below(3) == 0 {
        let kept = random.below(4)
        return "{delete: \(table): 0..1000000, upTo: \(max(1, rows - kept))}"
      }
      let keys = pick(["1..\(rows)", "random 1..\(rows)", "1..1000000"])
      return "{delete: \(table): \(keys), upTo: \(1 + random.below(most))}"
    case .change:
      let few = has(.fewChanges) ? min(2, most) : most
      let kind = parameters.writesUpserts ? "upsert" : pick(["update", "update", "upsert"])
      let keys = pick(["1..\(rows)", "random 1..\(rows)"])
      return "{\(kind): \(table): \(keys)\(values), upTo: \(1 + random.below(few))}"
    case .grow, .mix:
      let keys = pick(["1..\(rows)", "random 1..\(rows)", "sequence"])
      let kind = parameters.writesUpserts ? "upsert" : pick(["insert", "insert", "upsert"])
      return "{\(kind): \(table): \(keys)\(values), upTo: \(1 + random.below(most))}"
    }
  }

  /// A table or class with its key's name, and rules for its columns.
  mutating func makeTarget() -> (table: String, values: String) {
    if parameters.content == .objects { return makeObject() }
    let table = pick(parameters.tables)
    return ("\(table.name), k", values(table))
  }

  // MARK: - Text

  private var text: String {
    let tables = parameters.tables.map { table in
      let columns = table.columns.map { ", \($0.name): \($0.word)" }.joined()
      return "  \(table.name): {k: int primary\(columns)}"
    }
    let processes = parameters.processes.map {
      "\($0.name): [\($0.actors.joined(separator: ", "))]"
    }
    var database: [String] = []
    if has(.oneSync) { database.append("commitProtocol: checksummed") }
    if has(.encrypted) { database.append("key: first") }
    if has(.grouped) { database.append("grouped: true") }
    let opening =
      database.isEmpty ? [] : ["database: {\(database.joined(separator: ", "))}"]
    let schema = parameters.content == .objects ? ["schema: objects"] : ["schema:"] + tables
    let lines =
      schema + ["processes: {\(processes.joined(separator: ", "))}"] + opening
      + ["steps:"] + steps
    return lines.joined(separator: "\n") + "\n"
  }
}

extension DrawnHistory {
  /// Draws a history.
  /// - Parameters:
  ///   - scenario: The scenario, which has a declaration of histories.
  ///   - seed: The run's seed.
  ///   - number: Number of the history, from 0.
  /// - Complexity: O(steps × actors).
  package init(_ scenario: Scenario, seed: Seed, number: Int) {
    self = HistoryGenerator.draw(scenario, seed: seed, number: number)
  }
}

extension ColumnDeclaration {
  /// Its type in scenario syntax.
  var word: String {
    if isList { return "[\(type.rawValue)]" }
    if let target { return "link \(target)" }
    let optional = isOptional && type != .mixed ? "?" : ""
    let index = isUnique ? " unique" : isIndexed ? " indexed" : isFullText ? " full-text" : ""
    return type.rawValue + optional + index
  }
}
