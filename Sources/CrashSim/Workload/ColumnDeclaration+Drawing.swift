// ColumnDeclaration+Drawing.swift: draws values of a column's type from a seed.

import LabCore

extension ValueRule {
  /// Whether it draws a value of the column's own kind.
  var isDrawn: Bool {
    switch self {
    case .any, .items: true
    default: false
    }
  }
}

extension ColumnDeclaration {
  /// Draws a value.
  func draw(_ generator: inout PRNG) -> PlannedValue {
    if isOptional, generator.below(4) == 0 { return .null }
    return drawElement(&generator)
  }

  /// Draws a value that is not null.
  func drawElement(_ generator: inout PRNG) -> PlannedValue {
    switch type {
    case .int: return .int(generator.anyInt())
    case .string: return .string(generator.letters(Int(generator.below(24))))
    case .bool: return .bool(generator.below(2) == 0)
    case .double: return .double(generator.next())
    case .binary: return .binary((0..<generator.below(40)).map { _ in UInt8(generator.below(256)) })
    case .date:
      return .date(seconds: generator.anyInt(), nanoseconds: Int64(generator.below(1_000_000_000)))
    case .uuid:
      return .uuid(PlannedValue.uuid((0..<16).map { _ in UInt8(generator.below(256)) }))
    case .mixed:
      return generator.below(2) == 0
        ? .int(generator.anyInt()) : .string(generator.letters(Int(generator.below(24))))
    case .link: return .null
    }
  }
}

extension PRNG {
  /// An int of random width.
  mutating func anyInt() -> Int64 {
    let bits = next()
    return Int64(bitPattern: bits) >> Int64(below(64))
  }

  /// Lower-case letters.
  mutating func letters(_ count: Int) -> String {
    String(decoding: (0..<count).map { _ in UInt8(97 + below(26)) }, as: UTF8.self)
  }
}
