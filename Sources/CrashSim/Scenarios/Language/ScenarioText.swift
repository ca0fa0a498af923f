// ScenarioText.swift: parses the bytes of a scenario file to a tree of values with positions.
// Invariants: a text is at most `sizeBytesMax` long and `depthMax` deep; no node occurs in the tree
// twice, because anchors and aliases are rejected before the YAML library can expand one. They are
// detected textually, not by parsing YAML: a few harmless texts (` *word` in a quoted text) are
// rejected, too, so no text can hide an alias.

import LabCore
import Recording
import Yams

/// A value in a scenario file with its position.
struct ScenarioNode {
  /// A key of a mapping with its position.
  struct Key {
    let text: String
    let position: SourcePosition
  }

  /// One entry of a mapping.
  struct Entry {
    let key: Key
    let value: ScenarioNode
  }

  /// The value.
  indirect enum Body {
    case scalar(String, isQuoted: Bool)
    case list([ScenarioNode])
    case map([Entry])
  }

  let position: SourcePosition
  let body: Body

  /// Whether the value is a mapping with this key.
  func hasKey(_ key: String) -> Bool {
    guard case .map(let entries) = body else { return false }
    return entries.contains { $0.key.text == key }
  }

  /// The type of the value, for messages.
  var kind: String {
    switch body {
    case .scalar("", isQuoted: false): "nothing"
    case .scalar(let text, _): "'\(text.prefix(60))'"
    case .list(let items): items.isEmpty ? "an empty list" : "a list"
    case .map(let entries): entries.isEmpty ? "an empty mapping" : "a mapping"
    }
  }

  /// True for a text in quotes.
  var isQuoted: Bool {
    if case .scalar(_, isQuoted: true) = body { true } else { false }
  }
}

/// Parses YAML texts of bounded size and depth.
enum ScenarioText {
  /// Longest accepted text.
  static let sizeBytesMax = 1 << 20
  /// Deepest accepted nesting.
  static let depthMax = 32
  /// Deepest nesting that is passed to the YAML library, counted textually.
  private static let rawDepthMax = 200

  /// The text as a tree.
  static func compose(_ text: String, file: String) throws(ScenarioError) -> ScenarioNode {
    func fail(
      _ position: SourcePosition, _ message: String, _ remedy: String
    ) -> ScenarioError {
      ScenarioError([
        ScenarioDiagnostic(file: file, position: position, message: message, remedy: remedy)
      ])
    }
    let start = SourcePosition(line: 1, column: 1)
    var text = text
    // A byte order mark, which some editors write, does not belong to the text.
    if text.unicodeScalars.first == "\u{feff}" { text.unicodeScalars.removeFirst() }
    text.makeContiguousUTF8()
    guard text.utf8.count <= sizeBytesMax else {
      throw fail(
        start, "the file is too long: file_bytes=\(text.utf8.count) > \(sizeBytesMax)",
        "split it into several scenarios")
    }
    let suspects = suspects(in: text, file: file)
    guard suspects.isEmpty else { throw ScenarioError(suspects) }
    let root: Node?
    do {
      root = try Yams.compose(yaml: text, .default, .default, .utf8)
    } catch let error as YamlError {
      throw ScenarioError([diagnostic(of: error, file: file)])
    } catch {
      throw fail(start, "not YAML: \(error)", "correct the syntax")
    }
    guard let root else {
      throw fail(
        start, "the file holds no scenario", "write at least title, schema, processes and steps")
    }
    var deepest: SourcePosition?
    let tree = located(root, parent: start, depth: 1, deepest: &deepest)
    if let deepest {
      throw fail(deepest, "nested deeper than \(depthMax) levels", "write it flatter")
    }
    return tree
  }

  private static func located(
    _ node: Node, parent: SourcePosition, depth: Int, deepest: inout SourcePosition?
  ) -> ScenarioNode {
    let position = node.mark.map { SourcePosition(line: $0.line, column: $0.column) } ?? parent
    guard depth <= depthMax else {
      deepest = deepest ?? position
      return ScenarioNode(position: position, body: .list([]))
    }
    switch node {
    case .scalar(let scalar):
      let isQuoted = scalar.style != .plain && scalar.style != .any
      return ScenarioNode(position: position, body: .scalar(scalar.string, isQuoted: isQuoted))
    case .sequence(let list):
      let items = list.map {
        located($0, parent: position, depth: depth + 1, deepest: &deepest)
      }
      return ScenarioNode(position: position, body: .list(items))
    case .mapping(let map):
      let pairs = map.map { pair in
        let place =
          pair.key.mark.map { SourcePosition(line: $0.line, column: $0.column) } ?? position
        let key = ScenarioNode.Key(text: pair.key.scalar?.string ?? "", position: place)
        return ScenarioNode.Entry(
          key: key,
          value: located(pair.value, parent: place, depth: depth + 1, deepest: &deepest))
      }
      return ScenarioNode(position: position, body: .map(pairs))
    case .alias:
      return ScenarioNode(position: position, body: .scalar("", isQuoted: false))
    }
  }

