// SampleDocumentTests.swift: the code in the documentation is the code of the samples, and no code
// in it is anything else.

import Foundation
import Testing

@Suite("the code of the documentation")
struct SampleDocumentTests {
  private static let samples = URL(filePath: #filePath).deletingLastPathComponent()
  private static let root = samples.deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
  private static let catalog = root.appending(path: "Sources/ObjectDatabase/ObjectDatabase.docc")

  private static func lines(_ folder: URL, _ suffix: String) throws -> [(file: String, [String])] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path)
      .filter { $0.hasSuffix(suffix) }.sorted().map { name in
        let text = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
        return (name, text.components(separatedBy: "\n"))
      }
  }

  /// Lines without the indentation that all of them have.
  static func dedented(_ lines: [String]) -> [String] {
    let depths = lines.filter { !$0.isEmpty }.map { $0.prefix { $0 == " " }.count }
    return lines.map { String($0.dropFirst(depths.min() ?? 0)) }
  }

  /// What stands between `// sample: NAME` and `// end`, by name.
  private static func snippets() throws -> [String: [String]] {
    var snippets: [String: [String]] = [:]
    // That of the explorer stands where the lab's tests are built.
    let explorer = root.appending(path: "Tests/CommandTests")
    let files =
      try lines(samples, "Samples.swift") + lines(samples, "Models.swift")
      + lines(explorer, "ReadmeSamples.swift")
      + lines(root.appending(path: "examples/dogs"), ".swift")
      + lines(root.appending(path: "examples/documents"), ".swift")
    for (file, lines) in files {
      var open: (name: String, lines: [String])?
      for line in lines {
        let text = line.trimmingCharacters(in: .whitespaces)
        if text.hasPrefix("// sample: ") {
          #expect(open == nil, "\(file): \(text) is inside of another sample")
          open = (String(text.dropFirst("// sample: ".count)), [])
        } else if text == "// end", let closed = open {
          #expect(snippets.updateValue(dedented(closed.lines), forKey: closed.name) == nil)
          open = nil
        } else {
          open?.lines.append(line)
        }
      }
      #expect(open == nil, "\(file): a sample does not end")
    }
    return snippets
  }

  /// The blocks of code in a text, each with the name in the comment above it.
  static func blocks(
    _ lines: [String]
  ) -> [(name: String?, lines: [String], isSwift: Bool)] {
    var blocks: [(name: String?, lines: [String], isSwift: Bool)] = []
    var isOpen = false
    for (number, line) in lines.enumerated() {
      if line.hasPrefix("```") {
        if !isOpen {
          let above = number > 0 ? lines[number - 1] : ""
          let isNamed = above.hasPrefix("<!-- sample: ") && above.hasSuffix(" -->")
          let name = isNamed ? String(above.dropFirst(13).dropLast(4)) : nil
          blocks.append((name, [], line == "```swift"))
        }
        isOpen.toggle()
      } else if isOpen {
        blocks[blocks.count - 1].lines.append(line)
      }
    }
    return blocks
  }

  @Test("is the code of the samples")
  func same() throws {
    let snippets = try Self.snippets()
    var used: Set<String> = []
    let tutorials = Self.root.appending(path: "docs/tutorials")
    let pages = try Self.lines(Self.root, "README.md") + Self.lines(tutorials, "database.md")
    // These pages have commands and their output, too.
    let mixed = Set(pages.map(\.file))
    let documents = Self.root.appending(path: "Sources/DocumentDatabase/DocumentDatabase.docc")
    let catalogs = try Self.lines(Self.catalog, ".md") + Self.lines(documents, ".md")
    for (file, lines) in catalogs + pages {
      for block in Self.blocks(lines) where !mixed.contains(file) || block.isSwift {
        let name = try #require(block.name, "\(file): a block of code names no sample")
        #expect(block.lines == snippets[name], "\(file): \(name) is not what the sample has")
        used.insert(name)
      }
    }
    #expect(used.count >= 15 && used == Set(snippets.keys), "every sample is shown")
  }

  @Test("is looked at: a changed, an unnamed and an indented block are seen")
  func control() throws {
    let text = ["<!-- sample: a -->", "```swift", "let x = 1", "```", "", "```", "let y", "```"]
    let blocks = Self.blocks(text)
    #expect(blocks.map(\.name) == ["a", nil] && blocks.map(\.isSwift) == [true, false])
    #expect(blocks.map(\.lines) == [["let x = 1"], ["let y"]])
    #expect(Self.dedented(["    a", "", "      b"]) == ["a", "", "  b"])
  }
}
