// Markup.swift: builds XHTML.
// Invariants: the output is well-formed; every text and every attribute that is not a constant of
// this program is escaped, because it may come from a file name, a scenario or the output of a
// program; only constants and built-in files can be written unescaped.

/// XHTML under construction.
struct Markup {
  /// Longest text that is written in one piece, in characters.
  static let textMax = 2_000

  /// The markup so far.
  private(set) var source = ""

  /// Writes an element whose content a closure writes.
  mutating func element(
    _ name: StaticString, _ attributes: KeyValuePairs<StaticString, String> = [:],
    _ body: (inout Markup) -> Void
  ) {
    begin(name, attributes)
    source += ">"
    body(&self)
    source += "</\(name)>"
  }

  /// Writes an element with a text.
  mutating func element(
    _ name: StaticString, _ attributes: KeyValuePairs<StaticString, String> = [:], text: String
  ) {
    element(name, attributes) { $0.text(text) }
  }

  /// Writes an element that is always empty in HTML, or one of SVG; others would remain open.
  mutating func empty(
    _ name: StaticString, _ attributes: KeyValuePairs<StaticString, String> = [:]
  ) {
    begin(name, attributes)
    source += "/>"
  }

  private mutating func begin(
    _ name: StaticString, _ attributes: KeyValuePairs<StaticString, String>
  ) {
    source += "<\(name)"
    for (key, value) in attributes { source += " \(key)=\"\(Self.escaped(value))\"" }
  }

  /// Writes a text, cut when it is very long.
  mutating func text(_ text: String) { source += Self.escaped(text.cut(to: Self.textMax)) }

  /// Writes a text that would be useless if it were cut.
  mutating func wholeText(_ text: String) { source += Self.escaped(text) }

  /// Writes a constant unescaped.
  mutating func verbatim(_ constant: StaticString) { source += "\(constant)" }

  /// Writes a built-in file in a section without markup, after a comment sign.
  mutating func section(_ file: PageFile) {
    source += "/*<![CDATA[*/\n\(file.text)/*]]>*/"
  }

  /// Text as XML, without characters that change the direction of the following text.
  private static func escaped(_ text: String) -> String {
    let isPlain = text.unicodeScalars.allSatisfy { !isDirection($0) }
    let shown =
      isPlain
      ? text
      : String(
        String.UnicodeScalarView(text.unicodeScalars.map { isDirection($0) ? "\u{FFFD}" : $0 }))
    return JUnit.escaped(shown)
  }

  private static func isDirection(_ scalar: Unicode.Scalar) -> Bool {
    (0x202A...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
  }
}
