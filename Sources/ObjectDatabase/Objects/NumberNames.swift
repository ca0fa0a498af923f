// NumberNames.swift: RealmSwift's names and literals of Decimal128 and ObjectId, whose types are
// the engine's. Invariant: a literal that is none of the type's values stops the process.

import Engine
import Foundation

extension Engine.Decimal128: ExpressibleByStringLiteral {
  /// The number of a literal in quotes; one that is no number stops the process.
  public init(stringLiteral text: String) {
    guard let number = Engine.Decimal128(text as String) else {
      Misuse.stop("\"\(text.prefix(60))\" is not a decimal number")
    }
    self = number
  }
}

extension Engine.Decimal128 {
  /// Zero.
  public init() { self = .zero }

  /// The number of Foundation's; a floating-point one by its shortest text.
  public init(number: NSNumber) {
    let property = Property(name: "", columnName: "", type: .decimal128)
    guard case .decimal128(let value) = DynamicValue.plain(number, property) else {
      self.init(Int64(number.boolValue ? 1 : 0))
      return
    }
    self = value
  }

  /// The number that a value is, or that a text spells; any other value stops the process.
  public init(value: Any) {
    let property = Property(name: "", columnName: "", type: .decimal128)
    guard case .decimal128(let number) = DynamicValue.plain(value, property) else {
      Misuse.stop("\(String(describing: value).prefix(60)) is not a decimal number")
    }
    self = number
  }

  /// The nearest binary number.
  public var doubleValue: Double { Double(self) }

  /// The smallest number.
  public static var minimum: Engine.Decimal128 { -greatestFiniteMagnitude }

  /// The greatest number.
  public static var maximum: Engine.Decimal128 { greatestFiniteMagnitude }

  /// The sum.
  public func decimalNumber(byAdding other: Engine.Decimal128) -> Engine.Decimal128 {
    self + other
  }

  /// The difference.
  public func decimalNumber(bySubtracting other: Engine.Decimal128) -> Engine.Decimal128 {
    self - other
  }

  /// The product.
  public func decimalNumber(byMultiplyingBy other: Engine.Decimal128) -> Engine.Decimal128 {
    self * other
  }

  /// The quotient.
  public func decimalNumber(byDividingBy other: Engine.Decimal128) -> Engine.Decimal128 {
    Engine.Decimal128.quotient(self, other)
  }

  /// Whether it is greater.
  public func isGreaterThan(_ other: Engine.Decimal128) -> Bool { self > other }
  /// Whether it is greater or equal.
  public func isGreaterThanOrEqual(to other: Engine.Decimal128) -> Bool { self >= other }
  /// Whether it is less.
  public func isLessThan(_ other: Engine.Decimal128) -> Bool { self < other }
  /// Whether it is less or equal.
  public func isLessThanOrEqual(to other: Engine.Decimal128) -> Bool { self <= other }

  fileprivate static func quotient(
    _ left: Engine.Decimal128, _ right: Engine.Decimal128
  ) -> Engine.Decimal128 {
    left / right
  }
}

/// A number that is divided.
///
/// Operators are found only in modules that a file imports, and those of Decimal128 are the
/// engine's; `+`, `-` and `*` come with `Numeric`.
public protocol _Divisible {
  /// The quotient.
  static func _quotient(_ left: Self, _ right: Self) -> Self
}

extension _Divisible {
  /// The quotient.
  public static func / (left: Self, right: Self) -> Self { _quotient(left, right) }
  /// Divides.
  public static func /= (left: inout Self, right: Self) { left = _quotient(left, right) }
}

extension Engine.Decimal128: _Divisible {
  /// The quotient.
  public static func _quotient(
    _ left: Engine.Decimal128, _ right: Engine.Decimal128
  ) -> Engine.Decimal128 {
    quotient(left, right)
  }
}

extension Engine.ObjectId: ExpressibleByStringLiteral {
  /// The identifier of a literal of 24 hexadecimal digits; any other stops the process.
  public init(stringLiteral text: String) {
    guard let id = Engine.ObjectId(text as String) else {
      Misuse.stop(
        "\"\(text.prefix(40))\" is not an ObjectId; use 24 hexadecimal digits")
    }
    self = id
  }
}

extension Engine.ObjectId {
  /// Twelve bytes of zero.
  public init() { self.init(timestampSeconds: 0, random: 0, counter: 0) }

  /// An identifier of its parts, the process and machine in five bytes; the counter is drawn.
  public init(timestamp: Date, machineId: Int, processId: Int) {
    let seconds = UInt32(clamping: Int64(clamping: timestamp.timeIntervalSince1970))
    let random =
      (UInt64(truncatingIfNeeded: machineId) & 0xFF_FFFF) << 16
      | UInt64(truncatingIfNeeded: processId) & 0xFFFF
    let drawn = Engine.ObjectId.generate().bytes.suffix(3)
    self.init(
      timestampSeconds: seconds, random: random,
      counter: drawn.reduce(0) { $0 << 8 | UInt32($1) })
  }
}

extension Int64 {
  fileprivate init(clamping number: Double) {
    self = number.isNaN ? 0 : Int64(exactly: number.rounded(.down)) ?? (number < 0 ? .min : .max)
  }
}
