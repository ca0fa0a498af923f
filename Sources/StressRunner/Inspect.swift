// Inspect.swift: `faultline inspect`: inspects a database file, intact or damaged.

import ArgumentParser
import Findings
import Foundation
import LabCore
import Reports

struct Inspect: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Show what a database file holds, and what is wrong with it.",
    discussion: """
      Faultline reads and checks every node, so damage in one place does not hide the rest. The \
      last line is the first thing that is wrong. The file is neither locked nor changed. --verify \
      also opens a copy in memory, as a program would, and runs the engine's own verification.

      Examples:
        faultline inspect data.realm
        faultline inspect data.realm --verify
        faultline inspect sealed.realm --key key.bin
        faultline inspect /tmp/crashed/data.realm --json | jq .corruption

      Exit codes: 0 sound, 1 damaged, 2 not a file or not a database.
      """)

  @Argument(help: "The database file.") var file: String
  @Flag(help: "Also open a copy in memory and verify it.") var verify = false
  @Option(
    help: ArgumentHelp(
      "The key of an encrypted database: a file of 64 bytes, or of 128 hexadecimal digits.",
      valueName: "file"))
  var key: String?
  @Flag(help: "Print JSON instead of text.") var json = false

  func run() throws {
    let console = Console()
    let report = try InspectionReport(
      path: file, verifies: verify, key: try key.map { try Self.key(inFile: $0) })
    if json {
      console.say(document: try report.json())
    } else {
      for line in report.lines() { console.say(line) }
    }
    if !report.isSound { throw Leave(code: .broken) }
  }

  private static func key(inFile path: String) throws -> [UInt8] {
    guard let content = FileManager.default.contents(atPath: path) else {
      throw LabError.usage("--key: cannot read \(path)")
    }
    let bytes = Array(content)
    if bytes.count == keyBytes { return bytes }
    let digits = bytes.filter { $0 != UInt8(ascii: "\n") }
    let numbers = digits.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
    guard numbers.count == digits.count, digits.count == 2 * keyBytes else {
      throw LabError.usage(
        "--key: \(path) has \(bytes.count) bytes; it takes \(keyBytes), or \(2 * keyBytes) "
          + "hexadecimal digits")
    }
    return (0..<keyBytes).map { UInt8(numbers[2 * $0] << 4 | numbers[2 * $0 + 1]) }
  }

  private static let keyBytes = 64
}
