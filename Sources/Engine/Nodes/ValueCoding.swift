// ValueCoding.swift: values as bytes, for columns that store bytes: mixed values, and small
// collections.
//   mixed value     type 1 (as in ColumnType), then the value; null has no bytes at all.
//                   int: 1, 2, 4 or 8 bytes; bool 1; float 4; double 8; string and binary: their
//                   bytes; date: seconds 8, nanoseconds 4, or ffffffff and the number of a fine
//                   date 8; ObjectId 12; UUID and decimal 16, high half first; link: table id 4,
//                   key 8
//   small collection  its elements one after the other, none for an empty one. In a dictionary the
//                   key precedes the value: its size as a varint, its bytes.
//   element         when the column is optional (and not mixed), 1 byte: 0 null, 1 a value follows.
//                   int and link: a varint, zigzag; string, binary, mixed: size as a varint, bytes;
//                   the rest as in a mixed value, without the type

/// Between values and bytes.
enum ValueCoding {
  // MARK: mixed

  static func encodeMixed(_ value: Value) -> [UInt8] {
    guard value.rank != 0 else { return [] }
    var bytes: [UInt8] = [value.rank]
    switch value {
    case .int(let number):
      if let small = Int8(exactly: number) {
        bytes.appendLittleEndian(small)
      } else if let small = Int16(exactly: number) {
        bytes.appendLittleEndian(small)
      } else if let small = Int32(exactly: number) {
        bytes.appendLittleEndian(small)
      } else {
        bytes.appendLittleEndian(number)
      }
    case .string(let text): bytes += text.utf8
    case .binary(let content): bytes += content
    case .typedLink(let table, let key):
      bytes.appendLittleEndian(table)
      bytes.appendLittleEndian(key)
    default: appendFixed(value, to: &bytes)
    }
    return bytes
  }

  static func decodeMixed(_ bytes: RawBytes, at ref: Ref) throws(EngineError) -> Value {
    if bytes.count == 0 { return .null }
    var cursor = ByteCursor(bytes, ref: ref)
    let number = try cursor.uint8()
    guard let type = ColumnType(rawValue: number), type != .mixed else {
      throw .corrupted("a mixed value has type=\(number)", at: ref)
    }
    let value: Value
    switch type {
    case .int:
      let rest = try cursor.rest()
      switch rest.count {
      case 1: value = .int(Int64(Int8(bitPattern: rest.uint8(0))))
      case 2: value = .int(Int64(Int16(bitPattern: rest.uint16(0))))
      case 4: value = .int(Int64(Int32(bitPattern: rest.uint32(0))))
      case 8: value = .int(rest.int64(0))
      default: throw .corrupted("a mixed int has \(rest.count) bytes", at: ref)
      }
    case .string:
      guard let text = try cursor.rest().string else {
        throw .corrupted("a mixed string is not UTF-8", at: ref)
      }
      value = .string(text)
    case .binary: value = .binary(try cursor.rest().array)
    case .link:
      value = .typedLink(
        table: try cursor.uint32(), key: Int64(bitPattern: try cursor.uint64()))
    default: value = try fixed(type, &cursor)
    }
    guard cursor.isAtEnd else { throw .corrupted("bytes after a mixed \(type)", at: ref) }
    return value
  }

  // MARK: values of fixed size

  private static func appendFixed(_ value: Value, to bytes: inout [UInt8]) {
    switch value {
    case .bool(let isTrue): bytes.append(isTrue ? 1 : 0)
    case .float(let number): bytes.appendLittleEndian(number.bitPattern)
    case .double(let number): bytes.appendLittleEndian(number.bitPattern)
    case .date(let seconds, let nanoseconds):
      bytes.appendLittleEndian(seconds)
      if let small = UInt32(exactly: nanoseconds), small != finePart {
        bytes.appendLittleEndian(small)
      } else {
        bytes.appendLittleEndian(finePart)
        bytes.appendLittleEndian(nanoseconds)
      }
    case .objectId(let id): bytes += id.bytes
    case .uuid(let id): bytes += id.bytes
    case .decimal128(let number): bytes += number.bytes
    default: preconditionFailure("values were checked against their columns")
    }
  }