  /// The remedy for the most frequent mistakes.
  private static func remedy(for problem: String) -> String {
    if problem.contains("mapping values are not allowed") {
      return "a mapping within a line needs braces, as in '- ui: {write: [...]}', a text with "
        + "': ' in it quotes, and a key ':' after it"
    }
    if problem.contains("did not find expected '-' indicator")
      || problem.contains("did not find expected key")
    {
      return "let the line begin in the same column as those that it belongs to"
    }
    if problem.contains("found another document") {
      return "write one scenario in one file, without a second '---'"
    }
    if problem.contains("tab character") || problem.contains("cannot start any token") {
      return "indent with blanks, not with tabs"
    }
    return "correct the syntax"
  }

  private static func diagnostic(of error: YamlError, file: String) -> ScenarioDiagnostic {
    func made(_ mark: Yams.Mark?, _ message: String, _ remedy: String) -> ScenarioDiagnostic {
      ScenarioDiagnostic(
        file: file,
        position: SourcePosition(line: max(mark?.line ?? 1, 1), column: max(mark?.column ?? 1, 1)),
        message: message, remedy: remedy)
    }
    switch error {
    case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
      .composer(_, let problem, let mark, _):
      return made(mark, "not YAML: \(problem)", remedy(for: problem))
    case .duplicatedKeysInMapping(let keys, let context):
      let names = keys.map { "'\($0.prefix(60))'" }.joined(separator: ", ")
      return made(context.mark, "key \(names) occurs twice in this mapping", "keep one of them")
    case .reader(let problem, let offset, _, _):
      return made(
        nil, "not YAML: \(problem) at character \(offset ?? 0)", "use printable characters")
    default:
      return made(nil, "not YAML: \(error)", "correct the syntax")
    }
  }
}

// MARK: - The look at the letters before the YAML library sees them

extension ScenarioText {
  /// Anchors, aliases, misused tags and depth, detected without parsing YAML.
  private static func suspects(in text: String, file: String) -> [ScenarioDiagnostic] {
    var found: [ScenarioDiagnostic] = []
    var flowDepth = 0
    var lineNumber = 0
    for line in text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false) {
      lineNumber += 1
      let letters = Array(line)
      func add(_ index: Int, _ message: String, _ remedy: String) {
        found.append(
          ScenarioDiagnostic(
            file: file, position: SourcePosition(line: lineNumber, column: index + 1),
            message: message, remedy: remedy))
      }
      let end = commentStart(in: letters) ?? letters.count
      let lead = letters.prefix(end).prefix { " -?:".unicodeScalars.contains($0) }.count
      if lead > rawDepthMax {
        add(lead, "nested deeper than \(rawDepthMax) columns", "write it flatter")
      }
      for index in 0..<end {
        let letter = letters[index]
        if letter == "[" || letter == "{" { flowDepth += 1 }
        if letter == "]" || letter == "}" { flowDepth = max(0, flowDepth - 1) }
        if flowDepth == rawDepthMax {
          add(index, "more than \(rawDepthMax) brackets are open", "write it flatter")
        }
        if letter == "&" || letter == "*", startsName(at: index, in: letters) {
          let word = letter == "&" ? "an anchor" : "an alias"
          let shown = String(String.UnicodeScalarView(letters[index...].prefix(20)))
          add(
            index, "'\(shown)' looks like \(word), and scenarios have none",
            "put a text that begins so in quotes, write the value out, or put no blank before "
              + "'\(letter)'")
        }
      }
      if found.count >= 20 { break }
    }
    return found
  }

  /// Characters that end a line in YAML, besides the line feed.
  private static let rareBreaks: [Unicode.Scalar] = ["\r", "\u{85}", "\u{2028}", "\u{2029}"]

  /// The start of a comment, if it certainly is one: a quote after `#` could close a quoted text,
  /// and a rare line break could end the comment.
  private static func commentStart(in letters: [Unicode.Scalar]) -> Int? {
    for index in letters.indices where letters[index] == "#" {
      guard index == 0 || letters[index - 1] == " " || letters[index - 1] == "\t" else { continue }
      let rest = letters[index...]
      let mayEnd = rest.dropLast().contains { $0 == "\"" || $0 == "'" || rareBreaks.contains($0) }
      return mayEnd ? nil : index
    }
    return nil
  }

  /// True when a YAML token could start here and no space follows.
  private static func startsName(at index: Int, in letters: [Unicode.Scalar]) -> Bool {
    guard index + 1 < letters.count else { return false }
    let next = letters[index + 1]
    guard next != " ", next != "\t", !rareBreaks.contains(next) else { return false }
    guard index > 0 else { return true }
    let previous = letters[index - 1]
    return " \t[{,:?\u{feff}".unicodeScalars.contains(previous) || rareBreaks.contains(previous)
  }
}
