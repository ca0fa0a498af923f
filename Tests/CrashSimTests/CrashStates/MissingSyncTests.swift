// MissingSyncTests.swift: the sync that a finding names is put in its place, and the state is gone.

import Testing

@testable import CrashStates
@testable import LabCore

@Suite("The missing sync, checked")
struct MissingSyncTests {
  private func overtaken() throws -> (UnitTable, CrashState) {
    var recording = Recording(files: ["log": "----", "page": "1"])
    recording.write("log", "rec1")
    recording.write("page", "2")
    recording.mark("done")
    let table = try UnitTable(trace: recording.trace, model: .posix)
    return (table, try table.state(at: 2, keeping: [1]))
  }

  @Test("the sync that is named prevents the state; others do not")
  func named() throws {
    let (table, state) = try overtaken()
    let missing = try #require(Explainer(table: table).explain(state).missing)
    #expect(
      missing.sentence == "Missing: fsync or fdatasync of 'log' between event #0 and event #1.")
    #expect(try missing.prevents(state, of: table))
    // Negative controls: another file, and the right one before its write.
    let page = table.units[1].effects.compactMap { effect in
      if case .data(let inode, _, _, _) = effect { inode } else { nil }
    }[0]
    let otherFile = MissingSync(
      after: 0, before: 1, inode: page, path: "page", isDirectory: false, needsFullSync: false)
    #expect(try !otherFile.prevents(state, of: table))
    let tooEarly = MissingSync(
      after: 0, before: 0, inode: missing.inode, path: "log", isDirectory: false,
      needsFullSync: false)
    #expect(try !tooEarly.prevents(state, of: table))
  }

  @Test("fdatasync is not named for what it does not cover")
  func attributes() throws {
    var recording = Recording(files: ["a": "x"])
    recording.setMode("a", 0o600)
    recording.mark("done")
    let table = try UnitTable(trace: recording.trace, model: .posix)
    let state = try table.state(at: 2, keeping: [])
    let missing = try #require(Explainer(table: table).explain(state).missing)
    #expect(missing.needsFullSync)
    #expect(try missing.prevents(state, of: table))
    let dataOnly = MissingSync(
      after: 0, before: 1, inode: missing.inode, path: "a", isDirectory: false,
      needsFullSync: false)
    #expect(try !dataOnly.prevents(state, of: table))
  }

  @Test("on random traces the sync that is named always helps", arguments: PersistenceModel.stock)
  func random(model: PersistenceModel) throws {
    var checked = 0
    for number in 0..<40 {
      var trace = makeRandomTrace(
        seed: Seed(rawValue: UInt64(900 + number)), operations: 12, syncChance: Ratio(1, in: 6))
      trace.events.removeAll { $0.flags.contains(.failed) }
      let table = try UnitTable(trace: trace, model: model)
      let explainer = Explainer(table: table)
      for point in 0..<table.crashPointCount {
        let state = try table.state(at: point, keeping: [])
        let explanation = explainer.explain(state)
        let isNamed = explanation.missing != nil
        #expect(state.lost.isEmpty || isNamed == (explanation.unpreventable == nil))
        guard let missing = explanation.missing else { continue }
        checked += 1
        #expect(
          try missing.prevents(state, of: table), "seed \(number), point \(point): \(missing)")
      }
    }
    // In these nothing overtakes what is lost, so that a crash before it leaves the same.
    let isOrdered = ["strict", "ext4-journal"].contains(model.name)
    #expect(isOrdered ? checked == 0 : checked > 20, "\(checked)")
  }
}
