// WorkloadPlan.swift: an expanded scenario: a flat list of concrete commands.
// Invariants: the same scenario and seed give the same plan, byte for byte as JSON; transactions
// are numbered 0, 1, 2, … in the order of the commands, and number 0 creates the tables. The worker
// runs the plan, and the oracles derive the required results from the same plan.

import LabCore

/// A scenario, expanded with a seed.
public struct WorkloadPlan: Sendable, Hashable, Codable {
  /// The scenario's title.
  package var title: String
  /// The seed of all choices.
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

  /// The table for Faultline's own commits.
  package var sentinelTable: TableDeclaration? {
    database.objects == nil ? tables.first : ObjectClasses.sentinelTable
  }

  /// The process of an actor, which is one of its threads.
  package func process(of actor: String) -> String {
    processes.first { $0.actors.contains(actor) }?.name ?? ""
  }
}

/// One command for one actor.
package struct WorkerCommand: Sendable, Hashable, Codable {
  /// Place in the plan, from 0.
  package var index: Int
  /// The actor's thread.
  package var actor: String
  /// Its action.
  package var action: WorkerAction
  /// How the database is opened, for actions that open one.
  package var database: DatabaseDeclaration?
  /// The code with which it must fail; a transaction has its own.
  package var fails: String?
  /// Number of the block of concurrent actors; nil for a command in lockstep.
  package var block: Int?
  /// Whether it may do nothing: a concurrent compaction, while other actors may use the file.
  package var mayBeRefused: Bool { block != nil && action == .compact }
  /// Position of the scenario's step.
  package var position: SourcePosition?
  /// Its number and position, for messages.
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

  /// Its transaction, if it has one.
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
  /// Ends in a rollback.
  package var cancels: Bool
  /// Runs as an asynchronous write of a realm.
  package var isAsync = false
  /// The engine's error code with which it must fail.
  package var fails: String?
  /// A copy of what it sees, written before it ends.
  package var copy: CopyStep?
  /// The open of a realm, if it consists of one.
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
  /// Its kind.
  package var kind: StatementKind
  /// The table.
  package var table: String
  /// The row's key.
  package var key: Int64
  /// The whole row without its key, in the order of the columns; empty for a delete.
  package var values: [PlannedValue]
  /// The change deep inside a content that leads to these values.
  package var edit: ContentEdit?

  /// Makes a statement.
  package init(_ kind: StatementKind, _ table: String, key: Int64, values: [PlannedValue] = []) {
    self.kind = kind
    self.table = table
    self.key = key
    self.values = values
  }
}
