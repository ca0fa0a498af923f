// QuerySchema.swift: the names that a query may use: collections with their tables, and the indexes
// that have their own tables. The caller of the translation supplies it; this module reads no file.

/// The collections and indexes that queries are translated for.
public struct QuerySchema: Sendable, Hashable {
  /// An index with a table.
  public struct Index: Sendable, Hashable {
    /// The kind of index.
    public enum Kind: Sendable, Hashable {
      /// Words of texts; searched with MATCH by its name.
      case fullText
      /// Items of arrays at a path such as `contacts[].phones`; used by UNNEST.
      case array(path: String)
      /// Predictions; its expressions as JSON, as stored in the file: `[["PREDICTION()", …]]`.
      case predictive(expressions: String)
    }

    /// Its name.
    public let name: String
    /// The kind of index.
    public let kind: Kind
    /// The table's name, as stored in the file.
    public let table: String

    /// An index.
    public init(name: String, kind: Kind, table: String) {
      self.name = name
      self.kind = kind
      self.table = table
    }
  }

  /// A collection.
  public struct Collection: Sendable, Hashable {
    /// Its name.
    public let name: String
    /// The name of its scope.
    public let scope: String
    /// The table of live documents.
    public let table: String
    /// The table of deleted ones.
    public let deadTable: String
    /// The view of both.
    public let view: String
    /// Indexes with tables.
    public let indexes: [Index]

    /// A collection.
    public init(
      name: String, scope: String = QuerySchema.defaultName, table: String, deadTable: String,
      view: String, indexes: [Index] = []
    ) {
      self.name = name
      self.scope = scope
      self.table = table
      self.deadTable = deadTable
      self.view = view
      self.indexes = indexes
    }

    /// Whether it is the default collection.
    public var isDefault: Bool {
      name == QuerySchema.defaultName && scope == QuerySchema.defaultName
    }

    /// Whether its table may hold deleted documents, from before 3.1.
    ///
    /// The real library checks for any table whose name ends so.
    var mayHoldDead: Bool { isDefault || name.hasSuffix(QuerySchema.defaultName) }

    /// The name as a query writes it.
    var path: String { scope == QuerySchema.defaultName ? name : "\(scope).\(name)" }
  }

  /// The name of the default scope and of the default collection in it.
  public static let defaultName = "_default"

  /// The database's name, which also names its default collection.
  public let databaseName: String
  /// The collections.
  public let collections: [Collection]

  /// A description of a database.
  /// - Parameters:
  ///   - databaseName: Its name, without `.cblite2`.
  ///   - collections: Its collections.
  public init(databaseName: String, collections: [Collection]) {
    self.databaseName = databaseName
    self.collections = collections
  }

  /// The collection with a name: `name`, `scope.name`, `_`, or the database's own name.
  func collection(
    _ name: String, scope: String?, at place: QueryPlace
  ) throws(DocumentQueryError) -> Collection {
    let parts = name.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    let (scopeName, plain) =
      scope == nil && parts.count == 2
      ? (String(parts[0]), String(parts[1])) : (scope ?? Self.defaultName, name)
    if let found = collections.first(where: { $0.name == plain && $0.scope == scopeName }) {
      return found
    }
    if plain == "_" || plain == databaseName, scopeName == Self.defaultName,
      let found = collections.first(where: \.isDefault)
    {
      return found
    }
    throw DocumentQueryError(
      .noSource, "no such collection \(shown(scope.map { "\($0).\(name)" } ?? name))", at: place,
      nearest: nearestName(to: name, among: collections.map(\.path)))
  }
}
