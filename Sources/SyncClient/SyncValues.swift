// SyncValues.swift: converts the engine's values to those of synchronization, and back. Both keep
// every bit; links are row keys on one side and primary keys on the other, so they are translated
// where rows can be read (RowReader.swift).

import Engine
import SyncCore

extension SyncValue {
  /// A value that is neither a link nor a collection; nil for those.
  init?(_ value: Value) {
    switch value {
    case .null: self = .null
    case .int(let number): self = .int(number)
    case .string(let text): self = .text(SyncText(text))
    case .bool(let isTrue): self = .bool(isTrue)
    case .float(let number): self = .float(bits: number.bitPattern)
    case .double(let number): self = .double(bits: number.bitPattern)
    case .binary(let bytes): self = .binary(bytes)
    case .date(let seconds, let nanoseconds):
      self = .date(seconds: seconds, nanoseconds: nanoseconds)
    case .objectId(let id): self = .objectId(high: id.high, low: id.low)
    case .uuid(let id): self = .uuid(id.number)
    case .decimal128(let number):
      self = .decimal(UInt128(number.high) << 64 | UInt128(number.low))
    case .link, .typedLink, .list, .set, .dictionary: return nil
    }
  }

  /// The engine's value for one that is neither a link nor an embedded object; nil for those.
  var plain: Value? {
    switch self {
    case .null: .null
    case .bool(let isTrue): .bool(isTrue)
    case .int(let number): .int(number)
    case .float(let bits): .float(Float(bitPattern: bits))
    case .double(let bits): .double(Double(bitPattern: bits))
    case .text(let text): .string(text.description)
    case .binary(let bytes): .binary(bytes)
    case .date(let seconds, let nanoseconds): .date(seconds: seconds, nanoseconds: nanoseconds)
    case .objectId(let high, let low): .objectId(ObjectId(high: high, low: low))
    case .uuid(let number): .uuid(UUIDBytes(number: number))
    case .decimal(let number):
      .decimal128(
        Decimal128(
          high: UInt64(truncatingIfNeeded: number >> 64), low: UInt64(truncatingIfNeeded: number)))
    case .link, .embedded: nil
    }
  }
}

extension SyncKey {
  /// A value that can be a primary key; nil for others.
  init?(_ value: Value) {
    switch value {
    case .null: self = .null
    case .int(let number): self = .int(number)
    case .string(let text): self = .text(SyncText(text))
    case .objectId(let id): self = .objectId(high: id.high, low: id.low)
    case .uuid(let id): self = .uuid(id.number)
    default: return nil
    }
  }

  /// The primary key as the engine holds it.
  var value: Value {
    switch self {
    case .null: .null
    case .int(let number): .int(number)
    case .text(let text): .string(text.description)
    case .objectId(let high, let low): .objectId(ObjectId(high: high, low: low))
    case .uuid(let number): .uuid(UUIDBytes(number: number))
    }
  }
}

extension UUIDBytes {
  /// The bytes as a number, the first of them highest.
  fileprivate var number: UInt128 { UInt128(high) << 64 | UInt128(low) }

  fileprivate init(number: UInt128) {
    self.init(
      high: UInt64(truncatingIfNeeded: number >> 64), low: UInt64(truncatingIfNeeded: number))
  }
}
