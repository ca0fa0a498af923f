// NaiveReader.swift: a second reader of Fleece: it turns all bytes into a tree at once, following
// docs/reference/fleece.md, and checks that they are valid. Each value is a slice of the bytes up
// to its last allowed end, and a value that exceeds its slice is an error.

/// Reads a whole document.
package struct NaiveReader {
  /// The bytes are not valid Fleece.
  package struct Refusal: Error {
    package let text: String
  }

  private struct Found {
    let value: ReferenceValue
    /// The nesting depth of collections: 0 for other values.
    let height: Int
    /// Whether it may be a key: a text, or a number from 0 on that is written in twelve bits.
    var isKey = false
  }

  private let bytes: [UInt8]
  /// Collections that were read, by offset: each is read once.
  private var known: [Int: Found] = [:]
  private var slotCount = 0
  /// Bytes of texts that are keys, as far as the key before each is as long.
  private var comparedCount = 0

  /// The value in bytes, or why there is none.
  package static func read(
    _ bytes: [UInt8], depthMax: Int = 256
  ) -> Result<ReferenceValue, Refusal> {
    var reader = NaiveReader(bytes: bytes)
    do {
      let found = try reader.root()
      if found.height > depthMax { return .failure(Refusal(text: "too deep")) }
      if reader.slotCount > bytes.count / 2 { return .failure(Refusal(text: "overlaps")) }
      if reader.comparedCount > 8 * bytes.count { return .failure(Refusal(text: "long keys")) }
      return .success(found.value)
    } catch let refusal as Refusal {
      return .failure(refusal)
    } catch {
      return .failure(Refusal(text: "\(error)"))
    }
  }

  private init(bytes: [UInt8]) { self.bytes = bytes }

  private mutating func root() throws -> Found {
    guard bytes.count >= 2, bytes.count.isMultiple(of: 2) else { throw Refusal(text: "size") }
    let last = bytes.count - 2
    if bytes[last] < 128 {
      guard last == 0 else { throw Refusal(text: "bytes before the root") }
      return try value(at: 0, before: 2)
    }
    let place = last - distance(at: last, isWide: false)
    guard place >= 0, place < last else { throw Refusal(text: "root pointer") }
    guard place + 4 <= last, bytes[place] >= 128 else {
      return try value(at: place, before: last)
    }
    let target = place - distance(at: place, isWide: true)
    guard bytes[place] < 0xc0, target >= 0, target < place else { throw Refusal(text: "wide root") }
    return try value(at: target, before: place)
  }

  /// How far back a pointer leads.
  ///
  /// A document has nothing before it, so the extern bit of a short pointer counts as one of the
  /// distance, as in old versions.
  private func distance(at place: Int, isWide: Bool) -> Int {
    let width = isWide ? 4 : 2
    let number = bytes[place..<place + width].reduce(0) { $0 * 256 + Int($1) }
    return isWide ? number % (1 << 30) * 2 : number % (1 << 15) * 2
  }

  private mutating func value(at place: Int, before end: Int) throws -> Found {
    func need(_ size: Int) throws {
      guard place + size <= end else { throw Refusal(text: "byte \(place): too long") }
    }
    try need(2)
    let (high, low) = (bytes[place] / 16, Int(bytes[place] % 16))
    switch high {
    case 0:
      let number = low * 256 + Int(bytes[place + 1])
      let value = ReferenceValue.signed(Int64(number >= 2048 ? number - 4096 : number))
      return Found(value: value, height: 0, isKey: number < 2048)
    case 1:
      let size = low % 8 + 1
      try need(1 + size)
      return scalar(integer(at: place + 1, size: size, hasSign: low < 8))
    case 2:
      let size = low >= 8 ? 8 : 4
      try need(2 + size)
      let bits = little(at: place + 2, size: size)
      if size == 8 { return scalar(.double(bits)) }
      guard low >= 4 else { return scalar(.float(UInt32(bits))) }
      let double = Double(Float(bitPattern: UInt32(bits)))
      return scalar(.double(double.bitPattern))
    case 3:
      let values: [Int: ReferenceValue] = [
        0: .null, 4: .boolean(false), 8: .boolean(true), 12: .undefined,
      ]
      guard let value = values[low] else { throw Refusal(text: "byte \(place): no such value") }
      return scalar(value)
    case 4, 5:
      var (start, size) = (place + 1, low)
      if low == 15 { (size, start) = try number(at: start, before: end) }
      guard start + size <= end else { throw Refusal(text: "byte \(place): text too long") }
      let content = Array(bytes[start..<start + size])
      guard high == 4 else { return scalar(.data(content)) }
      return Found(value: .text(content), height: 0, isKey: true)
    case 6, 7: return try collection(at: place, before: end, isDict: high == 7)
    default: throw Refusal(text: "byte \(place): a pointer to a pointer")
    }
  }

  private func scalar(_ value: ReferenceValue) -> Found { Found(value: value, height: 0) }

  private func little(at place: Int, size: Int) -> UInt64 {
    bytes[place..<place + size].reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  private func integer(at place: Int, size: Int, hasSign: Bool) -> ReferenceValue {
    let bits = little(at: place, size: size)
    guard hasSign else { return .unsigned(bits) }
    guard size < 8 else { return .signed(Int64(bitPattern: bits)) }
    let range = Int64(1) << Int64(8 * size)
    return .signed(Int64(bits) >= range / 2 ? Int64(bits) - range : Int64(bits))
  }

  private func number(at place: Int, before end: Int) throws -> (Int, next: Int) {
    var (number, next, unit) = (0, place, 1)
    while next < end, next < place + 5 {
      number += Int(bytes[next] % 128) * unit
      unit *= 128
      next += 1
      if bytes[next - 1] < 128 {
        return (number, next)
      }
    }
    throw Refusal(text: "byte \(place): no length")
  }
}

extension NaiveReader {
  private mutating func collection(
    at place: Int, before end: Int, isDict: Bool
  ) throws -> Found {
    var count = Int(bytes[place] % 8) * 256 + Int(bytes[place + 1])
    var first = place + 2
    if count == 2047 {
      let (more, next) = try number(at: first, before: end)
      count += more
      // Numbers of this kind are padded to an even count of bytes.
      first = (next - first).isMultiple(of: 2) ? next : next + 1
    }
    let width = bytes[place] & 8 == 0 ? 2 : 4
    let slots = isDict ? 2 * count : count
    guard first + slots * width <= end else { throw Refusal(text: "byte \(place): items") }
    if let found = known[place] { return found }
    if slots > 0 { slotCount += slots }
    var (items, height) = ([ReferenceValue](), 0)
    for slot in 0..<slots {
      let item = try inSlot(at: first + slot * width, width: width)
      if isDict, slot.isMultiple(of: 2), !item.isKey { throw Refusal(text: "a key that is none") }
      height = max(height, item.height)
      items.append(item.value)
    }
    let value: ReferenceValue = isDict ? .dict(try pairs(items)) : .array(items)
    let found = Found(value: value, height: height + 1)
    known[place] = found
    return found
  }

  private mutating func inSlot(at place: Int, width: Int) throws -> Found {
    guard bytes[place] >= 128 else { return try value(at: place, before: place + width) }
    let target = place - distance(at: place, isWide: width == 4)
    guard width == 2 || bytes[place] < 0xc0, target >= 0, target < place else {
      throw Refusal(text: "byte \(place): pointer")
    }
    var found = try value(at: target, before: place)
    // A key that is a number is in its slot.
    if case .signed = found.value { found.isKey = false }
    return found
  }

  private mutating func pairs(_ items: [ReferenceValue]) throws -> [ReferenceValue.Pair] {
    var pairs: [ReferenceValue.Pair] = []
    for index in stride(from: 0, to: items.count, by: 2) {
      let key: ReferenceValue.Key
      switch items[index] {
      case .text(let text): key = .text(text)
      case .signed(let number): key = .shared(Int(number))
      default: throw Refusal(text: "a key that is none")
      }
      if let last = pairs.last, isAfter(last.key, key) { throw Refusal(text: "order of keys") }
      if case .text(let one) = pairs.last?.key, case .text(let other) = key {
        comparedCount += min(one.count, other.count)
      }
      pairs.append(ReferenceValue.Pair(key, items[index + 1]))
    }
    return pairs
  }

  private func isAfter(_ first: ReferenceValue.Key, _ second: ReferenceValue.Key) -> Bool {
    switch (first, second) {
    case (.shared(let one), .shared(let other)): one > other
    case (.text(let one), .text(let other)): other.lexicographicallyPrecedes(one)
    case (.text, .shared): true
    case (.shared, .text): false
    }
  }
}
