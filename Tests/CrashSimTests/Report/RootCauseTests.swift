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
