// VisibleText.swift: text of programs, checkers and file names, so that a terminal, a log or GitHub
// shows it and obeys none of it.
// Invariants: of plain text nothing is changed; what is changed can still be read.

extension String {
  /// The text as one line, in which whatever a terminal would obey is spelled out.
  package var visibleLine: String { visible(keepsLines: false) }

  /// The same, but lines stay lines; none of them is a command to GitHub's runner.
  package var visibleLines: String { visible(keepsLines: true) }

  /// What another program printed, for a message: each line is indented, so that none of them can
  /// be taken for one of ours.
  package var quotedLines: String {
    split(separator: "\n", omittingEmptySubsequences: false)
      .map { $0.isEmpty ? "" : "  \($0)" }.joined(separator: "\n")
  }

  /// One line whose control characters are spelled out, and which stays a command where it is one.
  var visibleCommand: String { visible(keepsLines: false, keepsCommands: true) }

  private func visible(keepsLines: Bool, keepsCommands: Bool = false) -> String {
    if utf8.allSatisfy(Self.isPlain) { return self }
    var result = UnicodeScalarView()
    var isAtStart = true
    var last: Unicode.Scalar = " "
    for scalar in unicodeScalars {
      // Both together are one character, at which nobody has divided the text into lines.
      if keepsLines, scalar == "\n", last != "\r" {
        isAtStart = true
        result.append(scalar)
      } else if Self.isObeyed(scalar) {
        isAtStart = false
        result.append(contentsOf: Self.spelled(scalar).unicodeScalars)
      } else {
        // "::" at the beginning of a line, or "##[" in it, makes it a command.
        let ends = scalar == ":" && last == ":" && isAtStart || scalar == "[" && last == "#"
        if ends, !keepsCommands { result.append("\\") }
        if scalar != " ", scalar != "\t", scalar != ":" { isAtStart = false }
        result.append(scalar)
      }
      last = scalar
    }
    return String(result)
  }

  /// Bytes that need no second look.
  private static func isPlain(_ byte: UInt8) -> Bool {
    byte >= 0x20 && byte < 0x7F && byte != UInt8(ascii: ":") && byte != UInt8(ascii: "#")
  }

  /// Control characters, separators of lines, and what turns the direction of text.
  private static func isObeyed(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x09: false
    case 0x00...0x1F, 0x7F...0x9F, 0x061C, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069: true
    default: false
    }
  }

  private static func spelled(_ scalar: Unicode.Scalar) -> String {
    switch scalar {
    case "\n": "\\n"
    case "\r": "\\r"
    case "\u{1B}": "\\e"
    default: "\\u{" + String(scalar.value, radix: 16, uppercase: true) + "}"
    }
  }
}
