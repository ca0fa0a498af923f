// StressJudgeTests.swift: what a stress run makes of a checker that cannot judge a round.

import Foundation
import TestSupport
import Testing

@testable import Findings
@testable import Scenarios

@Suite(
  "limits of the built-in checker",
  .requires(.fuse), .serialized)
struct StressJudgeTests {
  /// Four cuts under a program that writes, judged by a command.
  private func report(_ check: String, isBuiltIn: Bool) throws -> CaseReport {
    var settings = StressSettings()
    settings.cuts = 4
    settings.watchesLeaks = false
    settings.eventsPerRound = 20
    settings.load = isBuiltIn ? EngineLoadOptions() : nil
    let program = StressProgram(
      workload: "n=0; while [ $n -lt 50 ]; do n=$((n + 1)); echo $n > f; echo $n; done",
      check: check)
    return try StressRun(program: program, settings: settings, console: .silent).stress()
  }

  @Test("a checker that reaches a limit has found nothing, and the other rounds count")
  func limit() throws {
    let check = "[ $FAULTLINE_ROUND != 2 ] || { echo 'more accounts than 64'; exit 3; }"
    let item = try report(check, isBuiltIn: true)
    #expect(item.findings.isEmpty, "\(item.findings)")
    #expect(item.outcome == .held && item.complaints.isEmpty, "\(item.outcome) \(item.complaints)")
    #expect(item.explorations.first?.exploredCount == 3)
    #expect(item.explorations.first?.distinctCount == 4)
  }

  @Test("a run in which nothing was judged has not held")
  func nothingJudged() throws {
    let item = try report("exit 3", isBuiltIn: true)
    #expect(item.findings.isEmpty && item.outcome == .labFailed)
    #expect(item.complaints == ["no power cut was judged"])
  }

  @Test("the built-in checker's verdict is a finding, and so is every failure of a user's checker")
  func findings() throws {
    let broken = try report("[ $FAULTLINE_ROUND != 2 ] || { echo lost; exit 1; }", isBuiltIn: true)
    #expect(broken.findings.count == 1 && broken.outcome == .broken)
    let trapped = try report("[ $FAULTLINE_ROUND != 2 ] || kill -ILL $$", isBuiltIn: true)
    #expect(trapped.findings.count == 1 && trapped.outcome == .broken)
    let own = try report("[ $FAULTLINE_ROUND != 2 ] || { echo lost; exit 3; }", isBuiltIn: false)
    #expect(own.findings.count == 1 && own.outcome == .broken)
  }
}
