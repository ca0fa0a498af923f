// HTMLCommandTests.swift: pages, report directories and annotations as the command writes them.

import Foundation
import FoundationXML
import TestSupport
import Testing

@Suite(
  "reports of the command",
  .requires(.fuse))
struct HTMLCommandTests {
  private static let workload = "echo hello > file; echo saved"
  private static let check =
    "grep -q saved \"$FAULTLINE_OUTPUT\" && ! grep -q hello file && { echo lost: it; exit 1; }; :"

  private func expectWellFormed(_ text: String) {
    #expect(XMLParser(data: Data(text.utf8)).parse())
  }

  @Test("--report makes all three, and the token on the page replays")
  func directory() throws {
    let command = try FaultlineCommand()
    let arguments = FaultlineCommand.exploration(workload: Self.workload, check: Self.check)
    let result = try command.run(arguments + ["--report", "out", "--html", "page.html"])
    #expect(result.status == 1, "\(result.output)")
    let page = try command.text("out/report.html")
    #expect(try page == command.text("page.html"))
    expectWellFormed(page)
    expectWellFormed(try command.text("out/report.xml"))
    let token = try #require(result.replayToken)
    #expect(page.contains("faultline replay \(token)<"))
    let report = try command.report("out/report.json")
    let exploration = try #require(report.cases.first?.explorations.first)
    let points = try #require(exploration.crashPoints)
    #expect(points.reduce(0) { $0 + ($1.checked ?? 0) } == exploration.exploredCount)
    let failing = exploration.findings.reduce(0) { $0 + $1.rootCauseStateCount }
    #expect(points.reduce(0) { $0 + $1.failing } == failing)
    #expect(exploration.findings[0].evidence?.files.first?.path == "file")
    #expect(try command.run(["replay", token]).status == 1)
  }

  @Test("GitHub is told file, line and title of a scenario's finding; its page names the actor")
  func gitHub() throws {
    let command = try FaultlineCommand()
    let path = try command.write(try Self.scenario(), to: "s.yaml")
    let result = try command.run(
      ["run", path, "--html", "page.html"], environment: ["GITHUB_ACTIONS": "true"])
    #expect(result.status == 1, "\(result.output)")
    let lines = result.lines.filter { $0.hasPrefix("::error") }
    let count = result.lines.count { $0.hasPrefix("FINDING ") }
    #expect(count > 0 && lines.count == count, "\(result.output)")
    let line = try Self.scenario().split(separator: "\n").firstIndex { $0.hasPrefix("crash:") } ?? 0
    #expect(
      lines.allSatisfy {
        $0.hasPrefix("::error file=\(path),line=\(line + 1),title=faultline%3A ")
      },
      "\(lines)")
    #expect(lines.allSatisfy { $0.contains("%0Afaultline replay fl1-") })
    let page = try command.text("page.html")
    expectWellFormed(page)
    #expect(page.contains("title=\"ui\""), "the actor's lane")
    #expect(page.contains("class=\"injected\""))
  }

  /// A negative scenario without the word that it is one, so that its finding is a finding.
  private static func scenario() throws -> String {
    let path = "\(FaultlineCommand.repository)/scenarios/negative/first-sync-ignored.yaml"
    let text = try String(contentsOfFile: path, encoding: .utf8)
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let first = lines.firstIndex { $0.hasPrefix("negative:") } ?? lines.endIndex
    let rest = lines[first...].dropFirst().drop { $0.hasPrefix(" ") }
    return (lines[..<first] + rest).joined(separator: "\n")
  }

  @Test("the program alone, copied elsewhere, makes the page of joined shards")
  func merged() throws {
    let command = try FaultlineCommand()
    let arguments = FaultlineCommand.exploration(workload: Self.workload, check: Self.check)
    for shard in 1...2 {
      _ = try command.run(arguments + ["--shard", "\(shard)/2", "--json", "\(shard).json"])
    }
    // Copied by a program of its own: tests beside this one start processes, which would inherit
    // the descriptor of a copy that is being written, and nobody can run that.
    let result = try runShell(
      "cp '\(FaultlineCommand.program)' elsewhere && "
        + "env -u CI ./elsewhere merge 1.json 2.json --html page.html", in: command.directory.path)
    #expect(result.status == 1, "\(result.output)")
    let page = try command.text("page.html")
    expectWellFormed(page)
    #expect(page.contains("class=\"finding\"") && page.contains("class=\"events\""))
    #expect(page.contains("lost: it"))
  }

  @Test(
    "reports with numbers that would not fit a page are refused by name",
    arguments: [
      ("\"actor\" : 0", "\"actor\" : 99"), ("\"actor\" : 0", "\"actor\" : -1"),
      ("\"eventCount\" : ", "\"eventCount\" : -"),
      ("\"distinct\" : ", "\"distinct\" : 99999999999999"),
    ])
  func hostileReport(old: String, new: String) throws {
    let command = try FaultlineCommand()
    let arguments = FaultlineCommand.exploration(workload: Self.workload, check: Self.check)
    _ = try command.run(arguments + ["--shard", "1/2", "--json", "1.json"])
    let text = try command.text("1.json")
    #expect(text.contains(old))
    _ = try command.write(text.replacing(old, with: new), to: "1.json")
    let result = try command.run(["merge", "1.json", "--html", "page.html"])
    #expect(result.status == 2 && result.output.contains("1.json"), "\(result.output)")
  }

  @Test("a page that cannot be written is refused before the work")
  func unwritable() throws {
    let result = try FaultlineCommand().explore(
      workload: Self.workload, check: Self.check, ["--html", "/nowhere/page.html"])
    #expect(result.status == 2 && result.output.contains("/nowhere/page.html"))
  }
}