  private static func fixed(
    _ type: ColumnType, _ cursor: inout ByteCursor
  ) throws(EngineError) -> Value {
    switch type {
    case .bool:
      let byte = try cursor.uint8()
      guard byte <= 1 else { throw .corrupted("bool=\(byte) is neither 0 nor 1", at: cursor.ref) }
      return .bool(byte == 1)
    case .float: return .float(Float(bitPattern: try cursor.uint32()))
    case .double: return .double(Double(bitPattern: try cursor.uint64()))
    case .date:
      let seconds = Int64(bitPattern: try cursor.uint64())
      let part = try cursor.uint32()
      guard part == finePart else { return try date(seconds, Int64(part), at: cursor.ref) }
      let fine = Int64(bitPattern: try cursor.uint64())
      guard fine >= FineDates.nanosecondsEnd else {
        throw .corrupted("a fine date has nanoseconds=\(fine)", at: cursor.ref)
      }
      return try date(seconds, fine, at: cursor.ref)
    case .objectId:
      let bytes = try cursor.part(12)
      return .objectId(ObjectId(high: bytes.bigEndian64(0), low: bytes.bigEndian32(8)))
    case .uuid:
      let bytes = try cursor.part(16)
      return .uuid(UUIDBytes(high: bytes.bigEndian64(0), low: bytes.bigEndian64(8)))
    case .decimal128:
      let bytes = try cursor.part(16)
      return .decimal128(Decimal128(high: bytes.bigEndian64(0), low: bytes.bigEndian64(8)))
    default: throw .corrupted("a \(type) has no fixed size", at: cursor.ref)
    }
  }

  /// In place of nanoseconds: the number of a fine date follows.
  private static let finePart = UInt32.max

  /// A date of a file, checked.
  static func date(
    _ seconds: Int64, _ nanoseconds: Int64, at ref: Ref
  ) throws(EngineError) -> Value {
    guard FineDates.isPart(nanoseconds, of: seconds) else {
      throw .corrupted(
        "nanoseconds=\(nanoseconds) outside 0 ..< 1000000000, and no fine date of the second "
          + "\(seconds)", at: ref)
    }
    return .date(seconds: seconds, nanoseconds: nanoseconds)
  }

  // MARK: small collections

  /// The bytes of a collection, or nil when they are more than `limit`.
  static func encode(
    keys: [String], values: [Value], _ shape: CollectionShape, limit: Int
  ) -> [UInt8]? {
    var bytes: [UInt8] = []
    for index in values.indices {
      if shape.isDictionary {
        bytes.appendVarint(UInt64(keys[index].utf8.count))
        guard bytes.count + keys[index].utf8.count <= limit else { return nil }
        bytes += keys[index].utf8
      }
      guard append(values[index], shape.element, to: &bytes, limit: limit) else { return nil }
    }
    return bytes
  }

  private static func append(
    _ value: Value, _ element: ColumnLayout, to bytes: inout [UInt8], limit: Int
  ) -> Bool {
    if element.hasNulls {
      bytes.append(value.rank == 0 ? 0 : 1)
      if value.rank == 0 { return bytes.count <= limit }
    }
    if element.type == .mixed {
      let content = encodeMixed(value)
      bytes.appendVarint(UInt64(content.count))
      guard bytes.count + content.count <= limit else { return false }
      bytes += content
      return true
    }
    switch value {
    case .int(let number), .link(let number):
      bytes.appendVarint(UInt64(bitPattern: number << 1 ^ number >> 63))
    case .string(let text):
      bytes.appendVarint(UInt64(text.utf8.count))
      guard bytes.count + text.utf8.count <= limit else { return false }
      bytes += text.utf8
    case .binary(let content):
      bytes.appendVarint(UInt64(content.count))
      guard bytes.count + content.count <= limit else { return false }
      bytes += content
    default: appendFixed(value, to: &bytes)
    }
    return bytes.count <= limit
  }

  /// The elements of a small collection, and the keys of a dictionary.
  static func decode(
    _ bytes: RawBytes, _ shape: CollectionShape, at ref: Ref
  ) throws(EngineError) -> (keys: [String], values: [Value]) {
    var keys: [String] = []
    var values: [Value] = []
    var cursor = ByteCursor(bytes, ref: ref)
    while !cursor.isAtEnd {
      if shape.isDictionary {
        keys.append(try text(try content(&cursor), at: ref))
      }
      values.append(try element(shape.element, &cursor))
    }
    return (keys, values)
  }

  private static func content(_ cursor: inout ByteCursor) throws(EngineError) -> RawBytes {
    try cursor.part(Int(clamping: try cursor.varint()))
  }

  private static func text(_ bytes: RawBytes, at ref: Ref) throws(EngineError) -> String {
    guard let text = bytes.string else {
      throw .corrupted("a string of a collection is not UTF-8", at: ref)
    }
    return text
  }

  private static func element(
    _ element: ColumnLayout, _ cursor: inout ByteCursor
  ) throws(EngineError) -> Value {
    if element.hasNulls {
      let byte = try cursor.uint8()
      guard byte <= 1 else {
        throw .corrupted("the null mark of an element is \(byte)", at: cursor.ref)
      }
      if byte == 0 { return .null }
    }
    switch element.type {
    case .int, .link:
      let bits = try cursor.varint()
      let number = Int64(bitPattern: bits >> 1) ^ -Int64(bits & 1)
      return element.type == .int ? .int(number) : .link(number)
    case .string: return .string(try text(try content(&cursor), at: cursor.ref))
    case .binary: return .binary(try content(&cursor).array)
    case .mixed: return try decodeMixed(try content(&cursor), at: cursor.ref)
    default: return try fixed(element.type, &cursor)
    }
  }
}
