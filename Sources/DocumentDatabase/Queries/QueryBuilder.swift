// QueryBuilder.swift: queries built by calls. Each step is a query of its own, which can be
// executed or built further; it is a value that never changes.

import DocumentStore

/// A column of a result.
public protocol SelectResultProtocol: Sendable {
  /// The column in the query language.
  var term: ExpressionTerm { get }
}

/// Makes columns.
public enum SelectResult {
  /// A property, named by the last part of its path.
  /// - Parameter property: Its path.
  /// - Returns: The column.
  public static func property(_ property: String) -> As {
    expression(Expression.property(property))
  }

  /// An expression.
  /// - Parameter expression: The expression.
  /// - Returns: The column.
  public static func expression(_ expression: any ExpressionProtocol) -> As {
    As(expression: expression, name: (expression as? MetaExpression)?.title)
  }

  /// The document, named by its source.
  /// - Returns: The column.
  public static func all() -> From { From(property: Expression.all()) }

  /// A column that can get a name.
  public struct As: SelectResultProtocol {
    let expression: any ExpressionProtocol
    let name: String?

    /// The column with a name.
    /// - Parameter alias: The name.
    /// - Returns: The column.
    public func `as`(_ alias: String?) -> any SelectResultProtocol {
      As(expression: expression, name: alias)
    }

    /// The column in the query language.
    public var term: ExpressionTerm {
      name.map { ExpressionTerm("AS", [expression.term, ExpressionTerm(text: $0)]) }
        ?? expression.term
    }
  }

  /// The document of a source.
  public struct From: SelectResultProtocol {
    let property: PropertyExpression

    /// The document of a source of the query.
    /// - Parameter alias: The source's name.
    /// - Returns: The column.
    public func from(_ alias: String?) -> any SelectResultProtocol {
      alias.map { From(property: property.from($0)) } ?? self
    }

    /// The column in the query language.
    public var term: ExpressionTerm { property.term }
  }
}

/// A source of documents.
public protocol DataSourceProtocol: Sendable {
  /// The collection.
  var collection: Collection { get }
  /// The name in the query; nil for the collection's.
  var alias: String? { get }
}

/// Makes sources of documents.
public enum DataSource {
  /// A collection.
  /// - Parameter collection: The collection.
  /// - Returns: The source.
  public static func collection(_ collection: Collection) -> As { As(collection: collection) }

  /// The default collection of a database.
  /// - Parameter database: The database.
  /// - Returns: The source.
  public static func database(_ database: Database) -> As {
    As(collection: Collection(.default, in: database))
  }

  /// A source that can get a name.
  public struct As: DataSourceProtocol {
    /// The collection.
    public let collection: Collection
    /// The name in the query; nil for the collection's.
    public var alias: String?

    init(collection: Collection) { self.collection = collection }

    /// The source with a name.
    /// - Parameter alias: The name.
    /// - Returns: The source.
    public func `as`(_ alias: String) -> any DataSourceProtocol {
      var copy = self
      copy.alias = alias
      return copy
    }
  }
}

extension DataSourceProtocol {
  /// The item of FROM.
  var pairs: [String: ExpressionTerm] {
    var pairs = ["COLLECTION": ExpressionTerm(text: collection.name)]
    if collection.path.scope != Database.defaultScopeName {
      pairs["SCOPE"] = ExpressionTerm(text: collection.path.scope)
    }
    if let alias { pairs["AS"] = ExpressionTerm(text: alias) }
    return pairs
  }
}

/// A further source, and how its documents go with the others.
public protocol JoinProtocol: Sendable {
  /// The source.
  var source: any DataSourceProtocol { get }
  /// The join in the query language.
  var term: ExpressionTerm { get }
}

/// Makes joins.
public struct Join: JoinProtocol {
  /// The source.
  public let source: any DataSourceProtocol
  private let kind: String
  private var condition: ExpressionTerm?

  private init(_ kind: String, _ source: any DataSourceProtocol) {
    self.kind = kind
    self.source = source
  }

  /// Pairs that fulfill the condition.
  /// - Parameter dataSource: The source.
  /// - Returns: The join without its condition.
  public static func join(_ dataSource: any DataSourceProtocol) -> Join { innerJoin(dataSource) }

