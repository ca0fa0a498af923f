// ColumnType+Values.swift: the values of a column type, and the type of a value.

extension ColumnType {
  /// The default value of a non-optional column.
  package var zero: Value {
    switch self {
    case .int: .int(0)
    case .string: .string("")
    case .bool: .bool(false)
    case .float: .float(0)
    case .double: .double(0)
    case .binary: .binary([])
    case .date: .date(seconds: 0, nanoseconds: 0)
    case .objectId: .objectId(ObjectId(high: 0, low: 0))
    case .uuid: .uuid(UUIDBytes(high: 0, low: 0))
    case .decimal128: .decimal128(Decimal128(high: 0, low: 0))
    case .link: .link(0)
    case .mixed: .null
    }
  }
}

extension Value {
  /// The type of the column that has such values; nil for null and for collections.
  package var columnType: ColumnType? {
    switch self {
    case .int: .int
    case .string: .string
    case .bool: .bool
    case .float: .float
    case .double: .double
    case .binary: .binary
    case .date: .date
    case .objectId: .objectId
    case .uuid: .uuid
    case .decimal128: .decimal128
    case .link, .typedLink: .link
    case .null, .list, .set, .dictionary: nil
    }
  }
}
