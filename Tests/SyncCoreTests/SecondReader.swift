// SecondReader.swift: reads changesets and entries as docs/reference/sync-format.md says, and
// messages as docs/reference/sync-protocol.md says, in another way than SyncCore: it looks for no
// second spelling and stops at nothing, so it is for right bytes only.

import SyncCore

/// The bytes of one encoding.
struct SecondReader {
  private let bytes: [UInt8]
  private var at = 0
  private var names: [SyncText] = []

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  private mutating func next() -> UInt8 {
    at += 1
    return bytes[at - 1]
  }

  private mutating func number() -> UInt64 {
    let end = bytes[at...].firstIndex { $0 < 128 }!
    defer { at = end + 1 }
    return bytes[at...end].reversed().reduce(0) { $0 * 128 + UInt64($1 % 128) }
  }

  private mutating func int() -> Int { Int(number()) }

  private mutating func signed() -> Int64 {
    let number = number()
    return number % 2 == 0 ? Int64(number / 2) : -1 - Int64(number / 2)
  }

  private mutating func fixed(_ count: Int) -> UInt128 {
    defer { at += count }
    return bytes[at..<at + count].reversed().reduce(0) { $0 << 8 | UInt128($1) }
  }

  private mutating func raw() -> [UInt8] {
    let count = int()
    defer { at += count }
    return Array(bytes[at..<at + count])
  }

  private mutating func text() -> SyncText { SyncText(utf8: raw()) }
  /// Whether the text of a name follows its first number.
  private var isInline = false

  private mutating func name() -> SyncText {
    let number = int()
    if isInline, number == names.count { names.append(text()) }
    return names[number]
  }

  private mutating func key() -> SyncKey {
    switch next() {
    case 0: .null
    case 1: .int(signed())
    case 2: .text(text())
    case 3: .objectId(high: UInt64(fixed(8)), low: UInt32(fixed(4)))
    default: .uuid(fixed(16))
    }
  }

  private mutating func object() -> SyncObject { SyncObject(name(), key()) }

  private mutating func value() -> SyncValue {
    switch next() {
    case 0: .null
    case 1: .bool(false)
    case 2: .bool(true)
    case 3: .int(signed())
    case 4: .float(bits: UInt32(fixed(4)))
    case 5: .double(bits: UInt64(fixed(8)))
    case 6: .text(text())
    case 7: .binary(raw())
    case 8: .date(seconds: signed(), nanoseconds: Int64(number()))
    case 9: .objectId(high: UInt64(fixed(8)), low: UInt32(fixed(4)))
    case 10: .uuid(fixed(16))
    case 11: .decimal(fixed(16))
    case 12: .link(object())
    default: .embedded
    }
  }

  private mutating func values() -> [SyncValue] { (0..<int()).map { _ in value() } }

  private mutating func operations(isSourced: Bool) -> [SourcedOperation] {
    var (object, field, source) = (
      SyncObject("", .null), SyncField(SyncObject("", .null), [], ""), 0
    )
    return (0..<int()).map { number in
      source = isSourced ? source + int() : number
      let first = next()
      if first < 128 { object = self.object() }
      if first % 64 == 0 { return SourcedOperation(source: source, .create(object)) }
      if first % 64 == 1 { return SourcedOperation(source: source, .delete(object)) }
      if first / 64 % 2 == 0 { field = self.field(object) }
      return SourcedOperation(source: source, .change(field, change(first % 64)))
    }
  }

  private mutating func field(_ object: SyncObject) -> SyncField {
    let steps = (0..<int()).map { _ -> SyncStep in
      let kind = next()
      let name = name()
      return SyncStep(
        name, kind == 0 ? .value : kind == 1 ? .element(int()) : .entry(text()))
    }
    return SyncField(object, steps, name())
  }

  private mutating func change(_ kind: UInt8) -> SyncChange {
    switch kind {
    case 2: .set(value())
    case 3: .setDefault(value())
    case 4: .increment(signed())
    case 5: .listInsert(at: int(), values())
    case 6: .listErase(at: int(), count: int())
    case 7: .listMove(from: int(), to: int())
    case 8: .listSet(at: int(), value())
    case 9: .listClear
    case 10: .listAssign(values())
    case 11: .listFill(values())
    case 12: .setInsert(value())
    case 13: .setErase(value())
    case 14: .dictionarySet(text(), value())
    default: .dictionaryRemove(text())
    }
  }

  private mutating func header() -> SyncChangeset {
    SyncChangeset(
      client: SyncClient(number()), sequence: number(), base: SyncVersion(number()),
      stamp: SyncStamp(bits: UInt64(fixed(8))), operations: [])
  }

  mutating func changeset() -> SyncChangeset {
    _ = next()
    var changeset = header()
    names = (0..<int()).map { _ in text() }
    changeset.operations = operations(isSourced: false).map(\.operation)
    return changeset
  }

