// Scenario.swift: one property of the engine, as written by the user.
// Invariants (ensured by the parser): names are unique; every step names existing actors, tables,
// columns and pins; steps are possible in their order (no write before an open, no release of what
// is not pinned); numbers are in the ranges of docs/reference/scenarios.md.

import Exploration
import FaultFS
import LabCore

/// A scenario: a schema, actors, steps, and the disturbances around them.
public struct Scenario: Sendable, Hashable {
  /// The property in one sentence.
  package var title: String
  /// Name of the file it came from, for reports.
  package var file: String
  /// Tables, in the order of the file.
  package var tables: [TableDeclaration]
  /// Processes with their actors.
  package var processes: [ProcessDeclaration]
  /// How every process opens the database.
  package var database = DatabaseDeclaration()
  /// Steps, in order.
  package var steps: [ScenarioStep]
  /// The schedules of its concurrent steps.
  package var schedule: ScheduleDeclaration?
  /// Power cuts to explore.
  package var crash: CrashDeclaration?
  /// Faults of the medium in the database at rest.
  package var media: MediaDeclaration?
  /// Processes to kill.
  package var kill: KillDeclaration?
  /// Operations that fail, one in each run.
  package var sweep: FaultDeclaration?
  /// Faults of the file system.
  package var faults: [FaultDeclaration]
  /// When dirty mapped pages are written back, besides by syncs.
  package var writeBack: WriteBackDeclaration?
  /// Declares that this scenario plants a bug, and which oracles may find it.
  package var negative: NegativeDeclaration?
  /// The scenario's own seed; the run's when nil.
  package var seed: Seed?
  /// Words by which a run can select it, each once, in the order of the file.
  package var tags: [String] = []
  /// The hash of its text when it was read from a file; otherwise nil.
  package var fingerprint: ReplayFingerprint?
  /// The lines of its sections.
  package var lines = ScenarioLines()
  /// Histories that are drawn for it, in place of tables, processes and steps.
  package var history: HistoryDeclaration?
  /// What it does with documents, in place of tables, processes and steps.
  package var documents: DocumentDeclaration?
  /// What it does with a synchronized realm, in place of tables, processes and steps.
  package var sync: SyncDeclaration?
  /// Its number among a scenario's histories; nil for a scenario written by hand.
  package var historyNumber: Int?

  package init(
    title: String,
    file: String,
    tables: [TableDeclaration],
    processes: [ProcessDeclaration],
    database: DatabaseDeclaration = DatabaseDeclaration(),
    steps: [ScenarioStep],
    schedule: ScheduleDeclaration? = nil,
    crash: CrashDeclaration? = nil,
    media: MediaDeclaration? = nil,
    kill: KillDeclaration? = nil,
    sweep: FaultDeclaration? = nil,
    faults: [FaultDeclaration],
    writeBack: WriteBackDeclaration? = nil,
    negative: NegativeDeclaration? = nil,
    seed: Seed? = nil,
    tags: [String] = [],
    fingerprint: ReplayFingerprint? = nil,
    lines: ScenarioLines = ScenarioLines()
  ) {
    self.title = title
    self.file = file
    self.tables = tables
    self.processes = processes
    self.database = database
    self.steps = steps
    self.schedule = schedule
    self.crash = crash
    self.media = media
    self.kill = kill
    self.sweep = sweep
    self.faults = faults
    self.writeBack = writeBack
    self.negative = negative
    self.seed = seed
    self.tags = tags
    self.fingerprint = fingerprint
    self.lines = lines
  }

  /// The same without positions in its file, which affect only random values and messages; equal
  /// for two texts of the same scenario.
  package var withoutPlaces: Scenario {
    let none = SourcePosition(line: 1, column: 1)
    var scenario = self
    scenario.lines = ScenarioLines()
    scenario.fingerprint = nil
    scenario.history?.source = ""
    scenario.sweep?.position = none
    scenario.documents?.dropPlaces()
    scenario.sync?.dropPlaces()
    for index in faults.indices { scenario.faults[index].position = none }
    for index in steps.indices {
      scenario.steps[index].position = none
      guard case .write(var write) = steps[index].action else { continue }
      for place in write.statements.indices { write.statements[place].position = none }
      scenario.steps[index].action = .write(write)
    }
    return scenario
  }

