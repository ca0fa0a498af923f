// GlobTests.swift: patterns over paths.

import Testing

@testable import LabCore

@Suite("Glob")
struct GlobTests {
  @Test(
    "matches as documented",
    arguments: [
      ("*.realm", "a.realm", true), ("*.realm", "dir/a.realm", true), ("*.realm", "a.lock", false),
      ("dir/*", "dir/a", true), ("dir/*", "dir/a/b", false), ("dir/**", "dir/a/b", true),
      ("**", "a/b/c", true), ("**/x", "a/b/x", true), ("?", "a", true), ("?", "ab", false),
      ("a*b*c", "aXXbYYc", true), ("a*b*c", "aXXbYY", false), ("", "", true), ("*", "", true),
      ("a/?/c", "a/b/c", true), ("a?b", "a/b", false), ("**a", "bbba", true), ("**a", "bbb", false),
      ("[a-e].db", "d/c.db", true), ("[a-e].db", "f.db", false), ("[!a-e]x", "fx", true),
      ("[!a-e]x", "cx", false), ("[^a]", "a", false), ("a[0-9a-f]", "ab", true),
      ("[]a]", "]", true), ("[a-]", "-", true), ("[z-a]", "b", false), ("a[b", "a[b", true),
      ("a/[!x]c", "a//c", false), ("*[0-9]", "log12", true),
    ])
  func matches(_ pattern: String, _ path: String, _ expected: Bool) {
    #expect(Glob(pattern).matches(Array(path.utf8)) == expected)
  }

  @Test("a negated class is every byte that its class is not, but no slash")
  func negated() {
    for byte in UInt8.min...UInt8.max {
      let isIn = Glob("[a-e]").matches([byte])
      #expect(Glob("[!a-e]").matches([byte]) == (!isIn && byte != UInt8(ascii: "/")), "\(byte)")
    }
  }

  @Test("a pattern of many stars against a long path takes no exponential time")
  func isQuick() {
    let pattern = String(repeating: "**a", count: 50)
    #expect(!Glob(pattern).matches(Array(repeating: UInt8(ascii: "a"), count: 49)))
    #expect(!Glob(pattern).matches(Array(repeating: UInt8(ascii: "b"), count: 4000)))
  }
}
