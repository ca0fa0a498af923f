// KeyStore+TreeDocuments.swift: documents with trees of revisions are saved, pulled and resolved.

extension KeyStore {
  /// A document.
  /// - Parameter id: Its ID.
  /// - Returns: The document, deleted or not; nil when there is none.
  /// - Throws: `DocumentStoreError` with code `.corruptRevisionData`.
  public func document(_ id: String) throws(DocumentStoreError) -> TreeDocument? {
    guard let record = try record(id) else { return nil }
    return try TreeDocument(record)
  }

  /// Saves a revision.
  ///
  /// With a parent, that must be the end of a branch, or have the same revision already. Without
  /// one there must be no document, or a deleted one, whose child the revision becomes. The same
  /// body on the same parent is the same revision: nothing is written then.
  /// - Parameters:
  ///   - id: The document's ID.
  ///   - body: A dict; nil for a tombstone.
  ///   - parent: The revision that it changes.
  /// - Returns: The updated document.
  /// - Throws: `DocumentStoreError`: `.conflict`, `.notFound`, `.badDocumentID`,
  ///   `.corruptRevisionData` for a body that cannot be stored.
  /// - Complexity: O(bytes of body and tree).
  @discardableResult
  public func save(
    _ id: String, body: [UInt8]?, parent: RevisionID? = nil
  ) throws(DocumentStoreError) -> TreeDocument {
    try checkTrees()
    try DocumentRules.check(id: id)
    var flags: RevisionFlags = body == nil ? .deleted : []
    if let body, try prepare(body: body) {
      flags.insert(.hasAttachments)
    }
    let found = try document(id)
    var document = found ?? TreeDocument(id: id)
    let index = try parentIndex(of: parent, in: found, isDeleting: body == nil, id: id)
    let stored = body ?? RevisionTree.emptyBody
    let revision = try RevisionID(
      body: stored, isDeleted: body == nil, parent: index.map { document.tree.revisions[$0].id })
    guard document.tree.index(of: revision) == nil else { return document }
    if let index, !document.tree.revisions[index].flags.contains(.leaf) {
      throw outdated(id, document.tree.revisions[index].id)
    }
    document.tree.insert(revision, parent: index, flags: flags, body: stored)
    return try store(document)
  }

  /// The parent of a revision that is to be saved.
  private func parentIndex(
    of parent: RevisionID?, in document: TreeDocument?, isDeleting: Bool, id: String
  ) throws(DocumentStoreError) -> Int? {
    guard let parent else {
      guard let document, let current = document.current else {
        guard !isDeleting else {
          throw DocumentStoreError(.notFound, "\(name) has no \(quoted(id)) that could be deleted")
        }
        return nil
      }
      guard !isDeleting, current.flags.contains(.deleted) else {
        throw DocumentStoreError(
          .conflict, "\(quoted(id)) exists as \(current.id); name it as the parent")
      }
      return 0
    }
    guard let document else {
      throw DocumentStoreError(.notFound, "\(name) has no \(quoted(id)) with revision \(parent)")
    }
    guard let index = document.tree.index(of: parent) else { throw outdated(id, parent) }
    return index
  }

  private func outdated(_ id: String, _ parent: RevisionID) -> DocumentStoreError {
    DocumentStoreError(
      .conflict, "\(quoted(id)) was changed after \(parent); read it, and save on what it has now")
  }

  /// Adds a revision from another database, with its ancestors.
  ///
  /// A revision that does not follow the current one is added as a conflict.
  /// - Parameters:
  ///   - id: The document's ID.
  ///   - history: IDs, the new revision's first, each one's parent next.
  ///   - body: A dict; nil for a tombstone.
  ///   - remote: The database that it came from, from 1 on; nil for none.
  /// - Returns: The updated document.
  /// - Throws: `DocumentStoreError`: `.badRevisionID`, `.badDocumentID`, `.corruptRevisionData`.
  /// - Complexity: O(bytes of body and tree, and history · revisions).
  @discardableResult
  public func pull(
    _ id: String, history: [RevisionID], body: [UInt8]?, from remote: UInt16? = nil
  ) throws(DocumentStoreError) -> TreeDocument {
    try checkTrees()
    try DocumentRules.check(id: id)
    guard remote != 0 else {
      throw DocumentStoreError(.invalidParameter, "remote 0 is this database; count from 1")
    }
    var flags: RevisionFlags = body == nil ? .deleted : []
    if let body, try prepare(body: body) {
      flags.insert(.hasAttachments)
    }
    var document = try document(id) ?? TreeDocument(id: id)
    let isNew = try document.tree.insert(
      history: history, flags: flags, body: body ?? RevisionTree.emptyBody)
    if let remote, let index = document.tree.index(of: history[0]) {
      guard isNew || document.tree.remotes[remote] != index else { return document }
      document.tree.setRemote(remote, to: index)
    } else if !isNew {
      return document
    }
    return try store(document)
  }

  /// Ends a conflict between two branches.
  /// - Parameters:
  ///   - id: The document's ID.
  ///   - winner: The revision that stays.
  ///   - loser: The revision whose branch is closed.
  ///   - body: A dict that joins both, saved on the winner; nil for none.
  ///   - prunes: Whether the loser's branch is removed, instead of being closed by a tombstone.
  /// - Returns: The updated document.
  /// - Throws: `DocumentStoreError`: `.notFound`, `.conflict` when one of them is not a leaf.
  @discardableResult
  public func resolve(
    _ id: String, winner: RevisionID, loser: RevisionID, body: [UInt8]? = nil,
    prunes: Bool = true
  ) throws(DocumentStoreError) -> TreeDocument {
    try checkTrees()
    guard var document = try document(id) else {
      throw DocumentStoreError(.notFound, "\(name) has no \(quoted(id))")
    }
    try document.tree.resolve(winner: winner, loser: loser, prunes: prunes)
    if let body {
      let hasBlobs = try prepare(body: body)
      let merged = try RevisionID(body: body, isDeleted: false, parent: winner)
      if document.tree.index(of: merged) == nil {
        document.tree.insert(
          merged, parent: document.tree.index(of: winner), flags: hasBlobs ? .hasAttachments : [],
          body: body)
      }
    }
    return try store(document)
  }

  private func store(_ document: TreeDocument) throws(DocumentStoreError) -> TreeDocument {
    var document = document
    try document.fold(depthMax: try snapshot.revisionDepthMax())
    try set(&document.record, .new, isAbsent: document.record.sequence == 0)
    for index in document.tree.revisions.indices
    where document.tree.revisions[index].sequence == nil {
      document.tree.revisions[index].sequence = document.record.sequence
    }
    return document
  }

  private func checkTrees() throws(DocumentStoreError) {
    try checkWriting()
    guard try snapshot.versioning() != .vectors else {
      throw DocumentStoreError(
        .unsupported, "\(quoted(connection.context)) has version vectors; save a VectorDocument")
    }
  }
}
