// ScenarioReader.swift: reads typed values from a scenario's tree and collects their errors, so
// that all errors in a file are reported at once.

import LabCore
import Workload

/// The parser's typed reads, which report instead of throwing.
final class ScenarioReader {
  /// The keys of a mapping, checked against the grammar.
  struct Fields {
    let object: GrammarObject
    let position: SourcePosition
    var entries: [ScenarioNode.Entry]

    subscript(_ key: String) -> ScenarioNode? {
      entries.first { $0.key.text == key }?.value
    }

    func keyPosition(_ key: String) -> SourcePosition? {
      entries.first { $0.key.text == key }?.key.position
    }
  }

  let file: String
  private(set) var diagnostics: [ScenarioDiagnostic] = []
  /// The old spellings that were read, including those of model files that a scenario names.
  private(set) var oldSpellings: [OldSpelling] = []

  init(file: String) {
    self.file = file
  }

  func report(
    _ position: SourcePosition, _ message: String, nearest: String? = nil, _ remedy: String
  ) {
    diagnostics.append(
      ScenarioDiagnostic(
        file: file, position: position, message: message, nearest: nearest, remedy: remedy))
  }

  /// Adds the old spellings that another reader found in a file named by this one.
  func addOldSpellings(_ spellings: [OldSpelling]) {
    for spelling in spellings where !oldSpellings.contains(spelling) {
      oldSpellings.append(spelling)
    }
  }

  // MARK: - Mappings and lists

  /// Whether this release supports the version at the top of a file; otherwise it is reported.
  func isReadable(version node: ScenarioNode) -> Bool {
    let known = ScenarioLanguage.version
    guard case .scalar(let text, isQuoted: false) = node.body, let version = Self.number(text),
      version >= 1
    else {
      report(
        node.position, "expected a version of the language, found \(node.kind)",
        "write '\(ScenarioLanguage.key): \(known)'")
      return false
    }
    guard version <= known else {
      report(
        node.position,
        "the file is in version \(version) of the scenario language, and faultline "
          + "\(LabVersion.text) reads version \(known)",
        "use a newer faultline, or write the file in version \(known)")
      return false
    }
    return true
  }

  /// Whether the top of a file has no unsupported version; otherwise that is reported, and nothing
  /// else in the file.
  func isReadable(_ root: ScenarioNode) -> Bool {
    guard case .map(let entries) = root.body,
      let entry = entries.first(where: { $0.key.text == ScenarioLanguage.key })
    else { return true }
    return isReadable(version: entry.value)
  }

  /// The entry with the current spelling of its key; an old spelling is recorded.
  private func present(
    _ entry: ScenarioNode.Entry, _ object: GrammarObject
  ) -> ScenarioNode.Entry {
    let key = object.presentKey(entry.key.text)
    guard key != entry.key.text else { return entry }
    addOldSpellings([
      OldSpelling(file: file, position: entry.key.position, old: entry.key.text, new: key)
    ])
    let place = ScenarioNode.Key(text: key, position: entry.key.position)
    return ScenarioNode.Entry(key: place, value: entry.value)
  }

  /// A mapping with keys of the grammar, or `extra` ones.
  func fields(
    _ node: ScenarioNode, _ object: GrammarObject, extra: [String] = [], required: [String] = []
  ) -> Fields? {
    guard case .map(let pairs) = node.body else {
      report(
        node.position,
        "expected \(Self.withArticle(object.title)) mapping, found \(node.kind)",
        "write keys of: \((object.keys + extra).joined(separator: ", "))")
      return nil
    }
    let known = object.keys + extra
    var entries: [ScenarioNode.Entry] = []
    var meant: [String] = []
    for pair in pairs {
      let entry = known.contains(pair.key.text) ? pair : present(pair, object)
      if known.contains(entry.key.text) {
        if entries.contains(where: { $0.key.text == entry.key.text }) {
          report(
            pair.key.position, "'\(pair.key.text)' and another spelling of it in one mapping",
            "keep '\(entry.key.text)'")
        }
        entries.append(entry)
      } else {
        let words = known + object.oldKeys.map(\.old)
        let nearest = nearestWord(to: pair.key.text, among: words).map { object.presentKey($0) }
        if let nearest { meant.append(nearest) }
        report(
          pair.key.position, "unknown key '\(pair.key.text.prefix(60))' in \(object.title)",
          nearest: nearest, "write one of: \(known.joined(separator: ", "))")
      }
    }
    let fields = Fields(object: object, position: node.position, entries: entries)
    for key in required where fields[key] == nil && !meant.contains(key) {
      report(node.position, "\(object.title) lacks the key '\(key)'", "add '\(key):'")
    }
    return fields
  }

  /// The items of a list; empty, with one report, if it is not a list or has no item.
  func list(_ node: ScenarioNode, of what: String) -> [ScenarioNode] {
    guard case .list(let items) = node.body, !items.isEmpty else {
      report(
        node.position, "expected a list of \(what), found \(node.kind)",
        "write at least one '- ' line, or [\(what)]")
      return []
    }
    return items
  }

  /// The items of a list, or a single value.
  func oneOrMore(_ node: ScenarioNode, of what: String) -> [ScenarioNode] {
    if case .scalar = node.body { return [node] }
    return list(node, of: what)
  }

