// LeafShape.swift: the arrays of the columns of a table, or of a collection, in a leaf.
//   storage      types                               arrays, in this order, then nulls
//   integers     int, link                           integers
//   bools        bool                                bools
//   words32, 64  float, double                       words
//   dates        date                                seconds, nanoseconds
//   fixed12, 16  objectId; uuid, decimal128          fixed
//   strings      string, binary, mixed, collections  ends, flags, bytes
// An optional column has an array of nulls after them. Mixed values and collections do not: a null
// or an empty collection is an empty byte range.

/// The purpose of an array of a leaf.
enum ArrayKind: UInt8 {
  case keys = 1
  case integers = 2
  case ends = 3
  case flags = 4
  case bytes = 5
  case nulls = 6
  case bools = 7
  case words32 = 8
  case words64 = 9
  case seconds = 10
  case nanoseconds = 11
  case fixed12 = 12
  case fixed16 = 13

  /// Whether its elements are bytes, counted by the descriptor, and not packed numbers.
  var hasBytes: Bool { self == .bytes || self == .fixed12 || self == .fixed16 }
}

/// How a column's values are stored in arrays.
enum ColumnStorage: UInt8, Sendable {
  case integers
  case bools
  case words32
  case words64
  case dates
  case fixed12
  case fixed16
  case strings

  init(_ type: ColumnType, _ collection: CollectionKind) {
    guard collection == .none else {
      self = .strings
      return
    }
    switch type {
    case .int, .link: self = .integers
    case .bool: self = .bools
    case .float: self = .words32
    case .double: self = .words64
    case .date: self = .dates
    case .objectId: self = .fixed12
    case .uuid, .decimal128: self = .fixed16
    case .string, .binary, .mixed: self = .strings
    }
  }

  /// The first array of the column.
  var firstKind: ArrayKind {
    switch self {
    case .integers: .integers
    case .bools: .bools
    case .words32: .words32
    case .words64: .words64
    case .dates: .seconds
    case .fixed12: .fixed12
    case .fixed16: .fixed16
    case .strings: .ends
    }
  }

  /// Arrays of a column, without its nulls.
  var arrayCount: Int {
    switch self {
    case .dates: 2
    case .strings: 3
    default: 1
    }
  }

  /// Bytes of a value of fixed size.
  var fixedBytes: Int { self == .fixed12 ? 12 : 16 }
}

/// One column of a leaf.
struct ColumnLayout: Hashable, Sendable {
  let id: UInt16
  let type: ColumnType
  let collection: CollectionKind
  /// Whether a value, or an element of a collection, can be null.
  let isOptional: Bool
  let storage: ColumnStorage
  /// Position of the first descriptor in a leaf that was written with the present columns.
  let firstDescriptor: Int

  init(
    id: UInt16, type: ColumnType, isOptional: Bool, collection: CollectionKind = .none,
    firstDescriptor: Int
  ) {
    self.id = id
    self.type = type
    self.collection = collection
    self.isOptional = isOptional
    storage = ColumnStorage(type, collection)
    self.firstDescriptor = firstDescriptor
  }

  /// Whether an array marks the rows that are null.
  var hasNulls: Bool { isOptional && collection == .none && type != .mixed }
  var descriptorCount: Int { storage.arrayCount + (hasNulls ? 1 : 0) }

  /// The value of a row in a leaf that was written before the column was added.
  var absentValue: Value {
    switch collection {
    case .list: .list([])
    case .set: .set([])
    case .dictionary: .dictionary([])
    case .none: isOptional ? .null : type.zero
    }
  }

  var code: UInt64 {
    UInt64(id) << 32 | UInt64(type.rawValue) << 16 | UInt64(collection.rawValue) << 8
      | (isOptional ? 1 : 0)
  }
}

/// The columns of a table's leaves.
struct LeafShape: Hashable, Sendable {
  let columns: [ColumnLayout]
  /// Descriptors of a leaf that is written now, keys included.
  let descriptorCount: Int
  /// A number for ids, types and order of the columns; the lab's cache identifies shapes by it.
  let code: UInt64

  /// - Parameter columns: Id and schema of each column, ids ascending.
  init(_ columns: [(id: UInt16, schema: ColumnSchema)]) {
    var next = 1
    var layouts: [ColumnLayout] = []
    var code: UInt64 = 1
    for (id, schema) in columns {
      precondition(id > layouts.last?.id ?? 0, "column ids ascend from 1")
      let layout = ColumnLayout(
        id: id, type: schema.type, isOptional: schema.isOptional, collection: schema.collection,
        firstDescriptor: next)
      layouts.append(layout)
      next += layout.descriptorCount
      let product = (code ^ layout.code).multipliedFullWidth(by: 0xd6e8_feb8_6659_fd93)
      code = product.high ^ product.low ^ (code << 7 | code >> 57)
    }
    self.columns = layouts
    descriptorCount = next
    self.code = code
  }

  var arraysOffsetBytes: Int {
    Layout.nodeHeaderBytes + descriptorCount * Layout.descriptorBytes
  }

  /// A leaf is split when it is larger, unless it has one row.
  ///
  /// Grows with the number of columns, so that descriptors do not fill most of a leaf.
  var leafSizeBytesMax: Int { max(Layout.leafSizeBytesMax, 4 * arraysOffsetBytes) }
}

/// The columns of a collection's leaves: the elements, preceded by the keys for a dictionary.
struct CollectionShape: Hashable, Sendable {
  static let keyID: UInt16 = 1
  static let elementID: UInt16 = 2

  let kind: CollectionKind
  let key: ColumnLayout
  let element: ColumnLayout

  /// - Parameter column: A column whose collection is not `none`.
  init(_ column: ColumnLayout) {
    precondition(column.collection != .none, "only a collection has a tree of its own")
    kind = column.collection
    key = ColumnLayout(id: Self.keyID, type: .string, isOptional: false, firstDescriptor: 0)
    element = ColumnLayout(
      id: Self.elementID, type: column.type, isOptional: column.isOptional,
      firstDescriptor: column.collection == .dictionary ? key.descriptorCount : 0)
  }

  var isDictionary: Bool { kind == .dictionary }
  var columns: [ColumnLayout] { isDictionary ? [key, element] : [element] }
  var descriptorCount: Int {
    element.descriptorCount + (isDictionary ? key.descriptorCount : 0)
  }
}
