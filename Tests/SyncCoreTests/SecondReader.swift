// SecondReader.swift: reads changesets and entries as docs/reference/sync-format.md says, in
// another way than SyncCore: it looks for no second spelling and stops at nothing, so it is for
// right bytes only.

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
  private mutating func name() -> SyncText { names[int()] }

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
