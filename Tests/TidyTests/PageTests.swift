// PageTests.swift: the words of the documentation, and of what the commands print.

import Foundation
import Testing

@Suite("the words of pages and messages")
struct PageTests {
  /// Pages that are read from top to bottom.
  private static func isRead(_ path: String) -> Bool {
    [
      "README.md", "docs/README.md", "CONTRIBUTING.md", "docs/reference/command-line.md",
    ].contains(path)
      || path.hasPrefix("docs/tutorials/") || path.hasPrefix("docs/how-to/")
  }

  /// All pages but the records of decisions, which are history, and what programs write.
  private static func pages() throws -> [(path: String, text: String)] {
    let docs = SourceTree.root.appending(path: "docs")
    let paths = try FileManager.default.subpathsOfDirectory(atPath: docs.path)
      .filter { $0.hasSuffix(".md") }
      .filter { !$0.hasPrefix("decisions/") && !$0.hasPrefix("generated/") }
      .map { "docs/" + $0 }
    return try (paths + ["README.md", "CONTRIBUTING.md"]).sorted().map {
      ($0, try String(contentsOf: SourceTree.root.appending(path: $0), encoding: .utf8))
    }
  }

  @Test("pages have no phrase that a reader has to decode")
  func phrases() throws {
    let pages = try Self.pages()
    #expect(pages.count > 30)
    for (path, text) in pages {
      for (number, line) in text.components(separatedBy: "\n").enumerated() {
        for violation in PageRules.phrases(line, at: path, line: number + 1) {
          Issue.record("\(violation)")
        }
      }
    }
  }

  /// Lines before the footer that name a decision by its number.
  private static func decisions(_ text: String) -> [Int] {
    let body = text.components(separatedBy: "## Background")[0].components(separatedBy: "\n")
    return body.indices.filter {
      body[$0].contains(/decisions?[ \/][0-9]{4}/) && !body[$0].contains("](../decisions")
    }.map { $0 + 1 }
  }

  @Test("numbers of decisions stand in footers only")
  func decisionNumbers() throws {
    for (path, text) in try Self.pages() where path != "docs/glossary.md" {
      #expect(Self.decisions(text) == [], "\(path): move them to a section Background")
      #expect(text.components(separatedBy: "\n## Background\n").count <= 2, "\(path): two footers")
    }
    #expect(Self.decisions("a (decision 0123)\n## Background\nDecisions 0124") == [1])
  }

