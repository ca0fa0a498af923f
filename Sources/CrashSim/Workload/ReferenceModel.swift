// ReferenceModel.swift: the required content of the database, kept in ordinary dictionaries.
// Invariant: it implements statements as docs/reference/scenarios.md defines them: an insert needs
// a free key, an update and a delete an existing one, an upsert is always valid. It does not depend
// on files, nodes or versions.

/// The tables as dictionaries.
package struct ReferenceModel: Sendable, Hashable {
  /// The declared tables.
  package let tables: [TableDeclaration]
  /// False until transaction 0: a new database has no table.
  package private(set) var hasTables: Bool
  private var rows: [String: [Int64: [PlannedValue]]] = [:]
  /// The contribution of each table's rows to the content's hash.
  private(set) var sums: [String: RowSum] = [:]
  /// The content of objects; nil when the tables are the engine's own.
  private(set) var objects: ObjectModel?

  /// A database with the tables, or, on request, without them.
  package init(tables: [TableDeclaration], hasTables: Bool = true) {
    self.tables = tables
    self.hasTables = hasTables
    for table in tables { sums[table.name] = RowSum(of: table) }
  }

  /// The database of a plan before its first transaction.
  package init(before plan: WorkloadPlan) {
    self.init(tables: plan.tables, hasTables: false)
    if plan.database.objects != nil { objects = ObjectModel() }
  }

  /// Opens the first realm of a plan.
  mutating func makeObjects(_ schema: ObjectDeclaration) {
    objects = ObjectModel()
    objects?.open(schema)
  }

  /// Applies transaction 0.
  package mutating func createTables() {
    hasTables = true
  }

  /// One row without its key, or nil.
  package func row(_ key: Int64, in table: String) -> [PlannedValue]? {
    rows[table]?[key]
  }

  /// Number of rows of a table.
  package func count(of table: String) -> Int {
    rows[table]?.count ?? 0
  }

  /// Rows of all tables.
  package var rowCount: Int {
    rows.values.reduce(0) { $0 + $1.count }
  }

  /// Bytes of the data in keys and values.
  /// - Complexity: O(rows).
  package var contentBytes: Int {
    var sum = 0
    for table in tables {
      for row in rows[table.name, default: [:]].values {
        sum += row.reduce(8) { $0 + $1.contentBytes }
      }
    }
    return sum
  }

  /// The rows of a table in the order of their keys.
  /// - Complexity: O(rows · log rows).
  package func sortedRows(of table: String) -> [(key: Int64, values: [PlannedValue])] {
    rows[table, default: [:]].sorted { $0.key < $1.key }.map { (key: $0.key, values: $0.value) }
  }

  /// Replaces the row under a key; nil removes it.
  private mutating func put(_ values: [PlannedValue]?, _ key: Int64, in table: String) {
    let old = rows[table]?[key]
    rows[table, default: [:]][key] = values
    if objects == nil { sums[table]?.replace(old, values, key) }
  }

  /// Applies one statement.
  /// - Returns: The engine's error code with which this statement must fail; nil when it takes
  ///   effect.
  package mutating func apply(_ mutation: Mutation) -> String? {
    let exists = rows[mutation.table]?[mutation.key] != nil
    switch mutation.kind {
    case .insert where exists: return "keyExists"
    case .update where !exists, .delete where !exists: return "keyNotFound"
    case .insert, .upsert, .update:
      objects?.apply(mutation)
      put(mutation.values, mutation.key, in: mutation.table)
    case .delete:
      objects?.apply(mutation)
      put(nil, mutation.key, in: mutation.table)
      forgetLinks(to: mutation.key, in: mutation.table)
    }
    return nil
  }

  /// Links to a deleted row become null.
  /// - Complexity: O(rows of the tables with such links).
  private mutating func forgetLinks(to key: Int64, in target: String) {
    for table in tables {
      for (index, column) in table.columns.enumerated() where column.target == target {
        for (row, values) in rows[table.name, default: [:]] where values[index] == .link(key) {
          var cut = values
          cut[index] = .null
          put(cut, row, in: table.name)
        }
      }
    }
  }

  /// Applies a whole transaction, or none of it.
  /// - Returns: The error code of the first invalid statement; nil when all are valid.
  package mutating func apply(_ transaction: PlannedTransaction) -> String? {
    if transaction.number == 0 { createTables() }
    let (before, sumsBefore, objectsBefore) = (rows, sums, objects)
    if let schema = transaction.schema { open(schema) }
    for mutation in transaction.mutations {
      if let code = apply(mutation) {
        (rows, sums, objects) = (before, sumsBefore, objectsBefore)
        return code
      }
    }
    if transaction.cancels { (rows, sums, objects) = (before, sumsBefore, objectsBefore) }
    return nil
  }

  /// Opens a realm, which may migrate it; a new database gets its tables.
  private mutating func open(_ schema: ObjectDeclaration) {
    guard let version = objects?.version else {
      objects?.open(schema)
      return
    }
    objects?.open(schema)
    guard version < schema.schemaVersion else { return }
    if schema.migration == .none { rows = [:] }
    if schema.migration == .full {
      for (key, _) in sortedRows(of: ObjectClasses.person) {
        let number = Int64(DeclaredMigration.newDog(of: Int(key)))
        rows[ObjectClasses.dog, default: [:]][number] = [
          .string("new"), .int(0), .null, .null,
        ]
      }
    }
  }
}
