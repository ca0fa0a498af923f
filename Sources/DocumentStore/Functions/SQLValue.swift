// SQLValue.swift: how values of documents are values of SQL.
//   missing          NULL
//   null             a blob of no bytes, subtype 67
//   false, true      0, 1, subtype 68
//   integer          integer; subtype 69 when it has no sign, and bits are its own from 2⁶³ on
//   text, real       as they are
//   array, dict      a blob of Fleece with keys as texts, subtype 0; data likewise
//   bytes            a blob, subtype 66
// SQLite loses subtypes in tables and indexes, as with the real library.

/// Subtypes of SQL values, as in the real library.
enum SQLSubtype {
  static let bytes: UInt32 = 0x66
  static let null: UInt32 = 0x67
  static let boolean: UInt32 = 0x68
  static let unsigned: UInt32 = 0x69
}

/// The kind of an SQLite value.
enum SQLKind {
  case null
  case integer
  case real
  case text
  case blob
}
