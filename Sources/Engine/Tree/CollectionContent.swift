// CollectionContent.swift: one collection of one row, in either form: encoded in the leaf of its
// row while it is small, else a tree, committed or changed by the present transaction. Invariant:
// sets are sorted by value and dictionaries by key, without duplicates; this holds for the values
// returned here, and a caller that inserts at a position must keep it.

/// A link that was added to a collection, or removed.
struct LinkChange {
  let target: Int64
  let isAdded: Bool
}

/// A collection that can be read, and changed when it belongs to a write transaction.
struct CollectionContent {
  private enum Place {
    case inline(keys: [String], values: [Value])
    case stored(CollectionReader)
    case tree(MutableCollection, TreeWriter)
  }

  let shape: CollectionShape
  private var place: Place
  /// In a collection of links: the keys added and removed since this was made.
  private(set) var linkChanges: [LinkChange] = []

  /// The collection of a committed row.
  init(
    _ reader: NodeReader, _ layout: ColumnLayout, _ strings: StringsView, _ index: Int,
    newest: Version
  ) throws(EngineError) {
    shape = CollectionShape(layout)
    let (entry, isExternal) = try strings.entry(index)
    if isExternal {
      place = .stored(
        try CollectionReader(
          reader, shape, ExternalEntry(entry), newest: newest, at: strings.ref))
    } else {
      let (keys, values) = try ValueCoding.decode(entry, shape, at: strings.ref)
      place = .inline(keys: keys, values: values)
    }
  }

  /// The collection of a row that a writer has in memory.
  init(_ column: MutableColumn, at index: Int, _ writer: TreeWriter) throws(EngineError) {
    shape = CollectionShape(column.layout)
    let bytes = column.bytes[column.range(index)]
    if column.isExternal(index) {
      let entry = ExternalEntry(bytes)
      if let collection = writer.collection(entry) {
        place = .tree(collection, writer)
      } else {
        place = .stored(
          try CollectionReader(
            writer.reader, shape, entry, newest: writer.base, at: .none))
      }
    } else {
      let shape = shape
      let (keys, values) = try RawBytes.over(Array(bytes)) { bytes throws(EngineError) in
        try ValueCoding.decode(bytes, shape, at: .none)
      }
      place = .inline(keys: keys, values: values)
    }
  }

  /// The entry of a new collection in the leaf of its row.
  static func entry(
    of value: Value, _ shape: CollectionShape, _ writer: TreeWriter
  ) throws(EngineError) -> (bytes: [UInt8], isExternal: Bool) {
    var keys: [String] = []
    var values: [Value] = []
    switch value.canonical {
    case .list(let elements), .set(let elements): values = elements
    case .dictionary(let entries):
      keys = entries.map(\.key)
      values = entries.map(\.value)
    default: preconditionFailure("values were checked against their columns")
    }
    if let bytes = ValueCoding.encode(
      keys: keys, values: values, shape, limit: Layout.inlineBytesMax)
    {
      return (bytes, false)
    }
    let collection = MutableCollection(shape)
    for index in values.indices {
      let element = shape.isDictionary ? [.string(keys[index]), values[index]] : [values[index]]
      try collection.insert(element, at: collection.count, writer)
    }
    return (writer.addCollection(collection), true)
  }

  // MARK: reading

  var count: Int {
    switch place {
    case .inline(_, let values): values.count
    case .stored(let committed): Int(clamping: committed.count)
    case .tree(let collection, _): Int(clamping: collection.count)
    }
  }

  func element(at index: Int) throws(EngineError) -> Value {
    switch place {
    case .inline(_, let values): values[index]
    case .stored(let committed): try committed.element(at: UInt64(index))
    case .tree(let collection, let writer):
      try collection.element(at: UInt64(index), writer)
    }
  }

  func key(at index: Int) throws(EngineError) -> String {
    switch place {
    case .inline(let keys, _): keys[index]
    case .stored(let committed): try committed.key(at: UInt64(index))
    case .tree(let collection, let writer): try collection.key(at: UInt64(index), writer)
    }
  }

