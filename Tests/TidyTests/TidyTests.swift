// TidyTests.swift: the house rules as tests. Every rule is held against every Swift file of ours,
// and has to flag sources planted for it: a rule that flags nothing is worth nothing.

import Testing

@Suite("The house rules")
struct TidyTests {
  @Test("hold in every Swift file", arguments: Rule.all)
  func ruleHolds(rule: Rule) throws {
    let excused = Set(allowlist.filter { $0.rule == rule.name }.map(\.path))
    for file in try SourceTree.swiftFiles() where !excused.contains(file.path) {
      for violation in rule.check(file) { Issue.record("\(violation)") }
    }
  }

  @Test("flag the breaches planted for them", arguments: Rule.all)
  func ruleFlagsPlanted(rule: Rule) {
    #expect(!rule.planted().isEmpty, "a rule without a negative control does not count")
    for planted in rule.planted() {
      let file = SourceFile(path: planted.path, text: planted.text)
      #expect(!rule.check(file).isEmpty, "not flagged: \(planted.text.prefix(200))")
    }
  }

  @Test("leave alone what only looks like a breach", arguments: Rule.all)
  func ruleSparesInnocent(rule: Rule) {
    for innocent in rule.innocent() {
      let file = SourceFile(path: innocent.path, text: innocent.text)
      #expect(rule.check(file) == [], "flagged: \(innocent.text.prefix(200))")
    }
  }

  @Test("have names of their own")
  func namesAreUnique() {
    #expect(Set(Rule.all.map(\.name)).count == Rule.all.count)
  }

  @Test("are excused only where an excuse is still needed")
  func allowlistIsNeeded() throws {
    let files = try SourceTree.swiftFiles()
    for allowance in allowlist {
      let rule = Rule.all.first { $0.name == allowance.rule }
      let file = files.first { $0.path == allowance.path }
      let violations = rule.flatMap { rule in file.map(rule.check) } ?? []
      #expect(!violations.isEmpty, "excuses nothing: \(allowance.path) from \(allowance.rule)")
      #expect(allowance.reason.count > 10, "an excuse needs a reason: \(allowance.path)")
    }
  }

  @Test("keep preconditions on in every build file")
  func buildFilesKeepPreconditions() throws {
    let files = try SourceTree.buildFileTexts()
    #expect(files.contains { $0.path == "Package.swift" })
    for file in files { #expect(!hasUnchecked(file.text), "\(file.path) turns preconditions off") }
    #expect(hasUnchecked("swiftSettings: [.unsafeFlags([\"-Ounchecked\"])]"))
  }

  @Test("see all of the tree")
  func treeIsFound() throws {
    let paths = try SourceTree.swiftFiles().map(\.path)
    #expect(paths.contains("Tests/TidyTests/TidyTests.swift"))
    #expect(paths.contains { $0.hasPrefix("Sources/CrashSim/") })
  }

  private func hasUnchecked(_ text: String) -> Bool { text.contains("-Ounchecked") }
}
