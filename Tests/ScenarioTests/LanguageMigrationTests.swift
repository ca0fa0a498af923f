// LanguageMigrationTests.swift: files are rewritten at the places of old keys, and nowhere else.

import Foundation
import Testing

@testable import LabCore
@testable import Scenarios
@testable import Workload

@Suite("Files in the words of today")
struct LanguageMigrationTests {
  private static func migrated(_ text: String) throws -> String? {
    let file = try LanguageMigration.migrated(Array(text.utf8), path: "t.yaml")
    return file.map { String(decoding: $0.bytes, as: UTF8.self) }
  }

  private static let rest =
    "schema: {Dog: {_id: int primary}}\nprocesses: {app: [ui]}\nsteps: [{ui: open}]\n"

  @Test(
    "comments, layout, quotes, line ends and what looks like a key stay, byte for byte",
    arguments: [
      (
        "# kill: this one stays\ntitle: \"kill: {cut: 1}\"   # times: 3\n\(rest)"
          + "kill :   {process: app,   at: 3}  # kill: them\n",
        "# kill: this one stays\nversion: 1\ntitle: \"kill: {cut: 1}\"   # times: 3\n\(rest)"
          + "killSweep :   {process: app,   at: 3}  # kill: them\n"
      ),
      (
        "title: t\r\n\(rest.replacing("\n", with: "\r\n"))'kill': {process: app, at: 3}\r\n",
        "version: 1\r\ntitle: t\r\n\(rest.replacing("\n", with: "\r\n"))"
          + "'killSweep': {process: app, at: 3}\r\n"
      ),
      (
        "\u{feff}title: ü 🐕\n\(rest)\"kill\": {process: app, at: 3}",
        "\u{feff}version: 1\ntitle: ü 🐕\n\(rest)\"killSweep\": {process: app, at: 3}"
      ),
      (
        "---\n  # above\n  title: |\n    kill: not this\n  history: {}\n  kill:\n    at: 3\n    "
          + "process: p1\n",
        "---\n  # above\n  version: 1\n  title: |\n    kill: not this\n  history: {}\n"
          + "  killSweep:\n    at: 3\n    process: p1\n"
      ),
      (
        "{title: t, history: {}, kill: {process: p1, at: 3}}\n",
        "{title: t, history: {}, killSweep: {process: p1, at: 3}}\n"
      ),
      (
        "{\n  title: t, history: {}, ? kill : {process: p1, at: 3}}\n",
        "{\n  title: t, history: {}, ? killSweep : {process: p1, at: 3}}\n"
      ),
      (
        "# yaml-language-server: $schema=../schema.json\nversion: 1\ntitle: t\nhistory: {}\n",
        "# yaml-language-server: $schema=../schema.json\nversion: 1\ntitle: t\nhistory: {}\n"
      ),
      (
        "- {on: sync, times: 1, kill-other: \"times: 3\"}   # kill: all\n"
          + "-  on: write\n   stop:    before # stop\n",
        "- {on: sync, maximumHits: 1, killOther: \"times: 3\"}   # kill: all\n"
          + "-  on: write\n   killFileSystem:    before # stop\n"
      ),
      (
        "on: write\nread-only: true # and\n\n# the end",
        "on: write\nmakeReadOnly: true # and\n\n# the end"
      ),
      ("faults:\n- {on: sync, times: 1, lose: true, x: 1}", nil),
      (
        "faults:\n- {on: write, times: 1, lose: true}",
        "version: 1\nfaults:\n- {on: write, maximumHits: 1, lose: true}"
      ),
      (
        "# mine\nname: mine\nversion: 3 # the third\n",
        "# mine\nversion: 1\nname: mine\nmodelVersion: 3 # the third\n"
      ),
      ("version: 1\nname: mine\n", "version: 1\nname: mine\n"),
      ("services: {web: {image: x}}\n", nil), ("just words\n", nil),
    ] as [(String, String?)])
  func exact(before: String, after: String?) throws {
    guard let after else {
      #expect((try? Self.migrated(before) ?? nil) == nil, "\(before)")
      return
    }
    #expect(try Self.migrated(before) == after)
    #expect(try Self.migrated(after) == after)
  }

  @Test("a key that cannot be rewritten at its place is named, and the file stays")
  func strangeKeys() {
    for key in ["\"k\\x69ll\"", "!!str kill"] {
      let found = #expect(throws: ScenarioError.self) {
        try Self.migrated("title: t\nhistory: {}\n\(key): {process: p1, at: 3}\n")
      }
      #expect(
        found?.description.hasPrefix("t.yaml:3:1: the key 'kill' is written in a way") == true,
        "\(found as Any)")
    }
  }

  // MARK: - The shipped scenarios

  private static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("scenarios")

  private static let paths: [String] = {
    let all = FileManager.default.enumerator(atPath: root.path)?.compactMap { $0 as? String } ?? []
    return all.filter { $0.hasSuffix(".yaml") }.sorted()
  }()

  /// The text as it was before version 1.
  private static func aged(_ text: String) -> String {
    let lines = text.components(separatedBy: "\n").compactMap { line -> String? in
      if line == "version: 1" { return nil }
      var line = line
      func replace(_ object: GrammarObject) {
        for key in object.oldKeys {
          for before in ["{", ", ", "  - "] {
            line.replace("\(before)\(key.new): ", with: "\(before)\(key.old): ")
          }
        }
      }
      if line.hasPrefix("killSweep: ") {
        replace(.killSweep)
        line.replace("killSweep: ", with: "kill: ")
      }
      if line.contains("on: ") { replace(.fault) }
      if line.hasPrefix("database: ") || line.contains("open: {") { replace(.database) }
      if line.hasPrefix("  - ") { replace(.step) }
      return line
    }
    return lines.joined(separator: "\n")
  }

  @Test("every shipped scenario in its old spelling is migrated to its very bytes")
  func shipped() throws {
    var words: [String: Int] = [:]
    for path in Self.paths {
      let file = Self.root.appendingPathComponent(path).path
      let text = String(decoding: try Data(contentsOf: URL(fileURLWithPath: file)), as: UTF8.self)
      let (scenario, old) = try ScenarioParser.read(text, file: file)
      #expect(old.isEmpty, "\(path) has old spellings: \(old)")
      let aged = Self.aged(text)
      let (before, spellings) = try ScenarioParser.read(aged, file: file)
      #expect(before.withoutPlaces == scenario.withoutPlaces, "\(path)")
      for spelling in spellings { words[spelling.new, default: 0] += 1 }
      let migrated = try #require(
        try LanguageMigration.migrated(Array(aged.utf8), path: file), "\(path)")
      #expect(String(decoding: migrated.bytes, as: UTF8.self) == text, "\(path)")
      let again = try LanguageMigration.migrated(migrated.bytes, path: file)
      #expect(again?.isChanged == false, "\(path)")
      #expect(migrated.oldSpellings == spellings.sorted { $0.position < $1.position }, "\(path)")
    }
    #expect(Self.paths.count > 100 && words["killSweep", default: 0] > 20, "\(words)")
    for word in ["commitProtocol", "crashStates", "shorten", "seedCopy", "failSync", "anyErrno"] {
      #expect(words[word, default: 0] > 0, "no shipped scenario has \(word)")
    }
  }
}
