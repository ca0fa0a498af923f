// ObservedContent.swift: the content of a crate, read in two ways: through the object database's
// lists and dictionaries, and from the engine's rows. Invariant: both end at `depthMax`, whatever
// a damaged file holds, and what no scenario can write reads as bytes, in both differently. A link
// to a dog that is not there reads as null.

import Engine
import ObjectDatabase
import Workload

extension PlannedValue {
  /// No content is as deep.
  private static let depthMax = 2 * ScenarioBounds.contentDepth

  /// A value read through the object database.
  package init(_ value: AnyRealmValue) { self.init(value, depth: 0) }

  private init(_ value: AnyRealmValue, depth: Int) {
    switch value {
    case .none: self = .null
    case .int(let number): self = .int(Int64(number))
    case .string(let text): self = .string(text)
    case .bool(let value): self = .bool(value)
    case .double(let number): self = .double(number.bitPattern)
    case .list(let list) where depth < Self.depthMax:
      self = .list(list.map { PlannedValue($0, depth: depth + 1) })
    case .dictionary(let map) where depth < Self.depthMax:
      self = .dictionary(
        sorting: map.asKeyValueSequence().map {
          PlannedEntry(key: $0.key, value: PlannedValue($0.value, depth: depth + 1))
        })
    case .object(let dog as any KennelDog): self = .link(Int64(dog._id))
    default: self = .unreadable("\(value)")
    }
  }

  /// What no scenario can write: bytes.
  private static func unreadable(_ what: String) -> PlannedValue { .binary(Array(what.utf8)) }

  /// A value read from rows.
  init(_ value: Value, _ rows: ObjectRows, depth: Int = 0) {
    if case .typedLink(rows.dogTable, let key) = value {
      self = rows.dogs[key].map { .link(Int64($0.int("_id"))) } ?? .null
      return
    }
    guard case .typedLink(rows.collectionTable, let key) = value else {
      self = PlannedValue(value) ?? .unreadable("value \(value)")
      return
    }
    guard depth < Self.depthMax, let row = rows.collections[key] else {
      self = .unreadable("row \(key)")
      return
    }
    guard row.columns["isDictionary"] == .bool(true) else {
      self = .list(row.items.map { PlannedValue($0, rows, depth: depth + 1) })
      return
    }
    self = .dictionary(
      sorting: row.entries.map {
        PlannedEntry(key: $0.key, value: PlannedValue($0.value, rows, depth: depth + 1))
      })
  }
}

extension ObjectRows.Row {
  /// The elements of a row that is a list in a mixed value.
  fileprivate var items: [Value] {
    if case .list(let values) = columns["items"] { values } else { [] }
  }

  /// The entries of a row that is a dictionary in a mixed value.
  fileprivate var entries: [DictionaryEntry] {
    if case .dictionary(let entries) = columns["entries"] { entries } else { [] }
  }

  /// The values of a content, or of a collection in one.
  var mixedValues: [Value] { [columns["content"] ?? .null] + items + entries.map(\.value) }
}
