// ScriptLint.swift: holds the page's script to what a linter of JavaScript would: every name is
// declared and used, nothing is compared loosely, nothing writes markup or reaches the network.
// Names are of the whole file, not of a scope: one name for two things would go unseen.

/// A script, read once.
package struct ScriptLint {
  /// What is wrong in the script by itself.
  package private(set) var faults: [PageFault]
  let script: PageText
  let tokens: [ScriptToken]

  package init(_ script: PageText) {
    self.script = script
    faults = script.layoutFaults()
    let reader = ScriptReader(script.text)
    tokens = reader.tokens
    if let failure = reader.failure { say(failure.line, failure.message) }
    if !script.text.hasPrefix("\"use strict\";\n") { say(1, "begins with \"use strict\";") }
    checkBrackets()
    checkBanned()
    checkNames()
  }

  private mutating func say(_ line: Int, _ message: String) {
    faults.append(script.fault(line, message))
  }

  private func text(_ index: Int) -> String {
    tokens.indices.contains(index) ? tokens[index].text : ""
  }

  private func isSign(_ index: Int, _ signs: String...) -> Bool {
    tokens.indices.contains(index) && tokens[index].kind == .sign
      && signs.contains(tokens[index].text)
  }

  // MARK: Brackets and statements

  private mutating func checkBrackets() {
    let closing = ["(": ")", "[": "]", "{": "}"]
    var open: [ScriptToken] = []
    for (index, token) in tokens.enumerated() {
      if token.kind == .sign, closing[token.text] != nil {
        open.append(token)
      } else if token.kind == .sign, closing.values.contains(token.text) {
        guard let last = open.popLast(), closing[last.text] == token.text else {
          return say(token.line, "`\(token.text)` closes nothing")
        }
      }
      let isLast = index + 1 == tokens.count || tokens[index + 1].line > token.line
      let isWithin = open.last.map { $0.text != "{" } ?? false
      let goesOn =
        token.kind == .sign && !isSign(index, ")", "]") || isSign(index + 1, ".", "?", ":")
      if isLast, !isWithin, !goesOn { say(token.line, "a statement ends with `;`") }
    }
    for bracket in open { say(bracket.line, "`\(bracket.text)` is never closed") }
  }

  // MARK: Names

  private static let banned: [String: String] = [
    "var": "const, or let", "==": "===", "!=": "!==", "eval": "nothing", "with": "nothing",
    "Function": "a function that stands in the file", "innerHTML": "textContent",
    "outerHTML": "textContent", "insertAdjacentHTML": "append", "write": "append",
    "fetch": "nothing: a page reaches no network", "XMLHttpRequest": "nothing: no network",
    "WebSocket": "nothing: a page reaches no network", "import": "nothing: one file",
    "console": "nothing", "alert": "nothing", "debugger": "nothing",
  ]

  private mutating func checkBanned() {
    for token in tokens where token.kind != .text {
      if let instead = Self.banned[token.text] {
        say(token.line, "`\(token.text)` is not used here; instead: \(instead)")
      }
    }
  }

  private static let keywords: Set<String> = [
    "const", "let", "if", "else", "for", "of", "return", "null", "undefined", "true", "false",
    "while", "new", "function", "break", "continue",
  ]

  /// What a browser gives a page.
  private static let browser: Set<String> = [
    "Number", "document", "navigator", "setTimeout", "getSelection", "isSecureContext",
    "location", "addEventListener",
  ]

  private mutating func checkNames() {
    var declared: [String: (index: Int, isConstant: Bool)] = [:]
    var places: Set<Int> = []
    func declare(_ index: Int, constant: Bool) {
      guard tokens.indices.contains(index), tokens[index].kind == .name else { return }
      places.insert(index)
      declared[tokens[index].text] = declared[tokens[index].text] ?? (index, constant)
    }
    for index in tokens.indices where tokens[index].kind != .text {
      switch tokens[index].text {
      case "const": declare(index + 1, constant: true)
      case "let": declare(index + 1, constant: false)
      case "=>": for parameter in parameters(before: index) { declare(parameter, constant: true) }
      default: break
      }
    }
    var used: Set<String> = []
    var assigned: Set<String> = []
    for index in tokens.indices where tokens[index].kind == .name && !places.contains(index) {
      let token = tokens[index]
      if isSign(index - 1, ".", "?.") || Self.keywords.contains(token.text) { continue }
      let isKey = isSign(index + 1, ":") && isSign(index - 1, "{", ",")
      if isKey { continue }
      if isSign(index + 1, "=", "+=", "-=", "*=", "++", "--") {
        assigned.insert(token.text)
        if declared[token.text]?.isConstant == true {
          say(token.line, "`\(token.text)` is constant")
        }
      } else {
        used.insert(token.text)
      }
      if declared[token.text] == nil, !Self.browser.contains(token.text) {
        say(token.line, "`\(token.text)` is declared nowhere")
      }
    }
    for (name, place) in declared.sorted(by: { $0.value.index < $1.value.index }) {
      let line = tokens[place.index].line
      if !used.contains(name) { say(line, "`\(name)` is never used") }
      if !place.isConstant, !assigned.contains(name) { say(line, "`\(name)` could be const") }
    }
  }

  /// Where the parameters of an arrow function stand.
  private func parameters(before arrow: Int) -> [Int] {
    guard isSign(arrow - 1, ")") else { return [arrow - 1] }
    var index = arrow - 2
    var found: [Int] = []
    while index >= 0, !isSign(index, "(") {
      if tokens[index].kind == .name { found.append(index) }
      index -= 1
    }
    return found
  }

  // MARK: What it asks of the page

  /// The texts of the script with their lines.
  var texts: [(text: String, line: Int)] {
    tokens.filter { $0.kind == .text }.map { ($0.text, $0.line) }
  }

  /// Classes that selectors name; a text with a class and no address is a selector.
  var selectedClasses: [(name: String, line: Int)] {
    texts.flatMap { text, line -> [(name: String, line: Int)] in
      guard !text.contains("://") else { return [] }
      return text.split(separator: ".", omittingEmptySubsequences: false).dropFirst().compactMap {
        let name = $0.prefix { $0.isLetter || $0 == "-" }
        return name.isEmpty ? nil : (String(name), line)
      }
    }
  }

  /// Attributes that the script reads: `dataset.crashPoint` is `data-crash-point`.
  var readAttributes: [(name: String, line: Int)] {
    let direct = tokens.indices.compactMap { index -> (name: String, line: Int)? in
      let isData = text(index - 2) == "dataset" || text(index - 2) == "data"
      guard isData, isSign(index - 1, "."), tokens[index].kind == .name else { return nil }
      return ("data-" + Self.hyphenated(tokens[index].text), tokens[index].line)
    }
    let selected = texts.flatMap { text, line in
      text.split(separator: "[").dropFirst().map {
        (name: String($0.prefix { $0 != "=" && $0 != "]" }), line: line)
      }
    }
    return direct + selected
  }

  private static func hyphenated(_ name: String) -> String {
    name.reduce(into: "") { $0 += $1.isUppercase ? "-\($1.lowercased())" : String($1) }
  }
}
