// HistoryTests.swift: histories drawn from a seed: the same under the same seed, possible whatever
// stands around them, and, when one breaks a promise, made smaller and brought back by a token.

import Engine
import Foundation
import Query
import TestSupport
import Testing

@testable import Exploration
@testable import Findings
@testable import LabCore
@testable import Oracles
@testable import Scenarios
@testable import Workload

@Suite("Drawn histories")
struct HistoryTests {
  private static func scenario(
    _ history: String, _ rest: String = "", file: String = "drawn.yaml"
  ) throws -> Scenario {
    try ScenarioParser.parse("title: t\nhistory: \(history)\n\(rest)\n", file: file)
  }

  private static func problems(_ history: String, _ rest: String = "") -> String {
    do {
      _ = try scenario(history, rest)
      return ""
    } catch {
      return "\(error)"
    }
  }

  /// A scenario of one process, which every machine can run.
  private static let inProcess =
    "without: [compact, launch, copies, copiesInWrites, exits, kills]"

  @Test("a seed and a number give one history, and another number or seed another one")
  func equalSeeds() throws {
    let scenario = try Self.scenario("{steps: 40}")
    var texts: Set<String> = []
    for seed in [UInt64(1), 2] {
      for number in 0..<4 {
        let seed = Seed(rawValue: seed)
        let drawn = try scenario.drawn(number, seed: seed)
        #expect(drawn.text == (try scenario.drawn(number, seed: seed).text))
        let plan = try WorkloadPlan(drawn.scenario, seed: seed)
        #expect(plan == (try WorkloadPlan(drawn.scenario, seed: seed)))
        texts.insert(drawn.text)
      }
    }
    #expect(texts.count == 8)
  }

  @Test("beside a schedule each history has one block of steps side by side, of two actors or more")
  func blocks() throws {
    var told: Set<String> = []
    for strategy in ["{strategy: pct}", "{strategy: exhaustive, points: shared}"] {
      let scenario = try Self.scenario("{steps: 20, rows: 30}", "schedule: \(strategy)")
      for number in 0..<(FullSize.isOn ? 400 : 12) {
        let drawn = try scenario.drawn(number, seed: Seed(rawValue: 3))
        #expect(drawn.scenario.blocks.count == 1, "history \(number)")
        #expect(Set(drawn.scenario.blocks.joined().flatMap(\.actors)).count > 1)
        let plan = try WorkloadPlan(drawn.scenario, seed: Seed(rawValue: 3))
        for command in plan.commands where command.block != nil {
          told.insert(String(command.action.phrase.prefix(5)))
        }
      }
    }
    #expect(told.isSuperset(of: ["run t", "pin t", "relea", "verif"]), "\(told)")
  }

