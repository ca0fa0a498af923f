// MutableTree+Insert.swift: adding and replacing rows, and splitting what got too large.

/// What to do with a key that is there, or is not.
enum PutMode {
  case insert
  case update
  case upsert
}

extension MutableTree {
  /// A new right neighbour, and the key it starts with.
  fileprivate struct Split {
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
      insert(key, values, into: leaf, at: 0)
      level = 0
      root = .leaf(leaf)
      return
    }
    guard var child = root else { return }
    root = nil
    // An error on the way down leaves a tree of the same content; the root goes back either way.
    defer { root = child }
    if let split = try put(key, values, mode: mode, below: &child, level: level) {
      child = .inner(
        MutableInner(separators: [split.separator], children: [child, split.right]))
      level += 1
    }
  }

  static func notFound(_ key: Int64) -> EngineError {
    EngineError(code: .keyNotFound, message: "no row has key \(key)")
  }

  private func put(
    _ key: Int64, _ values: [Value], mode: PutMode, below child: inout MutableChild, level: Int
  ) throws(EngineError) -> Split? {
    try makeMutable(&child, level: level)
    switch child {
    case .stored: preconditionFailure("made mutable above")
    case .leaf(let leaf): return try put(key, values, mode: mode, into: leaf)
    case .inner(let inner):
      let index = inner.childIndex(for: key)
      guard
        let split = try put(
          key, values, mode: mode, below: &inner.children[index], level: level - 1)
      else { return nil }
      inner.separators.insert(split.separator, at: index)
      inner.children.insert(split.right, at: index + 1)
      return inner.children.count > writer.reader.room.childCountMax
        ? splitting(inner, after: index) : nil
    }
  }

  private func put(
    _ key: Int64, _ values: [Value], mode: PutMode, into leaf: MutableLeaf
  ) throws(EngineError) -> Split? {
    let index = leaf.firstIndex(notBelow: key)
    if index < leaf.count, leaf.keys[index] == key {
      guard mode != .insert else {
        throw EngineError(
          code: .keyExists, message: "a row has key \(key) already; use update or upsert")
      }
      try replace(values, in: leaf, at: index)
    } else {
      guard mode != .update else { throw Self.notFound(key) }
      insert(key, values, into: leaf, at: index)
    }
    guard leaf.count > 1, leaf.sizeBytes > writer.reader.room.leafSizeBytesMax else { return nil }
    return splitting(leaf, at: index)
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

  private func splitting(_ inner: MutableInner, after changed: Int) -> Split {
    let count = inner.children.count
    let cut = changed + 2 >= count ? count - 1 : count / 2
    let separator = inner.separators[cut - 1]
    let right = MutableInner(
      separators: Array(inner.separators[cut...]), children: Array(inner.children[cut...]))
    inner.separators.removeSubrange((cut - 1)...)
    inner.children.removeSubrange(cut...)
    return Split(separator: separator, right: .inner(right))
  }

  private func insert(_ key: Int64, _ values: [Value], into leaf: MutableLeaf, at index: Int) {
    if index == leaf.keys.count { leaf.keys.append(key) } else { leaf.keys.insert(key, at: index) }
    rowCount &+= 1
    for column in values.indices {
      switch values[column] {
      case .int(let number): leaf.columns[column].insert(number, at: index)
      case .string(let string):
        if string.utf8.count > Layout.inlineStringBytesMax {
          let entry = writer.addString(Array(string.utf8))
          leaf.columns[column].insert(entry, isExternal: true, at: index)
        } else {
          leaf.columns[column].insert(string.utf8, isExternal: false, at: index)
        }
      }
    }
  }

  private func replace(
    _ values: [Value], in leaf: MutableLeaf, at index: Int
  ) throws(EngineError) {
    try dropStrings(of: leaf, at: index)
    for column in values.indices {
      switch values[column] {
      case .int(let number): leaf.columns[column].replace(number, at: index)
      case .string(let string):
        if string.utf8.count > Layout.inlineStringBytesMax {
          let entry = writer.addString(Array(string.utf8))
          leaf.columns[column].replace(entry, isExternal: true, at: index)
        } else {
          leaf.columns[column].replace(string.utf8, isExternal: false, at: index)
        }
      }
    }
  }

  /// Releases the long strings of a row that is about to go.
  func dropStrings(of leaf: MutableLeaf, at index: Int) throws(EngineError) {
    for column in leaf.columns where column.isExternal(index) {
      try writer.dropString(column.bytes[column.range(index)])
    }
  }
}
