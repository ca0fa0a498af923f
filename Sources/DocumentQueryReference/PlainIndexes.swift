// PlainIndexes.swift: documents without the distinctions that an index loses: in SQLite's index
// booleans equal numbers, and null in an array equals a missing value, as with the real library.

extension PlainCollection {
  /// The documents with numbers in place of booleans, and no nulls in arrays and dicts.
  package var plain: PlainCollection {
    PlainCollection(documents.map { ($0.id, $0.value.plain) })
  }
}

extension PlainValue {
  fileprivate var plain: PlainValue {
    switch self {
    case .boolean(let value): .integer(value ? 1 : 0)
    case .array(let items): .array(items.filter { $0 != .null }.map(\.plain))
    case .dict(let pairs): .dict(pairs.filter { $0.value != .null }.mapValues(\.plain))
    default: self
    }
  }
}
