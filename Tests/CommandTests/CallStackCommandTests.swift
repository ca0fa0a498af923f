// CallStackCommandTests.swift: findings of recordings with call stacks name the program's lines,
// and the lines hold what the findings say.

import Findings
import Foundation
import TestSupport
import Testing

@Suite(
  "call stacks",
  .requires(.fuse))
struct CallStackCommandTests {
  private static let twoSavers =
    FaultlineCommand.folder.appendingPathComponent("two-savers").path

  /// The text of a source line.
  private static func line(_ frame: SourceFrame) throws -> String {
    let file = try #require(frame.file)
    let number = try #require(frame.line)
    let text = try String(contentsOfFile: file, encoding: .utf8)
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    try #require(lines.indices.contains(number - 1), "\(file) has no line \(number)")
    return String(lines[number - 1])
  }

  /// The last word of a function's name.
  private static func word(_ function: String?) -> String {
    String((function ?? "?").split(whereSeparator: { $0 == "." || $0 == " " }).last ?? "?")
  }

  private static func runPlantedBug(
    _ more: [String], budget: Int = 400
  ) throws -> (CommandResult, RunReport) {
    let command = try FaultlineCommand()
    let scenario = "\(FaultlineCommand.repository)/scenarios/negative/second-sync-ignored.yaml"
    let result = try command.run(
      ["run", scenario, "--json", "r.json", "--budget", "\(budget)"] + more)
    #expect(result.status == 0, "\(result.output)")
    return (result, try command.report("r.json"))
  }

  @Test("a finding about the engine names the lines that made the lost writes, twice the same")
  func engine() throws {
    let (_, report) = try Self.runPlantedBug(["--stacks"])
    let findings = report.cases.flatMap(\.findings)
    let sites = findings.flatMap { $0.callSites ?? [] }
    #expect(!findings.isEmpty && !sites.isEmpty)
    for site in sites {
      for frame in site.frames {
        let file = try #require(frame.file, "\(site.text)")
        #expect(file.contains("/Sources/Engine/"), "\(site.text)")
        #expect(!file.contains("/Engine/Storage/"), "\(site.text)")
      }
      // The innermost line calls the storage, and each line calls the function of the one before.
      let innermost = try Self.line(try #require(site.frames.first))
      #expect(innermost.contains("backend."), "\(site.text): \(innermost)")
      for (inner, outer) in zip(site.frames, site.frames.dropFirst()) {
        let line = try Self.line(outer)
        let name = Self.word(inner.function)
        // A closure is called by whoever got it, under a name of its own.
        let isClosure = inner.function?.hasPrefix("closure in ") ?? true
        #expect(isClosure || line.contains("\(name)("), "\(site.text): \(line)")
      }
    }
    let (_, again) = try Self.runPlantedBug(["--stacks"])
    #expect(again.cases.flatMap(\.findings) == findings)
  }

  @Test("without call stacks the tokens are the same, and no finding names a line")
  func without() throws {
    let (_, with) = try Self.runPlantedBug(["--stacks"], budget: 100_000)
    let (_, without) = try Self.runPlantedBug([], budget: 100_000)
    let separated = { (report: RunReport) in
      report.cases.flatMap(\.findings).flatMap { [$0.token] + ($0.alsoSeenAs ?? []).map(\.token) }
    }
    #expect(separated(with).sorted() == separated(without).sorted())
    #expect(without.cases.flatMap(\.findings).allSatisfy { $0.callSites == nil })
  }

  @Test("one mistake in two places is one finding without call stacks, two with")
  func twoPlaces() throws {
    let command = try FaultlineCommand()
    let arguments =
      FaultlineCommand.exploration(
        setup: "printf 0 > a1; printf 0 > a2", workload: "'\(Self.twoSavers)' a1 a2",
        check: """
          if grep -q first "$FAULTLINE_OUTPUT" && ! grep -q 1 a1; then echo lost it; exit 1; fi
          if grep -q second "$FAULTLINE_OUTPUT" && ! grep -q 1 a2; then echo forgot it; exit 1; fi
          """) + ["--model", "posix", "--json", "r.json"]
    #expect(try command.run(arguments).status == 1)
    #expect(try command.report("r.json").cases[0].findings.count == 1)
    let result = try command.run(arguments + ["--stacks", "--html", "r.html", "--trace", "t"])
    #expect(result.status == 1, "\(result.output)")
    let findings = try command.report("r.json").cases[0].findings
    #expect(findings.count == 2, "\(result.output)")
    for (finding, name) in zip(findings, ["first", "second"]) {
      let site = try #require(finding.callSites?.first)
      let frame = try #require(site.frames.first)
      #expect(frame.function == "save_\(name)", "\(site.text)")
      #expect(try Self.line(frame).contains("the \(name) mistake"), "\(site.text)")
      let main = try Self.line(try #require(site.frames.dropFirst().first))
      #expect(main.contains("save_\(name)("), "\(main)")
      #expect(result.output.contains("called     \(site.text)"), "\(result.output)")
      #expect(try command.text("r.html").contains(frame.place))
    }
    let stacks = try runShell(
      "sqlite3 t 'SELECT count(*) FROM event_stacks JOIN stacks USING (stack) WHERE depth = 0'",
      in: command.directory.path)
    #expect(Int(stacks.output.trimmingCharacters(in: .whitespacesAndNewlines)) == 2)
    // A replay shows the line too, when it is asked to.
    let replay = try command.run(["replay", findings[1].token, "--stacks"])
    #expect(replay.output.contains("in save_second"), "\(replay.output)")
  }

  @Test("a certificate names the lines of syncs")
  func certificate() throws {
    let command = try FaultlineCommand()
    let result = try command.run([
      "certify", "\(FaultlineCommand.repository)/scenarios/durability/commits.yaml", "--stacks",
      "--budget", "200",
    ])
    #expect(result.status == 0, "\(result.output)")
    let sites = result.lines.filter { $0.hasPrefix("  site ") }
    #expect(!sites.isEmpty && sites.allSatisfy { $0.contains(" at ") && $0.contains(".swift:") })
  }

  @Test("call stacks are of a program's own calls on a mount; elsewhere the option is refused")
  func refused() throws {
    let command = try FaultlineCommand()
    let scenario = "\(FaultlineCommand.repository)/scenarios/negative/second-sync-ignored.yaml"
    let inProcess = try command.run(["run", scenario, "--stacks", "--backend", "in-process"])
    #expect(inProcess.status == 2 && inProcess.output.contains("--stacks"), "\(inProcess.output)")
    let device = try command.explore(
      workload: "true", check: "true", ["--stacks", "--on", "ext4"])
    #expect(device.status == 2 && device.output.contains("--stacks"), "\(device.output)")
  }
}
