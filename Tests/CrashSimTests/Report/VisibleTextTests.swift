// VisibleTextTests.swift: text of others does nothing to a terminal or to GitHub.

import Findings
import Testing

@Suite("Visible text") struct VisibleTextTests {
  @Test("plain text stays as it is", arguments: ["", "a b", "naïve — ≤ 日本", "a: b", "a::b", "# x"])
  func plain(text: String) {
    #expect(text.visibleLine == text)
    #expect(text.visibleLines == text)
  }

  @Test("what a terminal obeys is spelled out")
  func terminal() {
    let text = "a\u{1B}]0;x\u{7}\u{9B}31m\r\nverdict\u{202E}\u{2028}\u{7F}\u{0}"
    #expect(
      text.visibleLine
        == "a\\e]0;x\\u{7}\\u{9B}31m\\r\\nverdict\\u{202E}\\u{2028}\\u{7F}\\u{0}")
    // Carriage return and line feed are one character, so this is one line of whoever split it.
    #expect(text.visibleLines == text.visibleLine)
    #expect("a\nb".visibleLines == "a\nb" && "a\r\n\nb".visibleLines == "a\\r\\n\nb")
    #expect("a\n\nb\n".quotedLines == "  a\n\n  b\n")
  }

  @Test(
    "no line is a command of GitHub's runner",
    arguments: [
      ("::error::x", ":\\:error::x"), ("a\n  ::set-env name=x::y", "a\n  :\\:set-env name=x::y"),
      ("x ##[error]y", "x ##\\[error]y"), (":::", ":\\:\\:"), ("\t::x", "\t:\\:x"),
    ])
  func workflowCommands(text: String, expected: String) {
    #expect(text.visibleLines == expected)
  }
}
