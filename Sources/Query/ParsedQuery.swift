// ParsedQuery.swift: a parsed query text.

import Engine

/// A query that was read and not yet bound to a schema.
///
/// Its description is a query that reads as an equal one.
public struct ParsedQuery: Hashable, Sendable, CustomStringConvertible {
  /// The condition.
  package var predicate: QueryPredicate
  /// The clauses applied to the matching rows, one after another.
  package var clauses: [QueryClause]

  package init(_ predicate: QueryPredicate, clauses: [QueryClause] = []) {
    self.predicate = predicate
    self.clauses = clauses
  }

  /// Reads a query.
  /// - Parameter text: The text, up to 1 MiB, nested up to 100 deep.
  /// - Throws: `QueryError` with code `.syntax`, with the position, the text found and what was
  ///   expected; with `.limit` when the text is too long or nested too deep.
  /// - Complexity: O(bytes).
  public init(parsing text: String) throws(QueryError) {
    var parser = try Parser(text)
    self = try parser.query()
  }

  /// Reads a query in which `%@`, `%d` and similar placeholders are values, and `%K` is a path.
  /// - Parameters:
  ///   - text: The text.
  ///   - names: The arguments that are texts, nil for each other one.
  /// - Returns: The query, and the numbers of the arguments that it uses as `$0`, `$1` and so on:
  ///   all of them when the text has no placeholder.
  /// - Throws: As `init(parsing:)`; with `.argument` when an argument is missing, or no name.
  package static func reading(
    format text: String, names: [String?]
  ) throws(QueryError) -> (query: ParsedQuery, arguments: [Int]) {
    var parser = try Parser(format: text, names: names)
    let query = try parser.query()
    return (query, parser.placesRead == 0 ? Array(names.indices) : parser.valuesRead)
  }

  /// A property name as written in a query, with a backslash where it would be a keyword.
  /// - Parameters:
  ///   - name: The name.
  ///   - isFirst: Whether it is where an operand begins, and not after a dot.
  /// - Returns: The text.
  package static func written(name: String, isFirst: Bool) -> String {
    QueryPrinter.name(name, canBeReserved: !isFirst)
  }

  /// The query in its one spelling.
  public var description: String {
    var printer = QueryPrinter()
    printer.print(self)
    return printer.text
  }
}
