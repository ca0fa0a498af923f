// PathTests.swift: paths: read, spelled, walked, and refused with their place.

import Fleece
import Testing

@Suite("A path")
struct PathTests {
  @Test(
    "reads as its steps, and is spelled so that it reads as the same",
    arguments: [
      ("", []), ("$", []), ("a", [.key("a")]), (".a", [.key("a")]), ("$.a", [.key("a")]),
      ("a.b[2].c", [.key("a"), .key("b"), .index(2), .key("c")]), ("[0]", [.index(0)]),
      ("$[-1]", [.index(-1)]), ("a[1][-2]", [.key("a"), .index(1), .index(-2)]),
      (#"a\.b"#, [.key("a.b")]), (#"\$a.$b"#, [.key("$a"), .key("$b")]),
      (#"a\[0].b\\"#, [.key("a[0]"), .key("b\\")]), ("é.🚀", [.key("é"), .key("🚀")]),
      ("a..b", [.key("a"), .key(""), .key("b")]), (".", [.key("")]), ("a b", [.key("a b")]),
    ] as [(String, [FleecePath.Component])])
  func reads(text: String, components: [FleecePath.Component]) throws {
    let path = try FleecePath(parsing: text)
    #expect(path.components == components)
    #expect(FleecePath(components) == path)
    #expect(try FleecePath(parsing: path.description) == path)
  }

  @Test(
    "that is none is refused with its place",
    arguments: [
      ("a[", 2), ("a[]", 2), ("a[x]", 2), ("a[1", 3), ("a[1 ]", 3), ("a[-]", 3), ("$a", 1),
      ("a[0]b", 4), (#"a\"#, 2), ("a[2147483648]", 12), ("[99999999999999999999]", 11),
    ])
  func refused(text: String, offset: Int) {
    let error = Short.error { () throws(FleeceError) in _ = try FleecePath(parsing: text) }
    #expect(error?.code == .path && error?.position?.offsetBytes == offset)
  }

  @Test("may have a thousand steps")
  func long() throws {
    let text = String(repeating: ".a", count: 1000)
    #expect(try FleecePath(parsing: text).components.count == 1000)
    let error = Short.error { () throws(FleeceError) in _ = try FleecePath(parsing: text + ".a") }
    #expect(error?.code == .path)
  }

  @Test("leads to a value, or to nothing", arguments: [false, true])
  func walks(isShared: Bool) throws {
    var keys = FleeceSharedKeys()
    let json = #"{"a":{"b":[1,2,{"c":"x","d d":[]}]},"list":[[1],[2,3]],"é":null}"#
    let bytes =
      isShared
      ? try FleeceEncoder.bytes(ofJSON: json, sharedKeys: &keys)
      : try FleeceEncoder.bytes(ofJSON: json)
    let table = keys
    for (text, found) in [
      ("a.b[2].c", #""x""#), ("a.b[-1].c", #""x""#), ("a.b[-3]", "1"), ("list[1][1]", "3"),
      ("list[-1][0]", "2"), ("é", "null"), ("a.b[2].d d", "[]"), ("a.b[3]", nil), ("a.b[-4]", nil),
      ("a.c", nil), ("a.b.c", nil), ("a[0]", nil), ("list[0][0].x", nil), ("zzz", nil), ("", json),
    ] as [(String, String?)] {
      var path = try FleecePath(parsing: text)
      path.resolve(in: table)
      let written = try Short.reading(bytes) { (root) throws(FleeceError) in
        try path.value(in: root)?.json(keys: table)
      }
      #expect(written == found, "\(text)")
    }
  }

  @Test("finds keys that are texts alone in values that were copied out of their document")
  func copies() throws {
    var keys = FleeceSharedKeys()
    let bytes = try FleeceEncoder.bytes(ofJSON: #"{"a":{"b":7}}"#, sharedKeys: &keys)
    let table = keys
    let copy = try Short.reading(bytes) { (root) throws(FleeceError) in
      var encoder = FleeceEncoder()
      try encoder.copy(root, keys: table)
      return try encoder.finish()
    }
    var path = try FleecePath(parsing: "a.b")
    path.resolve(in: table)
    for form in [bytes, copy] {
      let found = try Short.reading(form) { (root) throws(FleeceError) in
        try path.value(in: root)?.integer
      }
      #expect(found == 7)
    }
  }

  @Test("finds keys that came into the table after it was read")
  func grows() throws {
    var keys = FleeceSharedKeys()
    var path = try FleecePath(parsing: "a.b")
    for (json, isThere) in [(#"{"a":{"x":1}}"#, false), (#"{"a":{"b":7}}"#, true)] {
      let bytes = try FleeceEncoder.bytes(ofJSON: json, sharedKeys: &keys)
      path.resolve(in: keys)
      let found = try Short.reading(bytes) { (root) throws(FleeceError) in
        try path.value(in: root)?.integer
      }
      #expect(found == (isThere ? 7 : nil))
    }
    #expect(try path == FleecePath(parsing: "a.b"), "what it was resolved with is not a part of it")
  }
}
