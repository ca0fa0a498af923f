// Scenario.swift: one property of the engine, as a person wrote it down.
// Invariants (the parser proves them): names are unique; every step names actors, tables, columns
// and pins that exist; steps are possible in their order (no write before an open, no release of
// what is not pinned); numbers lie in the ranges that docs/scenarios.md gives.

import Exploration
import FaultFS
import LabCore

/// A scenario: a schema, actors, steps, and what is to go wrong around them.
public struct Scenario: Sendable, Hashable {
  /// The property in one sentence.
  public var title: String
  /// Name of the file it came from, for reports.
  public var file: String
  /// Tables, in the order of the file.
  public var tables: [TableDeclaration]
  /// Processes with their actors.
  public var processes: [ProcessDeclaration]
  /// How every process opens the database.
  public var database = DatabaseDeclaration()
  /// Steps, in order.
  public var steps: [ScenarioStep]
  /// Which schedules of the steps that run side by side are run.
  public var schedule: ScheduleDeclaration?
  /// Power cuts to explore.
  public var crash: CrashDeclaration?
  /// What the medium may do to the database at rest.
  public var media: MediaDeclaration?
  /// Processes to kill.
  public var kill: KillDeclaration?
  /// Operations that fail, one in each of many runs.
  public var sweep: FaultDeclaration?
  /// Faults of the file system.
  public var faults: [FaultDeclaration]
  /// When dirty mapped pages are written back, if not as syncs ask for.
  public var writeBack: WriteBackDeclaration?
  /// Says that this scenario plants a bug, and which oracles may find it.
  public var negative: NegativeDeclaration?
  /// The scenario's own seed; the run's when nil.
  public var seed: Seed?
  /// Words by which a run can choose it, each once, in the order of the file.
  public var tags: [String] = []
  /// What its text was when it was read from a file; nil when it was not.
  public var fingerprint: ReplayFingerprint?
  /// Where it says what is explored.
  public var lines = ScenarioLines()

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

  /// Why it cannot run in-process; nil when it can.
  package var needsMount: String? {
    if processes.count > 1 { return "several processes need the FUSE door" }
    if writeBack != nil { return "writeBack needs the FUSE door" }
    let opened = steps.compactMap(\.database) + [database]
    if opened.contains(where: \.compactsOnLaunch) { return "compactOnLaunch needs the FUSE door" }
    if opened.contains(where: { $0.objects?.seed != nil }) { return "seed needs the FUSE door" }
    for step in steps {
      switch step.action {
      case .compact, .copy, .attempt(.compact, _), .attempt(.copy, _):
        return "compact and copy need the FUSE door"
      case .write(let write) where write.copy != nil:
        return "compact and copy need the FUSE door"
      default:
        guard step.action.isOfProcesses else { continue }
        return "what befalls a process or a file needs the FUSE door"
      }
    }
    return nil
  }

  /// The door of its schedules: nil is the mount.
  package var scheduleDoor: DoorChoice? { needsMount == nil ? .inProcess : nil }

  /// The faults as rules, in the order of the file.
  /// - Throws: `LabError` with code `.usage` for one that cannot be a rule.
  public func rulesOfFaults() throws(LabError) -> [FaultRule] {
    var rules: [FaultRule] = []
    for fault in faults { rules.append(try fault.rule()) }
    return rules
  }

  /// The steps that run side by side, block by block.
  package var blocks: [[ScenarioStep]] {
    Dictionary(grouping: steps.filter { $0.block != nil }, by: \.block)
      .sorted { ($0.key ?? 0) < ($1.key ?? 0) }.map(\.value)
  }

  /// The process that an actor is a thread of; every actor has one.
  package func process(of actor: String) -> ProcessDeclaration {
    processes.first { $0.actors.contains(actor) } ?? processes[0]
  }
}

/// Lines of a scenario file that reports point at, from 1; nil for what it does not say.
public struct ScenarioLines: Sendable, Hashable {
  /// Line of `title`.
  public var title: Int?
  /// Line of `crash`.
  public var crash: Int?
  /// Line of `schedule`.
  public var schedule: Int?
  /// Line of `media`.
  public var media: Int?
  /// Line of `kill`.
  public var kill: Int?
  /// Line of `sweep`.
  public var sweep: Int?

  package init(
    title: Int? = nil,
    crash: Int? = nil,
    schedule: Int? = nil,
    media: Int? = nil,
    kill: Int? = nil,
    sweep: Int? = nil
  ) {
    self.title = title
    self.crash = crash
    self.schedule = schedule
    self.media = media
    self.kill = kill
    self.sweep = sweep
  }
}

/// Type of a column.
public enum DeclaredType: String, Sendable, Hashable, Codable, CaseIterable {
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
public struct ColumnDeclaration: Sendable, Hashable, Codable {
  /// Its name.
  public var name: String
  /// Its type, or that of a list's elements.
  public var type: DeclaredType
  /// Whether it can be null.
  public var isOptional = false
  /// Whether it holds lists.
  public var isList = false
  /// Whether it has a search index.
  public var isIndexed = false
  /// The table whose rows a link leads to.
  public var target: String?
  /// What it is in the lab's classes, where no table of a scenario can have it.
  public var objects: ObjectColumn?

