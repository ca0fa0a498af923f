// KeyStore+VectorDocuments.swift: documents with version vectors are read and saved.

extension KeyStore {
  /// A document of a file with version vectors.
  /// - Parameter id: Its ID.
  /// - Returns: The document, deleted or not; nil when there is none.
  /// - Throws: `DocumentStoreError` with code `.corruptRevisionData` or `.badRevisionID`.
  public func vectorDocument(_ id: String) throws(DocumentStoreError) -> VectorDocument? {
    guard let record = try record(id) else { return nil }
    return try VectorDocument(record, keys: connection.keys)
  }

  /// Saves a revision made here.
  /// - Parameters:
  ///   - document: The document to change; updated to the stored state.
  ///   - body: A dict; nil for a tombstone.
  /// - Throws: `DocumentStoreError`: `.conflict` when the document was changed first;
  ///   `.badDocumentID`, `.corruptRevisionData` for a body that cannot be stored.
  /// - Complexity: O(bytes).
  public func save(
    _ document: inout VectorDocument, body: [UInt8]?
  ) throws(DocumentStoreError) {
    try checkWriting()
    guard try snapshot.versioning() == .vectors else {
      throw DocumentStoreError(
        .unsupported,
        "\(quoted(connection.context)) has trees of revisions; use save(_:body:parent:)")
    }
    try DocumentRules.check(id: document.id)
    var changed = document
    let highest = document.vector?.versions.map(\.time).max() ?? 0
    let version = Version(time: try snapshot.file.clock.next(after: highest), source: .me)
    if var vector = document.vector {
      try vector.add(version)
      changed.vector = vector
    } else if document.record.sequence > 0 {
      let old = try RevisionID(stored: document.record.version)
      changed.vector = try VersionVector([version, Version(legacy: old)])
    } else {
      changed.vector = try VersionVector([version])
    }
    var flags: RecordFlags = body == nil ? .deleted : []
    if let body, try prepare(body: body) {
      flags.insert(.hasAttachments)
    }
    for remote in changed.remotes.values {
      flags.formUnion(remote.flags.intersection([.conflicted, .hasAttachments]))
    }
    changed.record.flags = flags
    changed.record.body = body
    changed.record.version = try changed.vector?.stored() ?? []
    changed.record.extra = try changed.encodedRemotes(keys: connection.keys)
    try set(&changed.record)
    document = changed
  }
}
