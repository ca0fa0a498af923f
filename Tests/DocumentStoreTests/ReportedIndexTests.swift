// ReportedIndexTests.swift: what users of the real library have reported of indexes and full-text
// search, with the names of the reports.

import DocumentStore
import Requirements
import Testing

@Suite("Reported faults of indexes")
struct ReportedIndexTests {
  private func file(_ folder: TemporaryFolder, _ bodies: [String]) throws -> DataFile {
    let file = try folder.make()
    for (index, body) in bodies.enumerated() {
      let id = String(UnicodeScalar(UInt8(97 + index)))
      try file.write { transaction in
        _ = try transaction.collection().save(id, body: transaction.encode(json: body))
      }
    }
    return file
  }

  @discardableResult
  private func create(
    _ name: String, _ kind: IndexSpecification.Kind, _ json: String, _ file: DataFile
  ) throws -> Bool {
    try file.write {
      try $0.collection().createIndex(IndexSpecification(name, kind, json: json))
    }
  }

  private func words(_ change: (inout FullTextOptions) -> Void) -> IndexSpecification.Kind {
    var options = FullTextOptions()
    change(&options)
    return .fullText(options)
  }

  /// The IDs of a query in SQL++ with the given end.
  private func ids(_ end: String, _ file: DataFile) throws -> String {
    let query = StoreQuery("SELECT META(d).id FROM _ AS d \(end)", language: .text)
    return try file.read { try $0.run(query).rows.compactMap { $0[0].ownText }.joined() }
  }