  /// Calls `body` with each element, in order; in a dictionary also with its key.
  func forEachElement(
    _ body: (String?, Value) throws(EngineError) -> Void
  ) throws(EngineError) {
    guard case .stored(let committed) = place else {
      for index in 0..<count {
        try body(shape.isDictionary ? try key(at: index) : nil, try element(at: index))
      }
      return
    }
    let reader = committed.reader
    try committed.forEachLeaf { leaf throws(EngineError) in
      for index in 0..<leaf.count {
        var key: String?
        if shape.isDictionary,
          case .string(let text) = try reader.value(
            leaf, shape.key, index, newest: committed.newest)
        {
          key = text
        }
        try body(key, try reader.value(leaf, shape.element, index, newest: committed.newest))
      }
    }
  }

  /// The whole collection.
  /// - Throws: `EngineError` with code `.corrupted`, also when the elements have more bytes outside
  ///   of their leaves than the file has, since then one node is used many times.
  var value: Value {
    get throws(EngineError) {
      var values: [Value] = []
      var entries: [DictionaryEntry] = []
      var budget = Int.max
      if case .stored(let committed) = place { budget = committed.reader.bytes.count }
      try forEachElement { key, value throws(EngineError) in
        budget -= Self.externalBytes(value) + (key.map { Self.externalBytes(.string($0)) } ?? 0)
        guard budget >= 0 else { throw .corrupted("elements have more bytes than the file") }
        if let key {
          entries.append(DictionaryEntry(key: key, value: value))
        } else {
          values.append(value)
        }
      }
      switch shape.kind {
      case .dictionary: return .dictionary(entries)
      case .set: return .set(values)
      default: return .list(values)
      }
    }
  }

  /// The minimum of bytes that a value has in a separate node.
  private static func externalBytes(_ value: Value) -> Int {
    let count: Int
    switch value {
    case .string(let text): count = text.utf8.count
    case .binary(let bytes): count = bytes.count
    default: return 0
    }
    return count > Layout.inlineBytesMax ? count : 0
  }

  /// Where a set has a value, or would have it.
  /// - Complexity: O(log elements) descents.
  func position(of value: Value) throws(EngineError) -> (index: Int, isThere: Bool) {
    try position { index throws(EngineError) in Value.order(try element(at: index), value) }
  }

  /// Where a dictionary has a key, or would have it.
  /// - Complexity: O(log entries) descents.
  func position(ofKey key: String) throws(EngineError) -> (index: Int, isThere: Bool) {
    try position { index throws(EngineError) in
      Value.order(try self.key(at: index), key)
    }
  }

  private func position(
    _ order: (Int) throws(EngineError) -> Int
  ) throws(EngineError) -> (index: Int, isThere: Bool) {
    var low = 0
    var high = count
    while low < high {
      let middle = low + (high - low) / 2
      let order = try order(middle)
      if order == 0 { return (middle, true) }
      if order < 0 { low = middle + 1 } else { high = middle }
    }
    return (low, false)
  }

  // MARK: changing

  /// Makes a committed tree one that can be changed.
  private mutating func open(_ writer: TreeWriter) {
    if case .stored(let committed) = place { place = .tree(MutableCollection(committed), writer) }
  }

  private mutating func note(_ value: Value, isAdded: Bool) {
    guard case .link(let target) = value, shape.element.type == .link else { return }
    linkChanges.append(LinkChange(target: target, isAdded: isAdded))
  }

  private mutating func noteRemoval(at index: Int) throws(EngineError) {
    guard shape.element.type == .link else { return }
    note(try element(at: index), isAdded: false)
  }

  mutating func insert(
    key: String?, _ value: Value, at index: Int, _ writer: TreeWriter
  ) throws(EngineError) {
    open(writer)
    note(value, isAdded: true)
    switch place {
    case .inline(var keys, var values):
      place = .inline(keys: [], values: [])
      if let key { keys.insert(key, at: index) }
      values.insert(value, at: index)
      place = .inline(keys: keys, values: values)
    case .tree(let collection, _):
      let element = key.map { [.string($0), value] } ?? [value]
      try collection.insert(element, at: UInt64(index), writer)
    case .stored: preconditionFailure("opened above")
    }
  }

