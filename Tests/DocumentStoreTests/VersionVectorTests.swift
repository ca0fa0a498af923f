// VersionVectorTests.swift: version vectors: their bytes, their texts, and their order.

import Foundation
import Testing

@testable import DocumentStore

@Suite("Version vectors")
struct VersionVectorTests {
  private static let other = "BQYHCAkKCwwNDg8QERITFA"

  @Test("of real files read, and are written the same")
  func golden() throws {
    let vector = try VersionVector(stored: [0, 5, 0x80])
    #expect(vector.description == "2@*")
    #expect(try vector.stored() == [0, 5, 0x80])
  }

  @Test("read as they are written, as bytes and as texts")
  func roundTrips() throws {
    let texts = [
      "17f0000000010000@*", "17f0000000010001@*, 17f0000000000000@\(Self.other)",
      "5@*, 9@\(Self.other), 1770000000000003@?", "30@*, 20@\(Self.other), 10@*; 1@?",
      "30@*, 20@\(Self.other);",
    ]
    for text in texts {
      let vector = try VersionVector(text)
      #expect(vector.description == text)
      #expect(try VersionVector(stored: try vector.stored()) == vector)
    }
    #expect(try VersionVector(texts[3]).currentCount == 3)
    #expect(try VersionVector(texts[4]).currentCount == 2)
    // A time without low bits stands without them: 17f0000000010000 >> 15.
    #expect(try VersionVector(texts[0]).stored().count == 9)
    #expect(Version(legacy: try RevisionID("3-ab")).description == "1770000000000003@?")
  }

  @Test("refuse damage")
  func damage() throws {
    let bad: [[UInt8]] = [
      [], [1], [0], [0, 5], [0, 0x80], [0, 5, 0x11] + [UInt8](repeating: 0, count: 17),
      [0, 5, 0x10, 1], [0, 5, 0, 1, 0], [0, 5, 0, 3, 0x81, 0x1e],
      [0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0],
    ]
    for bytes in bad {
      #expect(code { _ = try VersionVector(stored: bytes) } == .badRevisionID, "\(bytes)")
    }
    for text in ["", "5", "@*", "5@", "5@x", "0@*", "5@*, 4@*", "5@*;4@?;3@*", "5@*,", "g@*"] {
      #expect(code { _ = try VersionVector(text) } == .badRevisionID, "\(text)")
    }
    let real = try VersionVector("30@*, 20@\(Self.other), 10@*; 1@?").stored()
    for offset in real.indices {
      for change: UInt8 in [1, 0x10, 0x80, 0xff] {
        var bytes = real
        bytes[offset] ^= change
        guard let vector = try? VersionVector(stored: bytes) else { continue }
        if let again = try? vector.stored() {
          #expect(try VersionVector(stored: again) == vector)
        }
      }
    }
  }

  @Test("stand before, behind or beside each other, and grow")
  func order() throws {
    func vector(_ text: String) throws -> VersionVector { try VersionVector(text) }
    #expect(try vector("5@*").order(to: vector("5@*, 3@?")) == .same)
    #expect(try vector("6@*, 3@?").order(to: vector("5@*")) == .newer)
    #expect(try vector("5@*").order(to: vector("9@\(Self.other), 5@*")) == .older)
    #expect(try vector("6@*").order(to: vector("9@\(Self.other), 5@*")) == .conflicting)
    var grown = try vector("9@\(Self.other), 5@*")
    try grown.add(Version(time: 7, source: .me))
    #expect(grown.description == "7@*, 9@\(Self.other)")
    #expect(code { try grown.add(Version(time: 7, source: .me)) } == .badRevisionID)
    var merged = try vector("30@*, 20@\(Self.other), 10@*; 1@?")
    try merged.add(Version(time: 31, source: .legacy))
    #expect(merged.description == "1f@?, 30@*, 20@\(Self.other)")
  }

  @Test("take times that rise, also when the clock does not")
  func clock() throws {
    let clock = VersionClock { 0x1_2345_6789 }
    #expect(try clock.next(after: 0) == 0x1_2345_0000)
    #expect(try clock.next(after: 0) == 0x1_2345_0001)
    #expect(try clock.next(after: 0x1_2345_ffff) == 0x1_2346_0000)
    #expect(code { _ = try clock.next(after: .max) } == .corruptRevisionData)
  }
}