  @Test("core 723, net 1134: diacritics count unless they are ignored", arguments: [true, false])
  func diacritics(isIgnored: Bool) throws {
    let folder = try TemporaryFolder()
    let file = try file(folder, [#"{"t":"résumé"}"#, #"{"t":"resume"}"#])
    try create("w", words { $0.ignoresDiacritics = isIgnored }, #"[[".t"]]"#, file)
    for word in ["résumé", "resume"] {
      let expected = isIgnored ? "ab" : word == "resume" ? "b" : "a"
      #expect(try ids("WHERE MATCH(w, '\(word)') ORDER BY META(d).id", file) == expected)
    }
    try file.close()
  }

  @Test("core 593, ios 2217: beginnings of words are compared with stems", .requires(.stemmer))
  func beginnings() throws {
    let folder = try TemporaryFolder()
    let bodies = ["alternate", "alternative", "alternating", "alterna-porn"].map {
      "{\"t\":\"\($0)\"}"
    }
    let file = try file(folder, bodies)
    try create("w", words { $0.language = "en" }, #"[[".t"]]"#, file)
    try create("plain", words { _ in }, #"[[".t"]]"#, file)
    let order = "ORDER BY META(d).id"
    #expect(try ids("WHERE MATCH(w, 'altern*') \(order)", file) == "abcd")
    #expect(try ids("WHERE MATCH(plain, 'alterna*') \(order)", file) == "abcd")
    #expect(try ids("WHERE MATCH(plain, 'alternati*') \(order)", file) == "bc")
    try file.close()
  }

  @Test("ios 1399: a language without a stemmer has an index")
  func noStemmer() throws {
    let folder = try TemporaryFolder()
    let file = try file(folder, [#"{"t":"日本 words"}"#])
    try create("w", words { $0.language = "ja" }, #"[[".t"]]"#, file)
    #expect(try ids("WHERE MATCH(w, 'words')", file) == "a")
    #expect(try ids("WHERE MATCH(w, '日本')", file) == "a")
    #expect(try file.verify().problems == [])
    try file.close()
  }

  @Test("core 123, 124, 626: an index made twice, a star in front, a stop word before a star")
  func patterns() throws {
    let folder = try TemporaryFolder()
    let file = try file(
      folder,
      [#"{"t":"the seafront"}"#, #"{"t":"beach-front banana"}"#, #"{"t":"she has bananas"}"#])
    let kind = words {
      $0.language = "en"
      $0.stems = false
    }
    #expect(try create("w", kind, #"[[".t"]]"#, file))
    #expect(try !create("w", kind, #"[[".t"]]"#, file))
    #expect(try ids("WHERE MATCH(w, '*front')", file) == "b")
    #expect(try ids("WHERE MATCH(w, 'banana* AND h*')", file) == "")
    #expect(try ids("WHERE MATCH(w, 'banana* AND she*')", file) == "")
    #expect(try ids("WHERE MATCH(w, 'banana* OR sea*') ORDER BY META(d).id", file) == "abc")
    try file.close()
  }

  @Test("ios 1931: full text beside other conditions, under AND")
  func besideOthers() throws {
    let folder = try TemporaryFolder()
    let file = try file(
      folder,
      [
        #"{"t":"pets allowed","k":"hotel","city":"Oslo"}"#,
        #"{"t":"pets allowed","k":"hotel","state":"Oslo"}"#, #"{"t":"pets allowed","k":"inn"}"#,
      ])
    try create("w", words { _ in }, #"[[".t"]]"#, file)
    let condition = """
      WHERE MATCH(w, 'pets') AND k = 'hotel' AND (city = 'Oslo' OR state = 'Oslo' OR x = 'Oslo') \
      ORDER BY META(d).id
      """
    #expect(try ids(condition, file) == "ab")
    try file.close()
  }

  @Test("android 1849, core 2171, 2178: queries whose indexes go and come again")
  func dropped() throws {
    for bodies in [[], [#"{"t":"one","a":[{"x":1,"y":2}]}"#]] {
      let folder = try TemporaryFolder()
      let file = try file(folder, bodies)
      let found = bodies.isEmpty ? "" : "a"
      let (match, items) = ("WHERE MATCH(w, 'one')", "UNNEST d.a AS u WHERE u.x = 1")
      for property in ["x", "y", "x"] {
        try create("w", words { _ in }, #"[[".t"]]"#, file)
        try create("items", .array(path: "a"), "[[\".\(property)\"]]", file)
        #expect(try ids(match, file) == found)
        #expect(try ids(items, file) == found)
        // Made again with another property, without a drop between.
        try create("items", .array(path: "a"), #"[[".z"]]"#, file)
        #expect(try ids(items, file) == found)
        try file.write { transaction in
          for name in ["w", "items"] {
            let isGone = try transaction.deleteIndex(name)
            #expect(isGone)
          }
        }
        #expect(code { _ = try ids(match, file) } == .missingIndex)
        #expect(try ids(items, file) == found)
        #expect(try file.verify().problems == [])
      }
      try file.close()
    }
  }

  @Test("net 1149, ios 1874: an index of another kind takes a name over, and back")
  func otherKind() throws {
    let folder = try TemporaryFolder()
    let file = try file(folder, [#"{"t":"one"}"#])
    for _ in 0..<2 {
      for kind in [words { _ in }, .value, .array(path: "a")] {
        #expect(try create("i", kind, kind == .array(path: "a") ? "[]" : #"[[".t"]]"#, file))
        #expect(try file.read { try $0.indexes().map(\.name) } == ["i"])
        #expect(try file.verify().problems == [])
      }
    }
    try file.close()
  }

  @Test("core 227: an index is replaced while a reader uses the old one")
  func replacedWhileRead() throws {
    let folder = try TemporaryFolder()
    let file = try file(folder, (0..<4).map { "{\"n\":\($0)}" })
    try create("i", .value, #"[[".n"]]"#, file)
    var seen = 0
    let query = StoreQuery("SELECT n WHERE n >= 0 ORDER BY n", language: .text)
    try file.read { snapshot in
      try snapshot.enumerate(query) { row in
        if seen == 1 {
          try file.write {
            try $0.collection().createIndex(
              IndexSpecification("i", .value, json: #"[[".n"],[".m"]]"#))
          }
        }
        #expect(row[0] == .integer(Int64(seen)))
        seen += 1
        return true
      }
    }
    #expect(seen == 4)
    #expect(try file.verify().problems == [])
    try file.close()
  }

  @Test("core 836, 842: full text of a source with a name, ordered by rank")
  func namedSource() throws {
    let folder = try TemporaryFolder()
    let file = try file(
      folder, [#"{"t":"woman dummy"}"#, #"{"t":"woman woman"}"#, #"{"t":"man"}"#])
    try create("w", words { _ in }, #"[[".t"]]"#, file)
    for name in ["w", "d.w"] {
      #expect(try ids("WHERE MATCH(\(name), 'woman') ORDER BY RANK(\(name)) DESC", file) == "ba")
    }
    try file.close()
  }

  @Test("core 772: full text of arrays has the words of each item, first and last ones too")
  func arrays() throws {
    let folder = try TemporaryFolder()
    let file = try file(
      folder,
      [#"{"t":["first word","last one"]}"#, #"{"t":[["deep"],{"k":"value"},3]}"#, #"{"t":[]}"#])
    try create("w", words { _ in }, #"[[".t"]]"#, file)
    for (word, found) in [
      ("first", "a"), ("word", "a"), ("last", "a"), ("one", "a"), ("deep", "b"), ("value", "b"),
      ("3", "b"), ("k", ""), ("wordlast", ""),
    ] {
      #expect(try ids("WHERE MATCH(w, '\(word)')", file) == found, "\(word)")
    }
    try file.close()
  }

  @Test("core 2214, 2220: an index for some documents is made anew when its condition changes")
  func conditions() throws {
    let folder = try TemporaryFolder()
    let file = try file(folder, [#"{"t":"one","n":1}"#, #"{"t":"one","n":2}"#])
    func indexed(_ condition: String) -> String { "{\"WHAT\":[[\".t\"]],\"WHERE\":\(condition)}" }
    for kind in [words { _ in }, .value] {
      #expect(try create("w", kind, indexed(#"["=",[".n"],1]"#), file))
      #expect(try !create("w", kind, indexed(#"["=",[".n"],1]"#), file))
      if kind != .value { #expect(try ids("WHERE MATCH(w, 'one')", file) == "a") }
      #expect(try create("w", kind, indexed(#"["=",[".n"],2]"#), file))
      if kind != .value { #expect(try ids("WHERE MATCH(w, 'one')", file) == "b") }
      #expect(try create("w", kind, #"[[".t"]]"#, file))
      if kind != .value {
        #expect(try ids("WHERE MATCH(w, 'one') ORDER BY META(d).id", file) == "ab")
      }
      #expect(try file.verify().problems == [])
    }
    try file.close()
  }

  @Test("ios 1401: an index made anew with other options finds by them", .requires(.stemmer))
  func otherOptions() throws {
    let folder = try TemporaryFolder()
    let file = try file(folder, [#"{"t":"the houses"}"#])
    for (language, house, the) in [("en", "a", ""), (nil, "", "a"), ("en", "a", "")] {
      #expect(try create("w", words { $0.language = language }, #"[[".t"]]"#, file))
      #expect(try ids("WHERE MATCH(w, 'house')", file) == house)
      #expect(try ids("WHERE MATCH(w, 'the')", file) == the)
    }
    try file.close()
  }
}
