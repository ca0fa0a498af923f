// ScenarioParserTests.swift: every key, and every error at its exact place.

import Testing

@testable import FaultFS
@testable import LabCore
@testable import Scenarios
@testable import Workload

/// The lines before `steps:` that most of these files share.
let preamble = """
  title: a test
  schema: {Dog: {_id: int primary, name: string, age: int}}
  processes: {app: [ui, background]}

  """

/// The diagnostics of a text, one per line; empty when it parses.
func diagnostics(_ text: String) -> [String] {
  do throws(ScenarioError) {
    _ = try ScenarioParser.parse(text, file: "t.yaml")
    return []
  } catch {
    return error.diagnostics.map(\.description)
  }
}

func parsed(_ text: String) throws -> Scenario {
  try ScenarioParser.parse(text, file: "t.yaml")
}

/// A scenario with every key of the language.
private let everyKeyText = """
  title: everything
  seed: 18446744073709551615
  tags: [slow, open]
  schema:
    Dog: {_id: int primary, name: string, age: int}
    Cat: {lives: int, id: int primary}
  processes: {app: [ui, background]}
  steps:
    - all: open
    - ui: {pin: old}
    - background: pin
    - background:
        repeat: 20
        write:
          - {insert: Dog, _id: sequence, name: random, age: 1..99, times: 3}
          - {upsert: Dog, _id: 1..50, name: Rex, age: random}
          - {update: Dog, _id: random in 1..50, name: {random: letters 1..300}}
          - {delete: Dog, _id: 7}
    - background: {write: [{insert: Cat, id: 1_000, lives: random 1..9}], cancel: true}
    - background: {write: [{insert: Cat, id: 2, lives: -9}], fails: io}
    - expect: {count: {Dog: 50}, version: 12, verify: true, pinned: {old: unchanged}}
    - expect: {version: {atLeast: 3}, file: {sizeBytes: {atMost: 4 x content}}}
    - expect: {file: {sizeBytes: {atMost: 64 KiB}}}
    - ui: {release: old}
    - background: release
    - ui: reopen
    - ui: verify
    - ui: fork
    - stop: app
    - continue: app
    - limit: {process: app, fileBytes: 64 KiB}
    - limit: {process: app, descriptors: none}
    - remove: lock
    - exit: app
    - overwrite: {file: lock, with: ones}
    - ui: open
    - kill: app
  crash: {model: [strict, posix], explore: prefixes, budget: {states: 500}, recovery: true}
  killSweep: {process: app, at: every operation, side: after}
  faults:
    - {on: fsync, every: 2, skip: 1, ignore: true}
    - {on: sync, nth: 5, error: EIO}
    - {on: sync, ofCommit: 1, commit: 3, ignore: true}
    - {on: write, file: "*.realm", bytes: 8192.., ofCommit: 2, holdBehind: {bytes: 0..8191}}
    - {on: allocate, commit: 4, error: ENOSPC}
  negative: {expect: [durability, atomicity], because: the sync is ignored}
  """

@Suite struct ScenarioParserTests {
  @Test("bools and doubles are written as they are; anything else in their place is told")
  func constants() throws {
    let text = """
      title: t
      schema: {Task: {id: int primary, done: bool, weight: double}}
      processes: {app: [main]}
      steps:
        - main: open
        - main: {write: [{insert: Task, id: 1, done: true, weight: -2.5}]}

      """
    let scenario = try parsed(text)
    guard case .write(let write) = scenario.steps[1].action else {
      Issue.record("no write")
      return
    }
    #expect(write.statements[0].values == ["done": .bool(true), "weight": .double(-2.5)])
    let plan = try WorkloadPlan(scenario, seed: Seed(rawValue: 1))
    let values = plan.commands.compactMap(\.transaction).flatMap(\.mutations).map(\.values)
    #expect(values == [[.bool(true), .double((-2.5).bitPattern)]])
    for (good, bad) in [("done: true", "done: yes"), ("weight: -2.5", "weight: nan")] {
      #expect(throws: (any Error).self) { try parsed(text.replacing(good, with: bad)) }
    }
  }

