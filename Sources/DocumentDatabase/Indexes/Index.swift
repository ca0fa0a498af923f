// Index.swift: what a program says of an index, in both of Couchbase Lite's ways: items of the
// query builder, and configurations in SQL++.

import DocumentQuery
import DocumentStore

/// An index that can be created.
public protocol Index: Sendable {
  /// The index in the store's form.
  /// - Parameter name: Its name.
  /// - Returns: The index.
  /// - Throws: An error of its expressions.
  func specification(_ name: String) throws -> IndexDescription
}

/// The configuration of an index.
public protocol IndexConfiguration: Index {}

/// An index in the store's form.
public struct IndexDescription: Sendable {
  let specification: IndexSpecification
}

/// Makes indexes from items of the query builder.
public enum IndexBuilder {
  /// An index of values.
  /// - Parameter items: What is indexed, in order.
  /// - Returns: The index.
  public static func valueIndex(items: ValueIndexItem...) -> ValueIndex { valueIndex(items: items) }

  /// An index of values.
  /// - Parameter items: What is indexed, in order.
  /// - Returns: The index.
  public static func valueIndex(items: [ValueIndexItem]) -> ValueIndex { ValueIndex(items: items) }

  /// An index of words.
  /// - Parameter items: The properties whose words are indexed.
  /// - Returns: The index.
  public static func fullTextIndex(items: FullTextIndexItem...) -> FullTextIndex {
    fullTextIndex(items: items)
  }

  /// An index of words.
  /// - Parameter items: The properties whose words are indexed.
  /// - Returns: The index.
  public static func fullTextIndex(items: [FullTextIndexItem]) -> FullTextIndex {
    FullTextIndex(items: items)
  }
}

/// A value that is indexed.
public struct ValueIndexItem: Sendable {
  let term: ExpressionTerm

  /// A property.
  /// - Parameter property: Its path.
  /// - Returns: The item.
  public static func property(_ property: String) -> ValueIndexItem {
    expression(Expression.property(property))
  }

  /// An expression.
  /// - Parameter expression: The expression.
  /// - Returns: The item.
  public static func expression(_ expression: any ExpressionProtocol) -> ValueIndexItem {
    ValueIndexItem(term: expression.term)
  }
}

/// An index of values.
public struct ValueIndex: Index {
  let items: [ValueIndexItem]

  /// The index in the store's form.
  /// - Parameter name: Its name.
  /// - Returns: The index.
  public func specification(_ name: String) -> IndexDescription {
    let json = ExpressionTerm(.list(items.map(\.term))).description
    return IndexDescription(specification: IndexSpecification(name, .value, json: json))
  }
}

/// A property whose words are indexed.
public struct FullTextIndexItem: Sendable {
  let term: ExpressionTerm

  /// A property.
  /// - Parameter property: Its path.
  /// - Returns: The item.
  public static func property(_ property: String) -> FullTextIndexItem {
    FullTextIndexItem(term: Expression.property(property).term)
  }
}

/// An index of words.
public struct FullTextIndex: Index {
  let items: [FullTextIndexItem]
  private var options = FullTextOptions()

  init(items: [FullTextIndexItem]) { self.items = items }

  /// Whether accents are ignored.
  /// - Parameter ignoreAccents: Whether they are.
  /// - Returns: The index.
  public func ignoreAccents(_ ignoreAccents: Bool) -> FullTextIndex {
    var copy = self
    copy.options.ignoresDiacritics = ignoreAccents
    return copy
  }

  /// The language, whose stop words are ignored, and whose stems replace words.
  /// - Parameter language: Two letters; nil for none.
  /// - Returns: The index.
  public func language(_ language: String?) -> FullTextIndex {
    var copy = self
    copy.options.language = language
    return copy
  }

  /// The index in the store's form.
  /// - Parameter name: Its name.
  /// - Returns: The index.
  public func specification(_ name: String) -> IndexDescription {
    let json = ExpressionTerm(.list(items.map(\.term))).description
    return IndexDescription(
      specification: IndexSpecification(name, .fullText(options), json: json))
  }
}

/// An index of values, in SQL++.
public struct ValueIndexConfiguration: IndexConfiguration {
  /// What is indexed, in order.
  public let expressions: [String]
  /// The documents that are indexed; nil for all.
  public let `where`: String?

  /// An index.
  /// - Parameters:
  ///   - expressions: What is indexed, in order: `["type", "lower(name)"]`.
  ///   - condition: The documents that are indexed; nil for all.
  public init(_ expressions: [String], where condition: String? = nil) {
    self.expressions = expressions
    self.where = condition
  }

