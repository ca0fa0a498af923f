// UnitOverlapsTests.swift: which units an image may put on and take off in any order.

import Testing

@testable import CrashStates

@Suite("Units that overlap")
struct UnitOverlapsTests {
  private func sizes(_ body: (inout Recording) -> Void) throws -> [UnitOverlaps.Freedom] {
    var recording = Recording(files: ["a": "1234"])
    body(&recording)
    let table = try UnitTable(trace: recording.trace, model: .posix)
    return table.units.filter { $0.kind == .growth }.map { table.overlaps.freedom(of: $0.id) }
  }

  @Test("a size is free above all bytes and sizes before it, and ordered below any of them")
  func growth() throws {
    #expect(try sizes { $0.write("a", "56", at: 4) } == [.growth])
    let cutBytes = try sizes { recording in
      recording.write("a", "56", at: 4)
      recording.truncate("a", to: 0)
      recording.write("a", "7", at: 0)
      recording.write("a", "8", at: 9)
    }
    #expect(cutBytes == [.growth, .ordered, .growth])
    let cutSize = try sizes { recording in
      recording.truncate("a", to: 100)
      recording.truncate("a", to: 0)
      recording.write("a", "7", at: 50)
      recording.write("a", "8", at: 100)
    }
    #expect(cutSize == [.ordered, .growth])
  }
}