  /// Reads the items of a list; duplicates are reported and left out.
  /// - Parameters:
  ///   - nodes: The items.
  ///   - what: What an item is called.
  ///   - read: Returns the meaning of an item and its unique name; nil if an error was reported.
  /// - Returns: The meanings of the items, in order.
  func distinct<Item>(
    _ nodes: some Sequence<ScenarioNode>, _ what: String,
    read: (ScenarioNode) -> (name: String, item: Item)?
  ) -> [Item] {
    var names: Set<String> = []
    return nodes.compactMap { node in
      guard let (name, item) = read(node) else { return nil }
      guard names.insert(name).inserted else {
        report(node.position, "\(what) '\(name.prefix(60))' occurs twice", "remove one")
        return nil
      }
      return item
    }
  }

  // MARK: - Scalars

  /// A text that is not empty.
  func text(_ node: ScenarioNode, _ what: String) -> String? {
    guard case .scalar(let text, _) = node.body, !text.isEmpty else {
      report(node.position, "expected \(what), found \(node.kind)", "write a text")
      return nil
    }
    return text
  }

  /// A noun after its article.
  private static func withArticle(_ noun: String) -> String {
    ("aeiou".contains(noun.prefix(1)) ? "an " : "a ") + noun
  }

  /// One of the given words.
  func word(_ node: ScenarioNode, _ what: String, of words: [String]) -> String? {
    guard let text = text(node, what) else { return nil }
    guard words.contains(text) else {
      report(
        node.position, "'\(text.prefix(60))' is not \(Self.withArticle(what))",
        nearest: nearestWord(to: text, among: words),
        "write one of: \(words.joined(separator: ", "))")
      return nil
    }
    return text
  }

  /// True or false.
  func flag(_ node: ScenarioNode, _ what: String) -> Bool? {
    word(node, what, of: ["true", "false"]).map { $0 == "true" }
  }

  /// A name that the author of a file chooses.
  func name(_ text: String, _ position: SourcePosition, _ what: String) -> String? {
    guard let name = plainName(text, position, what) else { return nil }
    guard !GrammarWords.reserved.contains(name) else {
      report(position, "'\(text)' is a word of the language", "give the \(what) another name")
      return nil
    }
    return name
  }

  /// A tag: formed like a name, but reserved words are allowed.
  func tag(_ text: String, _ position: SourcePosition) -> String? {
    plainName(text, position, "tag")
  }

  private func plainName(_ text: String, _ position: SourcePosition, _ what: String) -> String? {
    let letters = text.unicodeScalars
    let fits =
      letters.allSatisfy {
        ("a"..."z").contains($0) || ("A"..."Z").contains($0) || ("0"..."9").contains($0)
          || $0 == "_" || $0 == "-"
      } && letters.first.map { !("0"..."9").contains($0) && $0 != "-" } ?? false
    guard fits, letters.count <= ScenarioBounds.nameLetters else {
      report(
        position, "'\(text.prefix(70))' cannot name a \(what)",
        "use 1 to \(ScenarioBounds.nameLetters) letters, digits, '_' and '-', a letter first")
      return nil
    }
    return text
  }

  /// A whole number in a range.
  func integer(
    _ node: ScenarioNode, _ what: String, in range: ClosedRange<Int64>
  ) -> Int64? {
    guard case .scalar(let text, isQuoted: false) = node.body, let value = Self.number(text) else {
      let remedy = "write a whole number in \(range.lowerBound)..\(range.upperBound)"
      report(
        node.position, "expected \(what), found \(node.kind)",
        node.isQuoted ? "\(remedy), without quotes" : remedy)
      return nil
    }
    return bounded(value, node.position, what, in: range)
  }

  /// Reports a number that is out of range.
  func bounded(
    _ value: Int64, _ position: SourcePosition, _ what: String, in range: ClosedRange<Int64>
  ) -> Int64? {
    guard range.contains(value) else {
      report(
        position, "\(what) is out of range: \(value)",
        "write a number in \(range.lowerBound)..\(range.upperBound)")
      return nil
    }
    return value
  }

  /// A range `a..b` of numbers, if the text has that form; reports one that is empty or too wide.
  func range(
    _ text: String, _ position: SourcePosition, _ what: String, in bounds: ClosedRange<Int64>
  ) -> ClosedRange<Int64>? {
    guard let (first, last) = Self.ends(of: text) else {
      report(position, "'\(text.prefix(60))' is not a range", "write first..last, as in 1..50")
      return nil
    }
    guard first <= last else {
      report(position, "the range \(first)..\(last) is empty", "write the smaller number first")
      return nil
    }
    guard bounded(first, position, what, in: bounds) != nil,
      bounded(last, position, what, in: bounds) != nil
    else { return nil }
    return first...last
  }

  /// The two numbers of `a..b`.
  static func ends(of text: String) -> (Int64, Int64)? {
    guard let dots = text.firstRange(of: "..") else { return nil }
    guard let first = number(text[..<dots.lowerBound]), let last = number(text[dots.upperBound...])
    else { return nil }
    return (first, last)
  }

  /// A whole number in decimal; `_` is allowed between digits.
  static func number(_ text: some StringProtocol) -> Int64? {
    guard let first = text.unicodeScalars.first, first != "_", text.unicodeScalars.last != "_",
      first != "+"
    else { return nil }
    return Int64(String(text.filter { $0 != "_" }))
  }
}
