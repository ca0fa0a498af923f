// Collation.swift: how texts are compared.

/// How texts are compared.
public protocol CollationProtocol: Sendable {
  /// The rules in the query language.
  var options: [String: ExpressionTerm] { get }
}

/// Makes collations.
public enum Collation {
  /// Byte by byte.
  /// - Returns: The collation.
  public static func ascii() -> ASCII { ASCII() }

  /// By the rules of Unicode.
  /// - Returns: The collation.
  public static func unicode() -> Unicode { Unicode() }

  /// Byte by byte, with or without regard to case.
  public struct ASCII: CollationProtocol {
    private var ignoresCase = false

    /// Whether the case of ASCII letters is ignored.
    /// - Parameter ignoreCase: Whether it is.
    /// - Returns: The collation.
    public func ignoreCase(_ ignoreCase: Bool) -> ASCII {
      var copy = self
      copy.ignoresCase = ignoreCase
      return copy
    }

    /// The rules in the query language.
    public var options: [String: ExpressionTerm] {
      [
        "UNICODE": ExpressionTerm(.boolean(false)),
        "CASE": ExpressionTerm(.boolean(!ignoresCase)),
      ]
    }
  }

  /// By the rules of Unicode.
  public struct Unicode: CollationProtocol {
    private var ignoresCase = false
    private var ignoresAccents = false
    private var language = ""

    /// Whether case is ignored.
    /// - Parameter ignoreCase: Whether it is.
    /// - Returns: The collation.
    public func ignoreCase(_ ignoreCase: Bool) -> Unicode {
      var copy = self
      copy.ignoresCase = ignoreCase
      return copy
    }

    /// Whether accents are ignored.
    /// - Parameter ignoreAccents: Whether they are.
    /// - Returns: The collation.
    public func ignoreAccents(_ ignoreAccents: Bool) -> Unicode {
      var copy = self
      copy.ignoresAccents = ignoreAccents
      return copy
    }

    /// The locale whose order is used.
    /// - Parameter locale: The locale: `sv`, `zh_Hans_CN`; nil for the order without one.
    /// - Returns: The collation.
    public func locale(_ locale: String?) -> Unicode {
      var copy = self
      copy.language = locale ?? ""
      return copy
    }

    /// The rules in the query language.
    public var options: [String: ExpressionTerm] {
      var options: [String: ExpressionTerm] = [
        "UNICODE": ExpressionTerm(.boolean(true)),
        "CASE": ExpressionTerm(.boolean(!ignoresCase)),
        "DIAC": ExpressionTerm(.boolean(!ignoresAccents)),
      ]
      if !language.isEmpty { options["LOCALE"] = ExpressionTerm(text: language) }
      return options
    }
  }
}
