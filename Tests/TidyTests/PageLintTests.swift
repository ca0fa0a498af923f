// PageLintTests.swift: the report's page is held against its lint, and the lint against pages with
// one mistake each: a lint that sees nothing is worth nothing.

import Testing
import page_lint

@Suite("The lint of the report's page")
struct PageLintTests {
  private static let style = """
    :root { --ink: #111111; }
    .row { color: var(--ink); width: calc(var(--lane) * 1rem); }
    li.is-lost { content: "} .none {"; }

    """

  private static let script = """
    "use strict";
    const mark = (row) => {
      row.classList.add("is-" + "lost", row.dataset.number);
    };
    for (const row of document.querySelectorAll("li.row")) mark(row);

    """

  private static let markup = """
    list.element("li", ["class": "row \\(kind)", "data-number": "1", "style": "--lane:2"])
    """

  private func faults(
    style: String = style, script: String = script, markup: String = markup
  ) -> [String] {
    PageLint(
      style: PageText(style, at: "a.css"), script: PageText(script, at: "a.js"),
      page: [PageText(markup, at: "a.swift")], shown: [PageText("case torn", at: "b.swift")]
    ).faults.map(\.description)
  }

  @Test("finds nothing in the page's files")
  func page() throws {
    let lint = try PageLint(root: SourceTree.root)
    #expect(lint.faults.map(\.description) == [])
    #expect(lint.needlessHooks == [], "hooks that no element has any more")
  }

  @Test("fails where there is no page")
  func noPage() {
    #expect(throws: PageFilesMissing.self) {
      try PageLint(root: SourceTree.root.appending(path: "docs"))
    }
  }

  @Test("finds nothing in a page without a mistake")
  func innocent() {
    #expect(faults() == [])
    #expect(faults(style: Self.style + ".torn { color: var(--ink); }\n") == [])
    #expect(faults(style: Self.style + "/* .none { } */\n") == [])
    #expect(faults(script: Self.script + "// var a == b\n") == [])
  }

  @Test(
    "finds the mistakes of a style sheet",
    arguments: [
      (".none { color: var(--ink); }", "no element has the class `none`"),
      ("table { color: var(--ink); }", "the page has no element `table`"),
      (".row { color: var(--ink); }", "has a rule already"),
      ("li { colour: var(--ink); }", "no property"),
      ("li { color: #ffffff; }", "a colour"),
      ("li { color: var(--none); }", "`--none` is declared nowhere"),
      ("li { --none: 1; }", "`--none` is used nowhere"),
      ("li { color: var(--ink); color: var(--ink); }", "declared twice"),
      ("li { color: var(--ink) }", "needs a `;`"),
      ("li { color: var(--ink) !important; }", "!important"),
      ("li { background: url(a.png); }", "url("),
      ("@import \"a.css\";", "in no rule"),
      ("li { }", "has no declaration"),
      ("li { color: var(--ink);", "never closed"),
      ("}", "closes nothing"),
      ("/* ]]> */", "]]>"),
      ("li { color: var(--ink); } ", "space at the end"),
      ("li {\tcolor: var(--ink); }", "a tab"),
      ("/* \(String(repeating: "long ", count: 20)) */", "columns"),
    ])
  func style(rule: String, message: String) {
    let found = faults(style: Self.style + rule + "\n")
    #expect(found.contains { $0.contains(message) && $0.hasPrefix("a.css:4") }, "\(found)")
  }

  @Test(
    "finds the mistakes of a script",
    arguments: [
      ("var a = 1; mark(a);", "`var`"), ("if (mark == null) mark(1);", "`==`"),
      ("mark(none);", "`none` is declared nowhere"), ("const a = 1;", "`a` is never used"),
      ("let a = 1; mark(a);", "`a` could be const"),
      ("const a = 1; mark(a); a = 2;", "`a` is constant"),
      ("mark(1)", "ends with `;`"), ("mark((1);", "never closed"), ("mark(1));", "closes nothing"),
      ("{ mark(1);", "never closed"),
      ("mark(\"li.none\");", "no element has the class `none`"),
      ("mark(mark.dataset.none);", "no element has the attribute `data-none`"),
      ("mark(document.body.innerHTML);", "`innerHTML`"), ("mark(`${none}`);", "`none` is declared"),
      ("mark(\"a);", "never closed"),
    ])
  func script(statement: String, message: String) {
    let found = faults(script: Self.script + statement + "\n")
    #expect(found.contains { $0.contains(message) && $0.hasPrefix("a.js:6") }, "\(found)")
  }

  @Test("finds what neither style sheet nor script knows of the page's elements")
  func markup() {
    let found = faults(
      markup: Self.markup + "\nlist.element(\"p\", [\"class\": \"none\", \"data-none\": \"1\"])\n")
    #expect(
      found == [
        "a.swift:2: the class `none` is in neither style sheet nor script",
        "a.swift:2: the script never reads `data-none`",
      ])
  }
}
