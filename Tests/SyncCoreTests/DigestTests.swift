// DigestTests.swift: the digest against the reference's own hash and encodings.

import SyncCore
import SyncReference
import Testing

@Suite("The digest of a state")
struct DigestTests {
  private let object = SyncObject("Dog", .text("Ada"))

  private func digest(_ operations: [SyncOperation]) throws -> UInt128 {
    var state = SyncState()
    for operation in operations { try state.apply(operation) }
    let counted = ReferenceDigest.digest(state.objects.mapValues { ReferenceNode($0) })
    #expect(state.digest == counted, "\(operations)")
    return state.digest
  }

  private func change(_ change: SyncChange, _ steps: [SyncStep] = []) -> SyncOperation {
    .change(SyncField(object, steps, "field"), change)
  }

  @Test("is the reference's for every kind of value and key, and differs between them (I2)")
  func values() throws {
    let values: [SyncValue] = [
      .null, .bool(false), .bool(true), .int(0), .int(-1), .int(.min), .int(.max), .int(64),
      .float(bits: 0x8000_0001), .double(bits: 0x8000_0000_0000_0001), .text(""), .text("ab"),
      .text("12345678"), .binary([]), .binary([UInt8](0..<255)),
      .date(seconds: -5, nanoseconds: 999_999_999), .objectId(high: 1 << 63, low: 7),
      .uuid(1 << 127 | 5), .decimal(1 << 127 | 5), .link(object), .embedded,
    ]
    var digests: Set<UInt128> = []
    for value in values {
      digests.insert(try digest([.create(object), change(.set(value))]))
      digests.insert(try digest([.create(object), change(.listAssign([value, .int(5), value]))]))
      digests.insert(try digest([.create(object), change(.dictionarySet("key", value))]))
      if value != .embedded {
        digests.insert(try digest([.create(object), change(.setInsert(value))]))
      }
    }
    #expect(digests.count == values.count * 4 - 1)
    let keys: [SyncKey] = [
      .null, .int(-1), .int(1), .text(""), .text("x"), .objectId(high: 3, low: 1 << 31),
      .uuid(1 << 100),
    ]
    #expect(Set(try keys.map { try digest([.create(SyncObject("Dog", $0))]) }).count == 7)
  }

  @Test("is the reference's after edits, whatever the way (I2)")
  func edits() throws {
    let (first, second) = (SyncStep("field"), SyncStep("field", .element(1)))
    let start: [SyncOperation] = [
      .create(object), change(.set(.embedded)), change(.set(.int(4)), [first]),
      change(.listInsert(at: 0, [.int(1), .embedded, .int(3)])),
      change(.set(.text("in")), [second]), change(.listAssign([.int(9)]), [second]),
    ]
    let one = try digest(
      start + [change(.listMove(from: 2, to: 0)), change(.increment(3), [first])])
    let other = try digest(
      start + [
        change(.listErase(at: 2, count: 1)), change(.listInsert(at: 0, [.int(3)])),
        change(.set(.int(7)), [first]),
      ])
    #expect(one == other)
    #expect(try digest(start + [.delete(object)]) == 0)
    #expect(try digest([]) == 0)
  }
}
