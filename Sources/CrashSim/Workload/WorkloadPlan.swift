// WorkloadPlan.swift: what a scenario comes to: a flat list of concrete commands.
// Invariants: the same scenario and seed give the same plan, byte for byte as JSON; transactions
// are numbered 0, 1, 2, … in the order of the commands, and number 0 creates the tables. The same
// plan goes to the worker, which runs it, and to the oracles, which know from it what must come
// out.

import LabCore

/// A scenario, expanded under a seed.
public struct WorkloadPlan: Sendable, Hashable, Codable {
  /// The scenario's title.
  package var title: String
  /// The seed that every choice followed from.
  package var seed: UInt64
  /// The processes with their threads.
  package var processes: [ProcessDeclaration]
  /// How every process opens the database.
  package var database = DatabaseDeclaration()
  /// The tables.
  package var tables: [TableDeclaration]
  /// The commands, in the order in which they run.
  package var commands: [WorkerCommand]

  /// The transactions by number.
  package var transactions: [PlannedTransaction] { commands.compactMap(\.transaction) }

  /// Whether transactions of several actors may be in flight at once.
  package var isConcurrent: Bool { commands.contains { $0.block != nil } }

  /// The table that takes the lab's own commits.
  package var sentinelTable: TableDeclaration? {
    database.objects == nil ? tables.first : ObjectClasses.sentinelTable
  }

  /// The process that an actor is a thread of.
  package func process(of actor: String) -> String {
    processes.first { $0.actors.contains(actor) }?.name ?? ""
  }
}

/// One thing that one actor is told to do.
package struct WorkerCommand: Sendable, Hashable, Codable {
  /// Place in the plan, from 0.
  package var index: Int
  /// The thread that does it.
  package var actor: String
  /// What it does.
  package var action: WorkerAction
  /// How the database is opened, for those actions that open one.
  package var database: DatabaseDeclaration?
  /// The code that it must be refused with; a transaction has one of its own.
  package var fails: String?
  /// Number of the block whose actors run side by side; nil for a command in lockstep.
  package var block: Int?
  /// Whether it may do nothing: a compaction beside others, who may use the file just then.
  package var mayBeRefused: Bool { block != nil && action == .compact }
  /// Where the scenario's step that asks for it is.
  package var position: SourcePosition?
  /// Its number, and where it was asked for, as messages say it.
  package var name: String { "command \(index)" + (position.map { " (at \($0))" } ?? "") }

  /// Makes a command.
  package init(
    index: Int, actor: String, action: WorkerAction, database: DatabaseDeclaration? = nil
  ) {
    self.index = index
    self.actor = actor
    self.action = action
    self.database = database
  }

  /// Whether it opens the database.
  package var opens: Bool {
    switch action {
    case .open, .reopen: true
    default: false
    }
  }

  /// The transaction that it asks for, if it asks for one.
  package var transaction: PlannedTransaction? {
    switch action {
    case .createTables: PlannedTransaction(number: 0, schema: database?.objects)
    case .transaction(let transaction): transaction
    default: nil
    }
  }
}

/// One transaction with every choice made.
package struct PlannedTransaction: Sendable, Hashable, Codable {
  /// Its number in the plan.
  package var number: Int
  /// Its statements, in order.
  package var mutations: [Mutation]
  /// Ends in a roll-back.
  package var cancels: Bool
  /// Runs as an asynchronous write of a realm.
  package var isAsync = false
  /// The engine's error code that it must end with.
  package var fails: String?
  /// A copy that it writes of what it sees, before it ends.
  package var copy: CopyStep?
  /// The open of a realm, which it consists of.
  package var schema: ObjectDeclaration?

  /// Makes a transaction.
  package init(
    number: Int, mutations: [Mutation] = [], cancels: Bool = false, fails: String? = nil,
    schema: ObjectDeclaration? = nil
  ) {
    self.number = number
    self.schema = schema
    self.mutations = mutations
    self.cancels = cancels
    self.fails = fails
  }
}

/// One concrete statement.
package struct Mutation: Sendable, Hashable, Codable {
  /// What it does.
  package var kind: StatementKind
  /// The table.
  package var table: String
  /// The row's key.
  package var key: Int64
  /// The whole row without its key, in the order of the columns; empty for a delete.
  package var values: [PlannedValue]

  /// Makes a statement.
  package init(_ kind: StatementKind, _ table: String, key: Int64, values: [PlannedValue] = []) {
    self.kind = kind
    self.table = table
    self.key = key
    self.values = values
  }
}
