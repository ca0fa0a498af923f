// SyncValue.swift: the value of a property, an element or an entry of a dictionary. Values are
// equal when their bits are: a NaN equals itself, and -0 differs from 0.

/// A value.
public enum SyncValue: Hashable, Sendable {
  /// No value.
  case null
  /// True or false.
  case bool(Bool)
  /// An integer.
  case int(Int64)
  /// A 32-bit floating-point number, by its bits.
  case float(bits: UInt32)
  /// A 64-bit floating-point number, by its bits.
  case double(bits: UInt64)
  /// A text.
  case text(SyncText)
  /// Bytes.
  case binary([UInt8])
  /// Seconds since 1970, and 0 to 999,999,999 nanoseconds after them; a larger number represents a
  /// fine date, which nanoseconds cannot express (docs/reference/file-format.md, fine dates). It is
  /// never negative.
  case date(seconds: Int64, nanoseconds: Int64)
  /// The 12 bytes of an ObjectId: its first eight, big-endian, and its last four.
  case objectId(high: UInt64, low: UInt32)
  /// The 16 bytes of a UUID, big-endian.
  case uuid(UInt128)
  /// The 16 bytes of a decimal number, big-endian.
  case decimal(UInt128)
  /// A link to an object.
  case link(SyncObject)
  /// A new embedded object without properties; operations below its place fill it. Each writing of
  /// this value starts another generation, even in place of an embedded object.
  case embedded
}
