// TypedQuery+Texts.swift: the conditions of typed queries on texts and bytes.

import FoundationEssentials

/// How texts are compared.
public struct StringOptions: OptionSet, Sendable {
  /// The bits.
  public let rawValue: Int

  /// Makes options of bits.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Upper and lower case are the same.
  public static let caseInsensitive = StringOptions(rawValue: 1)
  /// Marks above, below and in letters play no part: é is e.
  public static let diacriticInsensitive = StringOptions(rawValue: 2)

  /// The options as queries in words have them.
  var words: String {
    let letters =
      (contains(.caseInsensitive) ? "c" : "") + (contains(.diacriticInsensitive) ? "d" : "")
    return letters.isEmpty ? "" : "[\(letters)]"
  }
}

/// Texts and bytes, which have a beginning and an end.
public protocol _QueryBinary {}
/// Texts.
public protocol _QueryString: _QueryBinary {}
extension String: _QueryString {}
extension Data: _QueryBinary {}
extension Optional: _QueryBinary where Wrapped: _QueryBinary {}
extension Optional: _QueryString where Wrapped: _QueryString {}

extension Query {
  fileprivate func text(
    _ operation: String, _ value: Any?, _ options: StringOptions
  ) -> Query<Bool> {
    condition(operation + options.words, value)
  }

  fileprivate func text<Other>(
    _ operation: String, _ other: Query<Other>, _ options: StringOptions
  ) -> Query<Bool> {
    condition(operation + options.words, other)
  }
}

extension Query where Value: _Persistable, Value.PersistedType: _QueryBinary {
  /// Begins with a text or bytes.
  public func starts(with value: Value, options: StringOptions = []) -> Query<Bool> {
    text("BEGINSWITH", value, options)
  }

  /// Begins with another property of the object.
  public func starts<Other>(
    with column: Query<Other>, options: StringOptions = []
  ) -> Query<Bool> {
    text("BEGINSWITH", column, options)
  }

  /// Ends with a text or bytes.
  public func ends(with value: Value, options: StringOptions = []) -> Query<Bool> {
    text("ENDSWITH", value, options)
  }

  /// Ends with another property of the object.
  public func ends<Other>(with column: Query<Other>, options: StringOptions = []) -> Query<Bool> {
    text("ENDSWITH", column, options)
  }

  /// Has a text or bytes in it.
  public func contains(_ value: Value, options: StringOptions = []) -> Query<Bool> {
    text("CONTAINS", value, options)
  }

  /// Has another property of the object in it.
  public func contains<Other: _Persistable>(
    _ column: Query<Other>, options: StringOptions = []
  ) -> Query<Bool> where Other.PersistedType: _QueryBinary {
    text("CONTAINS", column, options)
  }

  /// Equal to a text or bytes.
  public func equals(_ value: Value, options: StringOptions = []) -> Query<Bool> {
    text("==", value, options)
  }

  /// Equal to another property of the object.
  public func equals<Other>(_ column: Query<Other>, options: StringOptions = []) -> Query<Bool> {
    text("==", column, options)
  }

  /// Not equal to a text or bytes.
  public func notEquals(_ value: Value, options: StringOptions = []) -> Query<Bool> {
    text("!=", value, options)
  }

  /// Not equal to another property of the object.
  public func notEquals<Other>(
    _ column: Query<Other>, options: StringOptions = []
  ) -> Query<Bool> {
    text("!=", column, options)
  }
}

extension Query where Value: _Persistable, Value.PersistedType: _QueryString {
  /// Matches a pattern in which `*` and `?` stand for any text or character.
  public func like(_ value: Value, caseInsensitive: Bool = false) -> Query<Bool> {
    text("LIKE", value, caseInsensitive ? .caseInsensitive : [])
  }

  /// Matches another property of the object, as a pattern.
  public func like<Other>(_ column: Query<Other>, caseInsensitive: Bool = false) -> Query<Bool> {
    text("LIKE", column, caseInsensitive ? .caseInsensitive : [])
  }

  /// Contains all given words; `-word` must not occur, `word*` matches by prefix.
  ///
  /// Upper and lower case, and letters with and without marks, are the same. A property with a
  /// full-text index is searched through it.
  public func textSearch(_ words: String) -> Query<Bool> { condition("TEXT", words) }

  /// Contains all given words, as `textSearch`.
  public func text(_ words: String) -> Query<Bool> { textSearch(words) }
}

extension Query where Value == AnyRealmValue {
  /// Is a text that begins with another.
  public func starts(with value: String, options: StringOptions = []) -> Query<Bool> {
    text("BEGINSWITH", value, options)
  }

  /// Is a text that ends with another.
  public func ends(with value: String, options: StringOptions = []) -> Query<Bool> {
    text("ENDSWITH", value, options)
  }

  /// Is a text with another in it.
  public func contains(_ value: String, options: StringOptions = []) -> Query<Bool> {
    text("CONTAINS", value, options)
  }

  /// Is a text that matches a pattern in which `*` and `?` stand for any text or character.
  public func like(_ value: String, caseInsensitive: Bool = false) -> Query<Bool> {
    text("LIKE", value, caseInsensitive ? .caseInsensitive : [])
  }

  /// Is equal to a text.
  public func equals(_ value: String?, options: StringOptions = []) -> Query<Bool> {
    text("==", value, options)
  }

  /// Is not equal to a text.
  public func notEquals(_ value: String?, options: StringOptions = []) -> Query<Bool> {
    text("!=", value, options)
  }

  /// Contains all given words, as in a property of type `String`.
  public func textSearch(_ words: String) -> Query<Bool> { condition("TEXT", words) }

  /// Contains all given words, as `textSearch`.
  public func text(_ words: String) -> Query<Bool> { textSearch(words) }
}
