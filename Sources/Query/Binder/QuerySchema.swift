// QuerySchema.swift: the tables and properties that a query can name.

import Engine

/// A property that represents the rows that link to an object.
public struct BacklinkProperty: Hashable, Sendable {
  /// The name of the property.
  public var name: String
  /// The table whose rows link.
  public var originTable: String
  /// The property or column of theirs that links.
  public var originColumn: String

  /// Makes a backlink property.
  /// - Parameters:
  ///   - name: The name of the property.
  ///   - originTable: The table whose rows link.
  ///   - originColumn: The property or column of theirs that links.
  public init(name: String, originTable: String, originColumn: String) {
    self.name = name
    self.originTable = originTable
    self.originColumn = originColumn
  }
}

/// The schema of a table for queries.
public struct QueryTable: Hashable, Sendable {
  /// The table of the database.
  public var schema: TableSchema
  /// The column by which `obj("Table", key)` finds a row; nil when it takes the key of the row.
  public var primaryKey: String?
  /// Names of properties whose columns have other names: property to column.
  public var aliases: [String: String]
  /// Properties that represent the rows that link here.
  public var backlinks: [BacklinkProperty]

  /// Makes a table.
  /// - Parameters:
  ///   - schema: The table of the database.
  ///   - primaryKey: The column by which `obj("Table", key)` finds a row.
  ///   - aliases: Names of properties whose columns have other names: property to column.
  ///   - backlinks: Properties that represent the rows that link here.
  public init(
    _ schema: TableSchema, primaryKey: String? = nil, aliases: [String: String] = [:],
    backlinks: [BacklinkProperty] = []
  ) {
    self.schema = schema
    self.primaryKey = primaryKey
    self.aliases = aliases
    self.backlinks = backlinks
  }

  /// The index of the column that a name means.
  func column(named name: String) -> Int? {
    let column = aliases[name] ?? name
    return schema.columns.firstIndex { $0.name == column }
  }

  /// Whether a name is a column or a backlink property.
  func hasProperty(_ name: String) -> Bool {
    column(named: name) != nil || backlinks.contains { $0.name == name }
  }

  /// All names that mean something, for messages.
  var names: String {
    let columns = schema.columns.map { column in
      aliases.filter { $0.value == column.name }.keys.min() ?? column.name
    }
    return (columns + backlinks.map(\.name)).joined(separator: ", ")
  }
}

/// The table whose rows are the lists and dictionaries that mixed values link to.
public struct MixedCollectionTable: Hashable, Sendable {
  /// The name of the table.
  public var name: String
  /// The column with the elements of a list.
  public var items: String
  /// The column with the entries of a dictionary.
  public var entries: String
  /// The column that says whether a row is a dictionary.
  public var isDictionary: String

  /// Makes a description.
  /// - Parameters:
  ///   - name: The name of the table.
  ///   - items: The column with the elements of a list.
  ///   - entries: The column with the entries of a dictionary.
  ///   - isDictionary: The column that says whether a row is a dictionary.
  public init(name: String, items: String, entries: String, isDictionary: String) {
    self.name = name
    self.items = items
    self.entries = entries
    self.isDictionary = isDictionary
  }
}

/// The tables that a query can refer to.
public struct QuerySchema: Hashable, Sendable {
  /// The tables, with distinct names.
  public let tables: [QueryTable]
  /// Where collections in mixed values are; nil where there are none.
  public let mixedCollections: MixedCollectionTable?
  private let indexes: [String: Int]

  /// Makes a schema.
  /// - Parameters:
  ///   - tables: The tables; of two with one name the first counts.
  ///   - mixedCollections: Where collections in mixed values are; nil where there are none.
  public init(_ tables: [QueryTable], mixedCollections: MixedCollectionTable? = nil) {
    self.tables = tables
    self.mixedCollections = mixedCollections
    var indexes: [String: Int] = [:]
    for (index, table) in tables.enumerated() where indexes[table.schema.name] == nil {
      indexes[table.schema.name] = index
    }
    self.indexes = indexes
  }

  /// Makes a schema of tables without primary keys and backlink properties.
  /// - Parameter tables: The tables, as in `Snapshot.tables`.
  public init(tables: [TableSchema]) {
    self.init(tables.map { QueryTable($0) })
  }

  /// The index of a table.
  func table(named name: String) throws(QueryError) -> Int {
    guard let index = indexes[name] else {
      throw QueryError(
        .unknownName,
        "there is no class \"\(name)\"; there are "
          + tables.map(\.schema.name).joined(separator: ", "))
    }
    return index
  }

  func column(_ id: ColumnID) -> ColumnSchema { tables[id.table].schema.columns[id.column] }

  /// Table and column, as in `Dog.age`.
  func name(_ id: ColumnID) -> String {
    "\(tables[id.table].schema.name).\(column(id).name)"
  }
}

/// A column: indexes in the schema.
struct ColumnID: Hashable, Sendable {
  let table: Int
  let column: Int
}
