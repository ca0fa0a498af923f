// FleeceJSONReader.swift: reads JSON text into an encoder, with the same result as the real
// library. Strict JSON (RFC 8259), with the library's rules: the outermost value is an array or a
// dict; a duplicate key is written twice; numbers without a fraction are integers if they fit 64
// bits, unsigned unless there is a minus; `1e400` becomes infinity. Bound: O(bytes) steps, nesting
// as the encoder allows, at most `depthMax`.

extension FleeceEncoder {
  /// Nesting limit of JSON: at least what the real library reads.
  public static let jsonDepthMax = 101

  /// Writes the value of a JSON text.
  /// - Parameters:
  ///   - text: The text, in UTF-8.
  ///   - depthMax: Nesting limit of collections, up to 1000.
  /// - Throws: `FleeceError` with code `.json` and the position when it is not JSON, or not an
  ///   array or dict; with `.limit` when it nests too deep or exceeds 2 GiB. Only `reset` may be
  ///   called on the encoder then.
  /// - Complexity: O(bytes).
  public mutating func json(
    _ text: FleeceBytes, depthMax: Int = FleeceEncoder.jsonDepthMax
  ) throws(FleeceError) {
    var reader = JSONReader(text: text, depthMax: min(depthMax, 1000))
    reader.skipSpace()
    guard let byte = reader.peek(), byte == UInt8(ascii: "[") || byte == UInt8(ascii: "{") else {
      throw reader.expected("[ or {")
    }
    try reader.value(into: &self, depth: 1)
    reader.skipSpace()
    guard reader.peek() == nil else { throw reader.expected("the end of the text") }
  }

  /// Encodes a JSON text.
  /// - Parameters:
  ///   - text: The text.
  ///   - sharedKeys: A table of shared keys, to which new keys are added; unchanged when an error
  ///     is thrown.
  /// - Returns: The bytes.
  /// - Throws: `FleeceError` with code `.json` and the place, or `.limit`.
  /// - Complexity: O(bytes).
  public static func bytes(
    ofJSON text: String, sharedKeys: inout FleeceSharedKeys
  ) throws(FleeceError) -> [UInt8] {
    var encoder = FleeceEncoder(sharedKeys: sharedKeys)
    let bytes = try encoder.bytes(ofJSON: text)
    if let keys = encoder.sharedKeys { sharedKeys = keys }
    return bytes
  }

  /// Encodes a JSON text, with its keys as texts.
  /// - Parameter text: The text.
  /// - Returns: The bytes.
  /// - Throws: `FleeceError` with code `.json` and the place, or `.limit`.
  /// - Complexity: O(bytes).
  public static func bytes(ofJSON text: String) throws(FleeceError) -> [UInt8] {
    var encoder = FleeceEncoder()
    return try encoder.bytes(ofJSON: text)
  }

  private mutating func bytes(ofJSON text: String) throws(FleeceError) -> [UInt8] {
    try FleeceBytes.over(text) { (view: FleeceBytes) throws(FleeceError) -> [UInt8] in
      try json(view)
      return try finish()
    }
  }
}

/// A text that is being read.
struct JSONReader {
  let text: FleeceBytes
  let depthMax: Int
  var place = 0
  /// The text of a string with escapes.
  var unescaped: [UInt8] = []

  init(text: FleeceBytes, depthMax: Int) {
    self.text = text
    self.depthMax = depthMax
  }

  @inline(__always)
  func peek() -> UInt8? { place < text.count ? text.uint8(place) : nil }

  @inline(__always)
  mutating func skipSpace() {
    while place < text.count {
      switch text.uint8(place) {
      case 9, 10, 13, 32: place += 1
      default: return
      }
    }
  }

  mutating func value(into encoder: inout FleeceEncoder, depth: Int) throws(FleeceError) {
    guard let byte = peek() else { throw expected("a value") }
    switch byte {
    case UInt8(ascii: "{"): try dict(into: &encoder, depth: depth)
    case UInt8(ascii: "["): try array(into: &encoder, depth: depth)
    case UInt8(ascii: "\""):
      try string(into: &encoder, isKey: false)
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try number(into: &encoder)
    case UInt8(ascii: "t"):
      try word("true")
      encoder.boolean(true)
    case UInt8(ascii: "f"):
      try word("false")
      encoder.boolean(false)
    case UInt8(ascii: "n"):
      try word("null")
      encoder.null()
    default: throw expected("a value")
    }
  }

  private mutating func array(
    into encoder: inout FleeceEncoder, depth: Int
  ) throws(FleeceError) {
    try enter(depth)
    try encoder.beginArray()
    skipSpace()
    if take("]") { return try encoder.endArray() }
    while true {
      skipSpace()
      try value(into: &encoder, depth: depth + 1)
      skipSpace()
      if take("]") { return try encoder.endArray() }
      guard take(",") else { throw expected(", or ]") }
    }
  }

  private mutating func dict(into encoder: inout FleeceEncoder, depth: Int) throws(FleeceError) {
    try enter(depth)
    try encoder.beginDict()
    skipSpace()
    if take("}") { return try encoder.endDict() }
    while true {
      skipSpace()
      guard peek() == UInt8(ascii: "\"") else { throw expected("a key") }
      try string(into: &encoder, isKey: true)
      skipSpace()
      guard take(":") else { throw expected(":") }
      skipSpace()
      try value(into: &encoder, depth: depth + 1)
      skipSpace()
      if take("}") { return try encoder.endDict() }
      guard take(",") else { throw expected(", or }") }
    }
  }

  /// Skips the first byte of a collection.
  private mutating func enter(_ depth: Int) throws(FleeceError) {
    guard depth <= depthMax else {
      throw FleeceError(.limit, "nested deeper than \(depthMax)", in: text, at: place)
    }
    place += 1
  }

  @inline(__always)
  private mutating func take(_ letter: Unicode.Scalar) -> Bool {
    guard peek() == UInt8(ascii: letter) else { return false }
    place += 1
    return true
  }

  private mutating func word(_ word: StaticString) throws(FleeceError) {
    let start = place
    for letter in word.description.utf8 {
      guard peek() == letter else {
        place = start
        throw expected("a value")
      }
      place += 1
    }
  }

  @inline(never)
  func expected(_ what: String) -> FleeceError {
    guard let byte = peek() else {
      return FleeceError(.json, "the text ends; expected \(what)", in: text, at: place)
    }
    let size = text.scalarSize(at: place)
    let found =
      size == 0 || byte < 32 || byte == 127
      ? "byte \(byte)" : "'\(text.part(at: place, count: size).text)'"
    return FleeceError(.json, "found \(found), expected \(what)", in: text, at: place)
  }
}
