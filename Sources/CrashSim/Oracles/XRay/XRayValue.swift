// XRayValue.swift: values as read by the second reader of the format, their order in sets and
// dictionaries, and the images by which indexes order them; written from
// docs/reference/file-format.md.

/// Type of a column, by its number in the file.
package enum XRayType: UInt8, Sendable, Hashable {
  /// Numbers and texts.
  case int = 1
  case string, bool, float, double, binary, date, objectId, uuid, decimal128, link, mixed
}

/// The number of values in each row of a column, by its number in the file.
package enum XRayCollection: UInt8, Sendable, Hashable {
  /// One value, or several of them.
  case none = 0
  case list, set, dictionary
}

/// A value of a row or of a collection; floats are their bits.
package enum XRayValue: Sendable, Hashable {
  /// Null.
  case null
  case int(Int64)
  case bool(Bool)
  case float(UInt32)
  case double(UInt64)
  case string(String)
  case binary([UInt8])
  case date(Int64, Int64)
  case objectId([UInt8])
  case uuid([UInt8])
  case decimal128([UInt8])
  case link(Int64)
  case typedLink(UInt32, Int64)
  case list([XRayValue])
  case set([XRayValue])
  case dictionary([XRayEntry])
}

/// A key of a dictionary and its value.
package struct XRayEntry: Sendable, Hashable {
  /// The key.
  package let key: String
  /// The value.
  package let value: XRayValue
}

extension XRayValue {
  private var rank: Int {
    switch self {
    case .null: 0
    case .int: 1
    case .string: 2
    case .bool: 3
    case .float: 4
    case .double: 5
    case .binary: 6
    case .date: 7
    case .objectId: 8
    case .uuid: 9
    case .decimal128: 10
    case .link, .typedLink: 11
    case .list, .set, .dictionary: 12
    }
  }

  /// Whether a value precedes another one in a set.
  static func precedes(_ left: XRayValue, _ right: XRayValue) -> Bool {
    switch (left, right) {
    case (.int(let left), .int(let right)), (.link(let left), .link(let right)): left < right
    case (.bool(let left), .bool(let right)): !left && right
    case (.float(let left), .float(let right)): ordered(left) < ordered(right)
    case (.double(let left), .double(let right)): ordered(left) < ordered(right)
    case (.string(let left), .string(let right)): precedes(left, right)
    case (.binary(let left), .binary(let right)), (.objectId(let left), .objectId(let right)),
      (.uuid(let left), .uuid(let right)), (.decimal128(let left), .decimal128(let right)):
      left.lexicographicallyPrecedes(right)
    case (.date(let left, let leftRest), .date(let right, let rightRest)):
      left == right
        ? XRayDates.precedes(leftRest, rightRest, in: left) : left < right
    case (.typedLink(let left, let leftKey), .typedLink(let right, let rightKey)):
      (left, leftKey) < (right, rightKey)
    default: left.rank < right.rank
    }
  }

  /// Strings by their bytes, a prefix first.
  static func precedes(_ left: String, _ right: String) -> Bool {
    left.utf8.lexicographicallyPrecedes(right.utf8)
  }

  /// Bits of a float, mapped so that their unsigned order is −NaN, −∞ … −0, 0 … ∞, NaN.
  private static func ordered<Bits: FixedWidthInteger>(_ bits: Bits) -> Bits {
    let sign = Bits(1) << (Bits.bitWidth - 1)
    return bits & sign == 0 ? bits | sign : ~bits
  }

  /// The image by which an index orders the value, or nil for a type that has no index.
  var image: UInt64? {
    switch self {
    case .null: 0
    case .bool(let isTrue): isTrue ? 2 : 1
    case .int(let number), .link(let number), .date(let number, _):
      UInt64(bitPattern: number) ^ 1 << 63
    case .string(let text): XRayBytes.indexHash(of: Array(text.utf8))
    case .binary(let bytes), .objectId(let bytes), .uuid(let bytes): XRayBytes.indexHash(of: bytes)
    case .float, .double, .decimal128, .typedLink, .list, .set, .dictionary: nil
    }
  }

  /// Keys of the target rows of a value of a link column.
  var targets: [Int64] {
    switch self {
    case .link(let key): [key]
    case .list(let values), .set(let values): values.flatMap(\.targets)
    case .dictionary(let entries): entries.flatMap(\.value.targets)
    default: []
    }
  }

  /// The value with strings as their bytes, so that equality is byte by byte.
  var exact: XRayValue {
    if case .string(let text) = self { .binary(Array(text.utf8)) } else { self }
  }
}
