// ExplanationTests.swift: minimal states, sentences, and the weakest model that a finding needs.

import Testing

@testable import CrashStates
@testable import Findings
@testable import LabCore
@testable import Recording

@Suite("Explaining a failing state")
struct ExplanationTests {
  /// A log and a page that must not overtake it, among other files' writes.
  private func overtaken(flags: OperationFlags? = nil) throws -> UnitTable {
    var recording = Recording(files: ["log": "----", "page": "1", "x": "1", "y": "1"])
    recording.write("x", "2")
    recording.write("log", "rec1")
    recording.write("y", "2")
    if let flags { recording.sync("log", flags: flags) }
    recording.write("page", "2")
    return try UnitTable(trace: recording.trace, model: .posix)
  }

  @Test("only the unit that matters stays lost, in few calls")
  func minimizes() throws {
    let table = try overtaken()
    let point = table.crashPointCount - 1
    let images = try CrashPointImages(table: table, at: point)
    var calls = 0
    let bad = try table.state(at: point, keeping: [3])
    let best = try Minimizer(table: table).minimized(bad) { (state) throws(LabError) in
      calls += 1
      return try images.withImage(of: state) { (image) throws(LabError) in
        image.content(at: "log") == Array("----".utf8) && image.content(at: "page") == [50]
      }
    }
    #expect(best.lost == [1])
    #expect(calls < 10)
  }

  @Test("minimal states are 1-minimal, allowed and still fail", arguments: PersistenceModel.stock)
  func minimalOnRandomTraces(model: PersistenceModel) throws {
    for number in 0..<20 {
      let trace = makeRandomTrace(
        seed: Seed(rawValue: UInt64(300 + number)), operations: 14, syncChance: Ratio(1, in: 9))
      let table = try UnitTable(trace: trace, model: model)
      let point = table.crashPointCount - 1
      let worst = try table.state(at: point, keeping: [])
      guard let needed = worst.lost.dropFirst(worst.lost.count / 2).first else { continue }
      let best = try Minimizer(table: table).minimized(worst) { (state) throws(LabError) in
        state.lost.contains(needed)
      }
      let dependents = worst.lost.filter { unit in
        table.pendingDependencies(of: unit, at: point).contains { best.lost.contains($0) }
      }
      #expect(best.lost == Array(Set(dependents + [needed])).sorted())
    }
  }

  @Test("files that do not matter get back all they lost first, in few calls")
  func minimizesByFile() throws {
    var recording = Recording(files: ["lock": "", "log": "", "x": "", "y": ""])
    for number in 0..<100 {
      for file in ["lock", "log", "x", "y"] { recording.write(file, "r", at: UInt64(number)) }
    }
    let table = try UnitTable(trace: recording.trace, model: .posix)
    let point = table.crashPointCount - 1
    let log = Set(
      table.units.map(\.id).filter { table.units[$0].effects[0].syncedInode == recording["log"] })
    var calls = 0
    let all = try table.state(at: point, keeping: [])
    let best = try Minimizer(table: table).minimized(all) { (state) in
      calls += 1
      return state.lost.filter(log.contains).count >= 10
    }
    #expect(best.lost.count == 10 && log.isSuperset(of: best.lost))
    #expect(calls < 60)
  }

  @Test("the cause is what mends the state, not what was lost first")
  func cause() throws {
    var recording = Recording(files: ["lock": "1", "log": ""])
    recording.write("lock", "2")
    recording.write("log", "saved")
    recording.mark("saved\n")
    let enumerator = try CrashStateEnumerator(
      trace: recording.trace, model: .posix, seed: Seed(rawValue: 1))
    let table = enumerator.table
    let state = try table.state(at: table.crashPointCount - 1, keeping: [])
    let maker = try FindingMaker(enumerator: enumerator, model: .posix)
    let result = CheckResult(ending: .exited(1), output: "not saved")
    func sync(_ accepts: FindingMaker.Check?) throws -> String? {
      try maker.finding(
        number: 1, state: state, result: result, stateCount: 1, token: "t", accepts: accepts
      ).missingSync.first { $0.hasPrefix("Missing") }
    }
    // With the new lock and without the log it fails another way.
    let first = try sync { _ in false }
    #expect(first == "Missing: fsync or fdatasync of 'lock' between event #0 and event #2.")
    #expect(try sync(nil) == first)
    let right = try sync { (state) throws(LabError) in
      try enumerator.withImage(of: state) { (image) throws(LabError) in
        image.content(at: "log") == Array("saved".utf8)
      }
    }
    #expect(right == "Missing: fsync or fdatasync of 'log' between event #1 and event #2.")
  }

