// IdentifierTests.swift: texts and parts of ObjectIds and UUIDs.

import Testing

@testable import Engine

@Suite("ObjectIds and UUIDs")
struct IdentifierTests {
  @Test("an ObjectId is read from 24 digits and written as such")
  func objectIdTexts() throws {
    let id = try #require(ObjectId("507F1f77bcf86cd799439011"))
    #expect(id.description == "507f1f77bcf86cd799439011")
    #expect(id.timestampSeconds == 0x507f_1f77)
    #expect(ObjectId(bytes: id.bytes) == id)
    for text in [
      "", "507f1f77bcf86cd79943901", "507f1f77bcf86cd7994390111", "507f1f77bcf86cd79943901g",
      "507f1f77bcf86cd79943901é", " 07f1f77bcf86cd799439011", "+07f1f77bcf86cd799439011",
    ] {
      #expect(ObjectId(text) == nil, "\(text)")
    }
  }

  @Test("an ObjectId's parts stand where they belong, and others do not")
  func objectIdParts() {
    let id = ObjectId(timestampSeconds: 0x0102_0304, random: 0x05_0607_0809, counter: 0x0a0b0c)
    #expect(id.bytes == Array(1...12))
    let cut = ObjectId(timestampSeconds: 0, random: .max, counter: .max)
    #expect(cut.bytes == [0, 0, 0, 0] + Array(repeating: 255, count: 8))
    // Later seconds stand behind earlier ones, and later counters of one process too.
    let next = ObjectId(timestampSeconds: 0x0102_0304, random: 0x05_0607_0809, counter: 0x0a0b0d)
    let later = ObjectId(timestampSeconds: 0x0102_0305, random: 0, counter: 0)
    #expect(id < next && next < later)
  }

  @Test("a UUID is read from its text and written as such")
  func uuidTexts() throws {
    let text = "3b241101-e2bb-4255-8caf-4136c566a962"
    let id = try #require(UUIDBytes(text))
    #expect(id.description == text && UUIDBytes(bytes: id.bytes) == id)
    #expect(UUIDBytes(text.uppercased()) == id)
    for text in [
      "", "3b241101e2bb42558caf4136c566a962", "{3b241101-e2bb-4255-8caf-4136c566a962}",
      "3b241101-e2bb-4255-8caf-4136c566a96", "3b24110-1e2bb-4255-8caf-4136c566a962",
      "3b241101-e2bb-4255-8caf-4136c566a962-", "3b241101-e2bb-4255-8caf-4136c566a96x",
      "-3b241101-e2bb-4255-8caf-4136c566a962",
    ] {
      #expect(UUIDBytes(text) == nil, "\(text)")
    }
  }

  @Test("every bit of both survives its text")
  func roundTrips() {
    var random = TestRandom(725)
    for _ in 0..<2000 {
      let id = ObjectId(high: random.next(), low: UInt32(truncatingIfNeeded: random.next()))
      let uuid = UUIDBytes(high: random.next(), low: random.next())
      #expect(ObjectId(id.description) == id && UUIDBytes(uuid.description) == uuid)
    }
  }
}