  mutating func replace(
    at index: Int, with value: Value, _ writer: TreeWriter
  ) throws(EngineError) {
    open(writer)
    try noteRemoval(at: index)
    note(value, isAdded: true)
    switch place {
    case .inline(let keys, var values):
      values[index] = value
      place = .inline(keys: keys, values: values)
    case .tree(let collection, _):
      try collection.replace(at: UInt64(index), with: value, writer)
    case .stored: preconditionFailure("opened above")
    }
  }

  mutating func remove(at index: Int, _ writer: TreeWriter) throws(EngineError) {
    open(writer)
    try noteRemoval(at: index)
    switch place {
    case .inline(var keys, var values):
      if shape.isDictionary { keys.remove(at: index) }
      values.remove(at: index)
      place = .inline(keys: keys, values: values)
    case .tree(let collection, _): try collection.remove(at: UInt64(index), writer)
    case .stored: preconditionFailure("opened above")
    }
  }

  /// Takes the links to a row out: from a dictionary the link, from a list or set the element.
  ///
  /// `links` is their number, so that the search can stop early.
  mutating func unlink(
    _ target: Int64, count links: Int, _ writer: TreeWriter
  ) throws(EngineError) {
    var left = links
    if shape.kind == .set {
      let (index, isThere) = try position(of: .link(target))
      if isThere { try remove(at: index, writer) }
      left -= isThere ? 1 : 0
    } else {
      var index = count
      while index > 0, left > 0 {
        index -= 1
        guard case .link(target) = try element(at: index) else { continue }
        left -= 1
        if shape.isDictionary {
          try replace(at: index, with: .null, writer)
        } else {
          try remove(at: index, writer)
        }
      }
    }
    guard left == 0 else {
      throw .corrupted("the index has \(links) links to key \(target), \(left) more than the row")
    }
  }

  /// Stores the changed collection in the leaf of its row.
  func store(
    in column: inout MutableColumn, at index: Int, _ writer: TreeWriter
  ) throws(EngineError) {
    switch place {
    case .stored: break
    case .inline(let keys, let values):
      if let bytes = ValueCoding.encode(
        keys: keys, values: values, shape, limit: Layout.inlineBytesMax)
      {
        column.replace(bytes, isExternal: false, at: index)
        return
      }
      let collection = MutableCollection(shape)
      for element in values.indices {
        let value = values[element]
        let parts = shape.isDictionary ? [.string(keys[element]), value] : [value]
        try collection.insert(parts, at: collection.count, writer)
      }
      column.replace(writer.addCollection(collection), isExternal: true, at: index)
    case .tree(let collection, _):
      if let bytes = try encodedWhenSmall(collection) {
        try collection.releaseNodes(writer)
        if column.isExternal(index) {
          writer.forget(ExternalEntry(column.bytes[column.range(index)]))
        }
        column.replace(bytes, isExternal: false, at: index)
      } else if writer.collection(ExternalEntry(column.bytes[column.range(index)])) == nil {
        column.replace(writer.addCollection(collection), isExternal: true, at: index)
      }
    }
  }

  /// The bytes of a tree that is one small leaf in memory, or empty.
  private func encodedWhenSmall(_ collection: MutableCollection) throws(EngineError) -> [UInt8]? {
    if collection.count == 0 { return [] }
    guard collection.level == 0, case .leaf = collection.root,
      collection.count <= UInt64(Layout.inlineBytesMin)
    else { return nil }
    var keys: [String] = []
    var values: [Value] = []
    for index in 0..<count {
      if shape.isDictionary { keys.append(try key(at: index)) }
      values.append(try element(at: index))
    }
    return ValueCoding.encode(
      keys: keys, values: values, shape, limit: Layout.inlineBytesMin)
  }
}
