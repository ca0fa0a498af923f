// KeyStoreName.swift: names of key stores, and of the tables that hold them. SQL names ignore case,
// but those of key stores do not: so each capital letter of a table's name has a backslash before
// it, and no other letter.

import DocumentQuery

/// The name of a key store: of a collection's records, or of the data file's own records.
public struct KeyStoreName: Hashable, Sendable, Comparable, CustomStringConvertible {
  /// The name as the file's lists have it: `default`, `info`, `.widgets`, `.inventory.chairs`.
  public let text: String

  private init(unchecked text: String) { self.text = text }

  /// The key store of the default collection.
  public static let defaultCollection = KeyStoreName(unchecked: "default")
  /// The store's information about itself: UUIDs, shared keys, versioning.
  public static let info = KeyStoreName(unchecked: "info")
  /// A replicator's checkpoints.
  public static let checkpoints = KeyStoreName(unchecked: "checkpoints")
  /// Checkpoints that peers store here.
  public static let peerCheckpoints = KeyStoreName(unchecked: "peerCheckpoints")

  /// The key store of a collection.
  /// - Parameter collection: The collection.
  public init(_ collection: CollectionName) {
    switch (collection.scope, collection.name) {
    case (CollectionName.defaultName, CollectionName.defaultName): text = "default"
    case (CollectionName.defaultName, let name): text = ".\(name)"
    case (let scope, let name): text = ".\(scope).\(name)"
    }
  }

  /// The key store that a table holds; nil for other tables, and for tables of dead records.
  init?(table: String) {
    guard table.hasPrefix("kv_"), !table.hasPrefix("kv_del_"), !table.contains(":") else {
      return nil
    }
    let plain = String(table.dropFirst(3).filter { $0 != "\\" })
    guard !plain.isEmpty, Self.mangled(plain) == table.dropFirst(3) else { return nil }
    text = plain
  }

  /// A key store as the file's lists name it; nil for names that none has.
  init?(stored text: String) {
    guard !text.isEmpty, !text.contains("\\") else { return nil }
    self.init(unchecked: text)
  }

  /// The collection whose records it holds; nil for the data file's own key stores, and for names
  /// that are not valid for collections.
  public var collection: CollectionName? {
    if text == "default" { return .default }
    guard text.hasPrefix(".") else { return nil }
    let parts = text.dropFirst().split(separator: ".", omittingEmptySubsequences: false)
    switch parts.count {
    case 1: return try? CollectionName(String(parts[0]))
    case 2: return try? CollectionName(String(parts[1]), scope: String(parts[0]))
    default: return nil
    }
  }

  /// Whether it holds a collection, so that dead records have their own table.
  var isCollection: Bool { text == "default" || text.hasPrefix(".") }

  /// The table of live records.
  var table: String { "kv_" + Self.mangled(text) }
  /// The table of dead ones.
  var deadTable: String { "kv_del_" + Self.mangled(text) }
  /// The view of both.
  var view: String { "all_" + Self.mangled(text) }

  /// Name order, byte by byte.
  public static func < (first: KeyStoreName, second: KeyStoreName) -> Bool {
    first.text.utf8.lexicographicallyPrecedes(second.text.utf8)
  }

  /// The name.
  public var description: String { text }

  static func mangled(_ text: String) -> String {
    var output = ""
    for scalar in text.unicodeScalars {
      if ("A"..."Z").contains(scalar) { output.append("\\") }
      output.unicodeScalars.append(scalar)
    }
    return output
  }
}

/// A name in SQL, quoted.
func identifier(_ name: String) -> String { SQLNames.doubled(name, "\"") }

/// A text in SQL, quoted.
func literal(_ text: String) -> String { SQLNames.doubled(text, "'") }
