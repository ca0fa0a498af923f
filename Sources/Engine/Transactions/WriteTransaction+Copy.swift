// WriteTransaction+Copy.swift: copies the content that a transaction sees, including its own
// changes. The changed nodes are written to free space of the database's file, from where they are
// copied like those of a version. Invariants: no slot leads to them, so for all other handles they
// are free space, before and after; the transaction keeps its changes in memory, and its commit
// writes them again, over these.

extension WriteTransaction {
  /// Writes a compact copy of what this transaction sees to a new file; the transaction stays open.
  /// - Parameters:
  ///   - path: The new file; the path must not exist.
  ///   - encryptionKey: The key of the copy, 64 bytes; nil for a copy in the clear.
  /// - Throws: `EngineError` as `Database.writeCopy(to:encryptionKey:)` does, and with code
  ///   `.poisoned` or the error of an earlier change that failed half-way; the transaction stays
  ///   open.
  /// - Complexity: O(bytes in use) time, memory for the changed nodes and one buffer.
  ///
  /// Durability: as for `Database.writeCopy(to:encryptionKey:)`. The transaction's changes are no
  /// more durable in the database than before.
  public func writeCopy(to path: String, encryptionKey: [UInt8]?) throws(EngineError) {
    try check()
    try putWords()
    try database.writeCopy(
      of: try database.provisionalVersion(mutableTables, writer, base: base), to: path,
      encryptionKey: encryptionKey)
  }
}

extension Database {
  /// A version that only its caller knows: a transaction's changes on top of their base.
  ///
  /// Durability: none.
  fileprivate func provisionalVersion(
    _ tables: [MutableTable], _ writer: TreeWriter, base: VersionState
  ) throws(EngineError) -> VersionState {
    try checkWritable()
    guard let space = state.withLock({ $0.group?.space ?? $0.space }) else {
      preconditionFailure("the writer's space was prepared at the begin")
    }
    return try base.reader.reading { _ throws(EngineError) in
      let map = try reclaimed(space.map)
      return try CommitWriter(backend: backend, base: base).provisional(
        tables, writer, space: map, fileSizeBytes: space.fileSizeBytes)
    }
  }
}

extension CommitWriter {
  /// Writes a transaction's changed nodes to free space, without a slot that leads to them.
  fileprivate func provisional(
    _ tables: [MutableTable], _ writer: TreeWriter, space: SpaceMap, fileSizeBytes: UInt64
  ) throws(EngineError) -> VersionState {
    try base.reader.cipher?.beginSession()
    try writer.bringEditedNodes(of: tables, copiesLeaves: false)
    var sink = NodeSink(
      slab: slab, version: base.version.next, reader: base.reader, space: space, isForCopy: true)
    let records = tables.map { $0.encoded(into: &sink) }
    let needed = sink.space.endSector * UInt64(Layout.sectorSizeBytes)
    var reader = base.reader
    if needed > fileSizeBytes {
      try allocate(needed)
      reader = try reader.remapped(try backend.map())
    }
    try base.reader.mapping.checkPages()
    try slab.write(to: backend)
    // Copying a version does not read its top, only the content of its group.
    return VersionState(
      slot: RootSlot(version: sink.version, top: .none, logicalSizeBytes: needed),
      group: Group(
        freeList: .none, nextTableID: writer.nextTableID, memo: writer.memo, tables: records),
      reader: reader.limited(to: needed, edited: nil))
  }
}
