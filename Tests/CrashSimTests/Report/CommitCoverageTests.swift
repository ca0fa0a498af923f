// CommitCoverageTests.swift: a pair of step and disturbance counts when the one hit the other, and
// not otherwise.

import Engine
import Foundation
import TestSupport
import Testing

@testable import CrashSim

@Suite struct CommitCoverageTests {
  private func trace(_ steps: [(Int, Int32, CommitStep?)], events: Int = 10) -> Trace {
    var recording = Recording(files: ["log": "0123456789"])
    for number in 0..<events { recording.write("log", "x", at: UInt64(number)) }
    var trace = recording.trace
    trace.steps = steps.map { TraceStep(position: $0.0, process: $0.1, step: $0.2?.rawValue) }
    return trace
  }

  private func cuts(_ trace: Trace, at points: Set<Int>) -> [String] {
    var coverage = CommitCoverage()
    coverage.addCuts(of: trace) { points.contains($0) }
    return coverage.steps["cut"] ?? []
  }

  @Test("a cut hits the steps that last over its crash point, and no other")
  func cuts() {
    let trace = trace([
      (2, 7, .encodeTrees), (2, 7, .writeNodes), (5, 7, .syncNodes), (6, 7, nil),
    ])
    #expect(cuts(trace, at: []) == [])
    #expect(cuts(trace, at: [0, 1, 7, 10]) == [])
    #expect(cuts(trace, at: [2]) == ["encode trees", "write nodes"])
    #expect(cuts(trace, at: [3]) == ["write nodes"])
    // The nodes are written, the sync has not begun, or it has: both steps are in the gap.
    #expect(cuts(trace, at: [5]) == ["write nodes", "sync nodes"])
    #expect(cuts(trace, at: [6]) == ["sync nodes"])
  }

  @Test("each process has steps of its own, and the last one lasts to the end")
  func processes() {
    let trace = trace([(1, 7, .growFile), (2, 8, .clearStaleSlot), (3, 8, nil), (9, 7, nil)])
    #expect(cuts(trace, at: [7]) == ["grow file"])
    #expect(cuts(trace, at: [2]) == ["clear stale slot", "grow file"])
    #expect(cuts(self.trace([(4, 7, .giveTailBack)]), at: [10]) == ["give tail back"])
  }

  @Test("failures count in the step in which the rule hit, by their errno")
  func failures() {
    let eio = FaultRule(when: FaultRule.Match([.sync]), what: .error(5))
    let full = FaultRule(when: FaultRule.Match([.write]), what: .noSpace(afterBytes: 7))
    let other = FaultRule(when: FaultRule.Match([.write]), what: .error(13))
    let lost = FaultRule(when: FaultRule.Match([.write]), what: .lose)
    var hits = RuleHits(matchCount: 3, hitCount: 3)
    hits.hitsInSteps = [CommitStep.syncNodes.rawValue: 2]
    let none = RuleHits(matchCount: 3, hitCount: 3)
    var coverage = CommitCoverage()
    coverage.add([none, hits, hits], of: [eio, other, lost])
    #expect(coverage.isEmpty)
    coverage.add([hits, hits], of: [eio, full])
    #expect(coverage.steps == ["EIO": ["sync nodes"], "ENOSPC": ["sync nodes"]])
    coverage.add(63, .kill)
    coverage.add(-1, .kill)
    #expect(coverage.steps["kill"] == nil, "a number that is no step's")
  }

  @Test("the matrix counts scenarios, leaves planted bugs out, and names what is missing")
  func matrix() throws {
    var report = HTMLFixture.report([], name: "a.yaml")
    #expect(HTMLCoverage(report) == nil)
    var coverage = CommitCoverage()
    for step in CommitStep.allCases.reversed() { coverage.add(step, .kill) }
    #expect(coverage.steps["kill"] == CommitStep.allCases.map(\.description))
    report.cases[0].commitCoverage = coverage
    report.cases.append(report.cases[0])
    report.cases.append(report.cases[0])
    report.cases[2].isNegative = true
    report.cases[2].commitCoverage?.add(.syncNodes, .cut)
    let matrix = CommitCoverageMatrix(report)
    #expect(matrix.count(.syncNodes, .kill) == 2 && matrix.count(.syncNodes, .cut) == 0)
    let possible =
      CommitStep.allCases.count * CommitDisturbance.allCases.count
      - CommitCoverageMatrix.impossible.count
    #expect(matrix.missing.count == possible - CommitStep.allCases.count)
    #expect(matrix.lines.contains("sync nodes               2       0       0       0"))
    #expect(matrix.lines.contains("encode trees             2       0       -       -"))
    #expect(matrix.lines.last?.contains("not met: clear stale slot × cut, ") == true)
    let decoded = try JSONDecoder().decode(RunReport.self, from: Data(try report.json().utf8))
    #expect(decoded.cases.map(\.commitCoverage) == report.cases.map(\.commitCoverage))
    let page = HTMLReport(report, arguments: []).text
    #expect(page.contains("<section class=\"case\" id=\"coverage\">"))
    // A pair that was met is a number, whatever is said of it.
    report.cases[0].commitCoverage?.add(.encodeTrees, .noSpace)
    #expect(CommitCoverageMatrix(report).text(.encodeTrees, .noSpace) == "1")
  }

