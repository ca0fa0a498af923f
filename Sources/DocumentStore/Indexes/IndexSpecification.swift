// IndexSpecification.swift: the specification of an index.

/// An index of a collection.
public struct IndexSpecification: Hashable, Sendable {
  /// The kind of index, with its options.
  public enum Kind: Hashable, Sendable {
    /// Values of expressions, in order.
    case value
    /// The words of properties.
    case fullText(FullTextOptions)
    /// Items of an array, one for each row: the array's path, with `[]` where it is in items of
    /// another array: `contacts[].phones`.
    case array(path: String)
    /// The result of a model for each document.
    case predictive
  }

  /// The name, of which there is one in the whole file.
  public var name: String
  /// The kind of index, with its options.
  public var kind: Kind
  /// The expressions as JSON: an array, or `{"WHAT": […], "WHERE": …}` for the first two kinds.
  ///
  /// Of an array index these are expressions of its items, or none for the items themselves; of a
  /// predictive one it is `[["PREDICTION()", model, input, ".property", …]]`.
  public var expressions: String

  /// An index.
  /// - Parameters:
  ///   - name: Its name.
  ///   - kind: The kind of index, with its options.
  ///   - expressions: The expressions as JSON.
  public init(_ name: String, _ kind: Kind, json expressions: String) {
    self.name = name
    self.kind = kind
    self.expressions = expressions
  }
}

/// How a full-text index splits texts into words.
public struct FullTextOptions: Hashable, Sendable {
  /// The language, as two letters, with or without a country (`en_US`): its stop words are ignored,
  /// and words are reduced to their stems.
  public var language: String?
  /// Whether words with and without diacritics are the same.
  public var ignoresDiacritics = false
  /// Whether words are reduced to their stems, if the language has a stemmer.
  public var stems = true
  /// The words to ignore instead of the language's, separated by spaces; nil for the language's.
  public var stopWords: String?

  /// Words unchanged, with diacritics.
  public init() {}
}