  /// Why it cannot run in-process; nil if it can.
  package var needsMount: String? {
    if documents != nil { return "documents need a FUSE mount" }
    // Nodes are in Faultline's own process.
    if sync != nil || history?.content == .sync { return nil }
    if history?.needsMount == true { return "what its histories may do needs a FUSE mount" }
    if processes.count > 1 { return "several processes need a FUSE mount" }
    if writeBack != nil { return "writeBack needs a FUSE mount" }
    let opened = steps.compactMap(\.database) + [database]
    if opened.contains(where: \.compactsOnLaunch) { return "compactOnLaunch needs a FUSE mount" }
    if opened.contains(where: { $0.objects?.seed != nil }) { return "seedCopy needs a FUSE mount" }
    for step in steps {
      var writesSecondFile = step.action.told?.writesSecondFile ?? false
      if case .write(let write) = step.action { writesSecondFile = write.copy != nil }
      if writesSecondFile { return "compact and copy need a FUSE mount" }
      if step.isOfProcesses { return "kills, stops, limits and changes of files need a FUSE mount" }
    }
    return nil
  }

  /// The backend of its schedules: nil is the mount.
  package var scheduleBackend: BackendChoice? { needsMount == nil ? .inProcess : nil }

  /// The faults as rules, in the order of the file.
  /// - Throws: `LabError` with code `.usage` for a fault that cannot be a rule.
  package func rulesOfFaults() throws(LabError) -> [FaultRule] {
    var rules: [FaultRule] = []
    for fault in faults { rules.append(try fault.rule()) }
    return rules
  }

  /// The concurrent steps, block by block.
  package var blocks: [[ScenarioStep]] {
    Dictionary(grouping: steps.filter { $0.block != nil }, by: \.block)
      .sorted { ($0.key ?? 0) < ($1.key ?? 0) }.map(\.value)
  }

  /// The process of an actor, which is one of its threads; every actor has one.
  package func process(of actor: String) -> ProcessDeclaration {
    processes.first { $0.actors.contains(actor) } ?? processes[0]
  }
}

/// Lines of a scenario file for use in reports, from 1; nil for sections that it does not have.
package struct ScenarioLines: Sendable, Hashable {
  /// Line of `title`.
  package var title: Int?
  /// Line of `crash`.
  package var crash: Int?
  /// Line of `schedule`.
  package var schedule: Int?
  /// Line of `media`.
  package var media: Int?
  /// Line of `killSweep`.
  package var kill: Int?
  /// Line of `sweep`.
  package var sweep: Int?
  /// Line of `version`.
  package var version: Int?

  package init(
    title: Int? = nil,
    crash: Int? = nil,
    schedule: Int? = nil,
    media: Int? = nil,
    kill: Int? = nil,
    sweep: Int? = nil,
    version: Int? = nil
  ) {
    self.title = title
    self.crash = crash
    self.schedule = schedule
    self.media = media
    self.kill = kill
    self.sweep = sweep
    self.version = version
  }
}

/// Type of a column.
package enum DeclaredType: String, Sendable, Hashable, Codable, CaseIterable {
  case int
  case string
  case bool
  case double
  case binary
  case date
  case uuid
  case mixed
  case link
}

/// A column that is not the key.
package struct ColumnDeclaration: Sendable, Hashable, Codable {
  /// Its name.
  package var name: String
  /// Its type, or that of a list's elements.
  package var type: DeclaredType
  /// Whether it can be null.
  package var isOptional = false
  /// Whether it holds lists.
  package var isList = false
  /// Whether it has a search index.
  package var isIndexed = false
  /// Whether its values are unique.
  package var isUnique = false
  /// Whether it has a full-text index.
  package var isFullText = false
  /// The target table of a link.
  package var target: String?
  /// Its type in Faultline's classes, if no table of a scenario can have it.
  package var objects: ObjectColumn?

  /// Makes a column of single values that are never null.
  package init(name: String, type: DeclaredType) {
    self.name = name
    self.type = type
  }
}

/// A table: a name, a key and columns.
package struct TableDeclaration: Sendable, Hashable, Codable {
  /// Its name.
  package var name: String
  /// Name of the primary key, an int.
  package var key: String
  /// The other columns, in the order of the file.
  package var columns: [ColumnDeclaration]

  package init(name: String, key: String, columns: [ColumnDeclaration]) {
    self.name = name
    self.key = key
    self.columns = columns
  }
}

/// A process and its actors; an actor is a thread.
package struct ProcessDeclaration: Sendable, Hashable, Codable {
  /// Its name.
  package var name: String
  /// Names of its threads.
  package var actors: [String]

  package init(name: String, actors: [String]) {
    self.name = name
    self.actors = actors
  }
}

/// One step: actors that act one after the other.
package struct ScenarioStep: Sendable, Hashable {
  /// Its position in the file.
  package var position: SourcePosition
  /// The actors, in this order; empty for an expectation, which any open actor checks.
  package var actors: [String]
  /// The action.
  package var action: StepAction
  /// Number of the block of concurrent actors; nil for a step in lockstep.
  package var block: Int?
  /// How it opens the database; nil for the default of all processes, or if it opens nothing.
  package var database: DatabaseDeclaration?

  package init(
    position: SourcePosition,
    actors: [String],
    action: StepAction,
    block: Int? = nil,
    database: DatabaseDeclaration? = nil
  ) {
    self.position = position
    self.actors = actors
    self.action = action
    self.block = block
    self.database = database
  }

  /// Whether it needs workers in separate processes.
  package var isOfProcesses: Bool {
    if case .command(let action) = action { action.isOfProcesses } else { false }
  }
}

