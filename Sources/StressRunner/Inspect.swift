// Inspect.swift: `faultline inspect`: looks into a database file, whole or damaged.

import ArgumentParser
import CrashSim
import Foundation

struct Inspect: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Show what a database file holds, how its space is used, and what is wrong with it.",
    discussion: """
      The file is not locked and not changed. Every node is read and checked, so damage in one \
      place does not hide the rest; the first thing wrong is the last line. --verify also opens a \
      copy in memory, as a program would, and runs the engine's own verification.

      Examples:
        faultline inspect data.realm
        faultline inspect data.realm --verify
        faultline inspect /tmp/crashed/data.realm --json | jq .corruption

      Exit codes: 0 sound, 1 damaged, 2 not a file or not a database.
      """)

  @Argument(help: "The database file.") var file: String
  @Flag(help: "Also open a copy in memory and verify it.") var verify = false
  @Flag(help: "Print JSON instead of text.") var json = false

  func run() throws {
    let console = Console()
    let report = try InspectionReport(path: file, verifies: verify)
    if json {
      console.say(String(try report.json().dropLast()))
    } else {
      for line in report.lines() { console.say(line) }
    }
    if !report.isSound { throw Leave(code: .broken) }
  }
}
