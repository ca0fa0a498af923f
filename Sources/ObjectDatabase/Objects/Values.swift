// Values.swift: converts ObjectId, Decimal128, UUID, Date and Data to the engine's values and back.
// Invariants: a UUID and Data keep every bit; a Date keeps its Double of seconds since 2001, and
// converts back to the same Date.

import Engine
import FoundationEssentials

/// Twelve bytes that identify an object: a time, a process and a counter.
public typealias ObjectId = Engine.ObjectId

/// A decimal number of IEEE 754-2008 with 34 digits.
public typealias Decimal128 = Engine.Decimal128

extension Engine.ObjectId {
  /// Makes an identifier that no other call in this process gives.
  /// - Returns: The identifier; see `IdentifierSource` for its parts.
  public static func generate() -> Engine.ObjectId { IdentifierSource.makeObjectId() }

  /// Reads an identifier from 24 hexadecimal digits.
  /// - Parameter string: The digits, of either case.
  /// - Throws: `Realm.Error` with code `.invalidValue` for anything else.
  public init(string: String) throws {
    guard let id = Self(string) else {
      throw Realm.Error(
        .invalidValue, "\"\(string.prefix(40))\" is not an ObjectId; use 24 hexadecimal digits")
    }
    self = id
  }

  /// The 24 hexadecimal digits.
  public var stringValue: String { description }

  /// The time in the first four bytes, in whole seconds.
  public var timestamp: Date {
    Date(seconds: Int64(bytes[..<4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }), nanoseconds: 0)
  }
}

extension Engine.Decimal128 {
  /// Reads a number.
  /// - Parameter string: Digits with a sign, a point and an exponent, or `inf` or `nan`.
  /// - Throws: `Realm.Error` with code `.invalidValue` for anything else.
  public init(string: String) throws {
    guard let number = Self(string) else {
      throw Realm.Error(.invalidValue, "\"\(string.prefix(60))\" is not a decimal number")
    }
    self = number
  }

  /// The number as text.
  public var stringValue: String { description }
}

extension UUID {
  init(_ bytes: [UInt8]) {
    precondition(bytes.count == 16, "a UUID has 16 bytes")
    self.init(
      uuid: (
        bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7], bytes[8],
        bytes[9], bytes[10], bytes[11], bytes[12], bytes[13], bytes[14], bytes[15]
      ))
  }

  var engineValue: Value {
    let (a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p) = uuid
    guard let id = UUIDBytes(bytes: [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p]) else {
      preconditionFailure("a UUID has 16 bytes")
    }
    return .uuid(id)
  }
}

extension Date {
  init(seconds: Int64, nanoseconds: Int64) {
    self.init(
      timeIntervalSinceReferenceDate: Value.sinceReferenceDate(
        seconds: seconds, nanoseconds: nanoseconds))
  }

  /// The date to the last bit.
  var engineValue: Value { .date(sinceReferenceDate: timeIntervalSinceReferenceDate) }
}
