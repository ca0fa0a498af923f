// TornTranslationTests.swift: a torn write that one model leaves, asked about under another: which
// sectors it holds, where its damage lies, and whether it was still in flight.

import LabCore
import Recording
import Testing

@testable import CrashStates

@Suite("Torn writes under other models")
struct TornTranslationTests {
  private static let garbage = TornWrite.Rest.garbage(Seed(rawValue: 3))

  private func named(_ change: (inout PersistenceModel) -> Void) -> PersistenceModel {
    var model = PersistenceModel.posix
    model.name = "mine"
    change(&model)
    return model
  }

  @Test("what arrived of a page is, sector by sector, what smaller units have kept")
  func sectors() throws {
    // Two pages of the write, the first from its fifth sector on; its last bytes are half a sector.
    var recording = Recording(files: ["a": String(repeating: "o", count: 8192)])
    recording.write("a", String(repeating: "n", count: 5000), at: 2048)
    let pages = try UnitTable(
      trace: recording.trace, model: named { $0.dataUnitBytes = 4096 })
    let whole = named {
      $0.dataUnitBytes = 512
      $0.sectorBytes = nil
    }
    let sectors = try UnitTable(trace: recording.trace, model: whole)
    let data = pages.units.filter { $0.kind == .data }.map(\.id)
    #expect(data.count == 2)
    for (unit, count) in zip(data, [4, 6]) {
      for first in 0..<count {
        for end in first + 1...count {
          let torn = TornWrite(unit: unit, keptSectors: first..<end, rest: .old)
          let others = pages.pendingUnits(at: 1).filter { $0 != unit }
          let state = try pages.state(at: 1, keeping: others, torn: torn)
          #expect(sectors.allows(state, of: pages), "unit \(unit), sectors \(first)..<\(end)")
        }
      }
    }
  }

  @Test("a write of which every sector arrived damages none, wherever in the file it lies")
  func nothingDamaged() throws {
    var recording = Recording(files: ["a": String(repeating: "o", count: 8192)])
    recording.write("a", String(repeating: "n", count: 5000), at: 2048)
    let damaging = named {
      $0.dataUnitBytes = 4096
      $0.sectorOverwriteIsAtomic = false
    }
    let table = try UnitTable(trace: recording.trace, model: damaging)
    let whole = named {
      $0.dataUnitBytes = 512
      $0.sectorBytes = nil
    }
    for (unit, count) in zip(table.units.filter { $0.kind == .data }.map(\.id), [4, 6]) {
      let others = table.pendingUnits(at: 1).filter { $0 != unit }
      for (end, isAllowed) in [(count, true), (count - 1, false)] {
        let torn = TornWrite(unit: unit, keptSectors: 0..<end, rest: .zeros)
        let state = try table.state(at: 1, keeping: others, torn: torn)
        #expect(try table.allows(state, under: whole) == isAllowed, "unit \(unit), \(end)")
      }
    }
  }

  /// The model with damage, the write's table under it, and a state with some sectors of it.
  private func damaged(
    _ kept: Range<Int>, _ rest: TornWrite.Rest
  ) throws -> (state: CrashState, table: UnitTable) {
    // Of the write's three sectors the file had two.
    var recording = Recording(files: ["a": String(repeating: "o", count: 1024)])
    recording.write("a", String(repeating: "n", count: 1536))
    let model = named {
      $0.dataUnitBytes = 4096
      $0.sectorOverwriteIsAtomic = false
      $0.staleBytes = .anywhere
    }
    let table = try UnitTable(trace: recording.trace, model: model)
    let unit = try #require(table.units.first { $0.kind == .data }?.id)
    let others = table.pendingUnits(at: 1).filter { $0 != unit }
    let torn = TornWrite(unit: unit, keptSectors: kept, rest: rest)
    return (try table.state(at: 1, keeping: others, torn: torn), table)
  }

  @Test("damage where the file had bytes needs a disk that destroys what it overwrites")
  func inPlace() throws {
    let atomic = named { $0.dataUnitBytes = 4096 }
    let behind = try damaged(0..<2, .zeros)
    #expect(try behind.table.allows(behind.state, under: atomic))
    for kept in [1..<3, 0..<1, 2..<3] {
      let within = try damaged(kept, .zeros)
      #expect(try !within.table.allows(within.state, under: atomic), "\(kept)")
    }
  }