  /// Makes a column of single values that are never null.
  public init(name: String, type: DeclaredType) {
    self.name = name
    self.type = type
  }
}

/// A table: a name, a key and columns.
public struct TableDeclaration: Sendable, Hashable, Codable {
  /// Its name.
  public var name: String
  /// Name of the primary key, an int.
  public var key: String
  /// The other columns, in the order of the file.
  public var columns: [ColumnDeclaration]

  package init(name: String, key: String, columns: [ColumnDeclaration]) {
    self.name = name
    self.key = key
    self.columns = columns
  }
}

/// A process and its actors; an actor is a thread.
public struct ProcessDeclaration: Sendable, Hashable, Codable {
  /// Its name.
  public var name: String
  /// Names of its threads.
  public var actors: [String]

  package init(name: String, actors: [String]) {
    self.name = name
    self.actors = actors
  }
}

/// One step: actors that do something, one after the other.
public struct ScenarioStep: Sendable, Hashable {
  /// Where it stands in the file.
  public var position: SourcePosition
  /// Who does it, in this order; empty for an expectation, which any open actor checks.
  public var actors: [String]
  /// What is done.
  public var action: StepAction
  /// Number of the block whose actors run side by side; nil for a step in lockstep.
  public var block: Int?
  /// How it opens the database; nil where that is as for all processes, or where nothing is opened.
  public var database: DatabaseDeclaration?

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
}

/// What a step does.
public enum StepAction: Sendable, Hashable {
  /// Opens the database; the first open of a run also creates the tables.
  case open
  /// Closes it.
  case close
  /// Closes and opens it, as a restarted program would.
  case reopen
  /// Keeps the newest version alive under a name.
  case pin(String)
  /// Lets a pinned version go, after comparing its content with what it was.
  case release(String)
  /// Runs the engine's own verification.
  case verify
  /// Compacts the file.
  case compact
  /// Writes a copy of the newest version, and compares it.
  case copy(CopyStep)
  /// Commits, or cancels, transactions.
  case write(WriteStep)
  /// Compares the live database with what must be true.
  case expect([LiveExpectation])
  /// Tries something that must be refused with this code.
  indirect case attempt(StepAction, fails: String)
  /// Forks; the child must be told that the database is not its own.
  case fork
  /// Compares what a query over objects finds.
  case query(ObjectQuery)
  /// Observes what a query finds.
  case observe(ObjectQuery)
  /// Moves the realm to the newest version.
  case refresh
  /// Gives up the version that the realm reads.
  case invalidate
  /// Uses another actor's realm.
  case misuse(of: String)
  /// Something befalls the actor's process.
  case process(ProcessEvent)
  /// Something befalls a file of the database.
  case file(FileEvent)

  /// Whether it needs workers in processes of their own.
  package var isOfProcesses: Bool {
    switch self {
    case .process, .fork, .file: true
    default: false
    }
  }
}

/// A run of transactions of one shape.
public struct WriteStep: Sendable, Hashable {
  /// Number of transactions.
  public var repeats: Int
  /// The statements of each.
  public var statements: [WriteStatement]
  /// Rolls back instead of committing.
  public var cancels: Bool
  /// The engine's error code that each of them must end with.
  public var fails: String?
  /// A copy of what the transaction sees, written before it ends.
  public var copy: CopyStep?

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
public enum StatementKind: String, Sendable, Hashable, Codable, CaseIterable {
  case insert
  case upsert
  case update
  case delete
}

/// One statement of a transaction.
public struct WriteStatement: Sendable, Hashable {
  /// Where it stands in the file.
  public var position: SourcePosition
  /// What it does.
  public var kind: StatementKind
  /// The table.
  public var table: String
  /// Rows it touches in each transaction.
  public var times: Int
  /// How keys are chosen.
  public var key: KeyRule
  /// How the named columns are filled.
  public var values: [String: ValueRule]

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
public enum KeyRule: Sendable, Hashable {
  /// Always this key.
  case constant(Int64)
  /// Walks through the range, again and again.
  case walk(ClosedRange<Int64>)
  /// Draws from the range.
  case random(ClosedRange<Int64>)
  /// The smallest key above all keys that the table ever held.
  case sequence
}

/// How a statement fills a column.
public enum ValueRule: Sendable, Hashable {
  /// Always this number.
  case int(Int64)
  /// Walks through the range, again and again.
  case walk(ClosedRange<Int64>)
  /// Draws from the range.
  case randomInt(ClosedRange<Int64>)
  /// Draws an int of a random width, so that narrow and wide columns both occur.
  case anyInt
  /// Always this text.
  case text(String)
  /// Always this one of the two.
  case bool(Bool)
  /// Always this number; it is finite.
  case double(Double)
  /// Draws lower-case letters; the length is drawn from the range.
  case letters(ClosedRange<Int>)
  /// Null.
  case null
  /// Draws a value of the column's type.
  case any
  /// Draws elements of a list; their number is drawn from the range.
  case items(ClosedRange<Int>)
}

/// A claim about the live database.
public enum LiveExpectation: Sendable, Hashable, Codable {
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
  /// The engine's verification finds nothing.
  case verifies
}
