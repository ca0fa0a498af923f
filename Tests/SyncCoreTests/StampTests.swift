// StampTests.swift: hybrid logical time: later than what is known, whatever the clock says.

import SyncCore
import Testing

@Suite("A stamp")
struct StampTests {
  @Test("follows the clock, and what is known where the clock is behind")
  func next() {
    let known = SyncStamp(milliseconds: 1000)
    #expect(SyncStamp.next(now: 2000, after: known) == SyncStamp(milliseconds: 2000))
    #expect(SyncStamp.next(now: 1000, after: known)?.bits == known.bits + 1)
    #expect(SyncStamp.next(now: 5, after: known)?.milliseconds == 1000)
    #expect(SyncStamp.next(now: 5, after: SyncStamp(bits: .max)) == nil)
    #expect(SyncStamp.next(now: .max, after: known)?.milliseconds == SyncStamp.millisecondsMax)
  }

  @Test("is clamped to a limit, but stays later than what is known")
  func clamped() {
    let (early, late) = (SyncStamp(milliseconds: 10), SyncStamp(milliseconds: 900))
    let limit = SyncStamp(milliseconds: 50)
    #expect(early.clamped(to: limit, after: .zero) == early)
    #expect(late.clamped(to: limit, after: early) == limit)
    #expect(late.clamped(to: limit, after: limit)?.bits == limit.bits + 1)
    #expect(early.clamped(to: limit, after: SyncStamp(bits: .max)) == nil)
  }
}

@Suite("A text")
struct TextTests {
  @Test("equals a text of the same bytes, and no other spelling")
  func bytes() {
    #expect(SyncText("\u{e9}") != SyncText("e\u{301}"))
    #expect("\u{e9}" == "e\u{301}", "Swift's strings take them for equal")
    #expect(SyncText("b") > SyncText("a") && SyncText("a") < SyncText("aa"))
    #expect(!SyncText(utf8: [0xff]).isValid && SyncText("ä").isValid)
  }

  @Test("of a value is compared with other values by bits")
  func values() {
    #expect(SyncValue.double(bits: Double.nan.bitPattern) == .double(bits: Double.nan.bitPattern))
    #expect(SyncValue.double(bits: (0.0).bitPattern) != .double(bits: (-0.0).bitPattern))
  }

  @Test("orders keys by kind, then by value")
  func keys() {
    let keys: [SyncKey] = [
      .null, .int(-3), .int(2), .text("a"), .objectId(high: 0, low: 9), .objectId(high: 1, low: 0),
      .uuid(1), .uuid(2),
    ]
    for (left, one) in keys.enumerated() {
      for (right, other) in keys.enumerated() { #expect((one < other) == (left < right)) }
    }
  }
}
