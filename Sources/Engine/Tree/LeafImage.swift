// LeafImage.swift: the bytes that a leaf in memory would have in the place of its stored node.

/// The bytes of a leaf to be: all but its header.
struct LeafImage {
  let sizeBytes: Int
  let count: Int
  let auxiliary: Int
  let fill: (MutableBytes) -> Void
}

extension MutableTree {
  /// The leaf's bytes; nil when it has values that have no place yet.
  func plan(_ leaf: MutableLeaf) -> LeafImage? {
    for column in leaf.columns where !column.externals.isEmpty {
      for row in 0..<leaf.count where column.externals[row] {
        let entry = ExternalEntry(column.bytes[column.range(row)])
        if TreeWriter.isUnplaced(entry.link) { return nil }
      }
    }
    let plan = LeafPlan(keys: leaf.keys, leaf.columns)
    return LeafImage(
      sizeBytes: plan.sizeBytes, count: plan.rowCount, auxiliary: plan.descriptorCount
    ) { plan.encode(into: $0) }
  }
}

extension MutableKeyPairTree {
  /// The leaf's bytes.
  func plan(_ leaf: MutableKeyPairLeaf) -> LeafImage? {
    leaf.tighten()
    return LeafImage(
      sizeBytes: leaf.sizeBytes, count: leaf.count, auxiliary: leaf.auxiliary
    ) { leaf.fill($0) }
  }
}

extension MutableCollection {
  /// Collections are written as nodes.
  func plan(_ leaf: CollectionLeaf) -> LeafImage? { nil }
}
