// LanguageMigration.swift: rewrites scenarios, fault files and model files in the words of today.
// Invariants: a file changes at the places of old keys only, and by one line that says the version;
// all other bytes stay. What is written means what was read: it is read again and compared first.
// All files are rewritten or, when one of them is wrong, none is.

import CrashStates
import FaultFS
import Foundation
import LabCore
import Workload

/// A file in the words of today.
package struct MigratedFile: Sendable, Hashable {
  /// Its name as it was given.
  package let path: String
  /// Its content.
  package let bytes: [UInt8]
  /// The keys that change, in the order of the file.
  package let oldSpellings: [OldSpelling]
  /// Whether the line with the version is new.
  package let addsVersion: Bool

  /// Whether it differs from what was read.
  package var isChanged: Bool { addsVersion || !oldSpellings.isEmpty }

  /// What changes, in one line.
  package var line: String {
    let version =
      addsVersion ? ["'\(ScenarioLanguage.key): \(ScenarioLanguage.version)' is added"] : []
    let words = oldSpellings.map { "\($0.position) '\($0.old)' is now '\($0.new)'" }
    return "\(path): " + (version + words).joined(separator: ", ")
  }
}

/// Rewrites files.
package enum LanguageMigration {
  /// What files come to.
  package struct Outcome: Sendable {
    /// Those that are in the language, changed or not.
    package var files: [MigratedFile] = []
    /// Files of folders that are something else.
    package var others: [String] = []

    /// Those that change.
    package var changed: [MigratedFile] { files.filter(\.isChanged) }
  }

  /// Reads files and those below folders, and says what is to be written; writes nothing.
  /// - Throws: `LabError` with code `.usage` when one that is in the language is wrong, or one that
  ///   was named is in none; `.lab` when one would not mean the same.
  package static func outcome(of paths: [String]) throws(LabError) -> Outcome {
    var outcome = Outcome()
    var problems: [String] = []
    for path in try ScenarioRunner.files(paths) {
      guard let data = FileManager.default.contents(atPath: path) else {
        throw .usage("cannot read \(path); is it a regular file that you may read?")
      }
      do throws(ScenarioError) {
        guard let text = try LanguageText(Array(data), path: path) else {
          if paths.contains(path) {
            problems.append(
              "\(path):1:1: neither a scenario nor fault rules nor a model; leave the file out")
          }
          outcome.others.append(path)
          continue
        }
        let file = try text.migrated()
        try text.compare(with: file)
        outcome.files.append(file)
      } catch {
        problems.append("\(error)")
      }
    }
    guard problems.isEmpty else {
      throw .usage((problems + ["nothing was rewritten"]).joined(separator: "\n"))
    }
    return outcome
  }

  /// A text in the words of today.
  /// - Parameters:
  ///   - bytes: The content of a file.
  ///   - path: Its name; models that it names are looked for from there.
  /// - Returns: The file; nil for a text that is in another language than this.
  /// - Throws: `ScenarioError` for one that is wrong, or would not mean the same.
  package static func migrated(
    _ bytes: [UInt8], path: String
  ) throws(ScenarioError) -> MigratedFile? {
    guard let text = try LanguageText(bytes, path: path) else { return nil }
    let file = try text.migrated()
    try text.compare(with: file)
    return file
  }

  /// Writes the files that change, each whole or not at all.
  /// - Throws: `LabError` when one cannot be written; those before it are.
  package static func write(_ outcome: Outcome) throws(LabError) {
    for file in outcome.changed {
      try PathCalls.replace(PathCalls.resolve(file.path) ?? file.path, with: file.bytes)
    }
  }
}

/// A text in the language, and what it means.
private struct LanguageText {
  private enum Kind {
    case scenario
    case faults
    case model
  }

  /// Equal for texts that mean the same.
  private enum Meaning: Equatable {
    case scenario(Scenario)
    case faults([FaultRule])
    case model(PersistenceModel)
  }

  private let path: String
  private let text: String
  private let root: ScenarioNode
  private let kind: Kind
  private let meaning: Meaning
  /// The old keys of this file, by place; those of model files that it names are theirs.
  private let oldSpellings: [OldSpelling]

  /// Reads a text; nil when it is in another language.
  init?(_ bytes: [UInt8], path: String) throws(ScenarioError) {
    let text = try ScenarioParser.text(of: bytes, file: path)
    guard let root = try? ScenarioText.compose(text, file: path), let kind = Self.kind(of: root)
    else { return nil }
    self.path = path
    self.text = text
    self.root = root
    self.kind = kind
    let (meaning, found) = try Self.read(text, kind, path: path)
    self.meaning = meaning
    oldSpellings = found.filter { $0.file == path }.sorted { $0.position < $1.position }
  }

  private static func kind(of root: ScenarioNode) -> Kind? {
    guard case .map = root.body else {
      if case .list = root.body { return .faults }
      return nil
    }
    if ["title", "schema", "steps", "history"].contains(where: root.hasKey) { return .scenario }
    if ["faults", "on"].contains(where: root.hasKey) { return .faults }
    return root.hasKey("name") ? .model : nil
  }

  private static func read(
    _ text: String, _ kind: Kind, path: String
  ) throws(ScenarioError) -> (meaning: Meaning, oldSpellings: [OldSpelling]) {
    switch kind {
    case .scenario:
      let (scenario, found) = try ScenarioParser.read(text, file: path)
      return (.scenario(scenario.withoutPlaces), found)
    case .faults:
      let (rules, found) = try FaultFile.read(text, file: path, allowsAnyErrno: true)
      return (.faults(rules), found)
    case .model:
      let (model, found) = try ModelFile.read(bytes: Array(text.utf8), file: path)
      return (.model(model), found)
    }
  }

