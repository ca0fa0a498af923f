// DocumentQueryError.swift: the errors of a rejected query. A text never causes a trap: it gives
// either SQL or one of these errors.

/// An error in a query.
public struct DocumentQueryError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind of error.
  public enum Code: String, Sendable, CaseIterable {
    /// The text is neither JSON nor SQL++.
    case syntax
    /// An operator, a function, a clause or an option that the language does not have.
    case unknownName
    /// An operator or a function with too few or too many operands, or with one of another kind.
    case operands
    /// A valid construct in a place where it is not allowed.
    case context
    /// No collection, or no source of the query, has that name.
    case noSource
    /// A full-text search without an index for it.
    case missingIndex
    /// Longer, deeper or wider than a query may be.
    case limit
  }

  /// The kind of error.
  public let code: Code
  /// The problem, with names and numbers.
  public let message: String
  /// The position: a path into the JSON (`$.WHERE[1]`), or line and column of a text (`3:14`, from
  /// 1).
  public let place: String
  /// The known name that is most like the one that is not known.
  public let nearest: String?

  init(
    _ code: Code, _ message: String, at place: QueryPlace, nearest: String? = nil
  ) {
    self.code = code
    self.message = message
    self.place = place.description
    self.nearest = nearest
  }

  /// Place, code, message and the nearest name.
  public var description: String {
    let hint = nearest.map { "; nearest is '\($0)'" } ?? ""
    return "\(place): \(code.rawValue): \(message)\(hint)"
  }
}

/// A name of a query in a message: shortened, and without control characters.
func shown(_ text: String) -> String {
  let scalars = text.unicodeScalars.prefix(60).map {
    $0.value < 32 || $0.value == 127 ? "\u{fffd}" : String($0)
  }
  return "'" + scalars.joined() + (text.unicodeScalars.count > 60 ? "…'" : "'")
}
