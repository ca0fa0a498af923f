// CheckerVerdictTests.swift: a checker that dies or hangs over a state has judged that state.

import Foundation
import TestSupport
import Testing

@Suite(
  "explore: checkers that end badly",
  .enabled(if: MountedFaultFS.isAvailable, "\(MountedFaultFS.skipReason)"))
struct CheckerVerdictTests {
  /// States without a whole file after the acknowledgement get the bad end.
  private func explore(_ end: String) throws -> CommandResult {
    try FaultlineCommand().explore(
      workload: "echo hello > file; echo saved",
      check: """
        grep -q saved "$FAULTLINE_OUTPUT" || exit 0
        test "$(cat file)" = hello || { \(end); }
        exit 0
        """, ["--timeout", "1"])
  }

  @Test("a segmentation fault is a finding")
  func segfault() throws {
    let result = try explore("kill -SEGV $$")
    #expect(result.status == 1, "\(result.output)")
    #expect(result.output.contains("killed by SIGSEGV"), "\(result.output)")
  }

  @Test("a hang is a finding")
  func hang() throws {
    let result = try explore("sleep 600")
    #expect(result.status == 1, "\(result.output)")
    #expect(result.output.contains("no answer within 1 s"), "\(result.output)")
  }
}
