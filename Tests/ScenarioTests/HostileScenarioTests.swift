// HostileScenarioTests.swift: no text makes the parser trap, hang or grow without bound.

import Testing

@testable import LabCore
@testable import Scenarios

@Suite struct HostileScenarioTests {
  @Test("anchors and aliases are refused before anything is expanded")
  func aliases() {
    var bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n"
    for letter in "bcdefghijklmnopqrstuvwxyz" {
      let previous = String(UnicodeScalar(letter.asciiValue! - 1))
      bomb += "\(letter): &\(letter) [*\(previous), *\(previous), *\(previous), *\(previous)]\n"
    }
    let found = diagnostics(bomb)
    #expect(
      found.first?.hasPrefix("t.yaml:1:4: '&a [x, x, x, x, x, x' looks like an anchor") == true)
    #expect(found.contains { $0.contains("looks like an alias") })
  }

  /// Texts in which an alias stands where only one who knows YAML would see it.
  static let hidden = [
    "a: &x 1\n\"b #c\": *x", "# \" \n\"b\n# \": *x", "k: x, \"y: *x \"", "{a: 1, b:*x}", "[*x]",
    "*x",
    "a: 'it''s' # '\nb: *x", "# a\u{2028}*x", "# a\r*x", "- *x", "? *x", "{\"a\":*x}",
  ]

  @Test("no alias hides behind quotes, comments or line breaks", arguments: hidden)
  func hiddenAlias(text: String) {
    #expect(diagnostics(text).contains { $0.contains("scenarios have none") }, "\(text)")
  }

  @Test("letters that are no alias are let through", arguments: ["4 * 5", "a*b", "R&D", "a & b"])
  func harmless(text: String) {
    let found = diagnostics("title: \(text) # *note, &c\n")
    #expect(!found.contains { $0.contains("scenarios have none") }, "\(found)")
  }

  @Test("a long file, a deep file and broken bytes are errors")
  func bounds() {
    #expect(
      diagnostics(String(repeating: "#", count: 1 << 20) + "\n").first?
        .contains("file_bytes=1048577 > 1048576") == true)
    for open in ["[", "{a: ", "- ", "? "] {
      for count in [40, 150, 400, 20_000] {
        let found = diagnostics(String(repeating: open, count: count))
        #expect(!found.isEmpty)
      }
    }
    let deep = String(repeating: "[", count: 100) + String(repeating: "]", count: 100)
    #expect(diagnostics(deep).first?.contains("nested deeper than 32 levels") == true)
    #expect(throws: ScenarioError.self) {
      try ScenarioParser.parse(bytes: [0x74, 0xff, 0xfe], file: "t.yaml")
    }
  }

  /// Texts that are not YAML, or not one document, or not a mapping.
  static let odd = [
    "", "\n", "# nothing\n", "7", "[]", "{}", "a: [", "a: b: c", "\t a: 1", "--- 1\n--- 2", "\0",
    "a: \"\\ud800\"", "%YAML 9.9\n---\na: 1", "!!binary x: y", "{a}", "? {b: 1}\n: 2", "[a]: b",
    "a: |\n  text\nb: >\n  more", "title: !!int x", "\u{feff}title: x", "{? : }", "- - - -",
    "a:\n\t- b",
  ]

  @Test("odd texts are errors with a place", arguments: odd)
  func oddText(text: String) {
    let found = diagnostics(text)
    #expect(!found.isEmpty)
    for line in found { #expect(line.hasPrefix("t.yaml:"), "\(line)") }
  }

  @Test("a key that stands twice is an error at its place")
  func duplicates() {
    let found = diagnostics("title: a\ntitle: b\n")
    #expect(found == ["t.yaml:1:1: key 'title' occurs twice in this mapping; keep one of them"])
  }

  /// `t.yaml:LINE:COLUMN: text`, or `t.yaml: text` for what has no place.
  private static func isPlaced(_ diagnostic: String, lineCount: Int) -> Bool {
    let parts = diagnostic.split(separator: ":", maxSplits: 3).map(String.init)
    guard parts.count == 4, parts[0] == "t.yaml", let line = Int(parts[1]),
      let column = Int(parts[2])
    else { return false }
    return (1...lineCount + 1).contains(line) && column >= 1 && parts[3].count > 3
  }

  @Test("10,000 mutated files never trap, and each error names a line of the file")
  func mutations() {
    let original = Array(
      (preamble + "steps: [{ui: open}, {ui: {write: [{insert: Dog, _id: 1}]}}]").utf8)
    var generator = PRNG(Seed(rawValue: 8412))
    var sound = 0
    let pieces = [
      "{", "}", "[", "]", ":", "- ", "..", "random", "9999999999999999999", "\n", "'", "\"",
    ]
    for _ in 0..<10_000 {
      var bytes = original
      for _ in 0..<(1 + generator.below(4)) {
        let place = generator.below(bytes.count)
        switch generator.below(3) {
        case 0: bytes[place] = UInt8(truncatingIfNeeded: generator.next())
        case 1: bytes.removeSubrange(place..<min(bytes.count, place + 1 + generator.below(9)))
        default: bytes.insert(contentsOf: pieces[generator.below(pieces.count)].utf8, at: place)
        }
        if bytes.isEmpty { bytes = [10] }
      }
      do throws(ScenarioError) {
        _ = try ScenarioParser.parse(bytes: bytes, file: "t.yaml")
        sound += 1
      } catch {
        #expect(!error.diagnostics.isEmpty)
        let lineCount = bytes.count { $0 == 10 || $0 == 13 } + 1
        for diagnostic in error.diagnostics {
          #expect(
            Self.isPlaced("\(diagnostic)", lineCount: lineCount),
            "\(diagnostic) of \(String(decoding: bytes, as: UTF8.self))")
        }
      }
    }
    // Most mutants are broken, and some are not: otherwise there was nothing to see.
    #expect((1...5_000).contains(sound), "\(sound) of 10,000 were sound")
  }
}
