// MutableTree+Remove.swift: deleting rows.

extension MutableTree {
  /// Deletes a row.
  /// - Throws: `EngineError` with code `.keyNotFound`.
  func remove(_ key: Int64) throws(EngineError) {
    hot = nil
    let isRemoved = try remove(at: KeyPosition(key), writer) { leaf, _ throws(EngineError) in
      guard let index = leaf.index(of: key) else { return false }
      try leaf.dropExternals(at: index, writer)
      leaf.remove(at: index)
      if rowCount > 0 { rowCount -= 1 }
      return true
    }
    guard isRemoved else { throw Self.notFound(key) }
  }
}
