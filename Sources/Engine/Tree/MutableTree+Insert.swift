// MutableTree+Insert.swift: adding and replacing rows, and splitting what got too large.

/// What to do with a key that is there, or is not.
enum PutMode {
  case insert
  case update
  case upsert
}

extension MutableTree {
  /// A new right neighbour, and the key it starts with.
  struct Split {
    let separator: Int64
    let right: MutableChild
  }

  /// Writes a row.
  /// - Throws: `EngineError` with code `.keyExists` or `.keyNotFound`, as the mode asks for.
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

  /// Changes what a leaf holds for a key that is there.
  /// - Throws: `EngineError` with code `.keyNotFound`, or what `body` throws.
  func modify(
    _ key: Int64, _ body: (MutableLeaf, Int) throws(EngineError) -> Void
  ) throws(EngineError) {
    guard try modifyIfThere(key, body) else { throw Self.notFound(key) }
  }

  /// Changes what a leaf holds for a key, if that is there.
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

  /// Brings the leaf of a key into memory, changes it, and splits what got too large.
  ///
  /// The leaf changed last is tried first: rows that come in order, or close to each other, need no
  /// way down from the root.
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
    guard var child = root else { return }
    root = nil
    hot = nil
    // An error on the way down leaves a tree of the same content; the root goes back either way.
    defer { root = child }
    var bounds = (lower: Int64.min, upper: Int64.max)
    if let split = try change(key, below: &child, level: level, &bounds, body) {
      child = .inner(
        MutableInner(separators: [split.separator], children: [child, split.right]))
      level += 1
      hot = nil
    }
  }

  private func change(
    _ key: Int64, below child: inout MutableChild, level: Int,
    _ bounds: inout (lower: Int64, upper: Int64),
    _ body: (MutableLeaf, Int, Bool) throws(EngineError) -> Void
  ) throws(EngineError) -> Split? {
    try makeMutable(&child, level: level)
    switch child {
    case .stored: preconditionFailure("made mutable above")
    case .leaf(let leaf):
      let index = leaf.firstIndex(notBelow: key)
      try body(leaf, index, index < leaf.count && leaf.keys[index] == key)
      guard leaf.count > 1, leaf.sizeBytes > leafSizeBytesMax else {
        hot = (leaf, bounds.lower, bounds.upper)
        return nil
      }
      return splitting(leaf, at: index)
    case .inner(let inner):
      let index = inner.childIndex(for: key)
      if index > 0 { bounds.lower = inner.separators[index - 1] }
      if index < inner.separators.count {
        // A damaged separator may be the smallest number.
        bounds.upper = max(inner.separators[index], .min + 1) - 1
      }
      guard
        let split = try change(
          key, below: &inner.children[index], level: level - 1, &bounds, body)
      else { return nil }
      inner.separators.insert(split.separator, at: index)
      inner.children.insert(split.right, at: index + 1)
      return inner.children.count > writer.reader.room.childCountMax
        ? splitting(inner, after: index) : nil
    }
  }

  /// Rows that come in order fill their leaves; others find room in two halves.
  private func splitting(_ leaf: MutableLeaf, at changed: Int) -> Split {
    let cut: Int
    if changed == leaf.count - 1 {
      cut = leaf.count - 1
    } else if changed == 0 {
      cut = 1
    } else {
      cut = leaf.count / 2
    }
    let right = leaf.split(at: cut)
    return Split(separator: right.keys[0], right: .leaf(right))
  }

  func splitting(_ inner: MutableInner, after changed: Int) -> Split {
    let count = inner.children.count
    let cut = changed + 2 >= count ? count - 1 : count / 2
    let separator = inner.separators[cut - 1]
    let right = MutableInner(
      separators: Array(inner.separators[cut...]), children: Array(inner.children[cut...]))
    inner.separators.removeSubrange((cut - 1)...)
    inner.children.removeSubrange(cut...)
    return Split(separator: separator, right: .inner(right))
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

  /// Releases what a row that is about to go has outside of its leaf.
  func dropStrings(of leaf: MutableLeaf, at index: Int) throws(EngineError) {
    for column in leaf.columns.indices where leaf.columns[column].isExternal(index) {
      try leaf.columns[column].dropExternal(at: index, writer)
    }
  }
}
