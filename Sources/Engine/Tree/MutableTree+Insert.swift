// MutableTree+Insert.swift: adding and replacing rows.

/// How to treat an existing or a missing key.
enum PutMode {
  case insert
  case update
  case upsert
}

extension MutableTree {
  /// Writes a row.
  /// - Throws: `EngineError` with code `.keyExists` or `.keyNotFound`, depending on the mode.
  func put(_ key: Int64, _ values: [Value], mode: PutMode) throws(EngineError) {
    guard level < Layout.levelMax else {
      throw EngineError(code: .limit, message: "a tree has at most \(Layout.levelMax) levels")
    }
    if root == nil {
      guard mode != .update else { throw Self.notFound(key) }
      let leaf = MutableLeaf(shape)
      try insert(key, values, into: leaf, at: 0)
      level = 0
      root = .leaf(leaf)
      return
    }
    try change(key) { leaf, index, isThere throws(EngineError) in
      if isThere {
        guard mode != .insert else {
          throw EngineError(
            code: .keyExists, message: "a row has key \(key) already; use update or upsert")
        }
        for column in values.indices {
          try leaf.columns[column].replace(values[column], at: index, writer)
        }
      } else {
        guard mode != .update else { throw Self.notFound(key) }
        try insert(key, values, into: leaf, at: index)
      }
    }
  }

  /// Changes the entry of an existing key in a leaf.
  /// - Throws: `EngineError` with code `.keyNotFound`, or what `body` throws.
  func modify(
    _ key: Int64, _ body: (MutableLeaf, Int) throws(EngineError) -> Void
  ) throws(EngineError) {
    guard try modifyIfThere(key, body) else { throw Self.notFound(key) }
  }

  /// Changes the entry of a key in a leaf, if it exists.
  /// - Returns: Whether it is.
  @inline(__always)
  func modifyIfThere(
    _ key: Int64, _ body: (MutableLeaf, Int) throws(EngineError) -> Void
  ) throws(EngineError) -> Bool {
    guard root != nil else { return false }
    var found = false
    try change(key) { leaf, index, isThere throws(EngineError) in
      guard isThere else { return }
      found = true
      try body(leaf, index)
    }
    return found
  }

  static func notFound(_ key: Int64) -> EngineError {
    EngineError(code: .keyNotFound, message: "no row has key \(key)")
  }

  /// Brings the leaf of a key into memory, changes it, and splits nodes that became too large.
  ///
  /// The leaf changed last is tried first: rows in order, or close to each other, need no descent
  /// from the root.
  @inline(__always)
  private func change(
    _ key: Int64, _ body: (MutableLeaf, Int, Bool) throws(EngineError) -> Void
  ) throws(EngineError) {
    guard let hot, hot.lower <= key, key <= hot.upper else {
      try changeFromRoot(key, body)
      return
    }
    let leaf = hot.leaf
    let index = leaf.firstIndex(notBelow: key)
    try body(leaf, index, index < leaf.count && leaf.keys[index] == key)
    guard leaf.count > 1, leaf.sizeBytes > leafSizeBytesMax else { return }
    // The way down splits it.
    try changeFromRoot(key) { _, _, _ in }
  }

  @inline(never)
  private func changeFromRoot(
    _ key: Int64, _ body: (MutableLeaf, Int, Bool) throws(EngineError) -> Void
  ) throws(EngineError) {
    hot = nil
    try change(at: KeyPosition(key), by: 0, writer) { leaf, position, splits throws(EngineError) in
      let index = leaf.firstIndex(notBelow: key)
      try body(leaf, index, index < leaf.count && leaf.keys[index] == key)
      guard leaf.count > 1, leaf.sizeBytes > leafSizeBytesMax else {
        // A damaged separator may be the smallest number.
        let upper = position.upper.map { max($0, .min + 1) - 1 }
        hot = (leaf, position.lower ?? .min, upper ?? .max)
        return
      }
      let right = leaf.split(at: leaf.cut(after: index))
      splits.append(Split(mark: right.keys[0], right: .leaf(right)))
    }
  }

  private func insert(
    _ key: Int64, _ values: [Value], into leaf: MutableLeaf, at index: Int
  ) throws(EngineError) {
    if index == leaf.keys.count { leaf.keys.append(key) } else { leaf.keys.insert(key, at: index) }
    rowCount &+= 1
    for column in values.indices {
      try leaf.columns[column].insert(values[column], at: index, writer)
    }
  }
}