/// The action of a step.
package enum StepAction: Sendable, Hashable {
  /// A command sent to its actor as written. The first open of a run also creates the tables.
  case command(WorkerAction)
  /// Commits, or cancels, transactions.
  case write(WriteStep)
  /// Tries something that must fail with this code.
  case expect([LiveExpectation])
  /// Tries something that must be refused with this code.
  case attempt(WorkerAction, fails: String)

  /// The command that is sent to, or tried by, its actor as written.
  package var told: WorkerAction? {
    switch self {
    case .command(let action), .attempt(let action, _): action
    case .write, .expect: nil
    }
  }
}

/// A series of transactions of one form.
package struct WriteStep: Sendable, Hashable {
  /// Number of transactions.
  package var repeats: Int
  /// The statements of each.
  package var statements: [WriteStatement]
  /// Rolls back instead of committing.
  package var cancels: Bool
  /// Runs as an asynchronous write of a realm.
  package var isAsync = false
  /// The engine's error code that each of them must end with.
  package var fails: String?
  /// A copy of what the transaction sees, written before it ends.
  package var copy: CopyStep?

  package init(
    repeats: Int,
    statements: [WriteStatement],
    cancels: Bool,
    fails: String? = nil,
    copy: CopyStep? = nil
  ) {
    self.repeats = repeats
    self.statements = statements
    self.cancels = cancels
    self.fails = fails
    self.copy = copy
  }
}

/// What a statement does with a row.
package enum StatementKind: String, Sendable, Hashable, Codable, CaseIterable {
  case insert
  case upsert
  case update
  case delete
}

/// One statement of a transaction.
package struct WriteStatement: Sendable, Hashable {
  /// Its position in the file.
  package var position: SourcePosition
  /// Its kind.
  package var kind: StatementKind
  /// The table.
  package var table: String
  /// Number of rows it changes in each transaction.
  package var times: Int
  /// Whether it changes fewer if no key is left.
  package var isAtMost = false
  /// How keys are chosen.
  package var key: KeyRule
  /// How the named columns are filled.
  package var values: [String: ValueRule]
  /// How a content is changed deep inside.
  package var edit: EditRule?

  package init(
    position: SourcePosition,
    kind: StatementKind,
    table: String,
    times: Int,
    key: KeyRule,
    values: [String: ValueRule]
  ) {
    self.position = position
    self.kind = kind
    self.table = table
    self.times = times
    self.key = key
    self.values = values
  }
}

/// How a statement chooses its keys.
package enum KeyRule: Sendable, Hashable {
  /// Always this key.
  case constant(Int64)
  /// Iterates over the range, repeatedly.
  case walk(ClosedRange<Int64>)
  /// Draws from the range.
  case random(ClosedRange<Int64>)
  /// The smallest key above all keys that the table has ever had.
  case sequence
}

/// How a statement fills a column.
package enum ValueRule: Sendable, Hashable {
  /// Always this number.
  case int(Int64)
  /// Iterates over the range, repeatedly.
  case walk(ClosedRange<Int64>)
  /// Draws from the range.
  case randomInt(ClosedRange<Int64>)
  /// Draws an int of random width, so that narrow and wide columns both occur.
  case anyInt
  /// Always this text.
  case text(String)
  /// Always this value.
  case bool(Bool)
  /// Always this number, which is finite.
  case double(Double)
  /// Draws lower-case letters; the length is drawn from the range.
  case letters(ClosedRange<Int>)
  /// Null.
  case null
  /// Draws a value of the column's type.
  case any
  /// Draws elements of a list; their number is drawn from the range.
  case items(ClosedRange<Int>)
  /// Always this value of any type.
  case content(PlannedValue)
}

/// An assertion about the live database.
package enum LiveExpectation: Sendable, Hashable, Codable {
  /// A table has this many rows.
  case count(table: String, rows: Int)
  /// The newest version is exactly this.
  case version(UInt64)
  /// The newest version is this or a later one.
  case versionAtLeast(UInt64)
  /// The file is at most this long.
  case fileBytesAtMost(UInt64)
  /// The file is at most this many times the bytes of the rows.
  case fileTimesContentAtMost(UInt64)
  /// A pinned version reads as it did when it was pinned.
  case pinnedUnchanged(String)
  /// The engine's verification finds no error.
  case verifies
}
