// MinimizerTests.swift: shrinking gives back much at once before it tries parts.

import LabCore
import Testing

@testable import CrashStates

@Suite("Shrinking a state")
struct MinimizerTests {
  // Nineteen writes of 16 pages each, all lost, of which one page of one write matters. Halves of
  // the pages would split a write at once, since nineteen is odd.
  @Test("restores whole operations before parts of them")
  func operations() throws {
    let pages = String(repeating: "x", count: 16 * 4096)
    var recording = Recording(files: ["a": String(repeating: pages, count: 19)])
    for number in 0..<19 { recording.write("a", pages, at: UInt64(number * pages.utf8.count)) }
    let table = try UnitTable(trace: recording.trace, model: .posix)
    let needed = try #require(table.units(ofEvent: 9).dropFirst(3).first)
    let state = try table.state(at: recording.trace.events.count, keeping: [])
    #expect(table.units.count > 300 && state.lost.count == table.units.count)
    /// Events of which a state has lost a part.
    func split(_ state: CrashState) -> Set<Int> {
      let lost = Set(state.lost)
      return Set(
        (0..<19).filter { event in
          let units = table.units(ofEvent: event)
          let count = units.count { lost.contains($0) }
          return count > 0 && count < units.count
        })
    }
    var splits: Set<Int> = []
    var calls = 0
    let smallest = try Minimizer(table: table).minimized(state) { candidate in
      calls += 1
      splits.formUnion(split(candidate))
      return candidate.lost.contains(needed)
    }
    #expect(smallest.lost == [needed])
    #expect(splits == [9])
    #expect(calls < 40, "\(calls) checks")
  }
}
