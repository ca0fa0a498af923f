// IndexSpecification.swift: what index is wanted.

/// An index of a collection.
public struct IndexSpecification: Hashable, Sendable {
  /// What is indexed, and how.
  public enum Kind: Hashable, Sendable {
    /// Values of expressions, in order.
    case value
    /// The words of properties.
    case fullText(FullTextOptions)
    /// Items of an array, one for each row: the array's path, with `[]` where it lies in items of
    /// another array: `contacts[].phones`.
    case array(path: String)
    /// What a model makes of each document.
    case predictive
  }

  /// The name, of which there is one in the whole file.
  public var name: String
  /// What is indexed, and how.
  public var kind: Kind
  /// The expressions as JSON: an array, or `{"WHAT": […], "WHERE": …}` for the first two kinds.
  ///
  /// Of an array index these are expressions of its items, or none for the items themselves; of a
  /// predictive one it is `[["PREDICTION()", model, input, ".property", …]]`.
  public var expressions: String

  /// An index.
  /// - Parameters:
  ///   - name: Its name.
  ///   - kind: What is indexed, and how.
  ///   - expressions: The expressions as JSON.
  public init(_ name: String, _ kind: Kind, json expressions: String) {
    self.name = name
    self.kind = kind
    self.expressions = expressions
  }
}

/// How the words of a full-text index are made.
public struct FullTextOptions: Hashable, Sendable {
  /// The language, as two letters, with or without a country (`en_US`): its stop words are left
  /// out, and words are reduced to their stems.
  public var language: String?
  /// Whether words with and without diacritics are the same.
  public var ignoresDiacritics = false
  /// Whether words are reduced to their stems, if the language has a stemmer.
  public var stems = true
  /// The words to leave out, in place of the language's, between spaces; nil for the language's.
  public var stopWords: String?

  /// Words as they are, diacritics kept.
  public init() {}
}
