// SpaceMapTests.swift: which of the free spans a node gets.

import Testing

@testable import Engine

@Suite("Space map")
struct SpaceMapTests {
  private static func space() -> SpaceMap {
    SpaceMap(
      free: [
        Span(start: 10, count: 5), Span(start: 20, count: 2), Span(start: 30, count: 3),
        Span(start: 40, count: 2),
      ], endSector: 100)
  }

  @Test("a node gets the smallest span with room, of equal ones the lowest, else the end")
  func bestFit() {
    var space = Self.space()
    let taken = [2, 2, 2, 4, 1, 1, 1].map { space.allocate(sectors: $0).sector }
    #expect(taken == [20, 40, 30, 10, 14, 32, 100])
    #expect(space.freeSectorCount == 0 && space.endSector == 101)
  }

  @Test("free list and group take one span together, unless holes are to be filled")
  func planned() {
    for fillsHoles in [false, true] {
      var space = SpaceMap(
        free: [
          Span(start: 10, count: 1), Span(start: 20, count: 1), Span(start: 30, count: 2),
          Span(start: 40, count: 9),
        ], endSector: 100)
      space.fillsHoles = fillsHoles
      let plan = space.plan(version: .first, freshLinks: 0, groupSectors: 1) { _ in 1 }
      #expect([plan.list.sector, plan.group.sector] == (fillsHoles ? [10, 20] : [30, 31]))
    }
  }

  @Test("while nodes move out of the tail, the lowest span with room")
  func lowest() {
    var space = Self.space()
    space.prefersLowest = true
    #expect([2, 2, 2].map { space.allocate(sectors: $0).sector } == [10, 12, 20])
  }
}