  @Test("an acknowledgement is the mistake where the checker accepts the same losses before it")
  func early() throws {
    var recording = Recording(files: ["a": "1", "b": "1"])
    recording.write("a", "2")
    recording.write("a", "3", at: 1)
    recording.write("b", "2")
    recording.mark("saved\n")
    let enumerator = try CrashStateEnumerator(
      trace: recording.trace, model: .posix, seed: Seed(rawValue: 1))
    let table = enumerator.table
    let last = table.units.filter { $0.event == 2 }.map(\.id)
    let state = try table.state(at: table.crashPointCount - 1, keeping: last)
    let maker = try FindingMaker(enumerator: enumerator, model: .posix)
    let result = CheckResult(ending: .exited(1), output: "not saved")
    func sync(_ accepts: @escaping FindingMaker.Check) throws -> [String] {
      try maker.finding(
        number: 1, state: state, result: result, stateCount: 1, token: "t", accepts: accepts
      ).missingSync
    }
    #expect(
      try sync { (state) in state.acknowledgedMarks == 0 } == [
        "Event #3, issued later, had been acknowledged: 'saved'.",
        "Missing: fsync or fdatasync of 'a' between event #1 and event #3.",
        "Checked under posix: with it this state is impossible.",
      ])
    #expect(
      try sync { (state) in !state.kept.contains(last[0]) } == [
        "Event #2, issued later, survived: write of 1 bytes at 0 to 'b'.",
        "Missing: fsync or fdatasync of 'a' between event #1 and event #2.",
        "Checked under posix: with it this state is impossible.",
      ])
  }

  @Test("a torn write is made whole where it does not matter, and stays where it does")
  func minimizesTorn() throws {
    let table = try overtaken()
    let point = table.crashPointCount - 1
    let torn = TornWrite(unit: 3, keptSectors: 0..<0, rest: .zeros)
    let state = try table.state(at: point, keeping: [], torn: torn)
    let free = try Minimizer(table: table).minimized(state) { (state) in state.lost.contains(1) }
    #expect(free.torn == nil && free.lost == [1])
    let bound = try Minimizer(table: table).minimized(state) { (state) in state.torn != nil }
    #expect(bound.torn == torn && bound.lost.isEmpty)
  }

  @Test("the sentences name what was lost, what overtook it, and the missing sync")
  func sentences() throws {
    let table = try overtaken()
    let state = try table.state(at: table.crashPointCount - 1, keeping: [0, 2, 3])
    let explanation = Explainer(table: table).explain(state)
    #expect(
      explanation.sentences == [
        "Event #1 was lost: write of 4 bytes at 0 to 'log'.",
        "Event #2, issued later, survived: write of 1 bytes at 0 to 'y'.",
        "Missing: fsync or fdatasync of 'log' between event #1 and event #2.",
      ])
  }

  @Test("injected syncs are named", arguments: [OperationFlags.ignored, .failed])
  func injected(flags: OperationFlags) throws {
    let table = try overtaken(flags: flags)
    let state = try table.state(at: table.crashPointCount - 1, keeping: [0, 2, 3])
    let sentences = Explainer(table: table).explain(state).sentences
    let expected =
      flags == .ignored
      ? "Sync #3 (fsync of 'log') was acknowledged and ignored: injected."
      : "Sync #3 (fsync of 'log') failed: injected; no later sync repeats its writes."
    #expect(sentences.last == expected)
  }

  @Test("a lost name asks for fsync of its directory, with the mark that promised it")
  func directoryEntry() throws {
    var recording = Recording()
    recording.makeDirectory("d")
    recording.syncDirectory()
    recording.create("d/t")
    recording.write("d/t", "x")
    recording.sync("d/t")
    recording.rename("d/t", to: "d/f")
    recording.mark("saved\n")
    let table = try UnitTable(trace: recording.trace, model: .ext4Ordered)
    let point = table.crashPointCount - 1
    let state = try table.state(at: point, keeping: [])
    #expect(
      Explainer(table: table).explain(state).sentences == [
        "Event #5 was lost: rename of 'd/t' to 'd/f'.",
        "Event #6, issued later, had been acknowledged: 'saved'.",
        "Missing: fsync of the directory 'd' between event #5 and event #6.",
      ])
  }

  @Test("a finding names the strongest model that allows it")
  func ladder() throws {
    func strongest(
      _ recording: Recording, keeping kept: [Int], torn: TornWrite? = nil,
      _ model: PersistenceModel = .posix
    ) throws -> String? {
      let table = try UnitTable(trace: recording.trace, model: model)
      let state = try table.state(at: table.crashPointCount - 1, keeping: kept, torn: torn)
      return try ModelLadder(trace: recording.trace).strongestAllowing(state, of: table)?.name
    }
    var two = Recording(files: ["a": "1", "b": "1"])
    two.write("a", "2")
    two.write("b", "2")
    #expect(try strongest(two, keeping: [0]) == "strict")
    #expect(try strongest(two, keeping: [1]) == "ext3-ordered")
    var page = Recording(files: ["a": String(repeating: "o", count: 4096)])
    page.write("a", String(repeating: "n", count: 4096))
    #expect(try strongest(page, keeping: Array(0..<8)) == "strict")
    #expect(try strongest(page, keeping: [3]) == "posix")
    let zeroed = TornWrite(unit: 7, keptSectors: 0..<0, rest: .zeros)
    #expect(try strongest(page, keeping: Array(0..<7), torn: zeroed) == "ext3-ordered")
    let torn = TornWrite(unit: 0, keptSectors: 0..<1, rest: .zeros)
    #expect(try strongest(page, keeping: [], torn: torn, .ext4Ordered) == "ext3-ordered")
    var rename = Recording(files: ["a": "1"])
    rename.rename("a", to: "b")
    #expect(try strongest(rename, keeping: [0]) == "posix")
    #expect(try strongest(rename, keeping: [0, 1]) == "strict")
  }

  @Test("every state of a model is allowed by it and by the weaker ones")
  func weakerModelsAllowMore() throws {
    for number in 0..<15 {
      let trace = makeRandomTrace(
        seed: Seed(rawValue: UInt64(500 + number)), operations: 12, syncChance: Ratio(1, in: 5))
      var tables: [String: UnitTable] = [:]
      for model in PersistenceModel.stock {
        tables[model.name] = try UnitTable(trace: trace, model: model)
      }
      for (strong, weak) in PersistenceModel.strongerPairs {
        let table = try #require(tables[strong.name])
        let weaker = try #require(tables[weak.name])
        let enumerator = try CrashStateEnumerator(
          trace: trace, model: strong, seed: Seed(rawValue: 1))
        try enumerator.visit(enumerator.plan(budget: 60)) { (found, _) throws(LabError) in
          for other in [table, weaker] where !other.allows(found.state, of: table) {
            Issue.record(
              "seed=\(500 + number) \(strong) \(other.model) \(enumerator.key(of: found.state))")
          }
          return .goOn
        }
      }
    }
  }

  @Test("paths follow renames of directories, links and removals")
  func paths() {
    var recording = Recording()
    recording.makeDirectory("d")
    let file = recording.create("d/f")
    recording.rename("d", to: "e")
    recording.link("e/f", to: "g")
    recording.remove("e/f")
    recording.remove("g")
    let index = PathIndex(recording.trace)
    let paths = (0...6).map { index.paths(of: file, at: $0) }
    #expect(paths == [[], [], ["d/f"], ["e/f"], ["e/f", "g"], ["g"], []])
    #expect(index.path(of: file, at: 6) == "g (removed)")
    #expect(index.path(of: .root, at: 3) == "/")
  }
}
