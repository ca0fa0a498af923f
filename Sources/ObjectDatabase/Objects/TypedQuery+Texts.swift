// TypedQuery+Texts.swift: the conditions of typed queries on texts.

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

/// Text, optional text, or any value, which may be a text.
public protocol _QueryText: RealmCollectionValue {}
extension String: _QueryText {}
extension Optional: _QueryText where Wrapped: _QueryText {}
extension AnyRealmValue: _QueryText {}

extension Query where Value: _QueryText {
  private func text(_ operation: String, _ value: String?, _ options: StringOptions) -> Query<Bool>
  {
    condition(operation + options.words, value)
  }

  private func text<Other: _QueryText>(
    _ operation: String, _ other: Query<Other>, _ options: StringOptions
  ) -> Query<Bool> {
    condition(operation + options.words, other)
  }

  /// Begins with a text.
  public func starts(with value: String, options: StringOptions = []) -> Query<Bool> {
    text("BEGINSWITH", value, options)
  }

  /// Begins with another property of the object.
  public func starts<Other: _QueryText>(
    with column: Query<Other>, options: StringOptions = []
  ) -> Query<Bool> {
    text("BEGINSWITH", column, options)
  }

  /// Ends with a text.
  public func ends(with value: String, options: StringOptions = []) -> Query<Bool> {
    text("ENDSWITH", value, options)
  }

  /// Ends with another property of the object.
  public func ends<Other: _QueryText>(
    with column: Query<Other>, options: StringOptions = []
  ) -> Query<Bool> {
    text("ENDSWITH", column, options)
  }

  /// Has a text in it.
  public func contains(_ value: String, options: StringOptions = []) -> Query<Bool> {
    text("CONTAINS", value, options)
  }

  /// Has another property of the object in it.
  public func contains<Other: _QueryText>(
    _ column: Query<Other>, options: StringOptions = []
  ) -> Query<Bool> {
    text("CONTAINS", column, options)
  }

  /// Matches a pattern in which `*` and `?` stand for any text or character.
  public func like(_ value: String, caseInsensitive: Bool = false) -> Query<Bool> {
    text("LIKE", value, caseInsensitive ? .caseInsensitive : [])
  }

  /// Equal to a text.
  public func equals(_ value: String?, options: StringOptions = []) -> Query<Bool> {
    text("==", value, options)
  }

  /// Equal to another property of the object.
  public func equals<Other: _QueryText>(
    _ column: Query<Other>, options: StringOptions = []
  ) -> Query<Bool> {
    text("==", column, options)
  }

  /// Not equal to a text.
  public func notEquals(_ value: String?, options: StringOptions = []) -> Query<Bool> {
    text("!=", value, options)
  }

  /// Not equal to another property of the object.
  public func notEquals<Other: _QueryText>(
    _ column: Query<Other>, options: StringOptions = []
  ) -> Query<Bool> {
    text("!=", column, options)
  }

  /// Contains all given words; `-word` must not occur, `word*` matches by prefix. Upper and lower
  /// case, and letters with and without marks, are the same. A property with a full-text index is
  /// searched through it.
  public func textSearch(_ words: String) -> Query<Bool> { condition("TEXT", words) }

  /// Contains all given words, as `textSearch`.
  public func text(_ words: String) -> Query<Bool> { textSearch(words) }
}
