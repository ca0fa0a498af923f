// CodecTests.swift: bytes of changesets and entries: there and back, a second reader, and bytes
// that mean nothing.

import SyncCore
import Testing

@Suite("The bytes of synchronization")
struct CodecTests {
  /// Choices from a seed.
  struct Draw {
    var state: UInt64

    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state >> 24
    }

    mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }

    mutating func text() -> SyncText { ["", "a", "name", "größe", "x y"][below(5)] }

    mutating func wide() -> UInt64 { next() << UInt64(below(50)) }

    mutating func key() -> SyncKey {
      switch below(5) {
      case 0: .null
      case 1: .int(Int64(bitPattern: wide()) &- 9)
      case 2: .text(text())
      case 3: .objectId(high: wide(), low: UInt32(below(1 << 32)))
      default: .uuid(UInt128(wide()) << 64 | UInt128(next()))
      }
    }

    mutating func object() -> SyncObject { SyncObject(["Dog", "Cat"][below(2)], key()) }

    mutating func value() -> SyncValue {
      switch below(13) {
      case 0: .null
      case 1: .bool(below(2) == 0)
      case 2: .int(Int64(bitPattern: wide()))
      case 3: .float(bits: UInt32(below(1 << 32)))
      case 4: .double(bits: wide())
      case 5: .text(text())
      case 6: .binary((0..<below(4)).map { UInt8($0 * 77) })
      case 7: .date(seconds: Int64(bitPattern: wide()), nanoseconds: Int64(wide() >> 1))
      case 8: .objectId(high: wide(), low: UInt32(below(1 << 32)))
      case 9: .uuid(UInt128(next()))
      case 10: .decimal(UInt128(wide()) << 60)
      case 11: .link(object())
      default: .embedded
      }
    }

    mutating func values() -> [SyncValue] { (0..<below(4)).map { _ in value() } }

    mutating func change(fills: Bool) -> SyncChange {
      switch below(fills ? 14 : 13) {
      case 0: .set(value())
      case 1: .setDefault(value())
      case 2: .increment(Int64(bitPattern: wide()))
      case 3: .listInsert(at: below(300), values())
      case 4: .listErase(at: below(9), count: below(200))
      case 5: .listMove(from: below(9), to: below(9))
      case 6: .listSet(at: below(9), value())
      case 7: .listClear
      case 8: .listAssign(values())
      case 9: .setInsert(value())
      case 10: .setErase(value())
      case 11: .dictionarySet(text(), value())
      case 12: .dictionaryRemove(text())
      default: .listFill(values())
      }
    }

    mutating func operations(sources: Int? = nil) -> [SourcedOperation] {
      var (object, source) = (object(), 0)
      var field = SyncField(object, [], "a")
      return (0..<below(6)).map { number in
        if below(2) == 0 { object = self.object() }
        if below(2) == 0 || field.object != object {
          let steps = (0..<below(3)).map { _ in
            SyncStep(text(), [.value, .element(below(9)), .entry(text())][below(3)])
          }
          field = SyncField(object, steps, text())
        }
        source = sources.map { min($0 - 1, source + below(3)) } ?? number
        let operation: SyncOperation
        switch below(5) {
        case 0: operation = .create(object)
        case 1: operation = .delete(object)
        default: operation = .change(field, change(fills: sources != nil))
        }
        return SourcedOperation(source: source, operation)
      }
    }

    mutating func changeset() -> SyncChangeset {
      SyncChangeset(
        client: SyncClient(wide()), sequence: next(), base: SyncVersion(wide()),
        stamp: SyncStamp(bits: wide()), operations: operations().map(\.operation))
    }

    mutating func entry() -> SyncEntry {
      var entry = SyncEntry(
        version: SyncVersion(wide()), user: wide(), changeset: changeset(),
        barrier: SyncVersion(wide()), digest: UInt128(next()) << 70)
      let count = entry.changeset.operations.count
      if count > 0, below(2) == 0 { entry.resolved = operations(sources: count) }
      if count > 0, below(2) == 0 { entry.restated = operations(sources: count) }
      if below(3) == 0 { entry.refusal = UInt32(below(1 << 32)) }
      for _ in 0..<(count == 0 ? 0 : below(3)) {
        entry.overruled.append(
          SyncOverruling(
            operation: below(count), cause: SyncOverruling.Cause.allCases[below(8)],
            by: SyncVersion(next())))
      }
      return entry
    }
  }

  @Test("lead back to the same changeset, for both readers")
  func changesets() throws {
    for seed in 0..<2000 as Range<UInt64> {
      var draw = Draw(state: seed)
      let changeset = draw.changeset()
      let bytes = changeset.encoded()
      #expect(try SyncChangeset(decoding: bytes) == changeset, "seed \(seed)")
      var second = SecondReader(bytes)
      #expect(second.changeset() == changeset, "seed \(seed)")
    }
  }

  @Test("lead back to the same entry, for both readers")
  func entries() throws {
    for seed in 0..<2000 as Range<UInt64> {
      var draw = Draw(state: seed)
      let entry = draw.entry()
      let bytes = entry.encoded()
      #expect(try SyncEntry(decoding: bytes) == entry, "seed \(seed)")
      var second = SecondReader(bytes)
      #expect(second.entry() == entry, "seed \(seed)")
    }
  }

  @Test("are refused when they are cut, changed to no spelling of ours, or go on")
  func strict() {
    for seed in 0..<60 as Range<UInt64> {
      var draw = Draw(state: seed)
      let bytes = draw.entry().encoded()
      for end in bytes.indices {
        #expect(throws: SyncError.self) { try SyncEntry(decoding: Array(bytes[..<end])) }
      }
      #expect(throws: SyncError.self) { try SyncEntry(decoding: bytes + [0]) }
      for _ in 0..<20 {
        var changed = bytes
        changed[draw.below(bytes.count)] = UInt8(draw.below(256))
        guard let entry = try? SyncEntry(decoding: changed) else { continue }
        #expect(entry.encoded() == changed, "seed \(seed): a second spelling is taken")
      }
    }
  }

  @Test(
    "are refused where a number has leading zeros, counts beyond the bytes, or a name is unused",
    arguments: [
      [1, 1, 0x81, 0], [1, 1, 1, 0] + [0, 0, 0, 0, 0, 0, 0, 0] + [0xff, 0xff, 1],
      [1, 1, 1, 0] + [0, 0, 0, 0, 0, 0, 0, 0] + [1, 1, 65, 0],
      [1, 1, 1, 0] + [0, 0, 0, 0, 0, 0, 0, 0] + [1, 1, 0xff, 1, 0, 0, 0], [], [3], [2],
      [1] + [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2],
    ] as [[UInt8]])
  func refused(bytes: [UInt8]) {
    #expect(throws: SyncError.self) { try SyncChangeset(decoding: bytes) }
  }

  @Test("of a small change are few")
  func size() {
    let changeset = SyncChangeset(
      client: SyncClient(3), sequence: 200, base: SyncVersion(1000),
      stamp: SyncStamp(milliseconds: 1_800_000_000_000),
      operations: [.change(SyncField(Alphabet.dog, [], "age"), .set(.int(7)))])
    #expect(changeset.encoded().count == 32)
  }
}
