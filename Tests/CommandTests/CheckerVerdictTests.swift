// CheckerVerdictTests.swift: a checker that dies or hangs over a state has judged that state; one
// that fails twice in other words, too. What a verdict does not cover is said beside it.

import Foundation
import TestSupport
import Testing

@Suite(
  "explore: checkers that end badly",
  .requires(.fuse))
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

  @Test("a checker that fails each time in other words has failed; one that accepts is asked why")
  func otherWords() throws {
    let folder = try TemporaryDirectory()
    let counter = folder.file("counter")
    let count = """
      n=$(cat \(counter) 2>/dev/null || echo 0); n=$((n + 1)); echo $n > \(counter)
      """
    let lost = "grep -q saved $FAULTLINE_OUTPUT && ! grep -q hello file 2>/dev/null"
    // Which question is the first follows from the counter, so one checker runs at a time.
    let alone = ["--jobs", "1"]
    let failing = "\(lost) && { \(count); printf 'a%.0s' $(seq $n); exit 1; }; exit 0"
    var result = try FaultlineCommand().explore(
      workload: "echo hello > file; echo saved", check: failing, alone)
    #expect(result.status == 1, "\(result.output)")
    #expect(result.output.contains("asked again, the checker said: "), "\(result.output)")
    // One that says nothing the first time, and something when asked again.
    let silent = "\(lost) && { \(count); [ $n = 1 ] || echo words; exit 1; }; exit 0"
    try Data("0".utf8).write(to: URL(fileURLWithPath: counter))
    result = try FaultlineCommand().explore(
      workload: "echo hello > file; echo saved", check: silent, alone)
    #expect(result.status == 1, "\(result.output)")
    #expect(result.output.contains("FINDING 1: the checker ended with exit status 1"))
    let accepting = "\(lost) && { \(count); [ $n != 1 ] || { echo first; exit 1; }; }; exit 0"
    try Data("0".utf8).write(to: URL(fileURLWithPath: counter))
    result = try FaultlineCommand().explore(
      workload: "echo hello > file; echo saved", check: accepting, alone)
    #expect(result.status == 4, "\(result.output)")
    #expect(result.output.contains("accepted it when asked again"), "\(result.output)")
  }

  @Test("a write that is half on the disk needs no sync but another way to write")
  func halves() throws {
    let result = try FaultlineCommand().explore(
      setup: "head -c 8192 /dev/zero > f",
      workload: """
        head -c 8192 /dev/zero | tr '\\0' x |
          dd of=f bs=8192 count=1 iflag=fullblock conv=notrunc,fsync 2>/dev/null; echo done
        """,
      check: """
        [ "$(head -c 1 f | tr '\\0' 0)" = "$(tail -c 1 f | tr '\\0' 0)" ] || { echo torn; exit 1; }
        """)
    #expect(result.status == 1, "\(result.output)")
    #expect(result.output.contains("survived in part, and nothing later did"), "\(result.output)")
    #expect(!result.output.contains("Missing:"), "\(result.output)")
  }

  @Test("a workload that leaves a process behind, or changes nothing, is not a silent success")
  func unrecorded() throws {
    var result = try FaultlineCommand().explore(
      workload: "(sleep 5; echo new > f) & exit 0", check: "exit 0")
    #expect(result.status == 0, "\(result.output)")
    #expect(result.output.contains("skipped: what the workload left running"), "\(result.output)")
    #expect(result.output.contains("skipped: every crash: "), "\(result.output)")
    result = try FaultlineCommand().explore(
      workload: "(sleep 0.1; echo new > f) & wait; echo done", check: "exit 0")
    #expect(!result.output.contains("skipped"), "\(result.output)")
  }
}
