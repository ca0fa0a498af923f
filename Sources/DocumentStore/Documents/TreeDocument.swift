// TreeDocument.swift: a record with its tree of revisions. 2.x stores the whole tree in the
// record's body; 3.x stores the current revision's body there, and the tree in `extra`. Both are
// read; records are saved in the form of 3.x.

/// A document whose revisions are a tree.
public struct TreeDocument: Hashable, Sendable {
  /// The stored record.
  public internal(set) var record: Record
  /// Its revisions, with the bodies kept for them.
  public internal(set) var tree: RevisionTree

  /// The document's ID.
  public var id: String { record.key }

  /// A document that is not stored yet.
  init(id: String) {
    record = Record(key: id)
    tree = RevisionTree()
  }

  /// Reads a record.
  /// - Parameter record: The record, whole.
  /// - Throws: `DocumentStoreError` with code `.corruptRevisionData` when it has no tree, or one
  ///   that does not match it.
  /// - Complexity: O(bytes).
  public init(_ record: Record) throws(DocumentStoreError) {
    self.record = record
    guard record.sequence >= 0 else {
      throw DocumentStoreError(
        .corruptRevisionData, "document \(quoted(record.key)) has sequence \(record.sequence) < 0")
    }
    do { tree = try Self.tree(of: record) } catch {
      throw DocumentStoreError(
        .corruptRevisionData, "document \(quoted(record.key)): \(error.message)")
    }
    // The pair of a revision that was pushed reaches the tree with the next save.
    if record.flags.contains(.synced) { tree.setRemote(1, to: 0) }
  }

  private static func tree(of record: Record) throws(DocumentStoreError) -> RevisionTree {
    guard let extra = record.extra else {
      guard let body = record.body, RevisionTree.isTree(body) else {
        throw DocumentStoreError(.corruptRevisionData, "it has no tree of revisions")
      }
      return try RevisionTree(reading: body, sequence: record.sequence)
    }
    var tree = try RevisionTree(reading: extra, sequence: record.sequence)
    guard tree.revisions[0].id.stored == record.version else {
      throw DocumentStoreError(
        .corruptRevisionData,
        "its version \(hex(record.version)) is not the first of its tree, \(tree.revisions[0].id)")
    }
    tree.revisions[0].body = record.body
    return tree
  }

  /// The current revision.
  public var current: Revision? { tree.current }

  /// Stores the tree's bytes in the record, in the form of 3.x.
  mutating func fold(depthMax: Int) throws(DocumentStoreError) {
    tree.dropBodies()
    tree.prune(depthMax: depthMax)
    record.flags = tree.recordFlags
    record.version = tree.revisions[0].id.stored
    record.body = tree.revisions[0].body ?? RevisionTree.emptyBody
    record.extra = try tree.encoded()
  }
}
