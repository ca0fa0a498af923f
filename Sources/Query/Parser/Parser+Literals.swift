// Parser+Literals.swift: constants: words, numbers, texts, bytes and dates.

import Engine

extension Parser {
  /// A constant that is not a call, or nil when there is none here.
  mutating func literal() throws(QueryError) -> QueryLiteral? {
    let literal: QueryLiteral
    switch current.kind {
    case .name:
      switch current.keyword {
      case .true: literal = .value(.bool(true))
      case .false: literal = .value(.bool(false))
      // In capitals only: a property may be called "no".
      case .yes where text(current) == "YES": literal = .value(.bool(true))
      case .no where text(current) == "NO": literal = .value(.bool(false))
      case .null, .nil: literal = .value(.null)
      case .inf, .infinity: literal = .value(.double(.infinity))
      case .nan: literal = .value(.double(.nan))
      default:
        guard !current.isEscaped, let key = Lexer.rowKey(bytes(current)) else { return nil }
        literal = .value(.link(key))
      }
    case .typedLink: literal = .value(try typedLink())
    case .string: literal = .value(.string(try string(bytes(current))))
    case .binary:
      guard let decoded = Base64.decoded(bytes(current).dropFirst(4).dropLast()) else {
        throw unexpected("base64 (A–Z a–z 0–9 + / and = at the end) in B64\"…\"")
      }
      literal = .value(.binary(decoded))
    case .integer, .number: literal = number(isNegative: false)
    case .date: literal = .value(try date())
    case .timestamp: literal = .value(try timestamp())
    case .minus, .plus: return try signedNumber()
    default: return nil
    }
    try advance()
    return literal
  }

  /// `bin('…')`, the bytes of a text, or of base64 with `B64` before the quotes.
  mutating func bytesInParentheses() throws(QueryError) -> QueryLiteral {
    try advance()
    try expect(.leftParenthesis, "( after bin")
    guard current.kind == .string || current.kind == .binary, let literal = try literal() else {
      throw unexpected("a text in quotes, whose bytes are meant")
    }
    try expect(.rightParenthesis, ") after the text of bin(…)")
    if case .value(.string(let text)) = literal { return .value(.binary(Array(text.utf8))) }
    return literal
  }

  /// `L1:2`, the row 2 of the table that the database calls 1.
  private func typedLink() throws(QueryError) -> Value {
    let parts = text(current).dropFirst().split(separator: ":")
    guard let table = UInt32(parts[0]), let key = Int64(parts[1]) else {
      throw unexpected("L<table>:<key> with a table up to \(UInt32.max) and a key in 64 bits")
    }
    return .typedLink(table: table, key: key)
  }

  // MARK: numbers

  private mutating func signedNumber() throws(QueryError) -> QueryLiteral {
    let isNegative = current.kind == .minus
    try advance()
    let literal: QueryLiteral
    switch (current.kind, current.keyword) {
    case (.integer, _), (.number, _): literal = number(isNegative: isNegative)
    case (.name, .inf), (.name, .infinity):
      literal = .value(.double(isNegative ? -.infinity : .infinity))
    case (.name, .nan): literal = .value(.double(.nan))
    default: throw unexpected("a number after its sign")
    }
    try advance()
    return literal
  }

  private func number(isNegative: Bool) -> QueryLiteral {
    let text = (isNegative ? "-" : "") + text(current)
    guard current.kind == .integer else { return .number(text) }
    let digits = bytes(current)
    if digits.count > 2, digits[digits.startIndex + 1] | 0x20 == UInt8(ascii: "x") {
      let number = UInt64(String(decoding: digits.dropFirst(2), as: UTF8.self), radix: 16)
      guard let number else { preconditionFailure("the lexer saw 1 to 16 digits") }
      return .value(.int(Int64(bitPattern: isNegative ? 0 &- number : number)))
    }
    // An integer beyond 64 bits is a number with an empty fraction.
    return Int64(text).map { .value(.int($0)) } ?? .number(text)
  }

  // MARK: texts

