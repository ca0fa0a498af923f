// LanguageMigration.swift: rewrites scenarios, fault files and model files with current spellings.
// Invariants: a file changes only at old keys, and by one line with the version; all other bytes
// are kept. The result has the same meaning: it is parsed and compared before it is written. Either
// all files are rewritten or, if one of them is invalid, none.

import CrashStates
import FaultFS
import Foundation
import LabCore
import Workload

/// A file with current spellings.
package struct MigratedFile: Sendable, Hashable {
  /// Its name as given.
  package let path: String
  /// Its content.
  package let bytes: [UInt8]
  /// The keys that change, in the order of the file.
  package let oldSpellings: [OldSpelling]
  /// Whether a line with the version is added.
  package let addsVersion: Bool

  /// Whether it differs from the original.
  package var isChanged: Bool { addsVersion || !oldSpellings.isEmpty }

  /// The changes, in one line.
  package var line: String {
    let version =
      addsVersion ? ["'\(ScenarioLanguage.key): \(ScenarioLanguage.version)' is added"] : []
    let words = oldSpellings.map { "\($0.position) '\($0.old)' is now '\($0.new)'" }
    return "\(path): " + (version + words).joined(separator: ", ")
  }
}

/// Rewrites files.
package enum LanguageMigration {
  /// The result for some files.
  package struct Outcome: Sendable {
    /// Files in the language, changed or not.
    package var files: [MigratedFile] = []
    /// Other files in the folders.
    package var others: [String] = []

    /// Files that change.
    package var changed: [MigratedFile] { files.filter(\.isChanged) }
  }

  /// Reads files and those below folders, and determines what to write; writes nothing.
  /// - Throws: `LabError` with code `.usage` when a file in the language is invalid, or a named
  ///   file is not in the language; `.lab` when the meaning of one would change.
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

  /// A text with current spellings.
  /// - Parameters:
  ///   - bytes: The content of a file.
  ///   - path: Its name; models named in it are found relative to it.
  /// - Returns: The file; nil for a text in another language.
  /// - Throws: `ScenarioError` if it is invalid, or its meaning would change.
  package static func migrated(
    _ bytes: [UInt8], path: String
  ) throws(ScenarioError) -> MigratedFile? {
    guard let text = try LanguageText(bytes, path: path) else { return nil }
    let file = try text.migrated()
    try text.compare(with: file)
    return file
  }

  /// Writes the changed files, each atomically.
  /// - Throws: `LabError` when one cannot be written; the files before it are written.
  package static func write(_ outcome: Outcome) throws(LabError) {
    for file in outcome.changed {
      try PathCalls.replace(PathCalls.resolve(file.path) ?? file.path, with: file.bytes)
    }
  }
}

/// A text in the language, and its meaning.
private struct LanguageText {
  private enum Kind {
    case scenario
    case faults
    case model
  }

  /// Equal for texts with the same meaning.
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
  /// The old keys in this file, by position; those in model files that it names are not included.
  private let oldSpellings: [OldSpelling]

  /// Parses a text; nil if it is in another language.
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

  /// Throws unless a file has the same meaning as this text, with current spellings.
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

  /// The position of the first key, if a line with the version is missing and fits before it.
  private var placeOfVersion: SourcePosition? {
    guard case .map(let entries) = root.body, let first = entries.first?.key.position,
      // A mapping in braces starts before its first key.
      root.position == first
    else { return nil }
    switch kind {
    case .scenario: return root.hasKey(ScenarioLanguage.key) ? nil : first
    case .faults:
      return root.hasKey("faults") && !root.hasKey(ScenarioLanguage.key) ? first : nil
    case .model: return root.saysLanguageVersion ? nil : first
    }
  }

  /// The text with current spellings.
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

/// A text that is copied letter by letter, with some words replaced.
///
/// Lines and columns are counted as in the YAML library.
private struct TextEdit {
  private let letters: [Unicode.Scalar]
  private var index = 0
  private var copied = String.UnicodeScalarView()
  /// Start of the current line in the copy.
  private var lineStart: String.UnicodeScalarView.Index
  /// Position of the next letter.
  private(set) var position = SourcePosition(line: 1, column: 1)

  init(_ text: String) {
    letters = Array(text.unicodeScalars)
    lineStart = copied.startIndex
    // A byte order mark does not count as a letter of the first line.
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

  /// Replaces the word at this position, in the same quotes, if any.
  /// - Returns: False when another word is at this position.
  mutating func replace(_ old: String, with new: String) -> Bool {
    let quote = ["\"", "'"].contains(letters[index]) ? String(letters[index]) : ""
    let word = Array((quote + old + quote).unicodeScalars)
    guard letters[index...].starts(with: word) else { return false }
    copied.append(contentsOf: (quote + new + quote).unicodeScalars)
    index += word.count
    position = SourcePosition(line: position.line, column: position.column + word.count)
    return true
  }

  /// Inserts a line before the current one, with the same indentation up to here.
  /// - Returns: False when the line has text before this position.
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