  @Test("every key of the language is read")
  func everyKey() throws {
    let scenario = try parsed(everyKeyText)
    #expect(scenario.title == "everything")
    #expect(scenario.seed == Seed(rawValue: .max))
    #expect(scenario.tags == ["slow", "open"])
    #expect(scenario.tables.map(\.name) == ["Dog", "Cat"])
    #expect(scenario.tables[1].key == "id")
    #expect(scenario.tables[1].columns == [ColumnDeclaration(name: "lives", type: .int)])
    #expect(scenario.processes == [ProcessDeclaration(name: "app", actors: ["ui", "background"])])
    #expect(scenario.steps.count == 23)
    #expect(
      scenario.steps.dropFirst(13).map(\.action.told) == [
        .fork, .process(.stop), .process(.resume),
        .process(.limit(ProcessLimit(.fileBytes, count: 65536))),
        .process(.limit(ProcessLimit(.descriptors, count: nil))), .file(.remove(.lock)),
        .process(.exit), .file(.overwrite(.lock, with: .ones)), .open, .process(.kill),
      ])
    #expect(scenario.steps[0].actors == ["ui", "background"])
    #expect(scenario.steps[2].action == .command(.pin("background")))
    guard case .write(let write) = scenario.steps[3].action else {
      Issue.record("no write")
      return
    }
    #expect(write.repeats == 20)
    #expect(write.statements.map(\.kind) == [.insert, .upsert, .update, .delete])
    #expect(
      write.statements.map(\.key) == [.sequence, .walk(1...50), .random(1...50), .constant(7)])
    #expect(write.statements[0].times == 3)
    #expect(write.statements[0].values == ["name": .letters(12...12), "age": .walk(1...99)])
    #expect(write.statements[1].values == ["name": .text("Rex"), "age": .anyInt])
    #expect(write.statements[2].values == ["name": .letters(1...300)])
    #expect(
      scenario.steps[7].action
        == .expect([.versionAtLeast(3), .fileTimesContentAtMost(4)]))
    #expect(scenario.steps[8].action == .expect([.fileBytesAtMost(65536)]))
    #expect(
      scenario.crash
        == CrashDeclaration(
          models: ["strict", "posix"], explore: .prefixes, budgetStates: 500, recoveryDepth: 1))
    #expect(scenario.kill == KillDeclaration(process: "app", place: .everyOperation, side: .after))
    #expect(
      scenario.faults.map(\.which)
        == [
          .every(2, offset: 1), .nth(5), .ofCommitNumber(1, transaction: 3), .ofCommit(2),
          .eachOfTransaction(4),
        ])
    #expect(
      scenario.faults.map(\.effect)
        == [
          .ignore, .error("EIO"), .ignore, .holdBehind(ByteSpan(first: 0, last: 8191)),
          .error("ENOSPC"),
        ])
    #expect(scenario.faults[3].bytes == ByteSpan(first: 8192, last: nil))
    #expect(scenario.faults[3].fileGlob == "*.realm")
    #expect(scenario.negative?.oracles == [.durability, .atomicity])
  }

  @Test("the shortest scenario has a title, a schema, a process and a step")
  func shortest() throws {
    let scenario = try parsed(preamble + "steps: [{ui: open}]")
    #expect(scenario.crash == nil && scenario.kill == nil && scenario.negative == nil)
    #expect(scenario.faults.isEmpty && scenario.seed == nil)
    #expect(scenario.steps[0].position == SourcePosition(line: 4, column: 10))
  }

  @Test("what must be refused stands with its code, and not where a kill may change the answer")
  func attempts() throws {
    let text = preamble + "steps: [{ui: {try: open, fails: locked}}]"
    #expect(try parsed(text).steps[0].action == .attempt(.open, fails: "locked"))
    let kill = "\nkillSweep: {process: app, at: every command}"
    #expect(diagnostics(text + kill).first?.contains("with 'killSweep' it is unknown") == true)
  }

  @Test("written-back pages, and file systems of the kernel")
  func writtenBack() throws {
    let text = preamble + "steps: [{ui: open}]\n"
    #expect(try parsed(text).writeBack == nil)
    let plain = try #require(try parsed(text + "writeBack: true").writeBack)
    #expect(plain.rule(9) == PageWriteBack(seed: 9))
    let chosen = try #require(try parsed(text + "writeBack: {rate: 16, seed: 7}").writeBack)
    #expect(chosen.rule(9) == PageWriteBack(seed: 7, rate: 16))
    #expect(try parsed(text + "writeBack: true").needsMount == "writeBack needs a FUSE mount")
    let crash = try #require(try parsed(text + "crash: {on: [xfs, \"ext4:barrier=0\"]}").crash)
    #expect(crash.systems.map(\.description) == ["xfs", "ext4:barrier=0"])
    #expect(crash.models.isEmpty)
    let both = try #require(try parsed(text + "crash: {on: btrfs, model: strict}").crash)
    #expect(both.systems.count == 1 && both.models == ["strict"])
  }

  @Test("an error names file, line, column, the nearest key and the remedy")
  func oneError() {
    #expect(
      diagnostics(preamble + "stpes: [{ui: open}]\nsteps: [{ui: open}]") == [
        "t.yaml:4:1: unknown key 'stpes' in scenario; nearest valid key 'steps'; write one of: "
          + "version, title, schema, processes, database, steps, history, documents, sync, "
          + "schedule, crash, media, killSweep, sweep, faults, writeBack, negative, seed, tags"
      ])
  }

  @Test("all errors of a file come at once, in the order of the file")
  func allErrors() {
    let found = diagnostics(
      """
      title: []
      schema: {Dog: {_id: int primary, name: string}}
      processes: {app: [ui]}
      steps:
        - ui: opne
        - iu: open
        - ui: {write: [{insert: Dgo, _id: 1}], repeat: 0}
      crash: {model: ext4-order}
      """)
    #expect(found.count == 6)
    let places = [
      "t.yaml:1:8:", "t.yaml:5:9:", "t.yaml:6:5:", "t.yaml:7:27:", "t.yaml:7:50:",
      "t.yaml:8:16:",
    ]
    for (text, place) in zip(found, places) { #expect(text.hasPrefix(place), "\(text)") }
    #expect(found.contains { $0.contains("nearest valid key 'open'") })
    #expect(found.contains { $0.contains("nearest valid key 'Dog'") })
    #expect(found.contains { $0.contains("nearest valid key 'ext4-ordered'") })
  }

  /// A broken part of a file, the place of its error (below the preamble) and a piece of the text.
  static let broken: [(text: String, error: String)] = [
    ("steps: []", "4:8: expected a list of steps"),
    ("steps: 7", "4:8: expected a list of steps, found '7'"),
    ("steps: [7]", "4:9: expected a step mapping"),
    ("steps: [{ui: open, background: open}]", "4:20: a step has one actor"),
    ("steps: [{ui: {}}]", "4:14: an action has one of open, pin, release, diff, copy, write, try"),
    ("steps: [{ui: {pin: a, write: []}}]", "4:23: an action has one of"),
    ("steps: [{ui: {pin: a, repeat: 3}}]", "4:23: 'repeat' belongs to 'write', not to 'pin'"),
    ("steps: [{ui: {write: []}}]", "4:22: expected a list of statements"),
    ("steps: [{all: reopen}]", "4:15: only open, close and verify can be given to all"),
    ("steps: [{ui: pin}]", "4:10: 'ui' does not have the database open"),
    ("steps: [{ui: open}, {ui: open}]", "4:22: 'ui' has the database open already"),
    ("steps: [{ui: open}, {ui: release}]", "4:22: nothing is pinned as 'ui'"),
    ("steps: [{ui: open}, {ui: pin}, {ui: pin}]", "4:33: 'ui' has a pin 'ui' already"),
    ("steps: [{ui: open}, {ui: pin}, {ui: close}]", "4:33: 'ui' still pins 'ui' at this close"),
    ("steps: [{ui: open}, {ui: pin}, {ui: reopen}]", "4:33: 'ui' still pins 'ui' at this reopen"),
    (
      "steps: [{all: open}, {ui: {pin: p}}, {background: {release: p}}]",
      "4:39: the pin 'p' belongs to 'ui', not to 'background'"
    ),
    (
      "steps: [{ui: {write: [{insert: Dog, _id: 1}]}}]",
      "4:10: 'ui' does not have the database open"
    ),
    ("steps: [{kill: ap}]", "4:16: 'ap' is not a process; nearest valid key 'app'"),
    ("steps: [{kill: app}]", "4:10: 'app' does not run"),
    ("steps: [{ui: open}, {continue: app}]", "4:22: 'app' is not stopped"),
    ("steps: [{ui: open}, {stop: app}, {stop: app}]", "4:35: 'app' is stopped already"),
    ("steps: [{ui: open}, {stop: app}, {ui: verify}]", "4:35: 'app' is stopped; add"),
    ("steps: [{ui: open}, {stop: app}, {exit: app}]", "4:35: 'app' is stopped; add"),
    ("steps: [{ui: open}, {kill: app}, {ui: verify}]", "4:35: 'ui' does not have the database"),
    (
      "steps: [{ui: open}, {stop: app}, {expect: {verify: true}}]",
      "4:35: every process that has the database open is stopped"
    ),
    ("steps: [{limit: {process: app}}]", "4:10: a limit has one of descriptors, fileBytes,"),
    ("steps: [{limit: {process: app, descriptors: x}}]", "4:45: 'x' is not a number of bytes"),
    ("steps: [{remove: data}]", "4:18: 'data' is not a file of the database"),
    ("steps: [{overwrite: {file: note, with: ones}}]", "4:10: only the lock file may be"),
    (
      "steps: [{ui: open}, {overwrite: {file: lock, with: ones}}]",
      "4:22: 'ui' uses the lock file that would be written over"
    ),
    (
      "steps: [{shorten: {file: lock, to: 4 KiB}}]",
      "4:10: only the database is a file that can be"
    ),
    ("steps: [{shorten: {file: database, to: half}}]", "4:40: 'half' is not a number of bytes"),
    (
      "steps: [{ui: open}, {shorten: {file: database, to: 0}}]\n"
        + "killSweep: {process: app, at: every write}",
      "4:22: a removed or shortened database cannot be judged"
    ),
    ("steps: [{ui: {open: {key: third}}}]", "4:27: 'third' is not a key"),
    ("steps: [{all: {open: {key: first}}}]", "4:22: 'all' opens as 'database' says"),
    (
      "steps: [{ui: open}, {ui: {try: verify, with: {key: none}, fails: io}}]",
      "4:46: 'with' says how the database is opened, and 'verify' does not open it"
    ),
    (
      "steps: [{ui: open}, {ui: {write: [{insert: Dog, _id: 1}], copy: a, repeat: 2}}]",
      "4:65: one transaction that succeeds can write a copy"
    ),
    (
      "steps: [{ui: open}, {ui: {copy: a}}, {ui: {write: [{insert: Dog, _id: 1}], copy: a}}]",
      "4:39: there is a copy 'a' already"
    ),
    (
      "steps: [{ui: open}]\nkillSweep: {process: app, at: every command, by: stop}",
      "5:50: between its commands a process waits anyway"
    ),
    (
      "steps: [{ui: open}]\nkillSweep: {process: app, at: every write, side: after, by: stop}",
      "5:50: a process is stopped before the operation, never after it"
    ),
    ("steps: [{ui: {try: open}}]", "4:14: 'try' needs the engine's error code"),
    ("steps: [{ui: {try: close, fails: io}}]", "4:20: 'close' is not an action to try"),
    ("steps: [{ui: {try: verify, fails: io}}]", "4:10: 'ui' does not have the database open"),
    ("steps: [{expect: {verify: true}}]", "4:10: no process has the database open"),
    ("steps: [{ui: open}, {expect: {}}]", "4:30: an expectation without a claim"),
    ("steps: [{ui: open}, {expect: {verify: no}}]", "4:39: 'no' is not a value of verify"),
    ("steps: [{ui: open}, {expect: {count: {Dgo: 1}}}]", "4:39: no table 'Dgo'; nearest"),
    ("steps: [{ui: open}, {expect: {count: {Dog: -1}}}]", "4:44: a count is out of range: -1"),
    ("steps: [{ui: open}, {expect: {pinned: {x: unchanged}}}]", "4:22: nothing is pinned as 'x'"),
    ("steps: [{ui: open}, {expect: {pinned: {x: same}}}]", "4:43: 'same' is not a claim"),
    ("steps: [{ui: open}, {expect: {version: {atMost: 1}}}]", "4:41: unknown key 'atMost'"),
    (
      "steps: [{ui: open}, {expect: {file: {sizeBytes: {atMost: 4 y}}}}]",
      "4:58: '4 y' is not a size"
    ),
  ]

  @Test("broken steps", arguments: broken)
  func brokenStep(text: String, error: String) {
    let found = diagnostics(preamble + text)
    #expect(found.contains { $0.hasPrefix("t.yaml:\(error)") }, "\(found)")
  }

  /// A broken statement and its error; the statement begins in column 33 of line 4.
  static let brokenStatements: [(text: String, error: String)] = [
    ("7", "4:33: expected a statement, found '7'"),
    (
      "{inser: Dog, _id: 1}",
      "4:33: a statement does one thing, found 0; nearest valid key 'insert'"
    ),
    ("{insert: Dog, delete: Dog, _id: 1}", "4:47: a statement does one thing, found 2"),
    (
      "{insert: Dog, _id: 1, nmae: x}",
      "4:55: unknown key 'nmae' in statement; nearest valid key 'name'"
    ),
    ("{insert: Dog, name: x}", "4:33: insert needs the key '_id' of 'Dog'"),
    ("{insert: Dog, _id: x}", "4:52: 'x' is not a key"),
    ("{insert: Dog, _id: sequnce}", "4:52: 'sequnce' is not a key; nearest valid key 'sequence'"),
    ("{insert: Dog, _id: 9..1}", "4:52: the range 9..1 is empty"),
    ("{insert: Dog, _id: 1..x}", "4:52: '1..x' is not a range"),
    ("{insert: Dog, _id: random x..9}", "4:52: 'x..9' is not a range"),
    ("{insert: Dog, _id: 5000000000000000000}", "4:52: a key is out of range"),
    ("{insert: Dog, _id: 99999999999999999999999}", "4:52: '99999999999999999999999' is not a key"),
    ("{insert: Dog, _id: [1]}", "4:52: expected a key, found a list"),
    ("{insert: Dog, _id: \"1\"}", "4:52: expected a key, found '1'"),
    ("{delete: Dog, _id: sequence}", "4:52: delete cannot have the key 'sequence'"),
    ("{delete: Dog, _id: 1, age: 3}", "4:55: delete takes no column, found 'age'"),
    ("{insert: Dog, _id: 1, age: old}", "4:60: 'old' is not an int for 'age'"),
    ("{insert: Dog, _id: 1, age: 2..1}", "4:60: the range 2..1 is empty"),
    ("{insert: Dog, _id: 1, name: {random: 12}}", "4:70: '12' is not a number of letters"),
    ("{insert: Dog, _id: 1, name: {random: letters -1}}", "4:70: a number of letters is out of"),
    ("{insert: Dog, _id: 1, name: {randm: letters 1}}", "4:62: unknown key 'randm'"),
    ("{insert: Dog, _id: 1, name: [x]}", "4:61: expected a string for 'name', found a list"),
    ("{insert: Dog, _id: 1, name: }", "4:61: expected a string for 'name', found nothing"),
    ("{insert: Dog, _id: 1, times: 0}", "4:62: times is out of range: 0"),
    ("{insert: Dog, _id: 1, times: 1000001}", "4:62: times is out of range"),
  ]

  @Test("broken statements", arguments: brokenStatements)
  func brokenStatement(text: String, error: String) {
    let found = diagnostics(preamble + "steps: [{ui: open}, {ui: {write: [" + text + "]}}]")
    let shifted = error.split(separator: ":", maxSplits: 2)
    let column = (Int(shifted[1]) ?? 0) + 2
    let expected = "t.yaml:4:\(column):\(shifted[2])"
    #expect(found.contains { $0.hasPrefix(expected) }, "\(found)")
  }

  @Test("a write that is expected to fail cannot be cancelled, and its code must exist")
  func fails() {
    let write = preamble + "steps: [{ui: open}, {ui: {write: [{delete: Dog, _id: 1}], "
    #expect(
      diagnostics(write + "fails: poisned}}]").first?.contains("nearest valid key 'poisoned'")
        == true)
    #expect(
      diagnostics(write + "cancel: true, fails: io}}]").first?.hasPrefix("t.yaml:4:80:") == true)
    #expect(diagnostics(write + "cancel: maybe}}]").first?.hasPrefix("t.yaml:4:67:") == true)
  }

  /// A broken last line, and the start of its error.
  static let brokenRest: [(text: String, error: String)] = [
    ("crash: {}", "5:8: crash has neither 'model' nor 'on'"),
    ("crash: {on: fat}", "5:13: 'fat' is not a file system"),
    ("crash: {on: [ext4, ext4]}", "5:20: file system 'ext4' occurs twice"),
    ("crash: {on: \"ext4:\"}", "5:13: 'ext4:' is not a file system"),
    ("crash: {on: xfs}\nwriteBack: true", "5:8: faults, written-back pages and actors"),
    (
      "crash: {on: xfs}\nkillSweep: {process: app, at: every sync, crashStates: 4}",
      "6:12: the power cuts"
    ),
    ("writeBack: often", "5:12: expected a writeBack mapping"),
    ("writeBack: {rate: 0}", "5:19: "),
    ("writeBack: {seed: x}", "5:19: expected a seed"),
    ("crash: {model: []}", "5:16: expected a list of models"),
    ("crash: {model: [posix, posix]}", "5:24: model 'posix' occurs twice"),
    ("crash: {model: posix, explore: most}", "5:32: 'most' is not a rule of exploration"),
    ("crash: {model: posix, budget: 5}", "5:31: expected a budget mapping"),
    ("crash: {model: posix, budget: {states: 0}}", "5:40: a number of states is out of range"),
    ("crash: {model: posix, recovery: maybe}", "5:33: 'maybe' is not a value of recovery"),
    ("crash: {model: posix, recovery: 4}", "5:33: a number of recoveries is out of range"),
    (
      "killSweep: {process: ap, at: every sync}",
      "5:22: 'ap' is not a process; nearest valid key 'app'"
    ),
    (
      "killSweep: {process: app, at: every opration}",
      "5:31: 'every opration' is not a place to kill at"
    ),
    ("killSweep: {process: app, at: 0}", "5:31: the number of an operation is out of range"),
    ("killSweep: {process: app, at: 3, side: left}", "5:40: 'left' is not a side"),
    ("killSweep: {process: app, at: every sync, by: hand}", "5:47: 'hand' is not a manner"),
    (
      "killSweep: {process: app, at: every sync, crashStates: 0}",
      "5:56: a number of crash states is out"
    ),
    (
      "killSweep: {process: app, at: 3, crashStates: 9}",
      "5:12: the power cuts of killed runs need the models"
    ),
    ("faults: [{nth: 1, ignore: true}]", "5:10: fault lacks the key 'on'"),
    ("faults: [{on: sync}]", "5:10: a fault has one effect, found 0"),
    ("faults: [{on: sync, ignore: true, error: EIO}]", "5:35: a fault has one effect, found 2"),
    ("faults: [{on: sync, nth: 1, every: 2, ignore: true}]", "5:29: a fault has one of every"),
    ("faults: [{on: sync, skip: 1, ignore: true}]", "5:21: 'skip' goes with 'every'"),
    (
      "faults: [{on: sync, nth: 2, commit: 1, ignore: true}]",
      "5:29: 'commit' goes with 'ofCommit'"
    ),
    ("faults: [{on: sync, nth: 0, ignore: true}]", "5:26: 'nth' is out of range"),
    ("faults: [{on: sync, error: EOI}]", "5:28: 'EOI' is not an errno; nearest valid key 'EIO'"),
    ("faults: [{on: write, ignore: true}]", "5:22: only syncs can be ignored"),
    ("faults: [{on: sync, bytes: 1..2, ignore: true}]", "5:21: only read, write, allocate and"),
    ("faults: [{on: write, bytes: 2..1, error: EIO}]", "5:29: the range 2..1 is empty"),
    ("faults: [{on: sync, holdBehind: {bytes: 1..2}}]", "5:21: only writes can be held"),
    ("faults: [{on: write, holdBehind: {byts: 1..2}}]", "5:35: unknown key 'byts'"),
    ("negative: {expect: durabilty, because: x}", "5:20: 'durabilty' is not an oracle; nearest"),
    ("negative: {expect: durability}", "5:11: negative lacks the key 'because'"),
    ("seed: -1", "5:7: expected a seed, found '-1'"),
    ("seed: x", "5:7: expected a seed, found 'x'"),
  ]

  @Test("broken disturbances", arguments: brokenRest)
  func brokenDisturbance(text: String, error: String) {
    let found = diagnostics(preamble + "steps: [{ui: open}]\n" + text)
    #expect(found.contains { $0.hasPrefix("t.yaml:\(error)") }, "\(found)")
  }

  /// A broken schema or process list, and the start of its error.
  static let brokenHeads: [(schema: String, processes: String, error: String)] = [
    ("{}", "{a: [u]}", "2:9: expected a schema mapping"),
    ("{Dog: 1}", "{a: [u]}", "2:15: expected the columns of 'Dog'"),
    ("{Dog: {name: string}}", "{a: [u]}", "2:10: table 'Dog' has no primary key"),
    ("{Dog: {a: int primary, b: int primary}}", "{a: [u]}", "2:35: table 'Dog' has two primary"),
    ("{Dog: {a: int primary, insert: int}}", "{a: [u]}", "2:32: 'insert' is a word of the"),
    ("{7up: {a: int primary}}", "{a: [u]}", "2:10: '7up' cannot name a table"),
    ("{D: {a: int primary}}", "{}", "3:12: expected a processes mapping"),
    ("{D: {a: int primary}}", "{a: []}", "3:16: expected a list of actors"),
    ("{D: {a: int primary}}", "{a: [u, u]}", "3:20: actor 'u' occurs twice"),
    ("{D: {a: int primary}}", "{a: [expect]}", "3:17: 'expect' is a word of the language"),
    ("{D: {a: int primary}}", "{a: [u], b: [u]}", "3:25: actor 'u' occurs twice"),
    ("{D: {a: int primary, b: link E}}", "{a: [u]}", "2:33: no table 'E' to link to"),
    ("{D: {a: int primary, b: integer}}", "{a: [u]}", "2:33: 'integer' is not a column type"),
    ("{D: {a: primary}}", "{a: [u]}", "2:17: 'primary' is not a column type; nearest valid key 'i"),
    ("[]", "{a: [u]}", "2:9: expected a schema mapping, found an empty list"),
  ]

  @Test("one mistake in a schema or a process list is told once", arguments: brokenHeads)
  func oneMistake(schema: String, processes: String, error: String) {
    let steps = "steps: [{u: open}, {u: {write: [{insert: D, a: sequence}]}}, {kill: a}]"
    let found = diagnostics("title: t\nschema: \(schema)\nprocesses: \(processes)\n\(steps)")
    #expect(found.count == 1, "\(found)")
  }

  @Test("a column type may stand in quotes")
  func quotedTypes() {
    let schema = #"schema: {D: {a: "int primary", b: "string", c: "link D"}}"#
    #expect(diagnostics("title: t\n\(schema)\nprocesses: {p: [u]}\nsteps: [{u: open}]") == [])
  }

  @Test("a misspelt key is not missed as well, and a byte order mark is not text")
  func misspelt() {
    let head = "title: t\nschema: {D: {a: int primary}}\nprocesses: {p: [u]}\n"
    let found = diagnostics(head + "stpes: [{u: open}]")
    #expect(found.count == 1 && found[0].contains("nearest valid key 'steps'"), "\(found)")
    #expect(diagnostics("\u{feff}" + head + "steps: [{u: open}]") == [])
  }

  @Test("broken schemas and processes", arguments: brokenHeads)
  func brokenHead(schema: String, processes: String, error: String) {
    let found = diagnostics(
      "title: t\nschema: \(schema)\nprocesses: \(processes)\nsteps: [{u: open}]")
    #expect(found.contains { $0.hasPrefix("t.yaml:\(error)") }, "\(found)")
  }
}
