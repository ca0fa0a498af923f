// RepetitionTests.swift: no code of ours stands twice, and the finder sees copies planted for it.

import Testing

@Suite("Code that stands twice")
struct RepetitionTests {
  /// Lines that are all different, with something behind some of them.
  private func text(_ count: Int, indentation: String = "", comment: String = "") -> String {
    let lines = (0..<count).map { "\(indentation)let a\($0) = \($0)\n" }
    return "// Planted.swift: a file.\n\nimport Testing\n\n"
      + lines.enumerated().map {
        $0.offset == 5 && !comment.isEmpty ? comment + $0.element : $0.element
      }
      .joined()
  }

  private func found(
    _ first: String, _ second: String, at path: String = "Sources/Query/B.swift"
  ) -> [String] {
    var finder = RepetitionFinder([
      SourceFile(path: "Sources/Engine/A.swift", text: first), SourceFile(path: path, text: second),
    ])
    return finder.repetitions().map(\.description)
  }

  @Test("is nowhere in our sources")
  func sources() throws {
    let files = try SourceTree.swiftFiles().filter { $0.isIn(["Sources"]) }
    #expect(files.count > 500, "the sources are not all there")
    var finder = RepetitionFinder(files)
    for repetition in finder.repetitions() { Issue.record("\(repetition)") }
  }

  @Test("is found, however it is indented or commented")
  func planted() {
    let expected = "Sources/Engine/A.swift:5-16 and Sources/Query/B.swift:5-1"
    for copy in [
      text(12), text(12, indentation: "    "), text(12, comment: "\n"),
      text(12, comment: "// Why.\n"),
    ] {
      let found = found(text(12), copy)
      #expect(found.count == 1 && found[0].hasPrefix(expected), "\(found)")
    }
    #expect(found(text(30), text(30)).first?.contains("share 30 lines") == true)
  }

  @Test("is found where comments make it long enough")
  func comments() {
    let commented = text(10, comment: "// Why.\n// And how.\n")
    #expect(found(commented, commented).first?.contains("share 12 lines") == true)
    #expect(found(text(10), text(10)) == [])
  }

  @Test("is found in one file")
  func oneFile() {
    let twice = text(12) + text(12)
    #expect(found(twice, "").count == 1)
    let row = String(repeating: "  step()\n", count: 20)
    #expect(found("// A.swift: a file.\n\(row)", "") == [], "a run is not a copy of its own middle")
  }

  @Test("is not seen where it is short, or differs in a text or a name")
  func innocent() {
    #expect(found(text(11), text(11)) == [])
    #expect(found(text(12), text(12).replacing("a6 =", with: "b6 =")) == [])
    let texts = String(repeating: "print(\"a\")\nprint(\"b\")\n", count: 6)
    #expect(found(texts, texts.replacing("\"b\"", with: "\"c\"")) == [])
  }

  @Test("may be in a second reader, which shares nothing with what it judges")
  func secondReaders() {
    for folder in RepetitionFinder.secondReaders {
      #expect(found(text(12), text(12), at: folder + "/B.swift") == [])
    }
    var finder = RepetitionFinder([
      SourceFile(path: "Sources/QueryReference/A.swift", text: text(12)),
      SourceFile(path: "Sources/QueryReference/B.swift", text: text(12)),
    ])
    #expect(finder.repetitions().count == 1)
  }
}
