// Snapshot+Changes.swift: the changes between two versions that are both held. Both trees of a
// table are walked side by side, and shared subtrees are recognized by their link and skipped:
// copy-on-write leaves everything but the changed leaves, and the nodes above them, in place.

extension Snapshot {
  /// The differences between this version and an older one, in both directions.
  ///
  /// What only moved in the file is not a change.
  /// - Parameter older: A snapshot of the same file, of this handle or of another one of this
  ///   process.
  /// - Returns: Tables, keys and columns that differ.
  /// - Throws: `EngineError` with code `.notComparable` when the snapshots are not of one open
  ///   file, or `older` is the newer one; `.corrupted`, `.io` or `.closed`.
  /// - Complexity: O(changed leaves × height): nodes that both versions share are not read. A
  ///   changed collection costs the same for its own tree.
  public func changes(since older: Snapshot) throws(EngineError) -> DatabaseChanges {
    try compare(with: older).changes
  }

  /// The same, with a count of the nodes read.
  /// - Parameters:
  ///   - older: As above.
  ///   - isSame: Whether two links lead to one node; tests replace it.
  /// - Returns: The differences, and the number of nodes opened.
  /// - Throws: As above.
  func compare(
    with older: Snapshot, isSame: @escaping NodeComparison.IsSame = { $0 == $1 }
  ) throws(EngineError) -> (changes: DatabaseChanges, nodeCount: Int) {
    try check()
    try older.check()
    guard database.session === older.database.session else {
      throw EngineError(
        code: .notComparable,
        message: "versions of one open file can be compared; these are of \(older.database.path) "
          + "and \(database.path), or of one file that was closed in between")
    }
    guard older.version <= version else {
      throw EngineError(
        code: .notComparable,
        message: "version \(version) has no changes since \(older.version), which came after it; "
          + "ask the newer snapshot for its changes since the older one")
    }
    return try older.state.reader.reading { olderSection throws(EngineError) in
      try state.reader.reading { section throws(EngineError) in
        let comparison = NodeComparison(
          older: older.state, newer: state, sections: (olderSection, section), isSame: isSame)
        let changes = try comparison.databaseChanges()
        return (changes, comparison.nodeCount)
      }
    }
  }
}
