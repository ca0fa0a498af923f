// MinimizerTests.swift: shrinking gives back much at once before it tries parts.

import LabCore
import Testing

@testable import CrashStates

@Suite("Shrinking a state")
struct MinimizerTests {
  // Nineteen writes of 16 pages each, all lost, of which one page of one write matters: given back
  // page by page, that would be hundreds of checks.
  @Test("restores whole operations before parts of them")
  func operations() throws {
    var recording = Recording(files: ["a": ""])
    let pages = String(repeating: "x", count: 16 * 4096)
    for number in 0..<19 { recording.write("a", pages, at: UInt64(number * pages.utf8.count)) }
    let table = try UnitTable(trace: recording.trace, model: .posix)
    let needed = try #require(table.units(ofEvent: 9).dropFirst(3).first)
    let state = try table.state(at: recording.trace.events.count, keeping: [])
    var calls = 0
    let smallest = try Minimizer(table: table).minimized(state) { candidate in
      calls += 1
      return candidate.lost.contains(needed)
    }
    #expect(table.units.count > 300 && state.lost.count == table.units.count)
    #expect(smallest.lost == [needed])
    #expect(calls < 30, "\(calls) checks")
  }
}
