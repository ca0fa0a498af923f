// OperandType.swift: the types of operands, and which of them can be held against each other.

import Engine

/// The type of an operand's values.
enum OperandType: Hashable, Sendable {
  case null, bool, int, float, double, decimal, string, binary, date, objectId, uuid, mixed
  /// A row of a table; nil when the table is known only at run time.
  case object(Int?)
  /// A number with a fraction, whose type the other operand decides.
  case number
  /// The name of a type, or `@type`.
  case typeName
  case shape

  init(_ type: ColumnType, target: Int?) {
    self =
      switch type {
      case .int: .int
      case .string: .string
      case .bool: .bool
      case .float: .float
      case .double: .double
      case .binary: .binary
      case .date: .date
      case .objectId: .objectId
      case .uuid: .uuid
      case .decimal128: .decimal
      case .link: .object(target)
      case .mixed: .mixed
      }
  }

  init(of value: Value) {
    if let type = value.columnType {
      self.init(type, target: nil)
    } else {
      self = value == .null ? .null : .mixed
    }
  }

  var isNumeric: Bool {
    switch self {
    case .int, .float, .double, .decimal, .number: true
    default: false
    }
  }

  /// Whether the type is known only with each value.
  var isOpen: Bool { self == .mixed || self == .null }

  /// Whether values of the types can be equal.
  func isComparable(with other: OperandType) -> Bool {
    if case .object = self, case .object = other {
      return self == other || self == .object(nil) || other == .object(nil)
    }
    if self == .typeName || other == .typeName || self == .shape || other == .shape {
      return self == other
    }
    return self == other || isOpen || other.isOpen || isNumeric && other.isNumeric
  }

  /// Whether values of the type are ordered.
  var hasOrder: Bool {
    switch self {
    case .bool, .object, .typeName, .shape: false
    default: true
    }
  }

  /// The type in words.
  func named(_ schema: QuerySchema) -> String {
    switch self {
    case .null: "null"
    case .bool: "bool"
    case .int: "int"
    case .float: "float"
    case .double: "double"
    case .decimal: "decimal128"
    case .string: "string"
    case .binary: "binary"
    case .date: "date"
    case .objectId: "objectId"
    case .uuid: "uuid"
    case .mixed: "mixed"
    case .object(let table): "object" + (table.map { " " + schema.tables[$0].schema.name } ?? "")
    case .number: "number"
    case .typeName: "name of a type"
    case .shape: "part of the Earth"
    }
  }
}

/// Sets of types as bits, which `@type` gives.
enum TypeSet {
  private static func bit(_ type: ColumnType) -> Int64 { 1 << Int64(type.rawValue) }
  // Beyond all column types.
  static let list: Int64 = 1 << 60
  static let dictionary: Int64 = 1 << 61
  private static let set: Int64 = 1 << 62

  /// The bits of a name, in any case; nil when no type has it.
  static func named(_ name: String) -> Int64? {
    switch name.lowercased() {
    case "null", "nil": 1
    case "int", "integer", "int8", "int16", "int32", "int64", "short", "long", "char", "byte":
      bit(.int)
    case "string", "str": bit(.string)
    case "bool", "boolean": bit(.bool)
    case "float": bit(.float)
    case "double": bit(.double)
    case "binary", "bindata", "data", "bytes": bit(.binary)
    case "date", "timestamp", "datetime", "datetimeoffset": bit(.date)
    case "objectid", "oid": bit(.objectId)
    case "uuid", "guid": bit(.uuid)
    case "decimal", "decimal128": bit(.decimal128)
    case "object", "objectlink", "link", "realmobject", "typedlink": bit(.link)
    case "list", "array": list
    case "dictionary": dictionary
    case "set": set
    case "collection": list | dictionary | set
    case "numeric", "number": bit(.int) | bit(.float) | bit(.double) | bit(.decimal128)
    default: nil
    }
  }

  static let names =
    "null, int, string, bool, float, double, binary, date, objectid, uuid, decimal, object, "
    + "numeric, list, dictionary, set, collection"

  /// The bit of a value's type; `null` has bit 0.
  static func of(_ value: Value) -> Int64 {
    switch value {
    case .null: 1
    case .int: bit(.int)
    case .string: bit(.string)
    case .bool: bit(.bool)
    case .float: bit(.float)
    case .double: bit(.double)
    case .binary: bit(.binary)
    case .date: bit(.date)
    case .objectId: bit(.objectId)
    case .uuid: bit(.uuid)
    case .decimal128: bit(.decimal128)
    case .link, .typedLink: bit(.link)
    case .list: list
    case .set: set
    case .dictionary: dictionary
    }
  }
}
