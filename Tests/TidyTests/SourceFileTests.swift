// SourceFileTests.swift: code, comments and strings are told apart; no rule is right without that.

import Testing

@Suite("A source file")
struct SourceFileTests {
  private func code(_ text: String) -> String {
    SourceFile(path: "a.swift", text: text).code.joined(separator: "\n")
  }

  @Test(
    "keeps code and blanks the rest",
    arguments: [
      ("a // b", "a     "),
      ("a /* b /* c */ d */ e", "a                   e"),
      ("a \"b\" c", "a \" \" c"),
      ("a \"b \\\" c\" d", "a \"      \" d"),
      ("a \"b \\(c(\"d\")) e\" f", "a \"   (c(\" \"))  \" f"),
      ("a #\"b \\(c) \"d\" \\#(e)\"# f", "a #\"             (e)\"# f"),
      ("a \"\"\"\n  // b \" c\n  \"\"\" d", "a \"\"\"\n          \n  \"\"\" d"),
      ("a \"open\nb", "a \"    \nb"),
      ("a \"https://b\" // c", "a \"         \"     "),
    ])
  func blanks(text: String, expected: String) {
    #expect(code(text) == expected)
  }

  @Test("has as many lines of code and comments as lines")
  func lineCounts() {
    let file = SourceFile(path: "a.swift", text: "a\n/* b\nc */ d\n\n\"\"\"\n e\n\"\"\"\n")
    #expect(file.lines.count == 7)
    #expect(file.code.count == 7)
    #expect(file.comments.count == 7)
  }

  @Test("finds words at their boundaries only")
  func words() {
    #expect(positions(of: "Date()", in: "Update() Date() myDate() a.Date()") == [9, 27])
    #expect(positions(of: "try!", in: "try! a; retry! b") == [0])
    #expect(positions(of: ".random(", in: "Int.random(in: a)") == [3])
    #expect(positions(of: "long word", in: "short").isEmpty)
  }
}