  @Test("impossible pairs have reasons, each once")
  func impossible() {
    let pairs = CommitCoverageMatrix.impossible.map { "\($0.step) \($0.disturbance)" }
    #expect(Set(pairs).count == pairs.count && pairs.count == 6)
    #expect(CommitCoverageMatrix.impossible.allSatisfy { $0.why.count > 20 })
    #expect(CommitCoverageMatrix.impossible.allSatisfy { $0.disturbance >= .inputOutputError })
  }

  @Test("docs/evidence.md has a matrix without holes, and each pair that cannot be met")
  func evidence() throws {
    let path = URL(fileURLWithPath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appendingPathComponent("docs/evidence.md")
    let lines = String(decoding: try Data(contentsOf: path), as: UTF8.self)
      .split(separator: "\n").map(String.init)
    for (step, disturbance, why) in CommitCoverageMatrix.impossible {
      let row = lines.first { $0.hasPrefix("| \(step) |") && $0.contains(disturbance.rawValue) }
      #expect(row?.contains(why) == true, "\(step) × \(disturbance.rawValue)")
    }
    for step in CommitStep.allCases {
      let row = lines.first { $0.hasPrefix("\(step) ") && !$0.contains("|") }
      let name = step.description.count
      let cells = (row ?? "").dropFirst(name).split(separator: " ").map(String.init)
      #expect(cells.count == CommitDisturbance.allCases.count, "\(step)")
      for (cell, disturbance) in zip(cells, CommitDisturbance.allCases) {
        let isPossible = CommitCoverageMatrix.reason(step, disturbance) == nil
        #expect(isPossible ? (Int(cell) ?? 0) > 0 : cell == "-", "\(step) × \(disturbance)")
      }
    }
  }

  // MARK: What processes say

  @Test("whatever a process says, the log is bounded and makes sense")
  func log() {
    var log = CommitStepLog()
    #expect(log.note([3], of: 7) == .some(3))
    #expect(log.step(of: 7) == 3 && log.step(of: 8) == nil)
    for nonsense: [UInt8] in [[], [64], [254], [1, 2]] {
      #expect(log.note(nonsense, of: 7) == nil)
    }
    #expect(log.note([3], of: 0) == nil && log.note([3], of: -4) == nil)
    #expect(log.step(of: 7) == 3)
    #expect(log.note([CommitStepLog.noStep], of: 7) == .some(nil))
    #expect(log.step(of: 7) == nil)
    for process in 1...5_000 { _ = log.note([1], of: Int32(process)) }
    #expect(log.step(of: 5_000) == 1 && log.step(of: 1) == nil)
  }

  @Test("steps are saved and loaded, without files that are left out too")
  func file() throws {
    let directory = try TemporaryDirectory()
    let trace = trace([(0, 7, .encodeTrees), (3, 7, .writeNodes), (10, 7, nil)])
    try TraceFile.save(trace, to: directory.file("t"))
    #expect(try TraceFile.load(directory.file("t")).steps == trace.steps)
    var recording = Recording()
    recording.create("a.realm.lock")
    recording.create("a.realm")
    recording.write("a.realm.lock", "x")
    recording.write("a.realm", "y")
    var shared = recording.trace
    shared.steps = [
      TraceStep(position: 1, process: 7, step: 2), TraceStep(position: 3, process: 7, step: 6),
      TraceStep(position: 4, process: 7, step: nil),
    ]
    let left = shared.without(DatabaseFile.isSharedMemory)
    #expect(left.events.count == 2 && left.steps.map(\.position) == [0, 1, 2])
  }

  @Test(
    "a file that says nonsense about steps is refused",
    arguments: [
      "UPDATE steps SET seq = 11", "UPDATE steps SET seq = -1", "UPDATE steps SET step = 64",
      "UPDATE steps SET process = 0", "UPDATE steps SET number = number + 7",
      "UPDATE steps SET seq = 5 WHERE number = 0", "UPDATE steps SET step = 'x' WHERE number = 0",
      "DROP TABLE steps; CREATE TABLE steps(a)",
    ])
  func hostileFile(sql: String) throws {
    let directory = try TemporaryDirectory()
    let trace = trace([(0, 7, .encodeTrees), (3, 7, .writeNodes), (10, 7, nil)])
    try TraceFile.save(trace, to: directory.file("t"))
    let result = try runShell("sqlite3 t \"\(sql)\"", in: directory.path)
    #expect(result.status == 0, "\(result.output)")
    #expect(throws: LabError.self) { try TraceFile.load(directory.file("t")) }
  }
}