  @Test("garbage behind the file's old end needs a file system that shows what lay there")
  func exposed() throws {
    let clean = named {
      $0.dataUnitBytes = 4096
      $0.staleBytes = .none
    }
    let dirty = named { $0.dataUnitBytes = 4096 }
    let behind = try damaged(0..<2, Self.garbage)
    #expect(try behind.table.allows(behind.state, under: dirty))
    #expect(try !behind.table.allows(behind.state, under: clean))
    let zeros = try damaged(0..<2, .zeros)
    #expect(try zeros.table.allows(zeros.state, under: clean))
  }

  @Test("a write that the other model has made durable is torn no more")
  func durable() throws {
    var recording = Recording(files: ["a": String(repeating: "o", count: 1024), "b": "o"])
    recording.write("a", String(repeating: "n", count: 1024))
    recording.sync("b")
    let object = named { $0.dataUnitBytes = 4096 }
    let everything = named {
      $0.dataUnitBytes = 4096
      $0.syncCoverage = .everything
    }
    let table = try UnitTable(trace: recording.trace, model: object)
    let torn = TornWrite(unit: 0, keptSectors: 0..<1, rest: .old)
    for (point, isAllowed) in [(1, true), (2, false)] {
      let state = try table.state(at: point, keeping: [], torn: torn)
      #expect(try table.allows(state, under: everything) == isAllowed, "crash point \(point)")
    }
  }

  @Test("of four sectors in flight the first, all but the last, or one in the middle arrive")
  func cuts() throws {
    var recording = Recording(files: ["a": String(repeating: "o", count: 2048)])
    recording.write("a", String(repeating: "n", count: 2048))
    let enumerator = try CrashStateEnumerator(
      trace: recording.trace, model: named { $0.dataUnitBytes = 4096 }, seed: Seed(rawValue: 1),
      options: ExplorationOptions(tornUnits: 4))
    var found: Set<Range<Int>> = []
    try enumerator.visit(enumerator.plan()) { (state, _) throws(LabError) in
      if let torn = state.state.torn { found.insert(torn.keptSectors) }
      return .goOn
    }
    #expect(found == [0..<1, 0..<3, 2..<3])
  }

  @Test("a torn write in a key has no more sectors than the write, and runs of units are ranges")
  func keys() throws {
    var recording = Recording(files: ["a": String(repeating: "o", count: 2048)])
    recording.write("a", String(repeating: "n", count: 2048))
    let table = try UnitTable(trace: recording.trace, model: named { $0.dataUnitBytes = 4096 })
    func state(_ end: Int) throws -> CrashState {
      try table.state(
        at: 1, keeping: [], torn: TornWrite(unit: 0, keptSectors: 0..<end, rest: .old))
    }
    #expect(try state(4).torn?.keptSectors == 0..<4)
    #expect(throws: LabError.self) { try state(5) }
    let fine = try UnitTable(trace: recording.trace, model: named { $0.dataUnitBytes = 512 })
    let lost = try fine.state(at: 1, keeping: [])
    #expect(lost.lost.count == 4)
    let text = "\(StateKey(lost, of: fine))"
    #expect(text.hasSuffix("kept=none"))
    let some = StateKey(try fine.state(at: 1, keeping: [0, 1, 2]), of: fine)
    #expect(some.runs == [3...3] || some.runs == [0...2])
    let half = StateKey(try fine.state(at: 1, keeping: [0, 3]), of: fine)
    #expect(half.listsKept ? half.runs == [0...0, 3...3] : half.runs == [1...2])
  }

  @Test("each parameter that contradicts another is named, in the order of the document")
  func conflicts() {
    func keys(_ model: PersistenceModel) -> [String] { model.conflicts.map(\.key) }
    #expect(keys(.ext4Journal).isEmpty)
    var journal = PersistenceModel.ext4Journal
    journal.sectorBytes = 512
    journal.shrinkIsAtomic = false
    #expect(keys(journal) == ["shrinkIsAtomic", "sectorBytes"])
    let bare = named {
      $0.sectorBytes = nil
      $0.powersafeOverwrite = false
      $0.sectorOverwriteIsAtomic = false
      $0.staleBytes = .anywhere
    }
    #expect(keys(bare) == ["powersafeOverwrite", "sectorOverwriteIsAtomic"])
    let unordered = named {
      $0.renameIsAtomic = false
      $0.safeReplaceByRename = true
      $0.safeCloseAfterTruncate = true
    }
    #expect(keys(unordered) == ["safeReplaceByRename", "safeCloseAfterTruncate"])
  }
}
