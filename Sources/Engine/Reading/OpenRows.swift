// OpenRows.swift: the rows and the index of a table that is read, committed or being changed. An
// enumeration of the two trees instead of a protocol: each read is compiled once for both, at the
// cost of one comparison.

/// The rows of a table.
enum OpenRows {
  case committed(BPlusTree)
  case changing(MutableTree)

  @inline(__always)
  var reader: NodeReader {
    switch self {
    case .committed(let tree): tree.reader
    case .changing(let tree): tree.writer.reader
    }
  }

  /// The newest version that a committed node may be of.
  var newest: Version {
    switch self {
    case .committed(let tree): tree.newest
    case .changing(let tree): tree.writer.base
    }
  }

  var shape: LeafShape {
    switch self {
    case .committed(let tree): tree.shape
    case .changing(let tree): tree.shape
    }
  }

  func contains(_ key: Int64) throws(EngineError) -> Bool {
    switch self {
    case .committed(let tree): try tree.find(key) != nil
    case .changing(let tree): try tree.find(key) != nil
    }
  }

  /// The values of a key, or nil.
  func row(_ key: Int64) throws(EngineError) -> [Value]? {
    switch self {
    case .committed(let tree): try tree.row(key)
    case .changing(let tree): try tree.row(key)
    }
  }

  /// The collection of a row, or nil when there is no such row.
  func collection(_ key: Int64, _ column: Int) throws(EngineError) -> CollectionContent? {
    switch self {
    case .committed(let tree): try tree.collection(key, column)
    case .changing(let tree): try tree.collection(key, column)
    }
  }

  /// The smallest key, or nil.
  func firstKey(_ section: ReadSection = .none) throws(EngineError) -> Int64? {
    switch self {
    case .committed(let tree): try tree.firstKey(section)
    case .changing(let tree): try tree.firstKey()
    }
  }

  /// Adds the keys of all rows, ascending.
  func appendKeys(
    to keys: inout [Int64], _ section: ReadSection = .none
  ) throws(EngineError) {
    switch self {
    case .committed(let tree): try tree.appendKeys(to: &keys, section)
    case .changing(let tree): try tree.appendKeys(to: &keys)
    }
  }
}

extension OpenRows: IndexedRows {
  func value(_ key: Int64, _ column: Int) throws(EngineError) -> Value? {
    switch self {
    case .committed(let tree): try tree.value(key, column)
    case .changing(let tree): try tree.value(key, column)
    }
  }

  func hasValue(
    _ probe: IndexProbe, _ key: Int64, _ column: Int
  ) throws(EngineError) -> Bool {
    switch self {
    case .committed(let tree): try tree.hasValue(probe, key, column)
    case .changing(let tree): try tree.hasValue(probe, key, column)
    }
  }
}

/// The index of a column.
enum OpenPairs: KeyPairSource {
  case committed(KeyPairTree)
  case changing(MutableKeyPairTree)

  @inline(__always)
  func place(of pair: KeyPair) throws(EngineError) -> KeyPairPlace? {
    switch self {
    case .committed(let tree): try tree.place(of: pair)
    case .changing(let tree): try tree.place(of: pair)
    }
  }

  func appendKeys(
    in images: ClosedRange<UInt64>, to keys: inout [Int64]
  ) throws(EngineError) {
    switch self {
    case .committed(let tree): try tree.appendKeys(in: images, to: &keys)
    case .changing(let tree): try tree.appendKeysOneByOne(in: images, to: &keys)
    }
  }

  var leafCountBound: Int {
    switch self {
    case .committed(let tree): tree.leafCountBound
    case .changing(let tree): tree.leafCountBound
    }
  }
}

// MARK: reads of one tree

extension BPlusTree {
  /// The collection of a row, or nil when there is no such row.
  fileprivate func collection(
    _ key: Int64, _ column: Int
  ) throws(EngineError) -> CollectionContent? {
    guard let (leaf, index) = try find(key) else { return nil }
    return try CollectionContent(
      reader, shape.columns[column], leaf.strings(column, shape), index, newest: newest)
  }

  /// The smallest key, or nil.
  fileprivate func firstKey(_ section: ReadSection = .none) throws(EngineError) -> Int64? {
    var walk = LeafWalk(self, section)
    return try walk.next().flatMap { $0.count > 0 ? $0.keys[0] : nil }
  }

  /// Adds the keys of all rows, ascending.
  fileprivate func appendKeys(
    to keys: inout [Int64], _ section: ReadSection = .none
  ) throws(EngineError) {
    try forEachLeaf(section: section) { leaf in
      var own: [Int64] = []
      leaf.keys.decode(into: &own)
      keys += own
    }
  }
}

extension MutableTree {
  /// The smallest key, or nil.
  fileprivate func firstKey() throws(EngineError) -> Int64? {
    guard var child = root else { return nil }
    var depth = level
    while true {
      switch child {
      case .inner(let inner):
        child = inner.children[0]
        depth -= 1
      case .leaf(let leaf): return leaf.keys.first
      case .stored(let link): return try committed(link, depth).firstKey()
      }
    }
  }

  /// Adds the keys of all rows, ascending.
  fileprivate func appendKeys(to keys: inout [Int64]) throws(EngineError) {
    var stack: [(child: Child, level: Int)] = []
    if let root { stack.append((root, level)) }
    while let (child, level) = stack.popLast() {
      precondition(level >= 0, "the depth of a tree is bounded")
      switch child {
      case .stored(let link): try committed(link, level).appendKeys(to: &keys)
      case .leaf(let leaf): keys += leaf.keys
      case .inner(let inner):
        for child in inner.children.reversed() { stack.append((child, level - 1)) }
      }
    }
  }
}
