// FleeceJSONWriter.swift: writes values as JSON, spelled as in the real library. No spaces;
// `\n \r \t \" \\`, and \u00xx for other bytes below 32 and for 127; data as base64; a number with
// a fraction in the fewest digits that read back to it, always with a point or an exponent. Values
// that JSON cannot represent are written as in the real library: `inf`, `-inf`, `nan`, `undefined`.
// Invalid UTF-8 becomes U+FFFD, so that the text is always valid.

/// How JSON is written.
public struct FleeceJSONOptions: Sendable {
  /// Whether the pairs of each dict are sorted by their keys' texts, regardless of the keys'
  /// numbers.
  public var isCanonical = false
  /// Nesting limit of collections.
  public var depthMax = FleeceValue.depthMax
  /// Limit of the text's bytes; nil means 64 times the size of the document plus 1 KiB, which is
  /// exceeded only by values that many pointers lead to.
  public var sizeMaxBytes: Int?

  /// The default options.
  public init() {}
}

extension FleeceValue {
  /// The value as JSON.
  /// - Parameters:
  ///   - keys: The table that its keys are numbers of.
  ///   - options: How it is written.
  /// - Returns: The bytes of the text, always UTF-8.
  /// - Throws: `FleeceError` with code `.damaged`, `.unknownSharedKey`, or `.limit`.
  /// - Complexity: O(bytes of text); with `isCanonical` plus sorting the pairs of each dict.
  public func jsonBytes(
    keys: FleeceSharedKeys = FleeceSharedKeys(), options: FleeceJSONOptions = FleeceJSONOptions()
  ) throws(FleeceError) -> [UInt8] {
    var writer = JSONWriter(self, keys: keys, options: options)
    try writer.write(self, depth: 1)
    return writer.output.array
  }

  /// The value as JSON.
  /// - Parameters:
  ///   - keys: The table that its keys are numbers of.
  ///   - options: How it is written.
  /// - Returns: The text.
  /// - Throws: `FleeceError` with code `.damaged`, `.unknownSharedKey`, or `.limit`.
  /// - Complexity: O(bytes of text); with `isCanonical` plus sorting the pairs of each dict.
  public func json(
    keys: FleeceSharedKeys = FleeceSharedKeys(), options: FleeceJSONOptions = FleeceJSONOptions()
  ) throws(FleeceError) -> String {
    var writer = JSONWriter(self, keys: keys, options: options)
    try writer.write(self, depth: 1)
    return writer.output.view { (view: FleeceBytes) in view.text }
  }
}

/// A text in the making.
struct JSONWriter: ~Copyable {
  var output: GrowingBytes
  let keys: FleeceSharedKeys
  let isCanonical: Bool
  let depthMax: Int
  let sizeMax: Int

  init(_ value: FleeceValue, keys: FleeceSharedKeys, options: FleeceJSONOptions) {
    output = GrowingBytes(capacity: 2 * value.bytes.count)
    self.keys = keys
    isCanonical = options.isCanonical
    // Writing recurses: beyond this the stack may overflow.
    depthMax = min(options.depthMax, 1000)
    sizeMax = options.sizeMaxBytes ?? FleeceValue.expansionMax(value)
  }

  mutating func write(_ value: FleeceValue, depth: Int) throws(FleeceError) {
    switch value.tag {
    case FleeceFormat.shortInteger: append(integer: value.integer ?? 0)
    case FleeceFormat.integer:
      if let integer = value.integer {
        append(integer: integer)
      } else {
        append(magnitude: value.unsignedInteger ?? 0)
      }
    case FleeceFormat.float: append(real: value)
    case FleeceFormat.text: append(quoted: value.content)
    case FleeceFormat.data: append(base64: value.content)
    case FleeceFormat.array: try write(FleeceArray(value, value.items), of: value, depth: depth)
    case FleeceFormat.dict: try write(FleeceDict(value, value.items), of: value, depth: depth)
    default: append(special: value.head)
    }
    guard output.count <= sizeMax else {
      throw FleeceError(.limit, "more than \(sizeMax) bytes of JSON", at: value.offset)
    }
  }

  private mutating func write(
    _ array: FleeceArray, of value: FleeceValue, depth: Int
  ) throws(FleeceError) {
    guard depth <= depthMax else { throw tooDeep(value) }
    output.append(UInt8(ascii: "["))
    for index in 0..<array.count {
      if index > 0 { output.append(UInt8(ascii: ",")) }
      guard let item = try array.value(at: index) else { break }
      try write(item, depth: depth + 1)
    }
    output.append(UInt8(ascii: "]"))
  }

  private mutating func write(
    _ dict: FleeceDict, of value: FleeceValue, depth: Int
  ) throws(FleeceError) {
    guard depth <= depthMax else { throw tooDeep(value) }
    output.append(UInt8(ascii: "{"))
    let order = isCanonical ? try order(of: dict) : nil
    for place in 0..<dict.count {
      let index = order.map { $0[place] } ?? place
      if place > 0 { output.append(UInt8(ascii: ",")) }
      switch try dict.key(at: index) {
      case .text(let text): append(quoted: text)
      case .shared(let number): try append(key: number)
      }
      output.append(UInt8(ascii: ":"))
      try write(dict.value(at: index), depth: depth + 1)
    }
    output.append(UInt8(ascii: "}"))
  }

  private mutating func append(key number: Int) throws(FleeceError) {
    guard number < keys.count else { throw unknown(number) }
    let range = keys.range(of: number)
    FleeceBytes.over(keys.bytes) { (view: FleeceBytes) in
      append(quoted: view.part(at: range.lowerBound, count: range.count))
    }
  }

  /// The indexes of a dict's pairs in the order of their keys' texts.
  private func order(of dict: FleeceDict) throws(FleeceError) -> [Int] {
    var texts: [(key: [UInt8], index: Int)] = []
    // All keys will be written: if they are too long for that, fail before sorting.
    var left = sizeMax
    for index in 0..<dict.count {
      let key: [UInt8]
      switch try dict.key(at: index) {
      case .text(let text):
        left -= text.count
        key = left < 0 ? [] : text.array
      case .shared(let number):
        guard number < keys.count else { throw unknown(number) }
        let range = keys.range(of: number)
        left -= range.count
        key = left < 0 ? [] : Array(keys.bytes[range])
      }
      guard left >= 0 else {
        throw FleeceError(.limit, "more than \(sizeMax) bytes of JSON", at: dict.first)
      }
      texts.append((key, index))
    }
    texts.sort { left, right in
      if left.key == right.key { return left.index < right.index }
      return left.key.lexicographicallyPrecedes(right.key)
    }
    return texts.map(\.index)
  }

  private func unknown(_ number: Int) -> FleeceError {
    FleeceError(.unknownSharedKey, "\(number) of \(keys.count) shared keys")
  }

  private func tooDeep(_ value: FleeceValue) -> FleeceError {
    FleeceError(.limit, "nested deeper than \(depthMax)", at: value.offset)
  }
}
