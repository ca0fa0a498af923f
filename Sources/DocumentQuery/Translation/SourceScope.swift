// SourceScope.swift: the meaning of names in one SELECT: its sources, the names of its columns, and
// the tables of indexes that it joins.

import Fleece

/// The names of one SELECT, or of a standalone expression.
struct SourceScope {
  /// A source of rows.
  struct Source {
    enum Kind {
      /// Rows of a collection.
      case collection(QuerySchema.Collection)
      /// Rows of an array index: the items at a path of a collection's documents.
      case arrayTable(QuerySchema.Collection, path: String)
      /// Items of an array, one by one.
      case items
      /// A row of a table without a name: an index's expression.
      case row(isUnnested: Bool)
    }

    /// Which documents it has.
    enum Documents {
      case live
      case all
      case dead
    }

    let name: String
    let kind: Kind
    /// The prefix of column names.
    let prefix: String
    var documents = Documents.live

    var isDocuments: Bool {
      switch kind {
      case .collection, .row(isUnnested: false): true
      default: false
      }
    }
  }

  /// A table that is joined for an index.
  struct IndexTable {
    let table: String
    let alias: String
    let source: Int
    /// The index's name, for full text; the model and input, for predictions.
    let identity: String
  }

  /// What the name of a column is where it is used.
  enum ColumnUse {
    /// No name: a property may be called so.
    case none
    /// Its expression. SQL would take its result, in which null and booleans have another form.
    case expression
    /// Its expression, or with a path behind it the name, as the real library writes it.
    case name
  }

  var sources: [Source] = []
  /// Whether FROM has aliases, so that paths may begin with one.
  var isNamed = false
  /// Names of columns that may be used where they are known.
  var columns: [String: QuerySelect.Column] = [:]
  var columnUse = ColumnUse.none
  var variables: [(name: String, alias: String)] = []
  var fullText: [IndexTable] = []
  var predictions: [IndexTable] = []

  /// The target of a path.
  enum Target {
    case property(Source, [FleecePath.Component])
    case meta(Source, MetaProperty)
    case column(String, [FleecePath.Component])
  }

  /// Looks up a path.
  func target(
    _ path: [FleecePath.Component], at place: QueryPlace
  ) throws(DocumentQueryError) -> Target {
    if isNamed, let (source, count) = named(path) {
      return try target(path.dropFirst(count), of: sources[source], at: place)
    }
    if columnUse != .none, case .key(let name)? = path.first, columns[name] != nil {
      return .column(name, Array(path.dropFirst()))
    }
    if sources.count > 1, !path.isEmpty {
      guard case .key(let name)? = path.first else {
        throw DocumentQueryError(
          .noSource, "a path begins with the name of a source, and not with an index", at: place)
      }
      throw DocumentQueryError(
        .noSource, "no source is named \(shown(name))", at: place,
        nearest: nearestName(to: name, among: sources.map(\.name)))
    }
    return try target(path[...], of: sources[0], at: place)
  }

  private func target(
    _ path: ArraySlice<FleecePath.Component>, of source: Source, at place: QueryPlace
  ) throws(DocumentQueryError) -> Target {
    if source.isDocuments, case .key(let name)? = path.first,
      let property = MetaProperty(propertyName: name)
    {
      guard path.count == 1 else {
        throw DocumentQueryError(.operands, "\(name) has no properties", at: place)
      }
      return .meta(source, property)
    }
    return .property(source, Array(path))
  }

  /// The source that a path begins with, and how many steps its name takes.
  private func named(_ path: [FleecePath.Component]) -> (source: Int, count: Int)? {
    guard case .key(let first)? = path.first else { return nil }
    if let found = sources.firstIndex(where: { $0.name == first }) { return (found, 1) }
    // A collection of a scope may be named with its scope, or by its last name alone.
    for (index, source) in sources.enumerated() {
      let parts = source.name.split(separator: ".", omittingEmptySubsequences: false)
      guard parts.count == 2 else { continue }
      if path.count >= 2, case .key(let second) = path[1], first == parts[0], second == parts[1] {
        return (index, 2)
      }
    }
    let last = sources.indices.filter { sources[$0].name.hasSuffix(".\(first)") }
    return last.count == 1 ? (last[0], 1) : nil
  }

  /// The source of a name, or the first.
  func source(
    named name: String?, at place: QueryPlace
  ) throws(DocumentQueryError) -> Int {
    guard let name else { return 0 }
    if let found = sources.firstIndex(where: { $0.name == name }) { return found }
    let last = sources.indices.filter { sources[$0].name.hasSuffix(".\(name)") }
    if last.count == 1 { return last[0] }
    throw DocumentQueryError(
      .noSource, "no source is named \(shown(name))", at: place,
      nearest: nearestName(to: name, among: sources.map(\.name)))
  }
}

/// The metadata of a document.
enum MetaProperty: String, CaseIterable {
  case id
  case sequence
  case deleted
  case expiration
  case revisionID
  case rowID

  /// Of a property's name: `_id`, `_sequence`.
  init?(propertyName: String) {
    guard propertyName.hasPrefix("_") else { return nil }
    self.init(rawValue: String(propertyName.dropFirst()))
  }

  /// Whether it is a column of the documents' tables.
  var isStored: Bool {
    switch self {
    case .id, .sequence, .expiration, .rowID: true
    case .deleted, .revisionID: false
    }
  }

  /// The properties that META() has.
  static let listed: [MetaProperty] = [.id, .sequence, .deleted, .expiration, .revisionID]
}
