// FleecePath+Parsing.swift: paths read from texts.

extension FleecePath {
  /// How many steps a path may have.
  public static let stepsMax = 1000

  /// Reads a path.
  /// - Parameter text: The text.
  /// - Throws: `FleeceError` with code `.path` and the place.
  /// - Complexity: O(bytes).
  public init(parsing text: String) throws(FleeceError) {
    self.init([])
    try FleeceBytes.over(text) { (view: FleeceBytes) throws(FleeceError) in
      var reader = PathReader(text: view)
      try reader.read(into: &steps)
    }
  }
}

/// The text of a path that is being read.
private struct PathReader {
  let text: FleeceBytes
  var place = 0

  init(text: FleeceBytes) { self.text = text }

  mutating func read(into steps: inout [FleecePath.Step]) throws(FleeceError) {
    let isRooted = peek() == UInt8(ascii: "$")
    if isRooted { place += 1 }
    while let byte = peek() {
      guard steps.count < FleecePath.stepsMax else {
        throw error("more than \(FleecePath.stepsMax) steps")
      }
      if byte == UInt8(ascii: "[") {
        steps.append(FleecePath.Step(index: try index()))
      } else if byte == UInt8(ascii: ".") {
        place += 1
        steps.append(FleecePath.Step(key: try name()))
      } else if steps.isEmpty, !isRooted {
        steps.append(FleecePath.Step(key: try name()))
      } else {
        throw error("expected . or [")
      }
    }
  }

  private func peek() -> UInt8? { place < text.count ? text.uint8(place) : nil }

  private mutating func name() throws(FleeceError) -> [UInt8] {
    var name: [UInt8] = []
    while let byte = peek(), byte != UInt8(ascii: "."), byte != UInt8(ascii: "[") {
      if byte == UInt8(ascii: "\\") { place += 1 }
      guard let letter = peek() else { throw error("nothing after \\") }
      name.append(letter)
      place += 1
    }
    return name
  }

  private mutating func index() throws(FleeceError) -> Int {
    place += 1
    let isNegative = peek() == UInt8(ascii: "-")
    if isNegative { place += 1 }
    let start = place
    var number = 0
    while let byte = peek(), byte >= 0x30, byte <= 0x39 {
      number = number * 10 + Int(byte - 0x30)
      place += 1
      guard number <= Int32.max else { throw error("an index beyond 2147483647") }
    }
    guard place > start else { throw error("expected an index") }
    guard peek() == UInt8(ascii: "]") else { throw error("expected ]") }
    place += 1
    return isNegative ? -number : number
  }

  private func error(_ message: String) -> FleeceError {
    FleeceError(.path, message, in: text, at: place)
  }
}
