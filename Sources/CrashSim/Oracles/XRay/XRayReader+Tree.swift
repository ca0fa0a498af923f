// XRayReader+Tree.swift: reads a table's tree: inner nodes by keys, leaves row by row.

/// Data collected from rows to compare with indexes and links.
struct XRayGathered {
  /// A pair of an index.
  struct Pair: Comparable {
    let image: UInt64
    let key: Int64
    var count: UInt64

    static func < (left: Pair, right: Pair) -> Bool {
      (left.image, left.key) < (right.image, right.key)
    }
  }

  /// Pairs from the rows of the current table, by column.
  var pairs: [[Pair]] = []
  /// Values of unique columns of the current table, by column.
  var values: [Set<XRayValue>] = []
  /// Rows of the current table.
  var rows: UInt64 = 0
  /// The last key of the current table.
  var lastKey: Int64?
  /// Keys of the tables that are targets of links.
  var keys: [UInt32: [Int64]] = [:]
  /// Keys that links name, with the origin of each link.
  var targets: [(table: UInt32, key: Int64, from: String)] = []
  /// Tables that are targets of links.
  var isTarget: Set<UInt32> = []
}

/// Bounds of keys: `low` ≤ key < `high`, if present.
struct XRayRange {
  var low: Int64?
  var high: Int64?

  func contains(_ key: Int64) -> Bool {
    (low.map { $0 <= key } ?? true) && (high.map { key < $0 } ?? true)
  }
}

extension XRayReader {
  static let childCountMax = 168

  /// Reads a table, its rows and its indexes.
  mutating func readTable(_ table: XRayTable) {
    let faultsBefore = found.faults.count
    gathered.pairs = table.columns.map { _ in [] }
    gathered.values = table.columns.map { _ in [] }
    gathered.rows = 0
    gathered.lastKey = nil
    gathered.isTarget.formUnion(found.tables.flatMap { $0.columns.map(\.targetID) })
    if gathered.isTarget.contains(table.id) { gathered.keys[table.id] = [] }
    if table.tree.root.refBytes != 0 {
      walk(table.tree.root, level: table.tree.level, table, XRayRange())
    }
    let isWhole = found.faults.count == faultsBefore
    if isWhole, gathered.rows != table.tree.count {
      note(XRayFault("\(table.name): rows=\(gathered.rows), the group says \(table.tree.count)"))
    }
    for (position, column) in table.columns.enumerated() {
      if let index = column.index { readIndex(index, position, table, compares: isWhole) }
    }
  }

  private mutating func walk(
    _ link: XRayLink, level: Int, _ table: XRayTable, _ range: XRayRange
  ) {
    attempt { (reader) throws(XRayFault) in
      if level == 0 {
        try reader.readLeaf(link, table, range)
        return
      }
      let node = try reader.node(link, .inner, level: level, .table(table.id))
      let (separators, children) = try Self.children(
        node, separatorBytes: 8, hasMore: node.secondCount > 0
      ) {
        (offset) throws(XRayFault) in try node.bytes.number(offset, Int64.self)
      }
      let patches = try Self.patches(node, level: level, children: children.count)
      for (place, child) in children.enumerated() {
        let low = place > 0 ? separators[place - 1] : range.low
        let high = place < separators.count ? separators[place] : range.high
        let range = XRayRange(low: low, high: high)
        guard let patch = patches[place] else {
          reader.walk(child, level: level - 1, table, range)
          continue
        }
        reader.attempt { (reader) throws(XRayFault) in
          try reader.readLeaf(child, patch, table, range)
        }
      }
    }
  }

  /// Size of an inner node up to its last link.
  static func innerBytes(children count: Int, separatorBytes: Int) -> Int {
    XRayNode.headerBytes + (count - 1) * separatorBytes + count * 16
  }

