// CommitCoverageTests.swift: a pair of step and disturbance counts when the one hit the other, and
// not otherwise.

import Engine
import Foundation
import TestSupport
import Testing

@testable import FaultFS
@testable import Findings
@testable import LabCore
@testable import Recording
@testable import Reports
@testable import Workload

@Suite struct CommitCoverageTests {
  private func trace(_ steps: [(Int, Int32, CommitStep?)], events: Int = 10) -> Trace {
    var recording = Recording(files: ["log": "0123456789"])
    for number in 0..<events { recording.write("log", "x", at: UInt64(number)) }
    var trace = recording.trace
    trace.phases = steps.map {
      TracePhase(position: $0.0, process: $0.1, phase: $0.2?.description)
    }
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
    #expect(cuts(trace, at: [5]) == ["sync nodes", "write nodes"])
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
    hits.hitsInPhases = ["sync nodes": 2]
    let none = RuleHits(matchCount: 3, hitCount: 3)
    var coverage = CommitCoverage()
    coverage.add([none, hits, hits], of: [eio, other, lost])
    #expect(coverage.isEmpty)
    coverage.add([hits, hits], of: [eio, full])
    #expect(coverage.steps == ["EIO": ["sync nodes"], "ENOSPC": ["sync nodes"]])
  }

  @Test("the matrix counts scenarios, leaves planted bugs out, and names what is missing")
  func matrix() throws {
    var report = HTMLFixture.report([], name: "a.yaml")
    #expect(HTMLCoverage(report) == nil)
    var coverage = CommitCoverage()
    for step in CommitStep.allCases.reversed() { coverage.add(step.description, .kill) }
    #expect(coverage.steps["kill"] == CommitStep.allCases.map(\.description).sorted())
    report.cases[0].commitCoverage = coverage
    report.cases.append(report.cases[0])
    report.cases.append(report.cases[0])
    report.cases[2].isNegative = true
    report.cases[2].commitCoverage?.add("sync nodes", .cut)
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
    report.cases[0].commitCoverage?.add("encode trees", .noSpace)
    #expect(CommitCoverageMatrix(report).text(.encodeTrees, .noSpace) == "1")
  }

  @Test("impossible pairs have reasons, each once")
  func impossible() {
    let pairs = CommitCoverageMatrix.impossible.map { "\($0.step) \($0.disturbance)" }
    #expect(Set(pairs).count == pairs.count && pairs.count == 6)
    #expect(CommitCoverageMatrix.impossible.allSatisfy { $0.why.count > 20 })
    #expect(CommitCoverageMatrix.impossible.allSatisfy { $0.disturbance >= .inputOutputError })
  }

  @Test("docs/generated/evidence.md has a matrix without holes, and each pair that cannot be met")
  func evidence() throws {
    let path = URL(fileURLWithPath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appendingPathComponent("docs/generated/evidence.md")
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

  @Test("whatever a process announces, the log is bounded and makes sense")
  func log() {
    var log = PhaseLog()
    func note(_ text: String, of process: Int32) -> Bool {
      log.note(Array(text.utf8), of: process)
    }
    #expect(note("sync nodes", of: 7))
    #expect(log.phase(of: 7) == "sync nodes" && log.phase(of: 8) == nil)
    let nonsense: [[UInt8]] = [[0], [10], [65, 127], [0xff], Array(repeating: 65, count: 65)]
    for bytes in nonsense {
      let isTaken = log.note(bytes, of: 7)
      #expect(!isTaken, "\(bytes)")
    }
    #expect(!note("commit", of: 0) && !note("commit", of: -4))
    #expect(log.phase(of: 7) == "sync nodes")
    #expect(note("", of: 7))
    #expect(log.phase(of: 7) == nil)
    for process in 1...5_000 { _ = note("commit", of: Int32(process)) }
    #expect(log.phase(of: 5_000) == "commit" && log.phase(of: 1) == nil)
  }

  @Test("steps are saved and loaded, without files that are left out too")
  func file() throws {
    let directory = try TemporaryDirectory()
    let trace = trace([(0, 7, .encodeTrees), (3, 7, .writeNodes), (10, 7, nil)])
    try TraceFile.save(trace, to: directory.file("t"))
    #expect(try TraceFile.load(directory.file("t")).phases == trace.phases)
    var recording = Recording()
    recording.create("a.realm.lock")
    recording.create("a.realm")
    recording.write("a.realm.lock", "x")
    recording.write("a.realm", "y")
    var shared = recording.trace
    shared.phases = [
      TracePhase(position: 1, process: 7, phase: "a"),
      TracePhase(position: 3, process: 7, phase: "b"),
      TracePhase(position: 4, process: 7, phase: nil),
    ]
    let left = shared.without(DatabaseFile.isSharedMemory)
    #expect(left.events.count == 2 && left.phases.map(\.position) == [0, 1, 2])
  }

  @Test(
    "a file that says nonsense about steps is refused",
    arguments: [
      "UPDATE phases SET seq = 11", "UPDATE phases SET seq = -1", "UPDATE phases SET phase = ''",
      "UPDATE phases SET process = 0", "UPDATE phases SET number = number + 7",
      "UPDATE phases SET seq = 5 WHERE number = 0",
      "UPDATE phases SET phase = char(10) WHERE number = 0",
      "DROP TABLE phases; CREATE TABLE phases(a)",
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