  /// Fails unless a file means the same as this text, in the words of today.
  func compare(with file: MigratedFile) throws(ScenarioError) {
    let text = try ScenarioParser.text(of: file.bytes, file: path)
    let again = try Self.read(text, kind, path: path)
    guard again.meaning == meaning, !again.oldSpellings.contains(where: { $0.file == path }) else {
      throw failure(
        SourcePosition(line: 1, column: 1),
        "internal error: with \(file.oldSpellings.count) keys in new words it means something else",
        "report it with this file, and write the words of docs/reference/scenarios.md by hand")
    }
  }

  private func failure(
    _ position: SourcePosition, _ message: String, _ remedy: String
  ) -> ScenarioError {
    ScenarioError([
      ScenarioDiagnostic(file: path, position: position, message: message, remedy: remedy)
    ])
  }

  // MARK: - Rewriting

  /// Where the first key stands when a line with the version fits before it and is missing.
  private var placeOfVersion: SourcePosition? {
    guard case .map(let entries) = root.body, let first = entries.first?.key.position,
      // A mapping in braces begins before its first key.
      root.position == first
    else { return nil }
    switch kind {
    case .scenario: return root.hasKey(ScenarioLanguage.key) ? nil : first
    case .faults:
      return root.hasKey("faults") && !root.hasKey(ScenarioLanguage.key) ? first : nil
    case .model: return root.saysLanguageVersion ? nil : first
    }
  }

  /// The text in the words of today.
  func migrated() throws(ScenarioError) -> MigratedFile {
    var edit = TextEdit(text)
    var words = oldSpellings[...]
    let version = placeOfVersion
    var addsVersion = false
    while !edit.isAtEnd {
      if edit.position == version {
        addsVersion = edit.addLine("\(ScenarioLanguage.key): \(ScenarioLanguage.version)")
      }
      guard let word = words.first, word.position == edit.position else {
        edit.copy()
        continue
      }
      words.removeFirst()
      guard edit.replace(word.old, with: word.new) else {
        throw failure(
          word.position,
          "the key '\(word.old)' is written in a way that only its author can change",
          "write '\(word.new)' in its place")
      }
    }
    if let word = words.first {
      throw failure(
        word.position, "the key '\(word.old)' is not found at its place",
        "write '\(word.new)' in its place")
    }
    return MigratedFile(
      path: path, bytes: Array(edit.result.utf8), oldSpellings: oldSpellings,
      addsVersion: addsVersion)
  }
}

/// A text that is copied letter by letter, with other words at some places.
///
/// Lines and columns are counted as the YAML library counts them.
private struct TextEdit {
  private let letters: [Unicode.Scalar]
  private var index = 0
  private var copied = String.UnicodeScalarView()
  /// Where in the copy the present line begins.
  private var lineStart: String.UnicodeScalarView.Index
  /// Where the next letter stands.
  private(set) var position = SourcePosition(line: 1, column: 1)

  init(_ text: String) {
    letters = Array(text.unicodeScalars)
    lineStart = copied.startIndex
    // A byte order mark is not a letter of the first line.
    guard letters.first == "\u{feff}" else { return }
    copied.append(letters[0])
    lineStart = copied.endIndex
    index = 1
  }

  var isAtEnd: Bool { index == letters.count }
  var result: String { String(copied) }

  private static let breaks: [Unicode.Scalar] = ["\n", "\r", "\u{85}", "\u{2028}", "\u{2029}"]

  private func isBreak(at index: Int) -> Bool {
    guard Self.breaks.contains(letters[index]) else { return false }
    let isFirstOfTwo =
      letters[index] == "\r" && index + 1 < letters.count && letters[index + 1] == "\n"
    return !isFirstOfTwo
  }

  /// Copies one letter.
  mutating func copy() {
    copied.append(letters[index])
    if isBreak(at: index) {
      position = SourcePosition(line: position.line + 1, column: 1)
      lineStart = copied.endIndex
    } else {
      position = SourcePosition(line: position.line, column: position.column + 1)
    }
    index += 1
  }

  /// Writes another word for the one that stands here, in the same quotes, if it has any.
  /// - Returns: False when something else stands here.
  mutating func replace(_ old: String, with new: String) -> Bool {
    let quote = ["\"", "'"].contains(letters[index]) ? String(letters[index]) : ""
    let word = Array((quote + old + quote).unicodeScalars)
    guard letters[index...].starts(with: word) else { return false }
    copied.append(contentsOf: (quote + new + quote).unicodeScalars)
    index += word.count
    position = SourcePosition(line: position.line, column: position.column + word.count)
    return true
  }

  /// Puts a line before the present one, indented as that is up to here.
  /// - Returns: False when something stands before this place in its line.
  mutating func addLine(_ text: String) -> Bool {
    let indent = copied[lineStart...]
    guard indent.allSatisfy({ $0 == " " }) else { return false }
    let rest = letters[index...]
    let end = rest.firstIndex { Self.breaks.contains($0) }
    var lineBreak = end.map { String(letters[$0]) } ?? "\n"
    if let end, lineBreak == "\r", !isBreak(at: end) { lineBreak = "\r\n" }
    let line = String(indent) + text + lineBreak
    copied.insert(contentsOf: line.unicodeScalars, at: lineStart)
    lineStart = copied.index(lineStart, offsetBy: line.unicodeScalars.count)
    return true
  }
}
