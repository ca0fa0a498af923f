// ExampleTests.swift: what the shipped examples say about real programs, seen through the command.

import Foundation
import TestSupport
import Testing

@Suite(
  "explore: examples",
  .requires(.fuse))
struct ExampleTests {
  @Test(
    "a whole safe replacement holds under every model",
    arguments: [["safe", ""], ["safe fresh", "fresh"]])
  func safeReplacement(steps: [String]) throws {
    let command = try FaultlineCommand()
    let result = try command.run(
      FaultlineCommand.example("safe-replace", workload: steps[0], check: steps[1])
        + ["--model", "all", "--budget", "50", "--json", "r.json"])
    #expect(result.status == 0, "\(result.output)")
    #expect(result.hasLine("verdict: held, 0 findings"))
    let models = try command.report("r.json").cases[0].explorations.map(\.model)
    #expect(models.count >= 3, "\(models)")
  }

  struct LeftOut: Sendable, CustomTestStringConvertible {
    let steps: String
    var check = ""
    let model: String
    let headline: String
    let missing: [String]
    var testDescription: String { "\(steps) under \(model)" }
  }

  static let leftOut = [
    LeftOut(
      steps: "no-fsync", model: "posix", headline: "torn:",
      missing: ["fsync or fdatasync of 'document.tmp'"]),
    LeftOut(
      steps: "no-dirsync", model: "ext4-ordered", headline: "lost:",
      missing: ["fsync of the directory '/'"]),
    LeftOut(
      steps: "none", model: "ext4-ordered", headline: "lost:",
      missing: ["fsync of the directory '/'"]),
    LeftOut(steps: "in-place", model: "ext4-ordered", headline: "torn:", missing: []),
    LeftOut(
      steps: "no-fsync fresh", check: "fresh", model: "ext4-ordered", headline: "torn:",
      missing: ["fsync or fdatasync of 'document"]),
    LeftOut(
      steps: "no-dirsync fresh", check: "fresh", model: "posix", headline: "lost:",
      missing: ["fsync of the directory '/'"]),
  ]

  @Test("each step left out is found, and the missing sync is named", arguments: leftOut)
  func leftOutSteps(step: LeftOut) throws {
    let command = try FaultlineCommand()
    let result = try command.run(
      FaultlineCommand.example("safe-replace", workload: step.steps, check: step.check)
        + ["--model", step.model, "--budget", "80"])
    #expect(result.status == 1, "\(result.output)")
    #expect(result.output.contains(": \(step.headline)"), "\(result.output)")
    for text in step.missing { #expect(result.missing.contains(text), "\(result.output)") }
    #expect(result.replayToken != nil)
  }

  struct Settings: Sendable, CustomTestStringConvertible {
    let journal: String
    let synchronous: String
    /// Beginning of the findings' headlines; nil when there is none.
    let headline: String?
    var testDescription: String { "\(journal)/\(synchronous)" }
  }

  static let settings = [
    Settings(journal: "DELETE", synchronous: "OFF", headline: "corruption:"),
    Settings(journal: "DELETE", synchronous: "FULL", headline: "lost:"),
    Settings(journal: "DELETE", synchronous: "EXTRA", headline: nil),
    Settings(journal: "WAL", synchronous: "NORMAL", headline: "lost:"),
    Settings(journal: "WAL", synchronous: "FULL", headline: nil),
  ]

  @Test(
    "SQLite keeps the promises of its settings, and no others",
    .requires(.sqlite3),
    arguments: settings)
  func sqlite(setting: Settings) throws {
    let command = try FaultlineCommand()
    let result = try command.run(
      FaultlineCommand.example(
        "sqlite", setup: setting.journal,
        workload: "\(setting.journal) \(setting.synchronous) 4")
        + ["--budget", "100", "--json", "r.json"])
    let findings = try command.report("r.json").cases[0].findings
    guard let headline = setting.headline else {
      #expect(result.status == 0, "\(result.output)")
      #expect(findings.isEmpty)
      return
    }
    #expect(result.status == 1, "\(result.output)")
    #expect(findings.contains { $0.headline.hasPrefix(headline) }, "\(result.output)")
    if headline == "lost:" {
      #expect(!findings.contains { $0.headline.hasPrefix("corruption") }, "\(result.output)")
    }
  }
}
