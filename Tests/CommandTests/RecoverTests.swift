// RecoverTests.swift: explore --recover: power that fails again while a program recovers. A log
// that is made durable before anything else, and recoveries that apply it, well and badly.

import Foundation
import TestSupport
import Testing

@Suite(
  "explore: crashes during recovery",
  .requires(.fuse))
struct RecoverTests {
  private static let setup = "printf old > f; sync f ."
  private static let workload = "printf new > log && sync log && sync . && echo logged"
  private static let check = """
    grep -q logged "$FAULTLINE_OUTPUT" || exit 0
    [ "$(cat f)" = new ] || [ "$(cat log 2>/dev/null)" = new ] || { echo "new is lost"; exit 1; }
    """

  private func explore(_ recover: String, _ more: [String] = []) throws -> CommandResult {
    try FaultlineCommand().explore(
      setup: Self.setup, workload: Self.workload, check: Self.check,
      ["--model", "posix", "--recover", recover] + more)
  }

  private func lastToken(_ result: CommandResult) throws -> String {
    let line = try #require(result.lines.last { $0.hasPrefix("replay: ") }, "\(result.output)")
    return String(try #require(line.split(separator: " ").last))
  }

  @Test("a log that is removed before the file is synced is found, and its token comes back to it")
  func tooEarly() throws {
    let result = try explore("if [ -f log ]; then cat log > f; rm log; sync .; fi")
    #expect(result.status == 1)
    #expect(result.hasLine("verdict: broken, 1 finding"), "\(result.output)")
    #expect(result.output.contains("FINDING 1: new is lost"))
    #expect(result.output.contains("in the recovery from the crash state posix@"))
    #expect(result.output.contains("1 acknowledged, the last: logged"))
    #expect(result.output.contains("Missing: fsync or fdatasync of 'f'"))
    let again = try FaultlineCommand().run(["replay", lastToken(result)])
    #expect(again.status == 1 && again.output.contains("new is lost"), "\(again.output)")
  }

  @Test("a recovery in the right order holds, however often power fails in it")
  func safe() throws {
    let result = try explore(
      """
      if [ "$(cat log 2>/dev/null)" = new ]; then cat log > f; sync f; rm log; sync .; fi
      """, ["--recover-depth", "2"])
    #expect(result.status == 0, "\(result.output)")
    #expect(result.output.contains("posix, then its recovery: "))
    #expect(result.hasLine("verdict: held, 0 findings"))
  }

  @Test("what only the second recovery breaks is found with depth 2, and replayed")
  func second() throws {
    let recover = """
      [ "$(cat log 2>/dev/null)" = new ] || exit 0
      [ -f tmp ] || { cat log > tmp; sync tmp; }; mv tmp f; sync .; rm log; sync .
      """
    #expect(try explore(recover).status == 0)
    let result = try explore(recover, ["--recover-depth", "2"])
    #expect(result.status == 1, "\(result.output)")
    #expect(result.output.contains("FINDING 1: new is lost"))
    #expect(result.output.contains("in recovery 2 from the crash state"))
    let again = try FaultlineCommand().run(["replay", lastToken(result)])
    #expect(again.status == 1 && again.output.contains("new is lost"), "\(again.output)")
  }

  @Test("a recovery that fails on a crash state is a finding; one that always fails is refused")
  func failing() throws {
    let result = try explore("[ \"$(cat log)\" = new ]")
    #expect(result.status == 1)
    #expect(
      result.output.contains("FINDING 1: the recovery failed with exit status 1"),
      "\(result.output)")
    let again = try FaultlineCommand().run(["replay", lastToken(result)])
    #expect(again.status == 1 && again.output.contains("the recovery failed"), "\(again.output)")
    let refused = try explore("false")
    #expect(refused.status == 2)
    #expect(refused.output.contains("your recovery fails without any crash"))
  }

  @Test("the options are checked before anything runs")
  func usage() throws {
    let alone = try FaultlineCommand().explore(
      setup: nil, workload: "true", check: "true", ["--recover-depth", "2"])
    #expect(alone.status == 2 && alone.output.contains("go with --recover"), "\(alone.output)")
    let deep = try explore("true", ["--recover-depth", "4"])
    #expect(deep.status == 2 && deep.output.contains("--recover-depth 4: give 1, 2 or 3"))
    let none = try explore("true", ["--recover-states", "0"])
    #expect(none.status == 2 && none.output.contains("--recover-states 0"))
  }
}
