// Value.swift: the content of rows as plain values. Two values are equal when their bits are: a NaN
// equals itself, -0 differs from 0, and strings are equal byte by byte.

/// A value of a row, or an element of a collection.
public enum Value: Sendable {
  /// No value, in a column or collection that allows it.
  case null
  /// An integer.
  case int(Int64)
  /// A text.
  case string(String)
  /// True or false.
  case bool(Bool)
  /// A 32-bit floating-point number.
  case float(Float)
  /// A 64-bit floating-point number.
  case double(Double)
  /// Bytes.
  case binary([UInt8])
  /// Seconds since 1970, and 0 to 999,999,999 nanoseconds after them; more is a fine date, which
  /// nanoseconds cannot express (FineDates.swift).
  case date(seconds: Int64, nanoseconds: Int64)
  /// An ObjectId.
  case objectId(ObjectId)
  /// A UUID.
  case uuid(UUIDBytes)
  /// A decimal number.
  case decimal128(Decimal128)
  /// The key of a row of the column's target table.
  case link(Int64)
  /// In a column of type mixed: a table by its id, and the key of a row there.
  case typedLink(table: UInt32, key: Int64)
  /// Elements in order.
  case list([Value])
  /// Distinct elements; given in any order, returned sorted.
  case set([Value])
  /// Entries; given in any order, returned sorted by key.
  case dictionary([DictionaryEntry])
}

/// A key of a dictionary and its value.
public struct DictionaryEntry: Hashable, Sendable {
  /// The key, up to 16 MiB.
  public var key: String
  /// The value.
  public var value: Value

  /// Makes an entry.
  public init(key: String, value: Value) {
    self.key = key
    self.value = value
  }

  /// Equal when key and value are, bit by bit.
  public static func == (left: DictionaryEntry, right: DictionaryEntry) -> Bool {
    Value.order(left.key, right.key) == 0 && left.value == right.value
  }
}

extension Value: Hashable {
  /// Equal when all bits are.
  public static func == (left: Value, right: Value) -> Bool {
    switch (left, right) {
    case (.list(let left), .list(let right)), (.set(let left), .set(let right)): left == right
    case (.dictionary(let left), .dictionary(let right)): left == right
    default: left.rank == right.rank && Value.order(left, right) == 0
    }
  }

  /// Feeds the bits.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(rank)
    switch self {
    case .null: break
    case .int(let number), .link(let number): hasher.combine(number)
    case .string(let text): hasher.combine(text)
    case .bool(let isTrue): hasher.combine(isTrue)
    case .float(let number): hasher.combine(number.bitPattern)
    case .double(let number): hasher.combine(number.bitPattern)
    case .binary(let bytes): hasher.combine(bytes)
    case .date(let seconds, let nanoseconds):
      hasher.combine(seconds)
      hasher.combine(nanoseconds)
    case .objectId(let id): hasher.combine(id)
    case .uuid(let id): hasher.combine(id)
    case .decimal128(let number):
      hasher.combine(number.high)
      hasher.combine(number.low)
    case .typedLink(let table, let key):
      hasher.combine(table)
      hasher.combine(key)
    case .list(let values), .set(let values): hasher.combine(values)
    case .dictionary(let entries): hasher.combine(entries)
    }
  }
}

// MARK: order

extension Value {
  /// The rank of this kind of value among other kinds: null first, then by type.
  var rank: UInt8 {
    switch self {
    case .null: 0
    case .int: ColumnType.int.rawValue
    case .string: ColumnType.string.rawValue
    case .bool: ColumnType.bool.rawValue
    case .float: ColumnType.float.rawValue
    case .double: ColumnType.double.rawValue
    case .binary: ColumnType.binary.rawValue
    case .date: ColumnType.date.rawValue
    case .objectId: ColumnType.objectId.rawValue
    case .uuid: ColumnType.uuid.rawValue
    case .decimal128: ColumnType.decimal128.rawValue
    case .link, .typedLink: ColumnType.link.rawValue
    case .list: 100
    case .set: 101
    case .dictionary: 102
    }
  }

  /// Whether one element of a set sorts before another; a total order of all values that can be
  /// elements.
  static func precedes(_ left: Value, _ right: Value) -> Bool { order(left, right) < 0 }

  private static func compare<Number: Comparable>(_ left: Number, _ right: Number) -> Int {
    left < right ? -1 : left == right ? 0 : 1
  }

  /// Strings are ordered by their UTF-8 bytes, without regard to canonical equivalence.
  package static func order(_ left: String, _ right: String) -> Int {
    RawBytes.over(left) { left in RawBytes.over(right) { left.order($0) } }
  }

  /// Negative, 0 or positive, as the left value sorts before, with or after the right one.
  package static func order(_ left: Value, _ right: Value) -> Int {
    switch (left, right) {
    case (.int(let left), .int(let right)), (.link(let left), .link(let right)):
      compare(left, right)
    case (.string(let left), .string(let right)): order(left, right)
    case (.bool(let left), .bool(let right)): compare(left ? 1 : 0, right ? 1 : 0)
    case (.float(let left), .float(let right)):
      compare(
        ordered(UInt64(left.bitPattern) << 32), ordered(UInt64(right.bitPattern) << 32))
    case (.double(let left), .double(let right)):
      compare(ordered(left.bitPattern), ordered(right.bitPattern))
    case (.binary(let left), .binary(let right)):
      RawBytes.over(left) { left in RawBytes.over(right) { left.order($0) } }
    case (.date(let seconds, let nanoseconds), .date(let otherSeconds, let otherNanoseconds)):
      seconds == otherSeconds
        ? FineDates.order(nanoseconds, otherNanoseconds, in: seconds)
        : compare(seconds, otherSeconds)
    case (.objectId(let left), .objectId(let right)): compare(left, right)
    case (.uuid(let left), .uuid(let right)): compare(left, right)
    case (.decimal128(let left), .decimal128(let right)):
      left.high == right.high ? compare(left.low, right.low) : compare(left.high, right.high)
    case (.typedLink(let table, let key), .typedLink(let otherTable, let otherKey)):
      table == otherTable ? compare(key, otherKey) : compare(table, otherTable)
    case (.link, .typedLink): -1
    case (.typedLink, .link): 1
    default: compare(left.rank, right.rank)
    }
  }

  /// Bits whose unsigned order is that of the numbers: negative ones first, then -0, 0, positive
  /// ones; a NaN comes before or after all others, depending on its sign.
  private static func ordered(_ bits: UInt64) -> UInt64 {
    bits >> 63 == 0 ? bits | 1 << 63 : ~bits
  }

  /// The value as the engine stores it: a set sorted and without duplicates, a dictionary sorted
  /// with the last value given for a key.
  public var canonical: Value {
    switch self {
    case .set(let values):
      let sorted = values.sorted(by: Value.precedes)
      var distinct: [Value] = []
      for value in sorted where distinct.last.map({ Value.order($0, value) != 0 }) ?? true {
        distinct.append(value)
      }
      return .set(distinct)
    case .dictionary(let entries):
      // The position breaks ties, so that the last entry of a key is the one that stays.
      let sorted = entries.enumerated().sorted { left, right in
        let order = Value.order(left.element.key, right.element.key)
        return order == 0 ? left.offset < right.offset : order < 0
      }
      var distinct: [DictionaryEntry] = []
      for (_, entry) in sorted {
        if let last = distinct.last, Value.order(last.key, entry.key) == 0 {
          distinct[distinct.count - 1] = entry
        } else {
          distinct.append(entry)
        }
      }
      return .dictionary(distinct)
    default: return self
    }
  }
}
