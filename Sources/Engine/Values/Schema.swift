// Schema.swift: tables and columns as callers name them.
// Invariants: names are unique and have 1 to 255 bytes of UTF-8; a single link, a link in a
// dictionary and a mixed value can always be null, a link in a list or a set never.

/// The type of a column's values, or of the elements of its collections.
public enum ColumnType: UInt8, Sendable, CaseIterable {
  /// A signed 64-bit integer.
  case int = 1
  /// Text of up to 16 MiB in UTF-8.
  case string = 2
  /// True or false.
  case bool = 3
  /// A 32-bit floating-point number, stored bit for bit.
  case float = 4
  /// A 64-bit floating-point number, stored bit for bit.
  case double = 5
  /// Up to 16 MiB of bytes.
  case binary = 6
  /// Seconds since 1970 and nanoseconds.
  case date = 7
  /// Twelve bytes.
  case objectId = 8
  /// Sixteen bytes.
  case uuid = 9
  /// A decimal number of IEEE 754-2008, stored as its 16 bytes.
  case decimal128 = 10
  /// The key of a row in the column's target table.
  case link = 11
  /// Any of the above; each value has its own type.
  case mixed = 12
}

/// Whether each row has one value, or a collection of them.
public enum CollectionKind: UInt8, Sendable, CaseIterable {
  /// One value.
  case none = 0
  /// Values in an order of the caller's.
  case list = 1
  /// Distinct values, sorted.
  case set = 2
  /// Values under distinct strings, sorted by them.
  case dictionary = 3
}

/// A column of a table.
public struct ColumnSchema: Hashable, Sendable {
  /// The name, 1 to 255 bytes of UTF-8, unique in its table.
  public var name: String
  /// The type of the column's values, or of the elements of its collections.
  public var type: ColumnType
  /// Whether the value, or an element of the collection, can be null.
  public var isOptional: Bool
  /// Whether each row has one value or a collection.
  public var collection: CollectionKind
  /// The table that links lead to; nil for columns without links.
  public var target: String?
  /// Whether the column has a search index.
  public var isIndexed: Bool
  /// Whether no two rows have the same value.
  public var isUnique: Bool
  /// Whether the column, of single strings, has a full-text index, which finds rows by the words of
  /// its texts; it has no search index then.
  public var isFullText: Bool

  /// Makes a column.
  /// - Parameters:
  ///   - name: The name.
  ///   - type: The type of its values.
  ///   - isOptional: Whether null is a value; by default only where it always is.
  ///   - collection: Whether each row has one value or a collection.
  ///   - target: The table that links lead to.
  ///   - isIndexed: Whether the column has a search index.
  ///   - isUnique: Whether no two rows have the same value.
  ///   - isFullText: Whether the column has a full-text index.
  public init(
    name: String, type: ColumnType, isOptional: Bool? = nil, collection: CollectionKind = .none,
    target: String? = nil, isIndexed: Bool = false, isUnique: Bool = false,
    isFullText: Bool = false
  ) {
    self.name = name
    self.type = type
    self.isOptional =
      isOptional ?? (Self.nullability(type, collection) ?? false)
    self.collection = collection
    self.target = target
    self.isIndexed = isIndexed
    self.isUnique = isUnique
    self.isFullText = isFullText
  }

  /// Whether null is allowed, where type and collection determine it; else nil.
  package static func nullability(_ type: ColumnType, _ collection: CollectionKind) -> Bool? {
    switch (type, collection) {
    case (.mixed, _), (.link, .none), (.link, .dictionary): true
    case (.link, _): false
    default: nil
    }
  }

  private var canBeFullText: Bool {
    type == .string && collection == .none && !isIndexed && !isUnique
  }

  func validate(table: String) throws(EngineError) {
    if let forced = Self.nullability(type, collection), forced != isOptional {
      throw EngineError(
        code: .schemaMismatch,
        message: "\(table).\(name): optional=\(isOptional), but a \(type) in a \(collection) "
          + "column has optional=\(forced)")
    }
    guard (type == .link) == (target != nil) else {
      throw EngineError(
        code: .schemaMismatch,
        message: "\(table).\(name): a column of type \(type) has target "
          + "\(target ?? "none"); a link names the table it leads to, and nothing else does")
    }
    guard !(isIndexed || isUnique) || ValueImage.canIndex(type) || collection != .none else {
      throw EngineError(
        code: .schemaMismatch,
        message: "\(table).\(name): a column of type \(type) has no search index; use one of int, "
          + "string, bool, binary, date, objectId and uuid")
    }
    guard collection == .none || !(isIndexed || isUnique) else {
      throw EngineError(
        code: .schemaMismatch, message: "\(table).\(name): a collection has no search index")
    }
    guard !isFullText || canBeFullText else {
      throw EngineError(
        code: .schemaMismatch,
        message: "\(table).\(name): a column of type \(type) (collection: \(collection), "
          + "search_index=\(isIndexed || isUnique)) has no full-text index; columns of single "
          + "strings without a search index can")
    }
  }
}

/// A table: rows under keys, which are signed 64-bit integers.
public struct TableSchema: Hashable, Sendable {
  /// The name, 1 to 255 bytes of UTF-8, unique in the database.
  public var name: String
  /// The columns, at most 128; the key is not one of them.
  public var columns: [ColumnSchema]

  /// Makes a table.
  public init(name: String, columns: [ColumnSchema]) {
    self.name = name
    self.columns = columns
  }

  /// The index of a column.
  func column(named column: String) throws(EngineError) -> Int {
    guard let index = columns.firstIndex(where: { $0.name == column }) else {
      throw EngineError(
        code: .noSuchColumn, message: "table \(name) has no column \"\(column)\"; add it first")
    }
    return index
  }

  static func validate(name candidate: String) throws(EngineError) {
    guard (1...Layout.nameBytesMax).contains(candidate.utf8.count) else {
      throw EngineError(
        code: .schemaMismatch,
        message: "the name \"\(candidate)\" has \(candidate.utf8.count) bytes; use 1 to 255")
    }
  }

  func validate() throws(EngineError) {
    try Self.validate(name: name)
    var names: Set<String> = []
    for column in columns {
      try Self.validate(name: column.name)
      try column.validate(table: name)
      guard names.insert(column.name).inserted else {
        throw EngineError(
          code: .schemaMismatch, message: "table \(name) has two columns named \(column.name)")
      }
    }
    guard columns.count <= Layout.columnCountMax else {
      throw EngineError(
        code: .limit,
        message: "table \(name) has \(columns.count) columns; at most \(Layout.columnCountMax)")
    }
  }
}
