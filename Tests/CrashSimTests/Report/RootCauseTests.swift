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
