// NaiveJSON.swift: values as JSON in the simplest way, for comparison with the output of the Fleece
// module.

extension ReferenceValue {
  /// The value has no JSON: a key without a name, or too much text.
  package struct NoJSON: Error {}

  /// The value as JSON.
  package func json(keys: [String], sizeMax: Int) throws(NoJSON) -> String {
    var text = ""
    try write(to: &text, keys, sizeMax)
    return text
  }

  /// Whether there is a float in it: its fewest digits are read as a double, whose spelling can be
  /// another.
  package var hasFloat: Bool {
    switch self {
    case .float: true
    case .array(let items): items.contains(where: \.hasFloat)
    case .dict(let pairs): pairs.contains(where: \.value.hasFloat)
    default: false
    }
  }

  /// Whether JSON can represent all of it.
  package var hasJSON: Bool {
    switch self {
    case .undefined: false
    case .float(let bits): Float(bitPattern: bits).isFinite
    case .double(let bits): Double(bitPattern: bits).isFinite
    case .array(let items): items.allSatisfy(\.hasJSON)
    case .dict(let pairs): pairs.allSatisfy(\.value.hasJSON)
    default: true
    }
  }

  private func write(to text: inout String, _ keys: [String], _ sizeMax: Int) throws(NoJSON) {
    switch self {
    case .null: text += "null"
    case .undefined: text += "undefined"
    case .boolean(let value): text += value ? "true" : "false"
    case .signed(let value): text += String(value)
    case .unsigned(let value): text += String(value)
    case .float(let bits): text += Self.spelled(Float(bitPattern: bits))
    case .double(let bits): text += Self.spelled(Double(bitPattern: bits))
    case .text(let bytes): text += Self.quoted(bytes)
    case .data(let bytes): text += "\"" + Self.base64(bytes) + "\""
    case .array(let items):
      text += "["
      for (index, item) in items.enumerated() {
        if index > 0 { text += "," }
        try item.write(to: &text, keys, sizeMax)
      }
      text += "]"
    case .dict(let pairs):
      text += "{"
      for (index, pair) in pairs.enumerated() {
        if index > 0 { text += "," }
        switch pair.key {
        case .text(let bytes): text += Self.quoted(bytes)
        case .shared(let number):
          guard number < keys.count else { throw NoJSON() }
          text += Self.quoted(Array(keys[number].utf8))
        }
        text += ":"
        try pair.value.write(to: &text, keys, sizeMax)
      }
      text += "}"
    }
    guard text.utf8.count <= sizeMax else { throw NoJSON() }
  }

  private static func spelled(_ value: some BinaryFloatingPoint & CustomStringConvertible) -> String
  {
    value.isNaN ? "nan" : value.description
  }

  private static func quoted(_ bytes: [UInt8]) -> String {
    var (text, rest) = ("\"", bytes[...])
    while let first = rest.first {
      // The shortest start that is UTF-8 is a character.
      let size = (1...4).first {
        $0 <= rest.count && String(validating: rest.prefix($0), as: UTF8.self) != nil
      }
      let character = String(decoding: rest.prefix(size ?? 0), as: UTF8.self)
      rest = rest.dropFirst(size ?? 1)
      switch (size, first) {
      case (nil, _): text += "\u{fffd}"
      case (_, 34), (_, 92): text += "\\" + character
      case (_, 10): text += "\\n"
      case (_, 13): text += "\\r"
      case (_, 9): text += "\\t"
      case (_, 0..<32), (_, 127):
        let digits = String(first, radix: 16)
        text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: text += character
      }
    }
    return text + "\""
  }

  private static func base64(_ bytes: [UInt8]) -> String {
    let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
    let bits = bytes.flatMap { byte in (0..<8).map { Int(byte >> UInt8(7 - $0) & 1) } }
    let text = stride(from: 0, to: bits.count, by: 6).map { start in
      letters[(0..<6).reduce(0) { $0 * 2 + (start + $1 < bits.count ? bits[start + $1] : 0) }]
    }
    return String(text) + String(repeating: "=", count: (3 - bytes.count % 3) % 3)
  }
}
