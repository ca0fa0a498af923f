// QuerySteps.swift [U]: the steps of a built query, in their order. A protocol for each step says
// which queries it can follow.

/// A query that can get conditions.
public protocol WhereRouter: Query {}
/// A query whose rows can be grouped.
public protocol GroupByRouter: Query {}
/// A query whose rows can be ordered.
public protocol OrderByRouter: Query {}
/// A query whose rows can be limited.
public protocol LimitRouter: Query {}

/// A query with columns and no source.
public final class Select: Query, @unchecked Sendable {
  /// The source of documents.
  /// - Parameter dataSource: The source.
  /// - Returns: The query.
  public func from(_ dataSource: any DataSourceProtocol) -> From {
    var clauses = clauses
    clauses.database = dataSource.collection.database
    clauses.sources = [ExpressionTerm(.dict(dataSource.pairs))]
    return From(clauses)
  }
}

/// A query with a source.
public final class From: Query, WhereRouter, GroupByRouter, OrderByRouter, LimitRouter,
  @unchecked Sendable
{
  /// Further sources.
  /// - Parameter joins: The sources, with conditions.
  /// - Returns: The query.
  public func join(_ joins: any JoinProtocol...) -> Joins { join(joins) }

  /// Further sources.
  /// - Parameter joins: The sources, with conditions.
  /// - Returns: The query.
  public func join(_ joins: [any JoinProtocol]) -> Joins {
    var clauses = clauses
    clauses.sources += joins.map(\.term)
    return Joins(clauses)
  }
}

/// A query with several sources.
public final class Joins: Query, WhereRouter, GroupByRouter, OrderByRouter, LimitRouter,
  @unchecked Sendable
{}

/// A query with a condition.
public final class Where: Query, GroupByRouter, OrderByRouter, LimitRouter, @unchecked Sendable {}

/// A query whose rows are grouped.
public final class GroupBy: Query, OrderByRouter, LimitRouter, @unchecked Sendable {
  /// A condition on groups.
  /// - Parameter expression: The condition.
  /// - Returns: The query.
  public func having(_ expression: any ExpressionProtocol) -> Having {
    Having(clauses.setting("HAVING", expression.term))
  }
}

/// A query with a condition on groups.
public final class Having: Query, OrderByRouter, LimitRouter, @unchecked Sendable {}

/// A query whose rows are ordered.
public final class OrderBy: Query, LimitRouter, @unchecked Sendable {}

/// A query whose rows are limited.
public final class Limit: Query, @unchecked Sendable {}

extension WhereRouter {
  /// A condition.
  /// - Parameter expression: The condition.
  /// - Returns: The query.
  public func `where`(_ expression: any ExpressionProtocol) -> Where {
    Where(clauses.setting("WHERE", expression.term))
  }
}

extension GroupByRouter {
  /// Groups rows with equal values.
  /// - Parameter expressions: The values.
  /// - Returns: The query.
  public func groupBy(_ expressions: any ExpressionProtocol...) -> GroupBy { groupBy(expressions) }

  /// Groups rows with equal values.
  /// - Parameter expressions: The values.
  /// - Returns: The query.
  public func groupBy(_ expressions: [any ExpressionProtocol]) -> GroupBy {
    GroupBy(clauses.setting("GROUP_BY", ExpressionTerm(.list(expressions.map(\.term)))))
  }
}

extension OrderByRouter {
  /// Orders rows.
  /// - Parameter orderings: The orders, the most important first.
  /// - Returns: The query.
  public func orderBy(_ orderings: any OrderingProtocol...) -> OrderBy { orderBy(orderings) }

  /// Orders rows.
  /// - Parameter orderings: The orders, the most important first.
  /// - Returns: The query.
  public func orderBy(_ orderings: [any OrderingProtocol]) -> OrderBy {
    OrderBy(clauses.setting("ORDER_BY", ExpressionTerm(.list(orderings.map(\.term)))))
  }
}

extension LimitRouter {
  /// Limits the number of rows.
  /// - Parameters:
  ///   - limit: The most rows.
  ///   - offset: The rows that are skipped first; nil for none.
  /// - Returns: The query.
  public func limit(
    _ limit: any ExpressionProtocol, offset: (any ExpressionProtocol)? = nil
  ) -> Limit {
    let limited = clauses.setting("LIMIT", limit.term)
    return Limit(offset.map { limited.setting("OFFSET", $0.term) } ?? limited)
  }
}