  /// Links of a page to files that are not there.
  private static func broken(_ text: String, at path: String) -> [String] {
    let folder = SourceTree.root.appending(path: path).deletingLastPathComponent()
    // What stands in code is not a link.
    let prose = text.replacing(/```[\s\S]*?```/, with: "").replacing(/`[^`\n]*`/, with: "")
    return prose.matches(of: /\]\(([^)\s#]+)[^)]*\)/).map { String($0.1) }.filter { link in
      guard !link.contains(":") else { return false }
      return !FileManager.default.fileExists(atPath: folder.appending(path: link).path)
    }
  }

  @Test("links lead to files that are there")
  func links() throws {
    for (path, text) in try Self.pages() {
      #expect(Self.broken(text, at: path) == [], "\(path)")
    }
    let planted = "[a](README.md#x), [b](no/such.md), `[c](no.md)`, [d](https://example.org/)"
    #expect(Self.broken(planted, at: "docs/planted.md") == ["no/such.md"])
  }

  @Test("pages that moved lead on from their old place")
  func moved() throws {
    let docs = SourceTree.root.appending(path: "docs")
    let names = try FileManager.default.contentsOfDirectory(atPath: docs.path).sorted()
    let stubs = names.filter { $0.hasSuffix(".md") && !["README.md", "glossary.md"].contains($0) }
    #expect(stubs.count >= 30)
    for name in stubs {
      let text = try String(contentsOf: docs.appending(path: name), encoding: .utf8)
      let link = try #require(text.firstMatch(of: /\]\(([a-z-]+\/[a-z-]+\.md)\)\.\n$/), "\(name)")
      let target = docs.appending(path: String(link.1))
      let page = try String(contentsOf: target, encoding: .utf8)
      // It begins with the title of the page that it leads to.
      #expect(text.prefix { $0 != "\n" } == page.prefix { $0 != "\n" }, "\(name)")
    }
  }

  @Test("what is read from top to bottom has short sentences and paragraphs")
  func readability() throws {
    let pages = try Self.pages().filter { Self.isRead($0.path) }
    #expect(pages.count > 10)
    for (path, text) in pages {
      for violation in PageRules.readability(Page(path: path, text: text)) {
        Issue.record("\(violation)")
      }
    }
  }

  @Test("texts that the commands print have no such phrase either")
  func messages() throws {
    var count = 0
    for file in try SourceTree.swiftFiles() where file.isIn(["Sources"]) {
      for (index, line) in file.lines.enumerated() {
        // What is neither code nor comment is the text of a literal.
        let literal = zip(line.utf8, file.code[index].utf8).filter { $0 != $1 }.map(\.0)
        guard literal.count > 3, file.comments[index].allSatisfy({ $0 == " " }) else { continue }
        count += 1
        let text = String(decoding: literal, as: UTF8.self)
        for violation in PageRules.phrases(text, at: file.path, line: index + 1) {
          Issue.record("\(violation)")
        }
      }
    }
    #expect(count > 1000)
  }

  /// Calls of `.lab(` and `.usage(` whose text names nothing: no value, no option, no path.
  private static func nameless(_ file: SourceFile) -> [Int] {
    file.lines.indices.filter { index in
      let line = file.lines[index]
      guard
        line.contains(".lab(\"") || line.contains(".usage(\"") || line.hasSuffix(".lab(")
          || line.hasSuffix(".usage(")
      else { return false }
      // A literal of several lines goes on while lines begin with a quote or a plus.
      var text = line
      for next in file.lines[(index + 1)...].prefix(8) {
        let bare = next.trimmingCharacters(in: .whitespaces)
        guard bare.hasPrefix("\"") || bare.hasPrefix("+ ") else { break }
        text += bare
      }
      return text.firstMatch(
        of: /\\\(|--[a-z]|'|\/|[0-9]|token|fault rule:|mount control:|faultline [a-z]/) == nil
        && text.contains("\"")
    }.map { $0 + 1 }
  }

  @Test("errors name a path, a value, an option or a number")
  func errors() throws {
    let files = try SourceTree.swiftFiles().filter { $0.isIn(["Sources"]) }
    for file in files { #expect(Self.nameless(file) == [], "\(file.path): name what it is about") }
    let planted = """
      throw .lab("no root")
      throw .lab("no root of \\(path)")
      throw .usage(
        "the options "
          + "contradict")
      """
    #expect(Self.nameless(SourceFile(path: "p.swift", text: planted)) == [1, 3])
  }

  @Test("planted breaches are seen, and what only looks like one is not")
  func control() {
    let long = Array(repeating: "word", count: 36).joined(separator: " ") + "."
    let tall = Array(repeating: "A line.", count: 9).joined(separator: "\n")
    let semicolons = "One; two; three."
    for text in [long, tall, semicolons] {
      #expect(!PageRules.readability(Page(path: "p.md", text: text)).isEmpty, "\(text)")
    }
    let fine = """
      # \(long)

      | \(long) |

      ```
      \(long); \(long); \(long)
      ```

      - Take `\(long)`; see [this](\(long)).
      - A list of items, each of them short.

      Sixteen words are in this sentence, and it is followed by another: that one is short.
      """
    #expect(PageRules.readability(Page(path: "p.md", text: fine)) == [])
    #expect(PageRules.phrases("an observer Is told", at: "p.md", line: 7).map(\.line) == [7])
    #expect(PageRules.phrases("they are told apart, by nobody", at: "p.md", line: 7) == [])
  }

  @Test("sentences end where a reader ends them")
  func sentences() {
    let page = Page(
      path: "p.md", text: "One `a. b` two (see [x](y.z)). Three, e.g. four:\n- five\n- six.\n")
    #expect(page.paragraphs.map(\.line) == [1, 2, 3])
    #expect(page.paragraphs[0].sentences.map(\.count) == [5, 3])
    #expect(page.wordCount == 10 && page.semicolonCount == 0)
  }
}
