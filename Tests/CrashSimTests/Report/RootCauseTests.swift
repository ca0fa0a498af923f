// RootCauseTests.swift: findings that one missing sync explains are one, with all their counts.

import Testing

@testable import CrashStates
@testable import Findings
@testable import Reports

@Suite("Findings with one root cause")
struct RootCauseTests {
  private func finding(_ headline: String, _ cause: String?, states: Int) -> Finding {
    var finding = Finding(
      number: 9, promised: "p", headline: headline, got: [], ending: "exit status 1", crash: "c",
      acknowledgedCount: 0, lastAcknowledged: nil, lost: [], missingSync: [], models: ["posix"],
      stateCount: states, token: "fl1-\(headline)")
    finding.rootCause = cause
    return finding
  }

  @Test("findings of one cause are joined in the order of their first states")
  func joined() throws {
    let all = [
      finding("torn", "a", states: 3), finding("lost", "b", states: 5),
      finding("empty", "a", states: 2), finding("hang", nil, states: 1),
      finding("trap", nil, states: 1), finding("zero", "a", states: 1),
    ]
    let result = RootCause.joined(all, firstNumber: 4)
    #expect(result.map(\.headline) == ["torn", "lost", "hang", "trap"])
    #expect(result.map(\.number) == [4, 5, 6, 7])
    #expect(result[0].headlines == ["torn", "empty", "zero"])
    #expect(result[0].alsoSeenAs?.map(\.number) == [4, 4])
    #expect(result[0].rootCauseStateCount == 6)
    #expect(result[1].rootCauseStateCount == 5)
    #expect(Set(RootCause.separated(result).map(\.headline)) == Set(all.map(\.headline)))
    let lines = Console.lines(of: result[0])
    #expect(lines.contains("  seen in    3 crash states of 6 with this root cause"))
    #expect(lines.contains("  also seen  as 'empty' in 2 crash states"))
    #expect(lines.contains("             as 'zero' in 1 crash state"))
    var item = CaseReport(name: "explore", title: "t", outcome: .broken)
    item.explorations = [
      ExplorationReport(
        title: "t", model: "posix", seed: 1, operationCount: 3, markCount: 2, crashPointCount: 4,
        candidateCount: 9, distinctCount: 5, exploredCount: 5, bound: "9", seconds: 0.5,
        findings: result)
    ]
    let xml = JUnit.xml(RunReport(seed: 1, cases: [item]))
    #expect(xml.contains("<failure message=\"torn (6 crash states)\">"))
    #expect(xml.contains("also seen  as 'empty' in 2 crash states"))
  }

  @Test("a sync that is missing earlier mends what a later event shows; its finding comes first")
  func earlier() throws {
    var late = finding("index out of range", "content: w before an acknowledgement", states: 2)
    late.earlierCauses = ["content: w before renaming", "content: w before writing"]
    let middle = finding("torn", "content: w before writing", states: 5)
    let early = finding("empty", "content: w before renaming", states: 3)
    let found = RootCause.joined([late, early], firstNumber: 1)
    #expect(found.map(\.headlines) == [["empty", "index out of range"]])
    #expect(found[0].rootCauseStateCount == 5)
    // Without the other finding it stands alone, and with two it goes with the earliest.
    #expect(RootCause.joined([late], firstNumber: 1).map(\.headlines) == [[late.headline]])
    let all = RootCause.joined([middle, late, early, late], firstNumber: 1)
    #expect(all.map(\.headlines) == [["torn"], ["empty", late.headline, late.headline]])
    let again = RootCause.joined(RootCause.separated(all), firstNumber: 1)
    #expect(again.map(\.headlines) == all.map(\.headlines))
  }

