// ScenarioTarget.swift: bytes are a scenario file → parser → dry run.
// Invariants checked: errors have a position and a remedy; a valid scenario has a dry run with some
// text, or a usage error; with current spellings it has the same meaning.

import Exploration
import Fuzz
import LabCore
import Scenarios
import Workload

enum ScenarioTarget {
  static let target = FuzzTarget.texts(
    "scenario", judges: "scenario files: errors have a place; what parses has a dry run",
    smokeCount: 250, words: words, samples: samples, run: { run($0) })

  private static let words: [String] =
    GrammarObject.allCases.flatMap { $0.keys + $0.oldKeys.map(\.old) } + GrammarWords.actions
    + GrammarWords.columnTypes
    + GrammarWords.models + marks + values

  private static let marks = [
    "{", "}", "[", "]", ": ", ", ", "- ", "\n", "\n  - ", "..", "1..9", "random", "sequence",
    "9223372036854775807", "-1", "0", "1000000", "all", "true", "null", "&a", "*a", "'", "\"",
  ]

  private static let values = [
    "int primary", "string", "int indexed", "double", "bool", "date", "uuid", "binary",
    "link Dog", "list of int", "ui", "background", "app", "sync", "Dog", "_id", "name", "age",
    "ext4-ordered",
    "posix", "strict", "every operation", "every sync", "EIO", "ENOSPC", "data.realm", "pct",
    "bounded", "scripted", "4 x content", "letters 1..9", "1 in 9", "durability",
    "Crate", "content", "[[[", "{a: ",
  ]

  private static let preamble = """
    title: A title
    schema: {Dog: {_id: int primary, name: string, age: int indexed}, Cat: {_id: int primary}}
    processes: {app: [ui, background], sync: [writer]}

    """

  private static let samples: [String] = [
    preamble + """
      steps:
        - all: open
        - ui: pin
        - background: {repeat: 3, write: [{upsert: Dog, _id: 1..50, name: random, age: 1..99}]}
        - expect: {file: {sizeBytes: {atMost: 4 x content}}, count: {Dog: 3}, version: 5}
        - ui: release
      crash: {model: [strict, ext4-ordered], explore: all, recovery: 2, budget: {states: 500}}
      killSweep: {process: sync, at: every operation}
      """,
    preamble + """
      database: {commitProtocol: checksummed, maximumVersions: 9}
      steps:
        - ui: open
        - {kill: app}
        - ui: open
        - ui: {write: [{insert: Dog, _id: sequence, name: {random: letters 1..900}, times: 12}]}
        - ui: {write: [{insert: Dog, _id: 100, name: refused}], fails: io}
        - ui: {copy: spare}
        - limit: {process: app, descriptors: 9}
      faults:
        - {on: write, file: "data.realm", bytes: 12288.., ofCommit: 1, commit: 4, error: EIO}
        - {on: sync, nth: 3, ignore: true}
      negative: {expect: durability, because: a sync is ignored}
      """,
    """
    title: Side by side
    schema: {Dog: {_id: int primary, name: string}, Cat: {_id: int primary, name: string indexed}}
    processes: {app: [ui, background]}
    steps:
      - all: open
      - together:
          - ui: {repeat: 2, write: [{insert: Dog, _id: sequence, name: random}]}
          - background: {write: [{insert: Cat, _id: sequence, name: random, times: 3}]}
          - background: {write: [{update: Cat, _id: 1, name: random}, {delete: Cat, _id: 2}]}
      - ui: verify
    schedule: {strategy: pct, depth: 3, runs: 400}
    crash: {model: ext4-ordered, explore: all, budget: {states: 1200}}
    seed: 7
    tags: [slow]

    """,
    """
    title: Nested
    schema: objects
    processes: {app: [ui]}
    steps:
      - ui: open
      - ui: {write: [{insert: Crate, _id: 1, content: {a: [1, {b: [two, 2.5, null]}], c: {}}}]}
      - ui: {write: [{update: Crate, _id: 1, edit: {at: [a, 1, b, 0], insert: [[3]]}}]}
      - ui: {write: [{update: Crate, _id: 1, edit: {at: [a, 0], set: {d: true}}}]}
      - ui: {write: [{update: Crate, _id: 1, edit: {at: [a, 0], move: 1}}]}
      - ui: {write: [{update: Crate, _id: 1, edit: {at: [a, 1], swap: 0}}]}
      - ui: {write: [{update: Crate, _id: 1, edit: {at: [a, 1], remove: true}}]}
      - ui: {write: [{update: Crate, _id: 1, edit: {at: [c], clear: true}}]}
      - ui: {write: [{update: Crate, _id: 1, edit: {at: [c, dog], set: {$dog: 1}}}]}
      - ui: {repeat: 9, write: [{update: Crate, _id: 1..9, edit: random}]}

    """,
    """
    title: Drawn
    history: {histories: 3, steps: 8, rows: 60, processes: 3, with: [pins], without: encrypted}
    crash: {model: posix, budget: {states: 40}}
    killSweep: {process: p2, at: every sync}

    """,
  ]
  /// Drawing a history takes a millisecond per step, and more under a sanitizer.
  private static let historyStepsMax = 20

  /// A dry run plans every statement, at most some millions per second, and twelve times slower
  /// under a sanitizer.
  private static let planWorkMax = ScenarioBounds.planWork / 500

  private static func run(_ input: [UInt8]) -> FuzzOutcome {
    var scenario: Scenario
    do throws(ScenarioError) {
      scenario = try ScenarioParser.parse(bytes: input, file: "fuzz.yaml")
    } catch {
      let message = error.labError.message
      return message.hasPrefix("fuzz.yaml:")
        ? .refused : .finding("an error without a place: \(message.prefix(80))")
    }
    do throws(ScenarioError) {
      let file = try LanguageMigration.migrated(input, path: "fuzz.yaml")
      let again = try file.flatMap { file throws(ScenarioError) in
        try LanguageMigration.migrated(file.bytes, path: "fuzz.yaml")
      }
      if again?.isChanged == true { return .finding("a second migration changes something") }
    } catch {
      let message = error.labError.message
      guard message.contains("only its author can change") else {
        return .finding("a migration fails: \(message.prefix(200))")
      }
    }
    if let history = scenario.history {
      scenario.history?.steps = min(history.steps, historyStepsMax)
    }
    do throws(LabError) {
      let lines = try DryRun(
        scenario, settings: ExplorationSettings(), workMax: planWorkMax
      ).lines()
      return lines.isEmpty ? .finding("a dry run without a word") : .accepted
    } catch {
      return error.code == .usage ? .refused : .finding("a dry run ends in \(error)")
    }
  }
}
