// ByteWriter.swift: writes the encodings of docs/reference/sync-format.md, sections 1 and 2.

/// The names of an encoding, each once, in the order of first use.
struct NameTable {
  /// Whether a name's text follows its number where it is used first, instead of a table.
  var isInline = false
  private(set) var names: [SyncText] = []
  /// Those of all names, once there are too many to be compared.
  private var numbers: [SyncText: Int] = [:]
  private static let comparedMax = 8

  mutating func number(of name: SyncText) -> Int {
    let number = names.count
    if number <= Self.comparedMax {
      if let known = names.firstIndex(of: name) { return known }
    } else if let known = numbers[name] {
      return known
    }
    names.append(name)
    if number == Self.comparedMax {
      for (index, name) in names.enumerated() { numbers[name] = index }
    } else if number > Self.comparedMax {
      numbers[name] = number
    }
    return number
  }

  /// Forgets the names.
  mutating func removeAll() {
    names.removeAll(keepingCapacity: names.count <= Self.comparedMax)
    numbers = [:]
  }
}

/// Bytes that grow.
struct ByteWriter {
  private(set) var bytes: [UInt8] = []

  mutating func append(_ byte: UInt8) { bytes.append(byte) }

  mutating func append(_ other: [UInt8]) { bytes += other }

  /// Makes room for as many bytes more.
  mutating func reserve(_ count: Int) { bytes.reserveCapacity(bytes.count + count) }

  /// Removes all bytes; the memory of many is given back.
  mutating func removeAll() { bytes.removeAll(keepingCapacity: bytes.count < 4096) }

  /// A number in groups of seven bits, the lowest first.
  mutating func append(number: UInt64) {
    var rest = number
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  mutating func append(count: Int) { append(number: UInt64(max(0, count))) }

  /// A signed number; small absolute values have short encodings.
  mutating func append(signed number: Int64) {
    append(number: UInt64(bitPattern: number << 1 ^ number >> 63))
  }

  /// A number of fixed width, lowest byte first.
  mutating func append<Number: FixedWidthInteger>(fixed number: Number) {
    for index in 0..<Number.bitWidth / 8 {
      bytes.append(UInt8(truncatingIfNeeded: number >> Number(8 * index)))
    }
  }

  mutating func append(text: SyncText) {
    append(count: text.utf8.count)
    bytes += text.utf8
  }

  mutating func append(key: SyncKey) {
    switch key {
    case .null: append(0 as UInt8)
    case .int(let number):
      append(1 as UInt8)
      append(signed: number)
    case .text(let text):
      append(2 as UInt8)
      append(text: text)
    case .objectId(let high, let low):
      append(3 as UInt8)
      append(fixed: high)
      append(fixed: low)
    case .uuid(let id):
      append(4 as UInt8)
      append(fixed: id)
    }
  }

  /// A name's number in the table, or the name itself where there is none.
  mutating func append(name: SyncText, in names: inout NameTable?) {
    let knownCount = names?.names.count ?? 0
    guard let number = names?.number(of: name) else { return append(text: name) }
    append(count: number)
    if names?.isInline ?? false, number == knownCount { append(text: name) }
  }

  mutating func append(value: SyncValue, names: NameTable?) {
    var names = names
    append(value: value, in: &names)
  }

  mutating func append(value: SyncValue, in names: inout NameTable?) {
    switch value {
    case .null: append(0 as UInt8)
    case .bool(let isTrue): append(isTrue ? 2 : 1 as UInt8)
    case .int(let number):
      append(3 as UInt8)
      append(signed: number)
    case .float(let bits):
      append(4 as UInt8)
      append(fixed: bits)
    case .double(let bits):
      append(5 as UInt8)
      append(fixed: bits)
    case .text(let text):
      append(6 as UInt8)
      append(text: text)
    case .binary(let bytes):
      append(7 as UInt8)
      append(count: bytes.count)
      append(bytes)
    case .date(let seconds, let nanoseconds):
      append(8 as UInt8)
      append(signed: seconds)
      append(number: UInt64(max(0, nanoseconds)))
    case .objectId(let high, let low):
      append(9 as UInt8)
      append(fixed: high)
      append(fixed: low)
    case .uuid(let id):
      append(10 as UInt8)
      append(fixed: id)
    case .decimal(let number):
      append(11 as UInt8)
      append(fixed: number)
    case .link(let object):
      append(12 as UInt8)
      append(object: object, in: &names)
    case .embedded: append(13 as UInt8)
    }
  }

  mutating func append(object: SyncObject, in names: inout NameTable?) {
    append(name: object.type, in: &names)
    append(key: object.key)
  }
}
