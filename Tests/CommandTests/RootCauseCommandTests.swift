// RootCauseCommandTests.swift: a checker with many words for one bug, and one word for two.

import TestSupport
import Testing

@Suite(
  "root causes",
  .requires(.fuse))
struct RootCauseCommandTests {
  /// Says in its own words what is left of the file.
  private static let check = """
    grep -q saved "$FAULTLINE_OUTPUT" || exit 0
    test -f file || { echo 'gone: there is no file'; exit 1; }
    test -s file || { echo 'empty: the file holds nothing'; exit 1; }
    test "$(cat file 2>/dev/null | tr -d '\\0')" = hello || { echo 'torn: other bytes'; exit 1; }
    """

  @Test("an unsynced file is one finding, however many words the checker has for it")
  func one() throws {
    let command = try FaultlineCommand()
    let result = try command.run(
      FaultlineCommand.exploration(
        workload: "echo hello > t; mv t file; sync .; echo saved", check: Self.check)
        + ["--model", "posix", "--json", "r.json"])
    #expect(result.status == 1, "\(result.output)")
    let item = try #require(try command.report("r.json").cases.first)
    #expect(item.findings.count == 1, "\(result.output)")
    let words = item.findings[0].headlines.map { $0.prefix { $0 != ":" } }
    #expect(Set(words) == ["empty", "torn"], "\(result.output)")
    #expect(result.output.contains("with this root cause"))
    #expect(result.output.contains("Checked under posix: with it this state is impossible."))
    // Each of them replays.
    for finding in item.findings + (item.findings[0].alsoSeenAs ?? []) {
      let replay = try command.run(["replay", finding.token])
      #expect(replay.status == 1, "\(replay.output)")
      #expect(replay.output.contains("FINDING 1: \(finding.headline)"))
    }
  }

  @Test("two missing syncs stay two findings")
  func two() throws {
    let command = try FaultlineCommand()
    let result = try command.run(
      FaultlineCommand.exploration(
        workload: "echo hello > t; mv t file; echo saved", check: Self.check)
        + ["--model", "posix", "--json", "r.json"])
    let item = try #require(try command.report("r.json").cases.first)
    #expect(item.findings.count == 2, "\(result.output)")
    #expect(item.findings.contains { $0.headlines == ["gone: there is no file"] })
  }
}
