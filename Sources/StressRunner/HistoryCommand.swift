// HistoryCommand.swift: `faultline history check`: judges a recorded history of transactions.

import ArgumentParser
import Findings
import Foundation
import LabCore
import Oracles

struct HistoryCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "history", abstract: "Check recorded histories of transactions.",
    subcommands: [HistoryCheck.self])
}

struct HistoryCheck: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Find the isolation anomalies of a history.",
    discussion: """
      The file holds one JSON object per line: transactions that append to lists and read whole \
      lists (docs/reference/histories.md). Each anomaly is explained in words, as a cycle of \
      dependencies, and the report says which isolation levels the history keeps.

      Examples:
        faultline history check run.jsonl
        faultline history check run.jsonl --level snapshot-isolation --json report.json

      Exit codes: 0 the level is kept, 1 it is not, 2 the file is not a history.
      """)

  @Argument(help: "The file with the history.") var file: String
  @Option(help: "The level to check: \(IsolationLevel.names).")
  var level = IsolationLevel.strictSerializable.rawValue
  @Option(help: "Write the report as JSON to this file.") var json: String?

  func run() throws {
    guard let level = IsolationLevel(rawValue: level) else {
      throw LabError.usage("--level \(level): give one of \(IsolationLevel.names)")
    }
    try ReportArguments.refuseUnwritable([json])
    let report = try IsolationOracle.check(try HistoryParser.load(file))
    if let json { try ReportArguments.write(report.json(), to: json) }
    for line in report.lines(judgedBy: level) { Console().say(line) }
    if !report.holds(level) { throw Leave(code: .broken) }
  }
}
