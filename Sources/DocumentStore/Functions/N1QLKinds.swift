// N1QLKinds.swift: functions that test the kind of a value, or convert it to another kind. The real
// library truncates integers to 32 bits in `toarray`; here they are unchanged.

import Fleece

/// Functions about kinds of values.
enum N1QLKinds {
  static let all = [
    test("isarray") { $0 == .array }, test("isatom") { $0 != .array && $0 != .dict },
    test("isboolean") { $0 == .boolean }, test("isnumber") { $0 == .number },
    test("isobject") { $0 == .dict }, test("isstring") { $0 == .text },
    SQLFunction(name: "type", argumentCount: 1) { call in
      if !call.endsForAbsent() { call.result(text: try call.valueKind(0).rawValue) }
    },
    SQLFunction(name: "toarray", argumentCount: 1, body: array),
    SQLFunction(name: "toatom", argumentCount: 1, body: atom),
    SQLFunction(name: "toboolean", argumentCount: 1, body: boolean),
    SQLFunction(name: "tonumber", argumentCount: 1, body: number),
    SQLFunction(name: "toobject", argumentCount: 1, body: object),
    SQLFunction(name: "tostring", argumentCount: 1, body: text),
  ]

  private static func test(
    _ name: String, _ test: @escaping @Sendable (ValueKind) -> Bool
  ) -> SQLFunction {
    SQLFunction(name: name, argumentCount: 1) { call in
      if !call.endsForAbsent() { call.result(test(try call.valueKind(0))) }
    }
  }

  private static func array(_ call: FunctionCall) throws {
    if call.endsForAbsent() { return }
    if try call.valueKind(0) == .array { return call.result(argument: 0) }
    var encoder = FleeceEncoder()
    try encoder.beginArray()
    _ = try call.write(argument: 0, to: &encoder)
    try encoder.endArray()
    try encoder.finish { (view: FleeceBytes) in call.result(blob: view) }
  }

  /// The only value of a collection of one stays null, as in the real library.
  private static func atom(_ call: FunctionCall) throws {
    if call.endsForAbsent() { return }
    switch try call.valueKind(0) {
    case .array, .dict: call.resultNull()
    default: call.result(argument: 0)
    }
  }

  private static func boolean(_ call: FunctionCall) throws {
    if call.endsForAbsent() { return }
    switch try call.valueKind(0) {
    case .boolean, .number: call.result(call.real(0) != 0 && !call.real(0).isNaN)
    case .text, .binary: call.result(call.bytes(0).count > 0)
    case .array: call.result(try FleeceValue.root(of: call.bytes(0)).array?.count ?? 0 > 0)
    case .dict: call.result(try FleeceValue.root(of: call.bytes(0)).dict?.count ?? 0 > 0)
    case .missing, .null: call.resultNull()
    }
  }

  private static func number(_ call: FunctionCall) throws {
    if call.endsForAbsent() { return }
    switch try call.valueKind(0) {
    case .boolean, .number: call.result(argument: 0)
    case .text: call.result(finite: NumberText.prefix(of: call.bytes(0)))
    default: call.resultNull()
    }
  }

  private static func object(_ call: FunctionCall) throws {
    if call.endsForAbsent() { return }
    if try call.valueKind(0) == .dict { return call.result(argument: 0) }
    FleeceBytes.over([0x70, 0] as [UInt8]) { (view: FleeceBytes) in call.result(blob: view) }
  }

  private static func text(_ call: FunctionCall) throws {
    if call.endsForAbsent() { return }
    switch try call.valueKind(0) {
    case .array, .dict, .binary: call.resultNull()
    case .boolean, .number: call.result(text: try call.json(0))
    default: call.result(argument: 0)
    }
  }
}

/// The kinds of values, with their names in the language.
enum ValueKind: String {
  case missing
  case null
  case boolean
  case number
  case text = "string"
  case array
  case dict = "object"
  case binary
}

extension FunctionCall {
  func valueKind(_ index: Int) throws -> ValueKind {
    switch kind(index) {
    case .null: return .missing
    case .integer: return subtype(index) == SQLSubtype.boolean ? .boolean : .number
    case .real: return .number
    case .text: return .text
    case .blob:
      let view = bytes(index)
      if subtype(index) == SQLSubtype.bytes { return .binary }
      guard view.count > 0 else { return .null }
      switch try FleeceValue.root(of: view).kind {
      case .array: return .array
      case .dict: return .dict
      default: return .binary
      }
    }
  }

  /// A value as JSON; `null` for null.
  func json(_ index: Int) throws -> String {
    switch kind(index) {
    case .null: return ""
    case .integer:
      guard subtype(index) != SQLSubtype.boolean else {
        return integer(index) != 0 ? "true" : "false"
      }
      return "\(integer(index))"
    case .real:
      var encoder = FleeceEncoder()
      try encoder.double(real(index))
      return try FleeceDocument(try encoder.finish()).withRoot { (root) throws(FleeceError) in
        try root.json()
      }
    case .text: return bytes(index).text
    case .blob:
      guard !isNull(index) else { return "null" }
      var options = FleeceJSONOptions()
      options.isCanonical = true
      return try FleeceValue.root(of: bytes(index)).json(keys: state.keys, options: options)
    }
  }
}

/// Numbers at the front of texts, as SQL and C read them.
enum NumberText {
  /// The number; 0 where there is none.
  static func prefix(of bytes: FleeceBytes) -> Double {
    var place = 0
    func peek() -> UInt8? { place < bytes.count ? bytes[place] : nil }
    func skipDigits() -> Bool {
      let start = place
      while let byte = peek(), byte >= 0x30, byte <= 0x39 { place += 1 }
      return place > start
    }
    while let byte = peek(), byte == 0x20 || (9...13).contains(byte) { place += 1 }
    let start = place
    if peek() == UInt8(ascii: "-") || peek() == UInt8(ascii: "+") { place += 1 }
    var hasDigits = skipDigits()
    if peek() == UInt8(ascii: ".") {
      place += 1
      hasDigits = skipDigits() || hasDigits
    }
    guard hasDigits else { return 0 }
    let mantissa = place
    if peek() == UInt8(ascii: "e") || peek() == UInt8(ascii: "E") {
      place += 1
      if peek() == UInt8(ascii: "-") || peek() == UInt8(ascii: "+") { place += 1 }
      if !skipDigits() { place = mantissa }
    }
    return Double(bytes.part(at: start, count: place - start).text) ?? 0
  }
}