  /// Pairs that fulfill the condition.
  /// - Parameter dataSource: The source.
  /// - Returns: The join without its condition.
  public static func innerJoin(_ dataSource: any DataSourceProtocol) -> Join {
    Join("INNER", dataSource)
  }

  /// Pairs that fulfill the condition, and documents without a partner.
  /// - Parameter dataSource: The source.
  /// - Returns: The join without its condition.
  public static func leftJoin(_ dataSource: any DataSourceProtocol) -> Join {
    Join("LEFT", dataSource)
  }

  /// Pairs that fulfill the condition, and documents without a partner.
  /// - Parameter dataSource: The source.
  /// - Returns: The join without its condition.
  public static func leftOuterJoin(_ dataSource: any DataSourceProtocol) -> Join {
    Join("LEFT OUTER", dataSource)
  }

  /// All pairs.
  /// - Parameter dataSource: The source.
  /// - Returns: The join.
  public static func crossJoin(_ dataSource: any DataSourceProtocol) -> any JoinProtocol {
    Join("CROSS", dataSource)
  }

  /// The condition.
  /// - Parameter expression: The condition.
  /// - Returns: The join.
  public func on(_ expression: any ExpressionProtocol) -> any JoinProtocol {
    var copy = self
    copy.condition = expression.term
    return copy
  }

  /// The join in the query language.
  public var term: ExpressionTerm {
    var pairs = source.pairs
    pairs["JOIN"] = ExpressionTerm(text: kind)
    if let condition { pairs["ON"] = condition }
    return ExpressionTerm(.dict(pairs))
  }
}

/// An order of rows.
public protocol OrderingProtocol: Sendable {
  /// The order in the query language.
  var term: ExpressionTerm { get }
}

/// Makes orders.
public enum Ordering {
  /// By a property.
  /// - Parameter property: Its path.
  /// - Returns: The order, ascending.
  public static func property(_ property: String) -> SortOrder {
    expression(Expression.property(property))
  }

  /// By an expression.
  /// - Parameter expression: The expression.
  /// - Returns: The order, ascending.
  public static func expression(_ expression: any ExpressionProtocol) -> SortOrder {
    SortOrder(operand: expression.term, word: "ASC")
  }

  /// An order with a direction.
  public struct SortOrder: OrderingProtocol {
    let operand: ExpressionTerm
    let word: String

    /// Ascending.
    /// - Returns: The order.
    public func ascending() -> any OrderingProtocol { SortOrder(operand: operand, word: "ASC") }

    /// Descending.
    /// - Returns: The order.
    public func descending() -> any OrderingProtocol { SortOrder(operand: operand, word: "DESC") }

    /// The order in the query language.
    public var term: ExpressionTerm { ExpressionTerm(word, [operand]) }
  }
}

/// The clauses of a query that is built.
struct QueryClauses: Sendable {
  var database: Database?
  var pairs: [String: ExpressionTerm] = [:]
  var sources: [ExpressionTerm] = []

  var json: String {
    var pairs = pairs
    if !sources.isEmpty { pairs["FROM"] = ExpressionTerm(.list(sources)) }
    return ExpressionTerm(.dict(pairs)).description
  }

  func setting(_ key: String, _ term: ExpressionTerm) -> QueryClauses {
    var copy = self
    copy.pairs[key] = term
    return copy
  }
}

/// Builds queries.
public enum QueryBuilder {
  /// A query with columns.
  /// - Parameter results: The columns.
  /// - Returns: The query without a source.
  public static func select(_ results: any SelectResultProtocol...) -> Select { select(results) }

  /// A query with columns.
  /// - Parameter results: The columns.
  /// - Returns: The query without a source.
  public static func select(_ results: [any SelectResultProtocol]) -> Select {
    Select(QueryClauses().setting("WHAT", ExpressionTerm(.list(results.map(\.term)))))
  }

  /// A query without equal rows.
  /// - Parameter results: The columns.
  /// - Returns: The query without a source.
  public static func selectDistinct(_ results: any SelectResultProtocol...) -> Select {
    selectDistinct(results)
  }

  /// A query without equal rows.
  /// - Parameter results: The columns.
  /// - Returns: The query without a source.
  public static func selectDistinct(_ results: [any SelectResultProtocol]) -> Select {
    Select(
      QueryClauses().setting("WHAT", ExpressionTerm(.list(results.map(\.term))))
        .setting("DISTINCT", ExpressionTerm(.boolean(true))))
  }
}
