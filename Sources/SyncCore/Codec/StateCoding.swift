// StateCoding.swift: objects with their content, and logs, as bytes
// (docs/reference/sync-protocol.md, section 8). Invariants: a state has one encoding, as everything
// in it is in ascending order; a decoded log has the stated digests and chains, and no link leads
// to a missing object.

extension ByteWriter {
  mutating func append(objects: [SyncObject: SyncNode], in names: inout NameTable?) {
    append(count: objects.count)
    for object in objects.keys.sorted() {
      append(object: object, in: &names)
      append(node: objects[object] ?? SyncNode(), in: &names)
    }
  }

  /// The properties of an object; embedded objects are as deep as `SyncLimits.stepsMax` at most.
  mutating func append(node: SyncNode, in names: inout NameTable?) {
    append(count: node.fields.count)
    for name in node.fields.keys.sorted() {
      let content = node[name]
      append(name: name, in: &names)
      append(
        (content.value == nil ? 0 : 1) | (content.list.isEmpty ? 0 : 2)
          | (content.set.isEmpty ? 0 : 4) | (content.dictionary.isEmpty ? 0 : 8) as UInt8)
      if let slot = content.value { append(slot: slot, in: &names) }
      if !content.list.isEmpty {
        append(count: content.list.count)
        for slot in content.list { append(slot: slot, in: &names) }
      }
      if !content.set.isEmpty {
        append(count: content.set.count)
        for value in Self.inOrder(content.set) { append(value: value, in: &names) }
      }
      if !content.dictionary.isEmpty {
        append(count: content.dictionary.count)
        for key in content.dictionary.keys.sorted() {
          append(text: key)
          append(slot: content.dictionary[key] ?? SyncSlot(.null), in: &names)
        }
      }
    }
  }

  private mutating func append(slot: SyncSlot, in names: inout NameTable?) {
    append(value: slot.value, in: &names)
    if let embedded = slot.embedded { append(node: embedded, in: &names) }
  }

  private static func inOrder(_ values: Set<SyncValue>) -> [SyncValue] {
    values.map { ($0, encoding(of: $0)) }.sorted { $0.1.lexicographicallyPrecedes($1.1) }
      .map(\.0)
  }

  /// A value with the names in full, which orders the members of a set.
  fileprivate static func encoding(of value: SyncValue) -> [UInt8] {
    var writer = ByteWriter()
    writer.append(value: value, names: nil)
    return writer.bytes
  }
}

extension ByteReader {
  mutating func objects() throws(SyncError) -> SyncState {
    var state = SyncState()
    var last: SyncObject?
    for _ in 0..<(try count(max: .max)) {
      let object = try object()
      if let last, last >= object { throw malformed("objects that do not ascend") }
      last = object
      var node = try node(depth: 0)
      node.countSums()
      state.replace(object, by: node)
    }
    return state
  }

  private mutating func node(depth: Int) throws(SyncError) -> SyncNode {
    guard depth <= SyncLimits.stepsMax else {
      throw SyncError(.limit, "embedded objects \(depth) deep > \(SyncLimits.stepsMax)")
    }
    var node = SyncNode()
    var last: SyncText?
    for _ in 0..<(try count(max: SyncLimits.elementsMax)) {
      let name = try name()
      if let last, last >= name { throw malformed("properties that do not ascend") }
      last = name
      node.fields[name] = try content(depth: depth)
    }
    return node
  }

  private mutating func content(depth: Int) throws(SyncError) -> SyncContent {
    let flags = try byte()
    guard (1..<16).contains(flags) else { throw malformed("contents \(flags)") }
    var content = SyncContent()
    if flags & 1 != 0 { content.value = try slot(depth: depth) }
    if flags & 2 != 0 {
      for _ in 0..<(try countOfSome()) { content.list.append(try slot(depth: depth)) }
    }
    if flags & 4 != 0 {
      var last: [UInt8]?
      for _ in 0..<(try countOfSome()) {
        let value = try value()
        let encoding = ByteWriter.encoding(of: value)
        if let last, !last.lexicographicallyPrecedes(encoding) {
          throw malformed("members that do not ascend")
        }
        last = encoding
        content.set.insert(value)
      }
    }
    if flags & 8 != 0 {
      var last: SyncText?
      for _ in 0..<(try countOfSome()) {
        let key = try text()
        if let last, last >= key { throw malformed("keys that do not ascend") }
        last = key
        content.dictionary[key] = try slot(depth: depth)
      }
    }
    return content
  }

  private mutating func countOfSome() throws(SyncError) -> Int {
    let count = try count(max: SyncLimits.elementsMax)
    guard count > 0 else { throw malformed("an empty collection") }
    return count
  }

  private mutating func slot(depth: Int) throws(SyncError) -> SyncSlot {
    var slot = SyncSlot(try value())
    if slot.embedded != nil { slot.embedded = try node(depth: depth + 1) }
    return slot
  }
}

// MARK: logs

extension ByteWriter {
  mutating func append(log: SyncMerger) {
    let start = log.startInWords
    append(number: start.version.number)
    append(fixed: start.digest)
    append(fixed: start.stamp.bits)
    append(fixed: start.chain)
    append(count: start.authors.count)
    for author in start.authors {
      append(number: author.client)
      append(number: author.sequence)
      append(number: author.base)
      append(fixed: author.stamp)
    }
    var names: NameTable? = NameTable()
    names?.isInline = true
    append(objects: log.startState.objects, in: &names)
    append(entries: log.entries)
  }

  mutating func append(entries: [SyncEntry]) {
    append(count: entries.count)
    for entry in entries { append(sized: entry.encoded()) }
  }

  /// Bytes after their number.
  private mutating func append(sized bytes: [UInt8]) {
    append(count: bytes.count)
    append(bytes)
  }
}

extension ByteReader {
  mutating func log() throws(SyncError) -> SyncMerger {
    var start = SyncLogStart(
      version: SyncVersion(try number()), digest: try fixed(UInt128.self),
      stamp: SyncStamp(bits: try fixed(UInt64.self)), chain: try fixed(UInt128.self), authors: [])
    for _ in 0..<(try count(max: .max)) {
      let author = SyncLogStart.Author(
        client: try number(), sequence: try number(), base: try number(),
        stamp: try fixed(UInt64.self))
      guard author.client > start.authors.last?.client ?? 0, author.sequence > 0 else {
        throw malformed("clients that do not ascend")
      }
      start.authors.append(author)
    }
    inlineNames = []
    let objects = try objects()
    inlineNames = nil
    names = []
    guard objects.digest == start.digest else { throw malformed("objects of another digest") }
    guard objects.danglingLinks.isEmpty else { throw malformed("a link to a missing object") }
    // No number may reach the end of 64 bits by the entries that follow.
    guard start.version.number < .max / 2 else { throw malformed("a version without successors") }
    return try SyncMerger(start, objects: objects, entries: try entries())
  }

  mutating func entries() throws(SyncError) -> [SyncEntry] {
    var entries: [SyncEntry] = []
    for _ in 0..<(try count(max: .max)) {
      entries.append(try SyncEntry(decoding: try take(count(max: SyncLimits.entryBytesMax))))
    }
    return entries
  }
}
