// ByteReader.swift: reads the encodings of docs/reference/sync-format.md, sections 1 and 2, from
// any bytes. Invariants: it never reads beyond the end; accepted content has exactly one encoding;
// it allocates no more than a fixed multiple of the input size.

/// Bytes that are read one after another.
struct ByteReader {
  private let bytes: ArraySlice<UInt8>
  private var position: Int
  /// The names of the encoding, and how many of them have been used.
  var names: [SyncText] = []
  private(set) var usedCount = 0
  /// The names so far, where their texts follow their first numbers; nil where there is a table.
  var inlineNames: Set<SyncText>?

  init(_ bytes: [UInt8]) {
    self.bytes = bytes[...]
    position = 0
  }

  /// The number of remaining bytes.
  var rest: Int { bytes.endIndex - position }

  func malformed(_ what: String) -> SyncError {
    SyncError(.malformed, "\(what) at byte \(position) of \(bytes.count)")
  }

  mutating func byte() throws(SyncError) -> UInt8 {
    guard rest > 0 else { throw malformed("the end instead of a byte") }
    position += 1
    return bytes[position - 1]
  }

  mutating func take(_ count: Int) throws(SyncError) -> [UInt8] {
    guard count <= rest else { throw malformed("the end instead of \(count) bytes") }
    position += count
    return Array(bytes[position - count..<position])
  }

  mutating func number() throws(SyncError) -> UInt64 {
    var number: UInt64 = 0
    for index in 0..<10 as Range<UInt64> {
      let next = try byte()
      guard index < 9 || next <= 1 else { throw malformed("a number beyond 64 bits") }
      number |= UInt64(next & 0x7f) << (7 * index)
      guard next & 0x80 == 0 else { continue }
      guard next != 0 || index == 0 else { throw malformed("a number with leading zeros") }
      return number
    }
    throw malformed("a number beyond 64 bits")
  }

  mutating func signed() throws(SyncError) -> Int64 {
    let number = try number()
    return Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1)
  }

  /// A number that indexes or counts something in memory.
  mutating func index(max: Int) throws(SyncError) -> Int {
    let number = try number()
    guard number <= UInt64(max) else {
      throw SyncError(.limit, "\(number) > \(max) at byte \(position)")
    }
    return Int(number)
  }

  /// How many things follow, each of at least one byte.
  mutating func count(max: Int) throws(SyncError) -> Int {
    let count = try index(max: max)
    guard count <= rest else { throw malformed("\(count) things in \(rest) bytes") }
    return count
  }

  mutating func fixed<Number: FixedWidthInteger>(
    _ type: Number.Type
  ) throws(SyncError) -> Number {
    var number: Number = 0
    for (index, byte) in try take(Number.bitWidth / 8).enumerated() {
      number |= Number(truncatingIfNeeded: byte) << Number(8 * index)
    }
    return number
  }

  mutating func text(max: Int = SyncLimits.valueBytesMax) throws(SyncError) -> SyncText {
    let text = SyncText(utf8: try take(count(max: max)))
    guard text.isValid else { throw malformed("a text that is not UTF-8") }
    return text
  }

  mutating func name() throws(SyncError) -> SyncText {
    if inlineNames != nil { return try inlineName() }
    let number = try index(max: names.count - 1 < 0 ? 0 : names.count - 1)
    guard number <= usedCount, number < names.count else {
      throw malformed("name \(number) before name \(usedCount)")
    }
    usedCount = max(usedCount, number + 1)
    return names[number]
  }

  private mutating func inlineName() throws(SyncError) -> SyncText {
    let number = try index(max: names.count)
    if number < names.count { return names[number] }
    let name = try text(max: SyncLimits.nameBytesMax)
    guard inlineNames?.insert(name).inserted ?? false else { throw malformed("a name twice") }
    names.append(name)
    return name
  }

  mutating func isTrue() throws(SyncError) -> Bool {
    let byte = try byte()
    guard byte < 2 else { throw malformed("\(byte) as yes or no") }
    return byte == 1
  }

  mutating func key() throws(SyncError) -> SyncKey {
    switch try byte() {
    case 0: return .null
    case 1: return .int(try signed())
    case 2: return .text(try text())
    case 3: return .objectId(high: try fixed(UInt64.self), low: try fixed(UInt32.self))
    case 4: return .uuid(try fixed(UInt128.self))
    case let kind: throw malformed("key of kind \(kind)")
    }
  }

  mutating func object() throws(SyncError) -> SyncObject {
    SyncObject(try name(), try key())
  }

  mutating func value() throws(SyncError) -> SyncValue {
    switch try byte() {
    case 0: return .null
    case 1: return .bool(false)
    case 2: return .bool(true)
    case 3: return .int(try signed())
    case 4: return .float(bits: try fixed(UInt32.self))
    case 5: return .double(bits: try fixed(UInt64.self))
    case 6: return .text(try text())
    case 7: return .binary(try take(count(max: SyncLimits.valueBytesMax)))
    case 8:
      let seconds = try signed()
      return .date(seconds: seconds, nanoseconds: Int64(try index(max: .max)))
    case 9: return .objectId(high: try fixed(UInt64.self), low: try fixed(UInt32.self))
    case 10: return .uuid(try fixed(UInt128.self))
    case 11: return .decimal(try fixed(UInt128.self))
    case 12: return .link(try object())
    case 13: return .embedded
    case let kind: throw malformed("value of kind \(kind)")
    }
  }

  mutating func values() throws(SyncError) -> [SyncValue] {
    let count = try count(max: SyncLimits.elementsMax)
    var values: [SyncValue] = []
    values.reserveCapacity(min(count, 4096))
    for _ in 0..<count { values.append(try value()) }
    return values
  }
}
