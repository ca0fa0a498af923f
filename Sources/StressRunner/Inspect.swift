// Inspect.swift: `faultline inspect`: inspects a database file, intact or damaged.

import ArgumentParser
import DocumentInspection
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

      Of a bundle of documents (NAME.cblite2) it shows collections, counts, sequences, indexes and \
      expirations; --verify checks all contents, and --documents prints documents as lines of \
      JSON. A copy of the database and its log is read, so nothing is written in the bundle.

      Examples:
        faultline inspect data.realm
        faultline inspect data.realm --verify
        faultline inspect sealed.realm --key key.bin
        faultline inspect /tmp/crashed/data.realm --json | jq .corruption
        faultline inspect notes.cblite2 --verify
        faultline inspect notes.cblite2 --documents inventory.chairs --limit 10

      Exit codes: 0 sound, 1 damaged, 2 not a file or not a database.
      """)

  @Argument(help: "The database file, or a bundle of documents.") var file: String
  @Flag(help: "Also open a copy in memory and verify it.") var verify = false
  @Option(
    help: ArgumentHelp(
      "The key of an encrypted database: a file of 64 bytes, or of 128 hexadecimal digits.",
      valueName: "file"))
  var key: String?
  @Flag(help: "Print JSON instead of text.") var json = false
  @Option(
    defaultAsFlag: Self.allCollections,
    help: ArgumentHelp(
      "Print the documents of a bundle, or of one of its collections, as lines of JSON.",
      valueName: "collection"))
  var documents: String?
  @Option(help: "The most documents to print.") var limit: Int?

  /// Not the name of a collection.
  private static let allCollections = "*"

  func validate() throws {
    if limit ?? 0 < 0 { throw ValidationError("--limit takes a number from 0 on") }
    if limit != nil, documents == nil { throw ValidationError("--limit needs --documents") }
    if documents != nil, json || verify {
      throw ValidationError("--documents stands alone: it prints JSON and verifies nothing")
    }
    guard BundleInspection.isBundle(file) else {
      if documents != nil { throw ValidationError("--documents needs a bundle NAME.cblite2") }
      return
    }
    if key != nil { throw ValidationError("--key is for encrypted files, which bundles are not") }
  }

  func run() throws {
    guard !BundleInspection.isBundle(file) else { return try runBundle() }
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

  private func runBundle() throws {
    let console = Console()
    let isSound: Bool
    do throws(InspectionFailure) {
      if let documents {
        let name = documents == Self.allCollections ? nil : documents
        isSound = try BundleDocuments.lines(path: file, collection: name, limit: limit) {
          console.say($0)
        }
      } else {
        let report = try BundleInspection(path: file, verifies: verify)
        isSound = report.isSound
        try say(report, console)
      }
    } catch {
      switch error {
      case .usage(let message): throw LabError.usage(message)
      case .lab(let message): throw LabError.lab(message)
      }
    }
    if !isSound { throw Leave(code: .broken) }
  }

  private func say(_ report: BundleInspection, _ console: Console) throws(InspectionFailure) {
    guard json else {
      for line in report.lines() { console.say(line) }
      return
    }
    do { console.say(document: try report.json()) } catch { throw .lab("\(error)") }
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
