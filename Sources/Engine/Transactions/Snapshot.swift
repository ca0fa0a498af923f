// Snapshot.swift: the immutable content of one version. Invariant: the version is pinned from the
// snapshot's creation to its release, so none of its sectors is written; its mapping is kept as
// long as the snapshot.

import Synchronization

/// The content of one version, unchanged for as long as it is held.
///
/// Any thread may read it. Release it when no longer needed: it keeps space from being reused.
public final class Snapshot: Sendable {
  let database: Database
  let state: VersionState
  private let pin: Pin
  private let isReleased = Atomic<Bool>(false)

  init(_ database: Database, _ state: VersionState, _ pin: Pin) {
    self.database = database
    self.state = state
    self.pin = pin
  }

  deinit {
    release()
  }

  /// The version.
  public var version: Version { state.version }

  /// The tables, in the order in which they were made.
  public var tables: [TableSchema] { state.group.tables.map(\.schema) }

  /// Releases the pin; reading afterwards is an error with code `.closed`.
  ///
  /// No other thread may be reading the snapshot during the call.
  public func release() {
    if !isReleased.exchange(true, ordering: .acquiringAndReleasing) {
      database.unpin(pin)
    }
  }

  /// Whether `check` has nothing to say.
  @inline(__always)
  var isUsable: Bool { !isReleased.load(ordering: .acquiring) && !database.session.isForked }

  @inline(__always)
  func check() throws(EngineError) {
    if isReleased.load(ordering: .acquiring) { throw .closed("snapshot") }
    // The pin belongs to the parent, which may release it at any time.
    try database.checkForked()
  }

  func tree(_ table: TableRecord) -> BPlusTree {
    BPlusTree(
      reader: state.reader, root: table.root, level: table.level, shape: table.shape,
      newest: state.version)
  }

  /// Calls `body` with each row of a table, in key order.
  /// - Throws: What `body` throws, or `EngineError` with code `.noSuchTable`, `.corrupted` or
  ///   `.closed`.
  public func forEach(
    in table: String, _ body: (Int64, [Value]) throws(EngineError) -> Void
  ) throws(EngineError) {
    try check()
    let record = try state.group.table(named: table)
    try state.reader.reading { section throws(EngineError) in
      try tree(record).forEachLeaf(section: section) { leaf throws(EngineError) in
        if state.reader.cipher == nil {
          for index in 0..<leaf.count {
            let values = try state.reader.row(leaf, index, record.shape, newest: state.version)
            let key = leaf.keys[index]
            try state.reader.mapping.checkPages()
            try body(key, values)
          }
          return
        }
        // The caller's code must not keep decrypted nodes in memory: it gets copies.
        let rows = try (0..<leaf.count).map { index throws(EngineError) in
          let values = try state.reader.row(leaf, index, record.shape, newest: state.version)
          return (leaf.keys[index], values)
        }
        section.pause()
        for (key, values) in rows { try body(key, values) }
      }
    }
  }

  /// One number for the content: tables, schemas, keys and values, independent of the nodes.
  ///
  /// `ContentHasher` computes it from values.
  /// - Throws: `EngineError` with code `.corrupted` or `.closed`.
  /// - Complexity: O(bytes), without making values of them.
  public func contentHash() throws(EngineError) -> UInt64 {
    try check()
    return try state.reader.reading { section throws(EngineError) in
      var hasher = ContentHasher()
      var scratch = ContentHasher.Scratch()
      for table in state.group.tables {
        hasher.beginTable(table.schema)
        try hasher.combine(tree(table), section: section, scratch: &scratch)
      }
      return hasher.finalize()
    }
  }
}
