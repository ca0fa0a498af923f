// PlainFunctions.swift: functions of the language, as documented.

/// Evaluates functions.
enum PlainFunctions {
  /// Functions that drawn queries call, with how many operands.
  static let drawn: [(name: String, operands: Int)] = [
    ("abs", 1), ("ceil", 1), ("floor", 1), ("sign", 1), ("round", 1), ("trunc", 1), ("div", 2),
    ("idiv", 2), ("length", 1), ("upper", 1), ("lower", 1), ("concat", 2), ("contains", 2),
    ("ifmissing", 2), ("ifnull", 2), ("ifmissingornull", 3), ("missingif", 2), ("nullif", 2),
    ("type", 1), ("isarray", 1), ("isnumber", 1), ("isboolean", 1), ("isstring", 1),
    ("isobject", 1), ("isatom", 1), ("toarray", 1), ("toboolean", 1), ("toobject", 1),
    ("array_length", 1), ("array_count", 1), ("array_sum", 1), ("array_min", 1), ("array_max", 1),
    ("array_contains", 2), ("array_ifnull", 1), ("greatest", 2), ("least", 2),
  ]

  static func value(_ name: String, _ values: [PlainValue]) throws -> PlainValue {
    switch name {
    case "ifmissing": return values.first { $0 != .missing } ?? .missing
    case "ifnull": return values.first { $0 != .null } ?? .null
    case "ifmissingornull":
      return values.first { $0 != .null && $0 != .missing }
        ?? (values.contains(.null) ? .null : .missing)
    case "greatest", "least": return try extreme(name == "greatest", values)
    case "array_length":
      if case .array(let items) = values[0] { return .integer(Int64(items.count)) }
      return .integer(0)
    case "array_sum", "array_min", "array_max", "array_ifnull", "array_count":
      return try array(name, values[0])
    case "array_contains": return try contains(values[0], values[1])
    case "concat":
      guard !values.contains(.missing) else { return .missing }
      return .text(values.map { if case .text(let text) = $0 { text } else { $0.json } }.joined())
    default: break
    }
    if values.contains(.missing) { return .missing }
    if values.contains(.null) { return .null }
    switch name {
    case "missingif": return try values[0].equals(values[1]) ? .missing : values[0]
    case "nullif": return try values[0].equals(values[1]) ? .null : values[0]
    case "abs", "ceil", "floor", "round", "trunc", "sign", "div", "idiv":
      return number(name, values)
    case "length", "upper", "lower": return text(name, values[0])
    case "contains":
      guard case .text(let text) = values[0], case .text(let part) = values[1] else {
        return .boolean(false)
      }
      return .boolean(part.isEmpty || text.contains(part))
    default: return try kind(name, values[0])
    }
  }

  private static func extreme(_ isGreatest: Bool, _ values: [PlainValue]) throws -> PlainValue {
    guard !values.contains(.missing) else { return .missing }
    var best = values[0]
    for value in values.dropFirst() {
      let order = try value.order(best)
      if order == 0, value != best { throw PlainValue.Open() }
      if isGreatest ? order > 0 : order < 0 { best = value }
    }
    return best
  }

  private static func array(_ name: String, _ value: PlainValue) throws -> PlainValue {
    guard case .array(let items) = value else {
      switch name {
      case "array_sum": return .real(0)
      case "array_count":
        if case .dict(let pairs) = value { return .integer(Int64(pairs.count)) }
        return .missing
      default: return .null
      }
    }
    let numbers = items.compactMap { item -> Double? in
      switch item {
      case .integer, .real: item.double
      default: nil
      }
    }
    switch name {
    case "array_sum":
      return .real(items.reduce(0) { $0 + ($1 == .boolean(true) ? 1 : 0) } + numbers.reduce(0, +))
    case "array_min": return numbers.min().map { .real($0) } ?? .null
    case "array_max": return numbers.max().map { .real($0) } ?? .null
    case "array_count": return .integer(Int64(items.filter { $0 != .null }.count))
    default: return items.first { $0 != .null } ?? .null
    }
  }

  private static func contains(_ array: PlainValue, _ value: PlainValue) throws -> PlainValue {
    if array == .missing { return .missing }
    guard case .array(let items) = array else { return .null }
    if value == .missing { return .missing }
    if value == .null { return .null }
    return .boolean(try items.contains { try $0.equals(value) })
  }

  private static func number(_ name: String, _ values: [PlainValue]) -> PlainValue {
    for value in values {
      switch value {
      case .integer, .real, .boolean: continue
      default: return .null
      }
    }
    let first = values[0].double
    switch name {
    case "abs": return .real(Swift.abs(first))
    case "ceil": return .real(first.rounded(.up))
    case "floor": return .real(first.rounded(.down))
    case "round": return .real(first.rounded(.toNearestOrAwayFromZero))
    case "trunc": return .real(first.rounded(.towardZero))
    case "sign": return .integer(first > 0 ? 1 : first < 0 ? -1 : 0)
    case "div": return values[1].double == 0 ? .null : .real(first / values[1].double)
    default:
      guard values[1].double != 0 else { return .null }
      return .integer(Int64((first / values[1].double).rounded(.towardZero)))
    }
  }

  private static func text(_ name: String, _ value: PlainValue) -> PlainValue {
    guard case .text(let text) = value else { return .null }
    switch name {
    case "length": return .integer(Int64(text.unicodeScalars.count))
    case "upper": return .text(text.uppercased())
    default: return .text(text.lowercased())
    }
  }

  private static func kind(_ name: String, _ value: PlainValue) throws -> PlainValue {
    let kind: String
    switch value {
    case .boolean: kind = "boolean"
    case .integer, .real: kind = "number"
    case .text: kind = "string"
    case .array: kind = "array"
    default: kind = "object"
    }
    switch name {
    case "type": return .text(kind)
    case "isatom": return .boolean(kind != "array" && kind != "object")
    case "isarray", "isnumber", "isboolean", "isstring", "isobject":
      return .boolean(name == "is" + kind)
    case "toarray": return kind == "array" ? value : .array([value])
    case "toobject": return kind == "object" ? value : .dict([:])
    case "toboolean":
      switch value {
      case .array(let items): return .boolean(!items.isEmpty)
      case .dict(let pairs): return .boolean(!pairs.isEmpty)
      case .text(let text): return .boolean(!text.isEmpty)
      default: return .boolean(value.double != 0)
      }
    default: throw PlainValue.Open()
    }
  }
}
