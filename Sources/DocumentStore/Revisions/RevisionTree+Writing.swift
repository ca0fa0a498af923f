// RevisionTree+Writing.swift: the bytes of trees. Of the pair 0/0 that 3.2 writes, and 3.1 refuses,
// there is none unless revisions were refused, which 3.1 does not know anyway.

extension RevisionTree {
  /// Where bodies are.
  package enum Form {
    /// 3.x: the current revision's in the record, others in the tree.
    case current
    /// 2.x: all in the tree, which is the record's body.
    case old
  }

  /// The tree as bytes; a revision without sequence is written with 0, the record's own.
  /// - Throws: `DocumentStoreError` with code `.invalidParameter` for more revisions than indexes.
  /// - Complexity: O(bytes).
  package func encoded(_ form: Form = .current) throws(DocumentStoreError) -> [UInt8] {
    guard revisions.count <= Self.countMax else {
      throw DocumentStoreError(
        .invalidParameter, "\(revisions.count) revisions > \(Self.countMax); prune the tree")
    }
    var output: [UInt8] = []
    for (index, revision) in revisions.enumerated() {
      let body = form == .current && index == 0 ? nil : revision.body
      var entry: [UInt8] = []
      entry.append(uint16: revision.parent.map { UInt16($0) } ?? 0xffff)
      entry.append(revision.flags.rawValue | (body == nil ? 0 : RevisionFlags.hasData.rawValue))
      let id = revision.id.stored
      entry.append(UInt8(id.count))
      entry += id
      entry.append(varint: UInt64(revision.sequence ?? 0))
      if let body { entry += body }
      guard let size = UInt32(exactly: entry.count + 4) else {
        throw DocumentStoreError(.invalidParameter, "a revision of \(entry.count) bytes")
      }
      output.append(uint32: size)
      output += entry
    }
    output.append(uint32: 0)
    for (remote, index) in remotes.sorted(by: { $0.key < $1.key }) {
      output.append(uint16: remote)
      output.append(uint16: UInt16(index))
    }
    guard !rejected.isEmpty else { return output }
    output.append(uint32: 0)
    for index in rejected {
      output.append(uint16: 0)
      output.append(uint16: UInt16(index))
    }
    return output
  }
}
