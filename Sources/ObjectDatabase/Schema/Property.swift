// Property.swift: a property of a class, for callers and in the file.

import Engine

/// The type of a property's value, or of the elements of its collection.
public enum PropertyType: String, Sendable, CustomStringConvertible {
  /// An integer of any width.
  case int
  /// True or false.
  case bool
  /// A 32-bit floating-point number.
  case float
  /// A 64-bit floating-point number.
  case double
  /// Text.
  case string
  /// Bytes.
  case data
  /// A point in time.
  case date
  /// A link to an object.
  case object
  /// The objects that link here.
  case linkingObjects
  /// Twelve bytes.
  case objectId
  /// A decimal number.
  case decimal128
  /// Sixteen bytes.
  case uuid
  /// A value of any type.
  case any = "mixed"

  // swift-format-ignore: AlwaysUseLowerCamelCase
  /// RealmSwift's name of `uuid`.
  public static let UUID = PropertyType.uuid

  /// The name of the type.
  public var description: String {
    switch self {
    case .linkingObjects: "linking objects"
    case .objectId: "object id"
    default: rawValue
    }
  }

  /// The column type; nil for a property without a column.
  var column: ColumnType? {
    switch self {
    case .int: .int
    case .bool: .bool
    case .float: .float
    case .double: .double
    case .string: .string
    case .data: .binary
    case .date: .date
    case .object: .link
    case .linkingObjects: nil
    case .objectId: .objectId
    case .decimal128: .decimal128
    case .uuid: .uuid
    case .any: .mixed
    }
  }

  init(_ column: ColumnType) {
    self =
      switch column {
      case .int: .int
      case .string: .string
      case .bool: .bool
      case .float: .float
      case .double: .double
      case .binary: .data
      case .date: .date
      case .objectId: .objectId
      case .uuid: .uuid
      case .decimal128: .decimal128
      case .link: .object
      case .mixed: .any
      }
  }
}

/// A property of a class.
public struct Property: Hashable, Sendable, CustomStringConvertible {
  /// The name in the class.
  public var name: String
  /// The name in the file.
  public var columnName: String
  /// The type of its value, or of its elements.
  public var type: PropertyType
  /// Whether nil is a value, or an element.
  public var isOptional = false
  /// Whether it has a search index.
  public var isIndexed = false
  /// Whether it has a full-text index.
  public var isFullText = false
  /// Whether it is the primary key.
  public var isPrimaryKey = false
  /// The class that links lead to, or come from.
  public var objectClassName: String?
  /// The property of the other class that links here.
  public var linkOriginPropertyName: String?
  var collection = CollectionKind.none

  /// Whether it is a list, or linking objects.
  public var isArray: Bool { collection == .list || type == .linkingObjects }
  /// Whether it is a set.
  public var isSet: Bool { collection == .set }
  /// Whether it is a map.
  public var isMap: Bool { collection == .dictionary }

  var isCollection: Bool { collection != .none }

  /// The property and what it is, in RealmSwift's layout.
  public var description: String {
    func yes(_ isSo: Bool) -> String { isSo ? "YES" : "NO" }
    var lines = ["type = \(type)"]
    if type == .object || type == .linkingObjects {
      lines.append("objectClassName = \(objectClassName ?? "(null)")")
      lines.append("linkOriginPropertyName = \(linkOriginPropertyName ?? "(null)")")
    }
    lines += [
      "columnName = \(columnName)", "indexed = \(yes(isIndexed || isPrimaryKey))",
      "isPrimary = \(yes(isPrimaryKey))", "array = \(yes(isArray))", "set = \(yes(isSet))",
      "dictionary = \(yes(isMap))", "optional = \(yes(isOptional))",
    ]
    return "\(name) {\n" + lines.map { "\t\($0);\n" }.joined() + "}"
  }

  /// Name and type, as messages have them.
  var words: String { "\(name): \(typeText)" }

  /// The type in words, as messages have it.
  var typeText: String {
    let element = (objectClassName.map { "<\($0)>" } ?? type.rawValue) + (isOptional ? "?" : "")
    return switch collection {
    case .none: element
    case .list: "list of \(element)"
    case .set: "set of \(element)"
    case .dictionary: "map of \(element)"
    }
  }

  /// The column that the property needs; nil when it needs none.
  var column: ColumnSchema? {
    guard let type = type.column else { return nil }
    return ColumnSchema(
      name: columnName, type: type,
      isOptional: ColumnSchema.nullability(type, collection) ?? isOptional,
      collection: collection, target: type == .link ? objectClassName : nil,
      isIndexed: isIndexed || isPrimaryKey, isUnique: isPrimaryKey, isFullText: isFullText)
  }

  /// A property of a class that only the file knows.
  init(_ column: ColumnSchema, isPrimaryKey: Bool) {
    name = column.name
    columnName = column.name
    type = PropertyType(column.type)
    isOptional = column.isOptional
    isIndexed = column.isIndexed
    isFullText = column.isFullText
    self.isPrimaryKey = isPrimaryKey
    objectClassName = column.target
    collection = column.collection
  }

  init(name: String, columnName: String, type: PropertyType) {
    self.name = name
    self.columnName = columnName
    self.type = type
  }
}
