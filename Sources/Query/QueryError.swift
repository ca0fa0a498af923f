// QueryError.swift: the errors of a query that cannot be parsed, bound or run. A syntax error is
// reported with its position, the text found there and what was expected; nothing traps.

import Engine

/// An error of a query.
public struct QueryError: Error, Sendable, CustomStringConvertible {
  /// The kind of error.
  public enum Code: String, Sendable, CaseIterable {
    /// The text is not a query.
    case syntax
    /// The text, its nesting or its work is beyond a limit.
    case limit
    /// A name means no table or property.
    case unknownName
    /// An operator does not fit the types of its operands.
    case type
    /// An argument is missing or cannot be used in its place.
    case argument
    /// The database failed; see `engineError`.
    case engine
  }

  /// A place in the text of a query.
  public struct Position: Hashable, Sendable {
    /// Bytes of UTF-8 before it.
    public var offsetBytes: Int
    /// The line, from 1.
    public var line: Int
    /// The column in Unicode scalars, from 1.
    public var column: Int

    /// Makes a position.
    /// - Parameters:
    ///   - offsetBytes: Bytes of UTF-8 before it.
    ///   - line: The line, from 1.
    ///   - column: The column in Unicode scalars, from 1.
    public init(offsetBytes: Int, line: Int, column: Int) {
      self.offsetBytes = offsetBytes
      self.line = line
      self.column = column
    }
  }

  /// The kind of error.
  public let code: Code
  /// The problem, and the remedy.
  public let message: String
  /// The position in the text; nil for errors without one.
  public let position: Position?
  /// The text at that position.
  public let found: String?
  /// The text expected there.
  public let expected: String?
  /// The database's error, with code `.engine`.
  public let engineError: EngineError?

  init(_ code: Code, _ message: String, at position: Position? = nil) {
    self.code = code
    self.message = message
    self.position = position
    found = nil
    expected = nil
    engineError = nil
  }

  init(found: String, expected: String, at position: Position) {
    code = .syntax
    message = "found \(found), expected \(expected)"
    self.position = position
    self.found = found
    self.expected = expected
    engineError = nil
  }

  /// An error of the database during a query.
  package init(_ error: EngineError) {
    code = .engine
    message = error.description
    position = nil
    found = nil
    expected = nil
    engineError = error
  }

  /// Place, code and message.
  public var description: String {
    let place = position.map { "\($0.line):\($0.column): " } ?? ""
    return "\(place)\(code.rawValue): \(message)"
  }
}

/// Runs a call of the engine; its error becomes an error of the query.
@inline(__always)
func asking<Result>(
  _ body: () throws(EngineError) -> Result
) throws(QueryError) -> Result {
  do throws(EngineError) { return try body() } catch { throw QueryError(error) }
}
