// ExploreFaultsTests.swift: `faultline explore --fault`: a program meets a fault, goes on, and then
// the power goes.

import Foundation
import TestSupport
import Testing

@Suite("explore: faults", .requires(.fuse))
struct ExploreFaultsTests {
  /// Tries a failed sync once more, as many programs did (fsyncgate).
  private static let retrying = FaultlineCommand.exploration(
    workload: "printf new > f; sync f || sync f; sync .; echo saved",
    check: """
      ! grep -q saved "$FAULTLINE_OUTPUT" || grep -q new f || { echo "lost: f"; exit 1; }
      """)

  @Test("a failed sync that drops what it should have written, tried again, loses it")
  func failedSync() throws {
    let command = try FaultlineCommand()
    let undisturbed = try command.run(Self.retrying)
    #expect(undisturbed.status == 0, "\(undisturbed.output)")

    let rule = "on: sync, file: f, nth: 1, failSync: ext4-ordered"
    let result = try command.run(Self.retrying + ["--fault", rule, "--json", "r.json"])
    #expect(result.status == 1, "\(result.output)")
    #expect(result.output.contains("  rule 1  hits=1 matches=2  "), "\(result.output)")
    #expect(result.output.contains("FINDING 1: lost: f"))
    #expect(
      result.output.contains(
        "  injected   failSync of a sync: Input/output error (EIO), in #"), "\(result.output)")
    let json = try String(contentsOfFile: command.directory.file("r.json"), encoding: .utf8)
    #expect(json.contains("\"injected\" : ["))

    // The token has the rule, so the recording is the same.
    let token = try #require(result.replayToken)
    let replayed = try command.run(["replay", token])
    #expect(replayed.status == 1 && replayed.output.contains("lost: f"), "\(replayed.output)")
    #expect(replayed.output.contains("  injected   failSync"), "\(replayed.output)")
  }

  @Test("what a fault breaks without any crash is a finding too, and the workload may fail")
  func withoutCrash() throws {
    let command = try FaultlineCommand()
    let faults = try command.write(
      "{on: write, file: f, nth: 1, error: ENOSPC}\n", to: "faults.yaml")
    let result = try command.explore(
      workload: "printf new > f; sync f; sync .; echo saved; exit 3",
      check: """
        ! grep -q saved "$FAULTLINE_OUTPUT" || grep -q new f || { echo "lost: f"; exit 1; }
        """, ["--faults", faults])
    #expect(result.status == 1, "\(result.output)")
    #expect(result.output.contains("  the workload ended with exit status 3"))
    #expect(result.output.contains("FINDING 1: lost: f"))
    #expect(result.output.contains("nothing: all that was issued survived"))
    #expect(
      result.output.contains("  injected   error of a write: No space left on device (ENOSPC), "),
      "\(result.output)")
  }

  @Test("a rule that did nothing is named")
  func idle() throws {
    let command = try FaultlineCommand()
    let result = try command.run(
      Self.retrying + ["--fault", "on: sync, file: other, error: EIO"])
    #expect(result.status == 0, "\(result.output)")
    #expect(result.output.contains("  rule 1 never matched"), "\(result.output)")
    let certified = try command.run(
      ["certify"] + Self.retrying.dropFirst() + [
        "--fault", "on: sync, file: f, nth: 9, error: EIO",
      ])
    #expect(certified.output.contains("and never hit: see its nth"), "\(certified.output)")
  }

  @Test("every report says how often each rule matched and hit, and which did nothing")
  func reports() throws {
    let command = try FaultlineCommand()
    let rules = [
      "--fault", "on: sync, file: f, nth: 2, error: EIO", "--fault",
      "on: sync, file: other, error: EIO",
    ]
    let result = try command.run(Self.retrying + rules + ["--report", "out"])
    #expect(result.status == 0, "\(result.output)")
    let said = result.lines.filter { $0.hasPrefix("  rule ") }.map { String($0.dropFirst(2)) }
    try #require(said.count == 4, "\(result.output)")
    #expect(said[0].hasPrefix("rule 1  hits=0 matches=1  ") && said[2].hasPrefix("rule 1 matched"))
    let report = Data(try command.text("out/report.json").utf8)
    let json = try JSONSerialization.jsonObject(with: report)
    let cases = try #require((json as? [String: Any])?["cases"] as? [[String: Any]])
    let written = try #require(cases[0]["rules"] as? [[String: Any]], "no rules in the JSON report")
    #expect(written.map { $0["number"] as? Int } == [1, 2])
    #expect(written.map { $0["matchCount"] as? Int } == [1, 0])
    #expect(written.map { $0["hitCount"] as? Int } == [0, 0])
    #expect(written.map { $0["complaint"] as? String } == [said[2], said[3]])
    #expect(said[1].hasSuffix(written[1]["rule"] as? String ?? "none"))
    for report in ["report.html", "report.xml"] {
      let text = try command.text("out/\(report)").replacing("&quot;", with: "\"")
      for line in said { #expect(text.contains(line), "\(report) lacks '\(line)'") }
    }

    let certified = try command.run(
      ["certify"] + Self.retrying.dropFirst() + rules + ["--json", "certificate.json"])
    let certificate = try command.text("certificate.json")
    #expect(certificate.contains("\"hitCount\" : 0"), "\(certified.output)")
  }

  @Test(
    "wrong uses say what to do",
    arguments: [
      (["--fault", "on: sync, eror: EIO"], "--fault 1"),
      (["--faults", "no-such-file.yaml"], "no-such-file.yaml"),
      (["--fault", "on: sync, error: EIO", "--on", "ext4"], "drop one"),
    ])
  func usage(arguments: [String], text: String) throws {
    let result = try FaultlineCommand().run(Self.retrying + arguments)
    #expect(result.status == 2 && result.output.contains(text), "\(result.output)")
  }
}