  @Test(
    "what a schedule does not go with is refused",
    arguments: [
      ("{of: objects}", "", "the realms of several actors"),
      ("{with: links}", "", "have no 'links' beside a schedule"),
      ("{with: kills}", "", "have no 'kills' beside a schedule"),
      ("{}", "killSweep: {process: p1, at: every operation}", "does not go with 'killSweep'"),
      ("{}", "sweep: {on: sync, error: EIO}", "does not go with 'sweep'"),
      ("{}", "media: {faults: bitFlip}", "does not go with 'media'"),
    ])
  func besideSchedules(history: String, around: String, message: String) {
    let text = "title: t\nhistory: \(history)\nschedule: {strategy: pct}\n\(around)\n"
    let error = #expect(throws: ScenarioError.self) {
      try ScenarioParser.parse(text, file: "s.yaml")
    }
    #expect(error.map { "\($0)" }?.contains(message) == true, "\(String(describing: error))")
  }

  @Test(
    "what is drawn is possible whatever stands around it",
    arguments: [
      "", "crash: {model: posix}", "killSweep: {process: p2, at: every operation}",
      "sweep: {on: sync, error: EIO}", "media: {faults: bitFlip}",
    ], ["tables", "objects"])
  func possible(around: String, content: String) throws {
    let scenario = try Self.scenario("{of: \(content), steps: 60, processes: 4}", around)
    for number in 0..<(FullSize.isOn ? 400 : 4) {
      let drawn = try scenario.drawn(number, seed: Seed(rawValue: 5))
      let plan = try WorkloadPlan(drawn.scenario, seed: Seed(rawValue: 5))
      #expect(drawn.scenario.steps.count >= 60)
      #expect(drawn.scenario.historyNumber == number && drawn.scenario.history == nil)
      #expect(plan.transactions.contains { !$0.mutations.isEmpty }, "history \(number)")
    }
  }

  @Test("each feature is on in some histories and off in others; a scenario can ask for it")
  func features() throws {
    var possible: Set<HistoryFeature> = []
    for content in GrammarWords.historyContents {
      let scenario = try Self.scenario("{of: \(content)}")
      let features = try #require(scenario.history).features
      possible.formUnion(features)
      var counts: [HistoryFeature: Int] = [:]
      for number in 0..<200 {
        let drawn = DrawnHistory(scenario, seed: Seed(rawValue: 3), number: number)
        for feature in drawn.parameters.features { counts[feature, default: 0] += 1 }
      }
      #expect(Set(counts.keys) == Set(features))
      for feature in features {
        #expect((10...190).contains(counts[feature] ?? 0), "\(feature): \(counts[feature] ?? 0)")
      }
    }
    #expect(possible == Set(HistoryFeature.allCases))
    let asked = try Self.scenario("{with: [encrypted, pins], without: [ints, kills]}")
    for number in 0..<50 {
      let drawn = DrawnHistory(asked, seed: Seed(rawValue: 3), number: number)
      let features = drawn.parameters.features
      #expect(features.isSuperset(of: [.encrypted, .pins]))
      #expect(features.isDisjoint(with: [.processes, .kills]))
    }
  }

  @Test("steps do what the features say")
  func steps() throws {
    let scenario = try Self.scenario("{steps: 200, with: [kills, diffs, copies], without: stops}")
    let drawn = try scenario.drawn(0, seed: Seed(rawValue: 1))
    for word in ["kill: ", "diff: ", "copy: ", "pin: ", "release: "] {
      #expect(drawn.text.contains(word), "\(word)")
    }
    #expect(!drawn.text.contains("stop: "))
  }

  @Test("histories of objects do what their features say, and queries are all of the language")
  func stepsOfObjects() throws {
    let scenario = try Self.scenario(
      """
      {of: objects, steps: 800, processes: 2, with: [threads, queries, observers, misuses,
        refreshes, migrations, embedded, sets, maps, links, lists], without: [stops, encrypted]}
      """)
    let drawn = try scenario.drawn(0, seed: Seed(rawValue: 1))
    for word in [
      "schema: objects", "query: ", "observe: ", "misuse: ", "refresh", "invalidate",
      "schemaVersion: 2", "migration: ", "home: ", "nicknames: ", "scores: ", "owner: ", "dogs: ",
    ] {
      #expect(drawn.text.contains(word), "\(word)")
    }
  }

  @Test("each query that is drawn is one of the language, and each operator is drawn")
  func queries() throws {
    var texts = ""
    for version in [UInt64(1), 2] {
      let names = [
        ObjectClasses.person, ObjectClasses.dog, ObjectClasses.address, ObjectClasses.room,
      ]
      let schema = QuerySchema(
        QueryOracle.tables(
          names.map {
            TableSchema(name: $0, columns: ObjectModel.columns(of: $0, version: version))
          }))
      var query = HistoryQuery(
        schemaVersion: Int(version), keys: 40, random: PRNG(Seed(rawValue: 7).derived(version)))
      for _ in 0..<(FullSize.isOn ? 20_000 : 400) {
        let (text, name) = query.draw()
        _ = try ParsedQuery(parsing: text).bound(to: schema, table: name, arguments: [Value]())
        #expect(!text.contains("'"), "stands in single quotes")
        texts += text + "\n"
      }
    }
    for word in [
      "==", "!=", "<", "<=", ">", ">=", "BEGINSWITH", "ENDSWITH", "CONTAINS", "LIKE", "BETWEEN",
      "IN", "TEXT", "[c]", "[d]", "ANY", "ALL", "NONE", "NOT", " AND ", " OR ", "SUBQUERY",
      "@links", "@count", "@min", "@max", "@sum", "@avg", "@values", "+", "-", "*", "/", "null",
      "SORT", "DISTINCT", "LIMIT", "TRUEPREDICATE", "FALSEPREDICATE", "fans", "home", "rooms",
    ] {
      #expect(texts.contains(word), "\(word)")
    }
  }

  /// What came up in the histories of a scenario, which hold.
  private static func counts(of scenario: Scenario) throws -> HistoryCounts {
    let runner = try ScenarioRunner(
      settings: ExplorationSettings(), console: .silent, backend: .inProcess)
    let item = try runner.run(scenario)
    try runner.end()
    #expect(item.outcome == .held, "\(item.complaints)")
    return try #require(item.histories)
  }

  @Test("histories of objects are run and judged")
  func runOfObjects() throws {
    let scenario = try Self.scenario(
      "{of: objects, histories: 3, steps: 40, processes: 1, "
        + "with: [queries, observers, asyncWrites], without: [launch, copies, exits, kills]}",
      "seed: 4")
    let counts = try Self.counts(of: scenario)
    #expect(counts.actions.contains { $0.name == "query" && $0.count > 3 })
    #expect(counts.actions.contains { $0.name == "observe" && $0.count > 0 })
    #expect(counts.actions.contains { $0.name == "asynchronous write" && $0.count > 3 })
    #expect(!counts.actions.contains { $0.name == "diff" })
  }

  @Test("what is wrong with a history is said once and with its place")
  func problems() {
    #expect(Self.problems("{}", "steps: [{a: open}]").contains("'history' draws what 'steps'"))
    #expect(Self.problems("{with: pinz}").contains("nearest valid key 'pins'"))
    #expect(Self.problems("{with: pins, without: pins}").contains("asked for and ruled out"))
    #expect(Self.problems("{histories: 0}").contains("out of range"))
    #expect(Self.problems("{of: rows}").contains("kind of content"))
    #expect(Self.problems("{with: queries}").contains("histories of tables have no 'queries'"))
    #expect(
      Self.problems("{of: objects, without: grouped}").contains("of objects have no 'grouped'"))
    #expect(
      Self.problems("{}", "crash: {on: ext4}").contains("drawn histories run on FaultFS only"))
    let problems = Self.problems("{processes: 2}", "killSweep: {process: p3, at: every sync}")
    #expect(problems.contains("p3"))
  }

  @Test("histories are run and judged, and what never came up is reported")
  func run() throws {
    let scenario = try Self.scenario(
      "{histories: 3, steps: 30, processes: 1, \(Self.inProcess)}", "seed: 4")
    let counts = try Self.counts(of: scenario)
    #expect(counts.histories == 3 && counts.steps >= 90)
    #expect(!counts.features.contains { $0.name == "kills" || $0.name == "processes" })
    #expect(counts.actions.contains { $0.name == "commit" && $0.count > 0 })
    #expect(counts.engine.contains { $0.name == "write root slot" && $0.count > 0 })
    let never = counts.lines.filter { $0.hasPrefix("never ") }
    for tally in counts.engine where tally.count == 0 {
      #expect(never.contains { $0.contains(tally.name) }, "\(tally.name)")
    }
  }

  private static let mountOnly = ", compact, launch, copies, copiesInWrites, exits, kills"

  @Test(
    "a history that breaks a promise becomes a small scenario, and its token brings it back",
    arguments: ["", "schedule: {strategy: random, runs: 20}"])
  func failing(schedule: String) throws {
    let folder = try TemporaryDirectory()
    let path = "\(folder.path)/drawn.yaml"
    let text = """
      title: the disk ignores syncs
      history:
        histories: 4
        steps: 12
        rows: 20
        processes: 1
        without: [manyRows, runs\(schedule.isEmpty ? Self.mountOnly : "")]
      \(schedule)
      crash: {model: strict, budget: {states: 40}}
      faults: [{on: sync, ignore: true}]
      """
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    var settings = ExplorationSettings()
    settings.seed = Seed(rawValue: 9)
    settings.seedIsChosen = true
    settings.jobs = 1
    let runner = try ScenarioRunner(settings: settings, console: .silent, backend: .inProcess)
    let item = try runner.run(try ScenarioRunner.load([path])[0])
    #expect(item.outcome == .broken)
    let finding = try #require(item.findings.first)
    guard case .scenario(let recipe) = try ReplayRecipe(token: finding.token) else {
      throw LabError.lab("not the token of a scenario")
    }
    let number = try #require(recipe.history)
    #expect(number == (item.histories?.histories ?? 0) - 1)
    #expect(try runner.replay(recipe, keepingImageIn: nil)?.headline == finding.headline)
    try runner.end()
    let out = "\(folder.path)/small.yaml"
    let shrinker = try ScenarioShrinker(
      settings: settings, console: .silent, backend: .inProcess, runBudget: 40)
    let small = try #require(try shrinker.shrink(path, keeping: recipe, out: out))
    try shrinker.end()
    #expect(small.after.steps < small.before.steps)
    let parsed = try ScenarioParser.parse(small.text, file: out)
    #expect(parsed.history == nil && parsed.steps.count == small.after.steps)
  }

  @Test("histories as long and wide as they may be are possible")
  func largest() throws {
    let scenario = try Self.scenario(
      "{steps: 1000, rows: 5000, processes: 8, with: [manyRows, lists, texts, longTexts, deletes]}")
    for number in 0..<(FullSize.isOn ? 40 : 1) {
      let drawn = try scenario.drawn(number, seed: Seed(rawValue: 2))
      #expect(drawn.scenario.steps.count >= 1000)
      if FullSize.isOn { _ = try WorkloadPlan(drawn.scenario, seed: Seed(rawValue: 2)) }
    }
  }

  @Test("a broken promise that leaves the next step without a meaning is not a failure of the lab")
  func stepWithoutMeaning() throws {
    // The pin that should be refused is there, so the one after it cannot be made.
    let scenario = try ScenarioParser.parse(
      """
      title: t
      schema: {T1: {k: int primary}}
      processes: {app: [ui]}
      steps:
        - ui: open
        - ui: {try: pin, fails: io}
        - ui: pin
        - ui: release
      """, file: "s.yaml")
    let runner = try ScenarioRunner(
      settings: ExplorationSettings(), console: .silent, backend: .inProcess)
    let item = try runner.run(scenario)
    try runner.end()
    #expect(item.outcome == .broken, "\(item.complaints)")
    #expect(item.complaints.count == 1 && item.complaints[0].contains("it succeeded"))
  }

  // MARK: - What the language has for histories

  private static let tables = """
    title: t
    schema: {T1: {k: int primary, c: int}, T2: {k: int primary, u: int unique, s: string unique}}
    processes: {app: [ui]}
    steps:
      - ui: open

    """

  private static func plan(_ steps: String) throws -> WorkloadPlan {
    try WorkloadPlan(
      try ScenarioParser.parse(tables + steps, file: "s.yaml"), seed: Seed(rawValue: 1))
  }

  @Test("'upTo' takes the rows that there are, 'times' needs them all")
  func upTo() throws {
    let insert = "  - ui: {write: [{insert: T1, k: 1..5, c: random, upTo: 9}]}\n"
    let plan = try Self.plan(insert + "  - ui: {write: [{delete: T1, k: 0..90, upTo: 9}]}\n")
    #expect(plan.transactions.map(\.mutations.count) == [0, 5, 5])
    #expect(throws: LabError.self) {
      try Self.plan(insert + "  - ui: {write: [{delete: T1, k: 0..90, times: 9}]}\n")
    }
    #expect(throws: ScenarioError.self) {
      try Self.plan("  - ui: {write: [{insert: T1, k: 1..5, upTo: 2, times: 2}]}\n")
    }
  }

  @Test("no two rows have the same value of a unique column")
  func unique() throws {
    let plan = try Self.plan(
      """
        - ui: {repeat: 20, write: [{upsert: T2, k: random 1..50, u: 7, times: 9}]}
        - ui: {write: [{update: T2, k: 1..50, u: random, s: same, upTo: 50}]}

      """)
    var rows: [Int64: [PlannedValue]] = [:]
    for mutation in plan.transactions.flatMap(\.mutations) {
      rows[mutation.key] = mutation.values
      for place in 0..<2 {
        #expect(Set(rows.values.map { $0[place] }).count == rows.count)
      }
    }
    #expect(rows.count > 20)
    #expect(throws: ScenarioError.self) {
      try ScenarioParser.parse(
        "title: t\nschema: {T: {k: int primary, u: int unique}}\nprocesses: {p: [a]}\n"
          + "steps: [{a: open}]\n", file: "s.yaml")
    }
  }
}