  /// The index in the store's form.
  /// - Parameter name: Its name.
  /// - Returns: The index.
  /// - Throws: An error of its expressions.
  public func specification(_ name: String) throws -> IndexDescription {
    let json = try IndexExpression.json(texts: expressions, condition: self.where)
    return IndexDescription(specification: IndexSpecification(name, .value, json: json))
  }
}

/// An index of words, in SQL++.
public struct FullTextIndexConfiguration: IndexConfiguration {
  /// The properties whose words are indexed.
  public let expressions: [String]
  /// The documents that are indexed; nil for all.
  public let `where`: String?
  /// Whether accents are ignored.
  public let ignoreAccents: Bool
  /// The language, whose stop words are ignored, and whose stems replace words; nil for none.
  public let language: String?

  /// An index.
  /// - Parameters:
  ///   - expressions: The properties whose words are indexed.
  ///   - condition: The documents that are indexed; nil for all.
  ///   - ignoreAccents: Whether accents are ignored.
  ///   - language: The language; nil for none.
  public init(
    _ expressions: [String], where condition: String? = nil, ignoreAccents: Bool? = false,
    language: String? = nil
  ) {
    self.expressions = expressions
    self.where = condition
    self.ignoreAccents = ignoreAccents ?? false
    self.language = language
  }

  /// The index in the store's form.
  /// - Parameter name: Its name.
  /// - Returns: The index.
  /// - Throws: An error of its expressions.
  public func specification(_ name: String) throws -> IndexDescription {
    var options = FullTextOptions()
    options.ignoresDiacritics = ignoreAccents
    options.language = language
    let json = try IndexExpression.json(texts: expressions, condition: self.where)
    return IndexDescription(
      specification: IndexSpecification(name, .fullText(options), json: json))
  }
}

/// An index of the items of an array, for UNNEST.
public struct ArrayIndexConfiguration: IndexConfiguration {
  /// The array's path, with `[]` where it is in items of another array.
  public let path: String
  /// Values of the items, in SQL++; nil for the items themselves.
  public let expressions: [String]?

  /// An index.
  /// - Parameters:
  ///   - path: The array's path, with `[]` where it is in items of another array:
  ///     `contacts[].phones`.
  ///   - expressions: Values of the items: `["city"]`; nil for the items themselves.
  public init(path: String, expressions: [String]? = nil) {
    self.path = path
    self.expressions = expressions
  }

  /// The index in the store's form.
  /// - Parameter name: Its name.
  /// - Returns: The index.
  /// - Throws: An error of its expressions.
  public func specification(_ name: String) throws -> IndexDescription {
    let json = try IndexExpression.json(texts: expressions ?? [])
    return IndexDescription(
      specification: IndexSpecification(name, .array(path: path), json: json))
  }
}

/// An index of a collection.
public struct QueryIndex: Sendable {
  /// The collection.
  public let collection: Collection
  /// The name.
  public let name: String
}

extension Collection {
  /// Creates an index, in place of the one that has its name; the same one again changes nothing.
  /// - Parameters:
  ///   - index: The index.
  ///   - name: Its name, unique in the database.
  /// - Throws: ``DatabaseError``: ``CBLError/invalidQuery`` or ``CBLError/invalidParameter`` for
  ///   its expressions.
  /// - Complexity: O(documents · log documents).
  ///
  /// Durability: as a save.
  public func createIndex(_ index: any Index, name: String) throws {
    try writing { store, _ in
      _ = try store.createIndex(try index.specification(name).specification)
    }
  }

  /// Creates an index, in place of the one that has its name; the same one again changes nothing.
  /// - Parameters:
  ///   - name: Its name, unique in the database.
  ///   - config: The index.
  /// - Throws: ``DatabaseError``, as `createIndex(_:name:)`.
  /// - Complexity: O(documents · log documents).
  ///
  /// Durability: as a save.
  public func createIndex(withName name: String, config: any IndexConfiguration) throws {
    try createIndex(config, name: name)
  }

  /// Removes an index, if there is one.
  /// - Parameter name: Its name.
  /// - Throws: ``DatabaseError``.
  ///
  /// Durability: as a save.
  public func deleteIndex(forName name: String) throws {
    try writing { store, batch in
      guard try store.indexes().contains(where: { $0.name == name }) else { return }
      try batch.transaction.deleteIndex(name)
    }
  }

  /// The names of the collection's indexes, sorted.
  /// - Returns: The names.
  /// - Throws: ``DatabaseError``.
  public func indexes() throws -> [String] {
    try reading { store, _ in try store.indexes().map(\.name) }
  }

  /// An index.
  /// - Parameter name: Its name.
  /// - Returns: The index; nil when there is none.
  /// - Throws: ``DatabaseError``.
  public func index(withName name: String) throws -> QueryIndex? {
    try indexes().contains(name) ? QueryIndex(collection: self, name: name) : nil
  }
}