  /// The text in a pair of quotes.
  func string(_ quoted: ArraySlice<UInt8>) throws(QueryError) -> String {
    let inside = quoted.dropFirst().dropLast()
    guard inside.contains(UInt8(ascii: "\\")) else {
      return String(decoding: inside, as: UTF8.self)
    }
    var result: [UInt8] = []
    var index = inside.startIndex
    while index < inside.endIndex {
      let byte = inside[index]
      index += 1
      guard byte == UInt8(ascii: "\\") else {
        result.append(byte)
        continue
      }
      let escape = index < inside.endIndex ? inside[index] : 0
      index += 1
      switch escape {
      case UInt8(ascii: "n"): result.append(0x0a)
      case UInt8(ascii: "r"): result.append(0x0d)
      case UInt8(ascii: "t"): result.append(0x09)
      case UInt8(ascii: "b"): result.append(0x08)
      case UInt8(ascii: "f"): result.append(0x0c)
      case UInt8(ascii: "0"): result.append(0)
      case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"):
        result.append(escape)
      case UInt8(ascii: "u"): result += Array(String(try scalar(inside, &index)).utf8)
      default: throw badEscape(at: index - 2)
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  private func badEscape(at offset: Int) -> QueryError {
    let end = min(offset + 6, lexer.bytes.count)
    return QueryError(
      found: Lexer.shown(lexer.bytes[min(offset, end)..<end]),
      expected: "one of \\n \\r \\t \\b \\f \\0 \\' \\\" \\\\ \\/ and \\uXXXX (pairs for what lies "
        + "above U+FFFF)", at: lexer.position(of: offset))
  }

  /// Four hexadecimal digits, and a second escape when they are half of a pair.
  private func scalar(
    _ text: ArraySlice<UInt8>, _ index: inout Int
  ) throws(QueryError) -> Character {
    let start = index - 2
    guard let first = Self.unit(text, &index) else { throw badEscape(at: start) }
    if let scalar = Unicode.Scalar(first) { return Character(scalar) }
    guard first & 0xfc00 == 0xd800, index + 1 < text.endIndex, text[index] == UInt8(ascii: "\\"),
      text[index + 1] == UInt8(ascii: "u")
    else { throw badEscape(at: start) }
    index += 2
    guard let second = Self.unit(text, &index), second & 0xfc00 == 0xdc00,
      let scalar = Unicode.Scalar(0x10000 + (first & 0x3ff) << 10 + second & 0x3ff)
    else { throw badEscape(at: start) }
    return Character(scalar)
  }

  private static func unit(_ text: ArraySlice<UInt8>, _ index: inout Int) -> UInt32? {
    guard text.endIndex - index >= 4 else { return nil }
    var unit: UInt32 = 0
    for _ in 0..<4 {
      guard let digit = Lexer.hexadecimal(text[index]) else { return nil }
      unit = unit << 4 | UInt32(digit)
      index += 1
    }
    return unit
  }

  // MARK: dates

  private func decimal(_ range: Range<Int>) -> Int64? {
    Int64(String(decoding: lexer.bytes[range], as: UTF8.self))
  }

  /// `2021-02-20@17:30:15:500`, in UTC.
  private func date() throws(QueryError) -> Value {
    var parts: [Int64] = []
    let digits = bytes(current).split { !Lexer.isDigit($0) }
    for part in digits { parts.append(decimal(part.startIndex..<part.endIndex) ?? .max) }
    let nanoseconds = parts.count > 6 ? parts[6] : 0
    let (year, month, day) = (parts[0], parts[1], parts[2])
    guard year < 10_000 else { throw unexpected("a date that there is: years up to 9999") }
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    let lengths: [Int64] = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    guard (1...12).contains(month), (1...lengths[Int(month) - 1]).contains(day), parts[3] < 24,
      parts[4] < 60, parts[5] < 60, nanoseconds < 1_000_000_000
    else {
      throw unexpected(
        "a date that there is: months 01–12, days of the month, hours 00–23, minutes and seconds "
          + "00–59, nanoseconds up to 999999999")
    }
    // Days since 1970 by years that begin in March, so that the leap day is the last one.
    let shifted = month <= 2 ? year - 1 : year
    let era = (shifted >= 0 ? shifted : shifted - 399) / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
    let days = era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    let seconds = (days - 719_468) * 86_400 + parts[3] * 3_600 + parts[4] * 60 + parts[5]
    return .date(seconds: seconds, nanoseconds: nanoseconds)
  }

  /// `T1600000000:500`: seconds since 1970 and nanoseconds, both of one sign; `T@621692800.25`:
  /// seconds since 2001.
  private func timestamp() throws(QueryError) -> Value {
    let text = text(current).dropFirst()
    if text.first == "@" {
      guard let interval = Double(String(text.dropFirst())) else {
        throw unexpected("T@<seconds since 2001>, a number with a point or exponent as needed")
      }
      return .date(sinceReferenceDate: interval)
    }
    let parts = text.split(separator: ":")
    let expected =
      "T<seconds>:<nanoseconds> in 64 bits, both of one sign, nanoseconds up to 999999999"
    guard parts.count == 2, let seconds = Int64(parts[0]), let nanoseconds = Int64(parts[1]),
      abs(nanoseconds.clamped) < 1_000_000_000,
      seconds == 0 || nanoseconds == 0
        || (seconds < 0) == (nanoseconds < 0)
    else { throw unexpected(expected) }
    guard nanoseconds < 0 else {
      return .date(seconds: seconds, nanoseconds: nanoseconds)
    }
    let (whole, overflow) = seconds.subtractingReportingOverflow(1)
    guard !overflow else { throw unexpected(expected) }
    return .date(seconds: whole, nanoseconds: nanoseconds + 1_000_000_000)
  }
}

extension Int64 {
  /// The number, or the nearest one whose opposite there is.
  fileprivate var clamped: Int64 { self == .min ? .min + 1 : self }
}
