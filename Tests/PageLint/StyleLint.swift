// StyleLint.swift: reads the page's style sheet: rules, their classes and elements, declarations.
// It knows the CSS that the sheet is written in: comments, strings, nested at-rules. A property
// that it does not know is a typing error or new; the list is there to be extended.

/// A style sheet, read once.
package struct StyleLint {
  /// Names with the line of their first use.
  private(set) var classes: [String: Int] = [:]
  private(set) var elements: [String: Int] = [:]
  private(set) var declaredProperties: [String: Int] = [:]
  private(set) var usedProperties: [String: Int] = [:]
  /// What is wrong in the sheet by itself.
  package private(set) var faults: [PageFault]

  let sheet: PageText
  private var blocks: [Block] = []
  private var seenSelectors: Set<String> = []

  private struct Block {
    let prelude: String
    let line: Int
    var names: Set<String> = []
    var isEmpty = true
  }

  package init(_ sheet: PageText) {
    self.sheet = sheet
    faults = sheet.layoutFaults()
    read()
  }

  // MARK: Reading

  private mutating func read() {
    var part = ""
    var (line, partLine) = (1, 1)
    for character in blanked() {
      if part.allSatisfy(\.isWhitespace) { partLine = line }
      switch character {
      case "{":
        open(Self.folded(part), partLine)
        part = ""
      case ";", "}":
        let text = Self.folded(part)
        if !text.isEmpty {
          if character == "}" { say(partLine, "`\(text)` needs a `;`") }
          declare(text, partLine)
        }
        if character == "}" { close(line) }
        part = ""
      default: part.append(character)
      }
      if character == "\n" { line += 1 }
    }
    for block in blocks { say(block.line, "`\(block.prelude)` is never closed") }
    if !Self.folded(part).isEmpty { say(partLine, "`\(Self.folded(part))` is in no rule") }
  }

  /// The text with comments and the inside of strings blank, line for line.
  private mutating func blanked() -> [Character] {
    var result: [Character] = []
    var rest = sheet.text[...]
    var quote: Character?
    var isComment = false
    while let next = rest.first {
      if quote == nil, rest.hasPrefix(isComment ? "*/" : "/*") {
        isComment.toggle()
        rest = rest.dropFirst(2)
        continue
      }
      rest = rest.dropFirst()
      if isComment || (quote != nil && next != quote) {
        result.append(next == "\n" ? next : " ")
      } else {
        result.append(next)
        if next == "\"" || next == "'" { quote = quote == nil ? next : nil }
      }
    }
    if isComment || quote != nil { say(1, "a comment or a string is never closed") }
    return result
  }

  private static func folded(_ text: String) -> String {
    text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }

  private mutating func say(_ line: Int, _ message: String) {
    faults.append(sheet.fault(line, message))
  }

  // MARK: Rules

  private mutating func open(_ prelude: String, _ line: Int) {
    if !blocks.isEmpty { blocks[blocks.count - 1].isEmpty = false }
    let path = (blocks.map(\.prelude) + [prelude]).joined(separator: " { ")
    if prelude.hasPrefix("@") {
      if !prelude.hasPrefix("@media ") { say(line, "`\(prelude)`: only @media is used here") }
    } else {
      if !seenSelectors.insert(path).inserted { say(line, "`\(prelude)` has a rule already") }
      for selector in prelude.split(separator: ",") { select(selector, line) }
    }
    blocks.append(Block(prelude: prelude, line: line))
  }

  private mutating func select(_ selector: Substring, _ line: Int) {
    let isName = { (character: Character) in
      character.isLetter || character.isNumber || character == "-"
    }
    for simple in selector.split(whereSeparator: { " >+~".contains($0) }) {
      // What an attribute or a pseudo-class asks for is not a name of ours.
      var rest = simple.prefix { $0 != "[" && $0 != ":" }
      let element = rest.prefix(while: isName)
      if !element.isEmpty { elements[String(element)] = elements[String(element)] ?? line }
      rest = rest.dropFirst(element.count)
      while rest.first == "." {
        let name = String(rest.dropFirst().prefix(while: isName))
        classes[name] = classes[name] ?? line
        rest = rest.dropFirst(name.count + 1)
      }
      if !rest.isEmpty && rest != "*" { say(line, "`\(selector)`: only elements and classes") }
    }
  }

  private mutating func close(_ line: Int) {
    guard let block = blocks.popLast() else { return say(line, "`}` closes nothing") }
    if block.isEmpty { say(block.line, "`\(block.prelude)` has no declaration") }
  }

  // MARK: Declarations

  private mutating func declare(_ text: String, _ line: Int) {
    guard let last = blocks.indices.last else { return say(line, "`\(text)` is in no rule") }
    blocks[last].isEmpty = false
    let parts = text.split(separator: ":", maxSplits: 1).map { Self.folded(String($0)) }
    guard parts.count == 2 else { return say(line, "`\(text)` is not a declaration") }
    let (name, value) = (parts[0], parts[1])
    if !blocks[last].names.insert(name).inserted { say(line, "`\(name)` is declared twice") }
    if name.hasPrefix("--") {
      declaredProperties[name] = declaredProperties[name] ?? line
    } else if !Self.knownProperties.contains(name) {
      say(line, "`\(name)`: no property that page-lint knows; StyleLint lists them")
    }
    for used in value.split(separator: "var(").dropFirst(value.hasPrefix("var(") ? 0 : 1) {
      let property = String(used.prefix { $0 != ")" && $0 != "," })
      usedProperties[property] = usedProperties[property] ?? line
    }
    for banned in ["!important", "url("] where value.contains(banned) {
      say(line, "`\(banned)` is not used here")
    }
    let isColour = value.contains("#") || value.contains("rgb") || value.contains("hsl")
    if isColour, !name.hasPrefix("--") {
      say(line, "`\(value)`: a colour is a property of :root, which has one for the dark too")
    }
  }

  private static let knownProperties: Set<String> = [
    "align-items", "align-self", "background", "border", "border-bottom", "border-collapse",
    "border-color", "border-left", "border-left-color", "border-left-style", "border-radius",
    "border-style", "border-top", "bottom", "box-shadow", "box-sizing", "color",
    "contain-intrinsic-size", "content", "content-visibility", "cursor", "display", "fill",
    "flex", "flex-wrap", "font", "font-family", "font-size", "font-style",
    "font-variant-numeric", "font-weight", "gap", "grid-column", "grid-template-columns",
    "height", "letter-spacing", "line-height", "list-style", "margin", "margin-bottom",
    "margin-left", "margin-top", "max-height", "max-width", "min-height", "min-width",
    "opacity", "order", "outline", "outline-offset", "overflow", "overflow-wrap", "overflow-x",
    "padding", "padding-left", "padding-right", "position", "scroll-padding-top", "text-align",
    "text-decoration", "text-overflow", "top", "vertical-align", "white-space", "width",
  ]
}
