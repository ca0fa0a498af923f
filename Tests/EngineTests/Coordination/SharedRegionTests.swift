// SharedRegionTests.swift: memory that was used is as good as new.

import Testing

@testable import Engine

@Suite struct SharedRegionTests {
  private static let usedBytes = RegionLayout.sizeBytes(slotCount: RegionLayout.slotCountMin)

  /// A region whose first page of slots was used, as far as `slotCount` says.
  private func scribble(slotCount: UInt32) throws {
    let region = try SharedRegion(descriptor: -1, path: "memory")
    for offset in stride(from: 0, to: Self.usedBytes, by: 8) {
      if region.load(offset) != 0 { Issue.record("offset \(offset) is not 0") }
      region.store(.max, at: offset)
    }
    if region.load(RegionLayout.slot(100)) != 0 { Issue.record("slot 100 is not 0") }
    if slotCount > 100 { region.store(.max, at: RegionLayout.slot(100)) }
    region.store32(slotCount, at: RegionLayout.slotCountOffset)
  }

  @Test("anonymous memory is zeros, whoever had it before")
  func spare() throws {
    for round in 0..<20 {
      try scribble(slotCount: UInt32(round % 3 == 2 ? 128 : RegionLayout.slotCountMin))
    }
  }

  @Test("two handles without a lock file share nothing")
  func two() throws {
    let one = try SharedRegion(descriptor: -1, path: "one")
    let other = try SharedRegion(descriptor: -1, path: "other")
    one.store(7, at: RegionLayout.publishedOffset)
    #expect(other.load(RegionLayout.publishedOffset) == 0)
  }
}
