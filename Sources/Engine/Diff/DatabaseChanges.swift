// DatabaseChanges.swift: the differences between two versions of one database, as keys and names.
// Tables and columns are identified by id: a renamed one is the same, one that was removed and
// created again under its name is a different one. Values differ when their bits do.

/// The differences between two versions of one database.
public struct DatabaseChanges: Sendable, Equatable {
  /// The version that is compared with.
  public let olderVersion: Version
  /// The version that has the changes.
  public let newerVersion: Version
  /// Tables that the newer version has and the older one has not, in the order of their making.
  public internal(set) var addedTables: [String] = []
  /// Tables that the older version has and the newer one has not, in the order of their making.
  public internal(set) var removedTables: [String] = []
  /// Every table with a difference: those of the newer version in order of creation, then those
  /// that were removed.
  public internal(set) var tables: [TableChanges] = []

  init(from older: Version, to newer: Version) {
    olderVersion = older
    newerVersion = newer
  }

  /// Whether both versions have the same tables, columns, keys and values.
  public var isEmpty: Bool { tables.isEmpty }

  /// The changes of a table by its name in the newer version; nil when there are none.
  ///
  /// - Complexity: O(tables).
  public subscript(table: String) -> TableChanges? {
    tables.first { $0.name == table && !$0.isRemoved }
  }
}

/// The differences in one table.
public struct TableChanges: Sendable, Equatable {
  /// A name that changed.
  public struct Rename: Sendable, Equatable {
    /// The name in the older version.
    public let from: String
    /// The name in the newer version.
    public let to: String
  }

  /// The name in the newer version, or the last one of a removed table.
  public let name: String
  /// The name in the older version, if that is another one.
  public internal(set) var formerName: String?
  /// Whether the older version has no such table: all rows are insertions then.
  public internal(set) var isAdded = false
  /// Whether the newer version has no such table: all rows are deletions then.
  public internal(set) var isRemoved = false
  /// Columns that the older version has not; empty for a table that is new.
  public internal(set) var addedColumns: [String] = []
  /// Columns that the newer version has not; empty for a table that was removed.
  public internal(set) var removedColumns: [String] = []
  /// Columns that have another name in the newer version.
  public internal(set) var renamedColumns: [Rename] = []
  /// Keys of rows that the older version has not, ascending.
  public internal(set) var insertions: [Int64] = []
  /// Keys of rows that the newer version has not, ascending.
  public internal(set) var deletions: [Int64] = []
  /// Rows in both versions whose values differ, keys ascending.
  public internal(set) var modifications: [RowModification] = []

  init(name: String) {
    self.name = name
  }

  /// Whether nothing differs.
  var isEmpty: Bool { self == TableChanges(name: name) }
}

/// A row that two versions have with different values.
public struct RowModification: Sendable, Equatable {
  /// The row's key.
  public let key: Int64
  /// Which columns of the newer version differ, a bit for each.
  let mask: UInt128
  /// The columns of the newer version; all rows of a table share the array.
  let names: [String]

  /// The names of the columns that differ, in the order of the newer version's columns.
  ///
  /// A column of collections differs if any element does. An added column differs where a row's
  /// value is not the default that adding the column gave it.
  public var columns: [String] {
    names.indices.filter { mask >> UInt128($0) & 1 == 1 }.map { names[$0] }
  }

  /// Whether a column of the newer version differs.
  /// - Complexity: O(columns).
  public func changes(_ column: String) -> Bool {
    names.firstIndex(of: column).map { mask >> UInt128($0) & 1 == 1 } ?? false
  }
}