  @Test("a sync that is missing later, before the crash, mends what an earlier event shows")
  func later() throws {
    var early = finding("empty", "content: w before writing", states: 2)
    early.laterCauses = ["content: w before renaming"]
    let late = finding("torn", "content: w before renaming", states: 5)
    for order in [[early, late], [late, early]] {
      let found = RootCause.joined(order, firstNumber: 1)
      #expect(found.map(\.headlines) == [["torn", "empty"]])
      let again = RootCause.joined(RootCause.separated(found), firstNumber: 1)
      #expect(again.map(\.headlines) == found.map(\.headlines))
    }
    #expect(RootCause.joined([early], firstNumber: 1).map(\.headlines) == [["empty"]])
    // The place need not be what one of them names, but all that are joined must have it.
    var (one, other, third) = (early, late, finding("zero", "content: v", states: 1))
    one.laterCauses = ["content: w before closing", "content: v"]
    other.earlierCauses = ["content: w before closing"]
    #expect(RootCause.joined([one, other, third], firstNumber: 1).count == 2)
    third.laterCauses = ["content: w before closing"]
    #expect(RootCause.joined([one, other, third], firstNumber: 1).count == 1)
  }

  @Test("a place behind what overtook a write, and before the crash, is one for its sync")
  func laterPlaces() throws {
    var recording = Recording(files: ["list": "old", "log": ""])
    recording.create("t")
    recording.write("t", "new")
    recording.write("log", "begun")
    recording.rename("t", to: "list")
    recording.mark("saved")
    let table = try UnitTable(trace: recording.trace, model: .posix)
    let explainer = Explainer(table: table)
    for (point, places) in [(4, [3]), (5, [3, 4]), (3, [])] {
      let kept = table.pendingUnits(at: point).filter { table.units[$0].event != 1 }
      let explanation = explainer.explain(try table.state(at: point, keeping: kept))
      #expect(explanation.laterEvent == 2)
      #expect(explainer.laterPlaces(explanation, before: point) == places)
    }
  }

  @Test("names that one sync of their directory keeps are one finding; the latest comes first")
  func shared() throws {
    func name(_ file: String, _ shared: [String]) -> Finding {
      var finding = finding("\(file) is old", "names in '/': \(file)", states: 1)
      finding.sharedCauses = shared.map { "names in '/': \($0)" }
      return finding
    }
    let data = name("data", ["sum", "index"])
    let sum = name("sum", ["index"])
    let index = name("index", [])
    for order in [[data, sum, index], [index, sum, data], [sum, index, data, sum]] {
      let found = RootCause.joined(order, firstNumber: 1)
      #expect(found.map(\.headline) == ["index is old"])
      #expect(found[0].rootCauseStateCount == order.count)
      let again = RootCause.joined(RootCause.separated(found), firstNumber: 1)
      #expect(again.map(\.headlines) == found.map(\.headlines))
    }
    // The sync that is missing behind the sum comes before what is done to the index.
    let early = name("data", ["sum"])
    #expect(RootCause.joined([early, sum, index], firstNumber: 1).count == 2)
    #expect(RootCause.joined([early, index], firstNumber: 1).count == 2)
  }

  /// Whether a unit is the new name that an event gives.
  private func gives(_ unit: Int, of event: Int, in table: UnitTable) -> Bool {
    table.units[unit].event == event
      && table.units[unit].effects.contains { effect in
        if case .setEntry = effect { true } else { false }
      }
  }

  @Test("the gap of a lost name has the other operations on its directory, up to the mark")
  func sharedPlaces() throws {
    var recording = Recording(files: ["data": "old", "sum": "old", "log": ""], directories: ["d"])
    for path in ["data", "sum"] {
      recording.create("\(path).new")
      recording.write("\(path).new", "new")
      recording.sync("\(path).new")
      recording.rename("\(path).new", to: path)
    }
    recording.create("d/other")
    recording.mark("saved")
    recording.remove("log")
    recording.mark("removed")
    let events = recording.trace.events.indices.filter { event in
      guard case .operation(let operation) = recording.trace.events[event].body,
        case .rename = operation
      else { return false }
      return true
    }
    let mark = try #require(recording.trace.events.firstIndex { $0.isMark })
    let table = try UnitTable(trace: recording.trace, model: .posix)
    let explainer = Explainer(table: table)
    let point = table.crashPointCount - 1
    let explanations = try events.map { event in
      let kept = table.pendingUnits(at: point).filter { !gives($0, of: event, in: table) }
      return explainer.explain(try table.state(at: point, keeping: kept), mark: mark)
    }
    let causes = explanations.map { explainer.rootCause($0) }
    let shared = explanations.map { explanation in
      explainer.sharedPlaces(explanation, before: point).map {
        explainer.rootCause(explanation, ofName: $0)
      }
    }
    #expect(shared[0].contains(causes[1]))
    #expect(shared[1].isEmpty)
    #expect(!shared[0].contains { $0?.contains("other") == true || $0?.contains("log") == true })
    // One sync behind both renames keeps both states from happening.
    for explanation in explanations {
      #expect(try #require(explanation.missing).before == mark)
    }
  }

