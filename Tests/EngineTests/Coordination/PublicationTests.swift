// PublicationTests.swift: readers find a whole version, whatever store a writer died behind.

import Testing

@testable import Engine

@Suite("Publication")
struct PublicationTests {
  private static func slot(_ version: UInt64) -> RootSlot {
    RootSlot(
      version: Version(rawValue: version),
      top: NodeLink(ref: Ref(sector: version + 3), checksum: version &* 0x9e37_79b9),
      logicalSizeBytes: 4096 * (version + 10))
  }

  @Test("a publication that stops behind any store leaves the old version or the new one, whole")
  func torn() throws {
    for first: UInt64 in 5...8 {
      let count = Publication.stores(Self.slot(first + 1)).count
      for done in 0...count {
        let region = try SharedRegion(descriptor: -1, path: "memory")
        let publication = Publication(region: region)
        publication.publish(Self.slot(first - 1))
        publication.publish(Self.slot(first))
        for store in Publication.stores(Self.slot(first + 1))[..<done] {
          region.store(store.value, at: store.offset)
        }
        let version = publication.version
        #expect(version.rawValue == (done == count ? first + 1 : first))
        #expect(publication.record(of: version) == Self.slot(version.rawValue))
        // The next writer begins again from the start, and nobody notices the rest.
        publication.publish(Self.slot(first + 1))
        #expect(publication.record(of: publication.version) == Self.slot(first + 1))
      }
    }
  }

  @Test("a record of which a word is another one's is no record")
  func mixture() throws {
    for offset in stride(from: 0, to: Layout.slotRecordBytes, by: 8) {
      let region = try SharedRegion(descriptor: -1, path: "memory")
      let publication = Publication(region: region)
      publication.publish(Self.slot(6))
      let place = RegionLayout.recordOffsets[0] + offset
      region.store(region.load(place) ^ 1 << 40, at: place)
      #expect(publication.record(of: Version(rawValue: 6)) == nil)
    }
  }

  @Test("a snapshot of a version that was published in between is of the newer one")
  func recheck() throws {
    // The reader has stored version v in its slot and not looked again; then v + 1 and v + 2 are
    // committed, and the second uses what v + 1 released. Only the second look saves the reader.
    var test = try TestDatabase()
    try test.put(0..<200)
    let database = test.database
    let base = database.version
    let slot = try database.session.claimSlot()
    try test.put(0..<200, round: 1)
    database.session.slots.store(base, in: slot)
    #expect(database.publication.version != base)
    database.session.slots.release(slot)
    let snapshot = try database.snapshot()
    #expect(snapshot.version.rawValue == base.rawValue + 1)
    snapshot.release()
    try test.check()
  }
}