  /// Separators and links of an inner node of a table or an index.
  static func children<Separator: Comparable>(
    _ node: XRayNode, separatorBytes: Int, countMax: Int = childCountMax, hasMore: Bool = false,
    _ separator: (_ offset: Int) throws(XRayFault) -> Separator
  ) throws(XRayFault) -> (separators: [Separator], links: [XRayLink]) {
    let count = node.count
    let size = innerBytes(children: count, separatorBytes: separatorBytes)
    guard (1...countMax).contains(count),
      hasMore ? node.bytes.count > size : node.bytes.count == size
    else {
      throw XRayFault("children=\(count) in \(node.bytes.count) bytes", at: node.refBytes)
    }
    var separators: [Separator] = []
    for place in 0..<count - 1 {
      let next = try separator(XRayNode.headerBytes + place * separatorBytes)
      if let last = separators.last, last >= next {
        throw XRayFault("separator \(next) after \(last)", at: node.refBytes)
      }
      separators.append(next)
    }
    var cursor = XRayCursor(node.bytes, at: XRayNode.headerBytes + (count - 1) * separatorBytes)
    var links: [XRayLink] = []
    for _ in 0..<count { links.append(try cursor.link()) }
    return (separators, links)
  }

  // MARK: - Rows

  private mutating func readLeaf(
    _ link: XRayLink, _ table: XRayTable, _ range: XRayRange
  ) throws(XRayFault) {
    try readRows(of: try node(link, .leaf, level: 0, .table(table.id)), table, range)
  }

  mutating func readRows(
    of node: XRayNode, _ table: XRayTable, _ range: XRayRange
  ) throws(XRayFault) {
    do throws(XRayFault) {
      let arrays = try XRayArrays(node)
      guard node.count > 0, node.count <= node.bytes.count * 8 else {
        throw XRayFault("rows=\(node.count) in \(node.bytes.count) bytes")
      }
      let keys = try arrays.keys()
      let columns = try arrays.columns(table.columns)
      for row in 0..<node.count {
        let key = Int64(bitPattern: try keys[row])
        guard range.contains(key), gathered.lastKey.map({ $0 < key }) ?? true else {
          throw XRayFault("key \(key) is out of order")
        }
        gathered.lastKey = key
        var values: [XRayValue] = []
        values.reserveCapacity(columns.count)
        for column in columns { values.append(try value(row, column, .table(table.id))) }
        try gather(table, key, values)
        visitor(table, key, values)
      }
    } catch {
      throw XRayFault(error.message, at: error.refBytes ?? node.refBytes)
    }
  }

  /// Adds a row's values for indexes, unique columns and links.
  private mutating func gather(
    _ table: XRayTable, _ key: Int64, _ row: [XRayValue]
  ) throws(XRayFault) {
    gathered.rows += 1
    found.rowCount += 1
    gathered.keys[table.id]?.append(key)
    for (place, column) in table.columns.enumerated() {
      if column.type == .link {
        let targets = row[place].targets.sorted()
        for (position, target) in targets.enumerated() {
          if position > 0, targets[position - 1] == target {
            gathered.pairs[place][gathered.pairs[place].count - 1].count += 1
            continue
          }
          let image = UInt64(bitPattern: target) ^ 1 << 63
          gathered.pairs[place].append(.init(image: image, key: key, count: 1))
          gathered.targets.append((column.targetID, target, "\(table.name).\(column.name)"))
        }
      } else if column.isFullText {
        if case .string(let text) = row[place] {
          for image in XRayWords.images(text) {
            gathered.pairs[place].append(.init(image: image, key: key, count: 1))
          }
        }
      } else if column.index != nil {
        guard let image = row[place].image else {
          throw XRayFault("\(table.name).\(column.name): a \(column.type) has no search index")
        }
        gathered.pairs[place].append(.init(image: image, key: key, count: 1))
      }
      if column.isUnique, !gathered.values[place].insert(row[place].exact).inserted {
        throw XRayFault("\(table.name).\(column.name): the value of key \(key) occurs twice")
      }
    }
  }

  /// Checks that every link has a target row; only if all rows were read.
  mutating func checkLinks() {
    guard found.isSound else { return }
    for target in gathered.targets {
      let keys = gathered.keys[target.table] ?? []
      var (low, high) = (0, keys.count)
      while low < high {
        let middle = (low + high) / 2
        if keys[middle] < target.key { low = middle + 1 } else { high = middle }
      }
      guard low < keys.count, keys[low] == target.key else {
        note(XRayFault("\(target.from) links to key \(target.key), which is not there"))
        return
      }
    }
  }
}