  mutating func entry() -> SyncEntry {
    _ = next()
    let (version, user) = (number(), number())
    var entry = SyncEntry(version: SyncVersion(version), user: user, changeset: header())
    entry.barrier = SyncVersion(number())
    entry.digest = fixed(16)
    let flags = next()
    if flags / 4 == 1 { entry.refusal = UInt32(number()) }
    entry.overruled = (0..<int()).map { _ in
      SyncOverruling(
        operation: int(), cause: SyncOverruling.Cause(rawValue: next())!,
        by: SyncVersion(number()))
    }
    names = (0..<int()).map { _ in text() }
    entry.changeset.operations = operations(isSourced: false).map(\.operation)
    if flags % 2 == 1 { entry.resolved = operations(isSourced: true) }
    if flags / 2 % 2 == 1 { entry.restated = operations(isSourced: true) }
    return entry
  }
}

// MARK: messages

/// The parts of a log, as a message has them.
struct LogParts: Equatable {
  var start: SyncLogStart
  var objects: [SyncObject: NodeParts]
  var entries: [SyncEntry]
}

/// The content of an object without sums.
struct NodeParts: Equatable {
  struct Slot: Equatable {
    var value: SyncValue
    var embedded: [NodeParts] = []
  }
  var values: [SyncText: Slot] = [:]
  var lists: [SyncText: [Slot]] = [:]
  var sets: [SyncText: Set<SyncValue>] = [:]
  var dictionaries: [SyncText: [SyncText: Slot]] = [:]

  init() {}

  init(_ node: SyncNode) {
    for (name, content) in node.fields {
      if let value = content.value { values[name] = Self.slot(value) }
      if !content.list.isEmpty { lists[name] = content.list.map { Self.slot($0) } }
      if !content.set.isEmpty { sets[name] = content.set }
      if !content.dictionary.isEmpty {
        dictionaries[name] = content.dictionary.mapValues { Self.slot($0) }
      }
    }
  }

  private static func slot(_ slot: SyncSlot) -> Slot {
    Slot(value: slot.value, embedded: slot.embedded.map { [NodeParts($0)] } ?? [])
  }
}

extension SecondReader {
  /// A message; its log is in `log`, and nil in the message.
  mutating func message(log: inout LogParts?) -> SyncMessage {
    _ = next()
    switch next() {
    case 1:
      let attempt = next()
      let client = number()
      return .hello(
        SyncHello(
          attempt: attempt, client: client == 0 ? nil : SyncClient(client),
          secret: UInt64(fixed(8)), nonce: UInt64(fixed(8)), epoch: UInt64(fixed(8)),
          confirmed: SyncVersion(number()), chain: fixed(16), lowest: SyncVersion(number()),
          needsLog: next() == 1))
    case 2:
      var rest = SecondReader(Array(bytes[at...]))
      return .upload(rest.changeset())
    case 3:
      return .progress(
        confirmed: SyncVersion(number()), lowest: SyncVersion(number()), asks: next() == 1)
    case 4:
      var welcome = SyncWelcome(
        client: SyncClient(number()), secret: UInt64(fixed(8)), nonce: UInt64(fixed(8)),
        epoch: UInt64(fixed(8)), lastSequence: number(), mark: fixed(16), wentBack: false, log: nil)
      let flags = next()
      welcome.wentBack = flags % 2 == 1
      if flags / 2 % 2 == 1 { log = logParts() }
      if flags / 4 == 1 { welcome.offered = fixed(16) }
      return .welcome(welcome)
    case 5: return .entries(entries())
    case 6: return .received(number())
    case 7: return .wants(log: fixed(16), from: number())
    default:
      return .part(
        SyncLogPart(
          log: fixed(16), index: number(), isLast: next() == 1, bytes: raw()))
    }
  }

  private mutating func entries() -> [SyncEntry] {
    (0..<int()).map { _ in
      var inner = SecondReader(raw())
      return inner.entry()
    }
  }

  private mutating func logParts() -> LogParts {
    var start = SyncLogStart(
      version: SyncVersion(number()), digest: fixed(16), stamp: SyncStamp(bits: UInt64(fixed(8))),
      chain: fixed(16), authors: [])
    for _ in 0..<int() {
      start.authors.append(
        SyncLogStart.Author(
          client: number(), sequence: number(), base: number(), stamp: UInt64(fixed(8))))
    }
    (isInline, names) = (true, [])
    var objects: [SyncObject: NodeParts] = [:]
    for _ in 0..<int() {
      let object = object()
      objects[object] = node()
    }
    return LogParts(start: start, objects: objects, entries: entries())
  }

  private mutating func node() -> NodeParts {
    var node = NodeParts()
    for _ in 0..<int() {
      let name = name()
      let flags = next()
      if flags % 2 == 1 { node.values[name] = slot() }
      if flags / 2 % 2 == 1 { node.lists[name] = (0..<int()).map { _ in slot() } }
      if flags / 4 % 2 == 1 { node.sets[name] = Set((0..<int()).map { _ in value() }) }
      if flags / 8 == 1 {
        for _ in 0..<int() {
          let key = text()
          node.dictionaries[name, default: [:]][key] = slot()
        }
      }
    }
    return node
  }

  private mutating func slot() -> NodeParts.Slot {
    var slot = NodeParts.Slot(value: value())
    if slot.value == .embedded { slot.embedded = [node()] }
    return slot
  }
}
