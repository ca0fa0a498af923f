// XRayReader+Values.swift: reads values: of arrays, encoded in a row, and in separate nodes.

extension XRayReader {
  private static let valueBytesMax = 16 << 20

  /// Value `place` of a column.
  mutating func value(
    _ place: Int, _ column: XRayColumnArrays, _ owner: XRay.Owner
  ) throws(XRayFault) -> XRayValue {
    if let nulls = column.nulls, try nulls[place] == 1 { return .null }
    if column.collection != .none { return try collection(place, column, owner) }
    if column.numbers == nil, column.bytes.count == 0 { return try Self.added(column) }
    switch column.type {
    case .int: return .int(Int64(bitPattern: try Self.number(column, place)))
    case .link: return .link(Int64(bitPattern: try Self.number(column, place)))
    case .bool: return .bool(try Self.number(column, place) == 1)
    case .float: return .float(UInt32(truncatingIfNeeded: try Self.number(column, place)))
    case .double: return .double(try Self.number(column, place))
    case .date:
      let rest = Int64(bitPattern: try column.second?[place] ?? 0)
      return try XRayDates.date(Int64(bitPattern: try Self.number(column, place)), rest)
    case .objectId: return .objectId(try column.bytes.part(at: place * 12, count: 12).array)
    case .uuid: return .uuid(try column.bytes.part(at: place * 16, count: 16).array)
    case .decimal128: return .decimal128(try column.bytes.part(at: place * 16, count: 16).array)
    case .string, .binary, .mixed:
      let bytes = try entry(place, column, owner)
      if column.type == .mixed { return try Self.mixed(bytes) }
      if column.type == .binary { return .binary(bytes.array) }
      guard let text = bytes.text else { throw XRayFault("a string is not UTF-8") }
      return .string(text)
    }
  }

  private static func number(
    _ column: XRayColumnArrays, _ place: Int
  ) throws(XRayFault) -> UInt64 {
    guard let numbers = column.numbers else { throw XRayFault("the numbers are missing") }
    return try numbers[place]
  }

  /// The value of a row that was written before the column was added.
  private static func added(_ column: XRayColumnArrays) throws(XRayFault) -> XRayValue {
    if column.isOptional { return .null }
    switch column.type {
    case .int: return .int(0)
    case .bool: return .bool(false)
    case .float: return .float(0)
    case .double: return .double(0)
    case .date: return .date(0, 0)
    case .string: return .string("")
    case .binary: return .binary([])
    case .objectId: return .objectId([UInt8](repeating: 0, count: 12))
    case .uuid: return .uuid([UInt8](repeating: 0, count: 16))
    case .decimal128: return .decimal128([UInt8](repeating: 0, count: 16))
    case .link, .mixed: throw XRayFault("a single \(column.type) that is not optional")
    }
  }

  /// The bytes of an entry, in the leaf or in a long value.
  private mutating func entry(
    _ place: Int, _ column: XRayColumnArrays, _ owner: XRay.Owner
  ) throws(XRayFault) -> XRayBytes {
    let (bytes, isOutside) = try column.entry(place)
    guard isOutside else { return bytes }
    let (link, size) = try Self.outside(bytes)
    let limit = Self.valueBytesMax + (column.type == .mixed ? 16 : 0)
    guard size <= UInt64(limit) else { throw XRayFault("long value: bytes=\(size) > \(limit)") }
    let node = try node(link, .longValue, level: 0, owner)
    guard UInt64(node.count) == size,
      node.bytes.count == XRayNode.headerBytes + node.count
    else {
      throw XRayFault(
        "long value: bytes=\(node.count), the row says \(size), node_bytes=\(node.bytes.count)",
        at: node.refBytes)
    }
    return try node.bytes.part(at: XRayNode.headerBytes, count: node.count)
  }

  /// The link and the word of an entry stored outside.
  static func outside(_ entry: XRayBytes) throws(XRayFault) -> (XRayLink, UInt64) {
    guard entry.count == 24 else { throw XRayFault("an entry outside has \(entry.count) bytes") }
    var cursor = XRayCursor(entry)
    let link = try cursor.link()
    return (link, try cursor.number(UInt64.self))
  }

  /// A mixed value.
  static func mixed(_ bytes: XRayBytes) throws(XRayFault) -> XRayValue {
    if bytes.count == 0 { return .null }
    var cursor = XRayCursor(bytes)
    let number = try cursor.number(UInt8.self)
    let rest = bytes.count - 1
    guard let type = XRayType(rawValue: number), type != .mixed else {
      throw XRayFault("mixed value of type \(number)")
    }
    let result: XRayValue
    switch type {
    case .int:
      switch rest {
      case 1: result = .int(Int64(try cursor.number(Int8.self)))
      case 2: result = .int(Int64(try cursor.number(Int16.self)))
      case 4: result = .int(Int64(try cursor.number(Int32.self)))
      default: result = .int(try cursor.number(Int64.self))
      }
    case .link:
      let table = try cursor.number(UInt32.self)
      result = .typedLink(table, try cursor.number(Int64.self))
    case .string, .binary: result = try variable(type, try cursor.take(rest))
    default: result = try fixed(type, &cursor)
    }
    guard cursor.isAtEnd else { throw XRayFault("mixed value: \(bytes.count) bytes of \(type)") }
    return result
  }

  private static func variable(
    _ type: XRayType, _ bytes: XRayBytes
  ) throws(XRayFault) -> XRayValue {
    switch type {
    case .mixed: return try mixed(bytes)
    case .binary: return .binary(bytes.array)
    default:
      guard let text = bytes.text else { throw XRayFault("a string is not UTF-8") }
      return .string(text)
    }
  }

  private static func fixed(
    _ type: XRayType, _ cursor: inout XRayCursor
  ) throws(XRayFault) -> XRayValue {
    switch type {
    case .bool:
      let byte = try cursor.number(UInt8.self)
      guard byte <= 1 else { throw XRayFault("bool=\(byte)") }
      return .bool(byte == 1)
    case .float: return .float(try cursor.number())
    case .double: return .double(try cursor.number())
    case .date:
      let seconds = try cursor.number(Int64.self)
      let rest = try cursor.number(UInt32.self)
      if rest < .max { return try XRayDates.date(seconds, Int64(rest)) }
      let fine = try cursor.number(Int64.self)
      guard fine >= 1_000_000_000 else { throw XRayFault("a fine date of \(fine)") }
      return try XRayDates.date(seconds, fine)
    case .objectId: return .objectId(try cursor.take(12).array)
    case .uuid: return .uuid(try cursor.take(16).array)
    case .decimal128: return .decimal128(try cursor.take(16).array)
    case .int, .string, .binary, .link, .mixed: throw XRayFault("\(type) has no fixed size")
    }
  }

  /// An element of a collection in a row.
  static func element(
    _ column: XRayColumnArrays, _ cursor: inout XRayCursor
  ) throws(XRayFault) -> XRayValue {
    if column.isOptional, column.type != .mixed {
      let mark = try cursor.number(UInt8.self)
      guard mark <= 1 else { throw XRayFault("element: null mark=\(mark)") }
      if mark == 0 { return .null }
    }
    switch column.type {
    case .int, .link:
      let zigzag = try cursor.varint()
      let number = Int64(bitPattern: zigzag >> 1 ^ (0 &- (zigzag & 1)))
      return column.type == .int ? .int(number) : .link(number)
    case .string, .binary, .mixed: return try variable(column.type, try cursor.sized())
    default: return try fixed(column.type, &cursor)
    }
  }
}