  @Test("a sync behind a later name keeps an earlier one that it overtook, if the crash is later")
  func overtaken() throws {
    var recording = Recording(files: ["log": "1", "other": "1"])
    recording.rename("log", to: "log.old")
    recording.create("log")
    recording.write("other", "2")
    recording.mark("recorded")
    let table = try UnitTable(trace: recording.trace, model: .posix)
    let explainer = Explainer(table: table)
    func shared(crashPoint: Int) throws -> [String?] {
      let kept = table.pendingUnits(at: crashPoint).filter { !gives($0, of: 0, in: table) }
      let explanation = explainer.explain(try table.state(at: crashPoint, keeping: kept))
      #expect(explanation.missing?.before == 1)
      return explainer.sharedPlaces(explanation, before: crashPoint).map {
        explainer.rootCause(explanation, ofName: $0)
      }
    }
    #expect(try shared(crashPoint: 3) == ["names in '/': naming of 'log'"])
    // A crash right behind the later name comes before any sync of it.
    #expect(try shared(crashPoint: 2) == [])
  }

  @Test("the gap of a premature acknowledgement has the rename in it, in the words of a cause")
  func gap() throws {
    var recording = Recording(files: ["c": "old"])
    recording.create("c.tmp")
    recording.write("c.tmp", "new")
    recording.rename("c.tmp", to: "c")
    recording.syncDirectory()
    recording.mark("saved")
    let table = try UnitTable(trace: recording.trace, model: .posix)
    let explainer = Explainer(table: table)
    let point = table.crashPointCount - 1
    let kept = table.pendingUnits(at: point).filter { table.units[$0].event != 1 }
    let state = try table.state(at: point, keeping: kept)
    let atOnce = explainer.explain(state)
    let late = explainer.explain(state, mark: recording.trace.events.count - 1)
    // The sync in the shorter gap keeps the state from happening, whichever gap is named.
    let missing = try #require(atOnce.missing)
    #expect(try missing.prevents(state, of: table))
    #expect(try missing.before < #require(late.missing).before)
    #expect(explainer.rootCause(late)?.hasSuffix("before an acknowledgement") == true)
    let earlier = explainer.earlierPlaces(late).compactMap {
      explainer.rootCause(late, before: $0)
    }
    #expect(earlier.contains(try #require(explainer.rootCause(atOnce))))
    #expect(explainer.earlierPlaces(atOnce).isEmpty)
  }

  /// What the first loss and the first survivor behind it have to do with each other.
  private func cause(_ recording: Recording, losing lost: [Int]) throws -> String? {
    let table = try UnitTable(trace: recording.trace, model: .posix)
    let point = table.crashPointCount - 1
    let kept = table.pendingUnits(at: point).filter { !lost.contains($0) }
    let explainer = Explainer(table: table)
    return explainer.rootCause(explainer.explain(try table.state(at: point, keeping: kept)))
  }

  @Test("the cause of a lost content is the pair of operations, whatever their numbers")
  func causes() throws {
    var recording = Recording(
      files: ["log": String(repeating: "-", count: 2000), "page1": "1", "page2": "1"])
    recording.write("log", "rec1")
    recording.write("page1", "2")
    recording.write("log", "record 2", at: 1024)
    recording.write("page2", "3")
    recording.mark("done")
    let first = try cause(recording, losing: [0])
    #expect(first == "content: writing of 'log' before writing of 'pageN'")
    let units = try UnitTable(trace: recording.trace, model: .posix).units.filter { $0.event == 2 }
    #expect(try cause(recording, losing: units.map(\.id)) == first)
    let last = try UnitTable(trace: recording.trace, model: .posix).units.filter { $0.event == 3 }
    let acknowledged = try cause(recording, losing: last.map(\.id))
    #expect(acknowledged?.hasSuffix("before an acknowledgement") == true)
    #expect(try cause(recording, losing: []) == nil)
  }
}
