// StringScanTests.swift: equality and prefixes of strings in a leaf, against a plain comparison,
// at every length around the words that the scan compares; and ends that no writer would write.

import Testing

@testable import Engine

@Suite("Scans of strings")
struct StringScanTests {
  /// A table of texts, committed.
  private static func committed(_ strings: [String]) throws -> Snapshot {
    let database = try Database.open(backend: TestBackend())
    let write = try database.beginWrite()
    try write.createTable(
      TableSchema(name: "T", columns: [ColumnSchema(name: "text", type: .string)]))
    for (key, string) in strings.enumerated() {
      try write.insert(into: "T", key: Int64(key), [.string(string)])
    }
    try write.commit()
    return try database.snapshot()
  }

  /// Finds the rows by a scan of a committed table.
  private static func rows(
    _ strings: [String], _ text: String, isPrefix: Bool
  ) throws -> (keys: [Int64], count: Int) {
    let snapshot = try committed(strings)
    defer { snapshot.release() }
    let reader = try snapshot.reader(for: "T")
    let column = try reader.column("text", of: String.self)
    return isPrefix
      ? try (reader.keys(column, withPrefix: text), reader.count(column, withPrefix: text))
      : try (reader.keys(column, equalTo: text), reader.count(column, equalTo: text))
  }

  private static func check(_ strings: [String], _ texts: [String]) throws {
    for text in texts {
      let equal = strings.indices.filter { Array(strings[$0].utf8) == Array(text.utf8) }
      let found = try rows(strings, text, isPrefix: false)
      #expect(found.keys == equal.map(Int64.init), "equal to \(text.utf8.count) bytes")
      #expect(found.count == equal.count)
      let longer = strings.indices.filter { strings[$0].utf8.starts(with: text.utf8) }
      let prefixed = try rows(strings, text, isPrefix: true)
      #expect(prefixed.keys == longer.map(Int64.init), "prefix of \(text.utf8.count) bytes")
      #expect(prefixed.count == longer.count)
    }
  }

  @Test("every length, and a difference at every place")
  func everyPlace() throws {
    let alphabet = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    for length in [0, 1, 7, 8, 9, 15, 16, 17, 23, 24, 25, 40] {
      let text = String(alphabet.prefix(length))
      var strings = [text, text + "!", String(text.dropLast()), ""]
      for place in 0..<length {
        var other = Array(text)
        other[place] = "#"
        strings.append(String(other))
      }
      strings.append(text)
      try Self.check(strings, [text])
    }
  }

  @Test("strings of nodes of their own are compared by size first, and found")
  func longStrings() throws {
    let long = String(repeating: "x", count: 600)
    let strings = [
      "x", long, long + "y", "a" + long.dropFirst(), long, String(long.dropLast()) + "z",
    ]
    try Self.check(strings, [long, "x", long + "y", "", String(long.prefix(512)), "a"])
  }

  @Test("a text is found at any place of long and short strings, whatever its case")
  func searches() throws {
    let long = String(repeating: "x", count: 600)
    let strings = [
      "", "needle", "NEEDLE", "a Needle in hay", "needl", long, long + "nEEdle", "é needle",
      "éneedl",
    ]
    let snapshot = try Self.committed(strings)
    defer { snapshot.release() }
    let reader = try snapshot.reader(for: "T")
    let column = try reader.column("text", of: String.self)
    func found(_ place: TextSearch.Place, ignoresCase: Bool) throws -> [Int64] {
      let search = TextSearch("needle", at: place, ignoresCase: ignoresCase, ignoresMarks: false)
      return try reader.keys(where: reader.test(column, search))
    }
    #expect(try found(.anywhere, ignoresCase: false) == [1, 7])
    #expect(try found(.anywhere, ignoresCase: true) == [1, 2, 3, 6, 7])
    #expect(try found(.end, ignoresCase: true) == [1, 2, 6, 7])
    #expect(try found(.start, ignoresCase: true) == [1, 2])
    #expect(try found(.whole, ignoresCase: true) == [1, 2])
  }

  @Test("bytes decide: composed and decomposed letters differ")
  func canonicalEquivalence() throws {
    try Self.check(["\u{e9}", "e\u{301}", "e"], ["\u{e9}", "e\u{301}", "e"])
  }

  @Test("random strings of few letters, many leaves")
  func random() throws {
    var random = TestRandom(31)
    let strings = (0..<3000).map { _ in
      String((0..<random.below(5)).map { _ in random.below(2) == 0 ? "a" : "b" })
    }
    try Self.check(strings, ["", "a", "ab", "abab", "bbbb", "c", "ababa"])
  }

  /// A column whose ends are these, over so many bytes.
  private static func withEnds(
    _ ends: [Int64], base: Int64 = 0, width: Int, bytes: Int,
    _ body: (StringsView) throws -> Void
  ) throws {
    let content = [UInt8](repeating: 97, count: bytes)
    let flags = ends.map { _ in Int64(0) }
    try PackedArrayScanTests.with(ends, base: base, width: width) { ends in
      try PackedArrayScanTests.with(flags, base: 0, width: 0) { flags in
        try RawBytes.over(content) { view in
          try body(StringsView(ref: .none, ends: ends, flags: flags, bytes: view, offsetBytes: 0))
        }
      }
    }
  }

  @Test("ends that descend or lie outside are errors, at every width", arguments: [8, 16, 32, 64])
  func hostileEnds(_ width: Int) throws {
    let database = try TestDatabase()
    let snapshot = try database.database.snapshot()
    defer { snapshot.release() }
    func found(_ strings: StringsView) throws -> Int {
      var count = 0
      let pattern = TextPattern("aaaa", isPrefix: false)
      try strings.forEachMatch(pattern, snapshot.state.reader, newest: .first) { _ in count += 1 }
      return count
    }
    try Self.withEnds([4, 8, 12], width: width, bytes: 12) { strings in
      let rows = try found(strings)
      #expect(rows == 3)
    }
    try Self.withEnds([4, 12, 8], width: width, bytes: 12) { strings in
      #expect(errorCode { try found(strings) } == .corrupted)
    }
    try Self.withEnds([4, 8, 13], width: width, bytes: 12) { strings in
      #expect(errorCode { try found(strings) } == .corrupted)
    }
    for base in [Int64.max - 100, -5, .min] {
      try Self.withEnds([base, base, base], base: base, width: width, bytes: 12) { strings in
        #expect(errorCode { try found(strings) } == .corrupted)
      }
    }
  }
}
