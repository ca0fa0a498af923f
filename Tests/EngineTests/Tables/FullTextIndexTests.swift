// FullTextIndexTests.swift: what a full-text index finds, against a naive look at every row with
// Foundation's folding, through changes, versions, copies and damage.

import Foundation
import Testing

@testable import Engine

/// A search as its terms, and the rows that a naive reader finds.
private struct NaiveSearch {
  var terms: [(word: String, isPrefix: Bool, isExcluded: Bool)]

  var text: String {
    terms.map { ($0.isExcluded ? "-" : "") + $0.word + ($0.isPrefix ? "*" : "") }
      .joined(separator: " ")
  }

  static func folded(_ text: String) -> String {
    text.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil).lowercased()
  }

  static func words(_ text: String) -> Set<String> {
    Set(folded(text).split { !$0.isLetter && !$0.isNumber }.map(String.init))
  }

  func matches(_ words: Set<String>) -> Bool {
    terms.allSatisfy { term in
      let wanted = Self.folded(term.word)
      let isThere = words.contains { term.isPrefix ? $0.hasPrefix(wanted) : $0 == wanted }
      return isThere != term.isExcluded
    }
  }
}

@Suite("Full-text indexes")
struct FullTextIndexTests {
  private static let schema = TableSchema(
    name: "Note",
    columns: [
      ColumnSchema(name: "n", type: .int),
      ColumnSchema(name: "text", type: .string, isOptional: true, isFullText: true),
    ])

  private static let vocabulary =
    [
      "a", "ab", "Abc", "swift", "SWIFT", "swiftly", "Crème", "creme", "Ünïcode", "2026", "20",
      "x86", "日本語", "日本", "日", "Ελλάδα", "internationalization", "internationalizations",
      "internationalisation", "abcdefghijkl", "abcdefghijklm", "abcdefghijkln",
    ] + (0..<60).map { "w\($0 * 7919 % 1000)" }
  private static let separators = [" ", ", ", "-", "\n", " – ", "_", "'"]

  private static func text(_ random: inout TestRandom, words count: Int) -> String {
    (0..<random.below(count)).map { _ in
      vocabulary[random.below(vocabulary.count)] + separators[random.below(separators.count)]
    }.joined()
  }

  private static func search(_ random: inout TestRandom) -> NaiveSearch {
    var search = NaiveSearch(terms: [])
    for number in 0...random.below(3) {
      let word = vocabulary[random.below(vocabulary.count)]
      let isPrefix = random.below(3) == 0
      let length = isPrefix ? 1 + random.below(word.count) : word.count
      search.terms.append(
        (String(word.prefix(length)), isPrefix, number > 0 && random.below(3) == 0))
    }
    return search
  }

  private static func value(_ random: inout TestRandom, words count: Int = 9) -> Value {
    random.below(8) == 0 ? .null : .string(text(&random, words: count))
  }

  private static func words(_ model: [Int64: Value]) -> [Int64: Set<String>] {
    model.mapValues { value in
      if case .string(let text) = value { NaiveSearch.words(text) } else { ["\u{0}"] }
    }
  }

  /// A null has no words, and no search finds it.
  private static func compare(
    _ reader: some ReadableVersion, _ model: [Int64: Value], _ random: inout TestRandom,
    searches: Int, _ location: SourceLocation = #_sourceLocation
  ) throws -> Int {
    let words = words(model)
    var found = 0
    for _ in 0..<searches {
      let search = search(&random)
      let keys = try reader.keys(
        in: "Note", column: "text", matching: WordSearch(search.text))
      let expected = words.filter { model[$0.key] != .null && search.matches($0.value) }
      #expect(keys == expected.keys.sorted(), "\(search.text)", sourceLocation: location)
      found += keys.count
    }
    return found
  }

  @Test(
    "find what a look at every row finds, in transactions and versions, through changes",
    arguments: [false, true])
  func againstModel(isEncrypted: Bool) throws {
    var random = TestRandom(isEncrypted ? 3 : 1)
    let options = isEncrypted ? EncryptedFixtures.options(cacheBytes: 1 << 20) : .init()
    let backend = TestBackend()
    let database = try Database.open(backend: backend, options: options)
    let first = try database.beginWrite()
    try first.createTable(Self.schema)
    try first.commit()
    var model: [Int64: Value] = [:]
    var found = 0
    for round in 0..<14 {
      let write = try database.beginWrite()
      let before = model
      for _ in 0..<25 {
        let key = [Int64.min, .max, -1, Int64(random.below(90)) * 1000][random.below(4)]
        let value = Self.value(&random)
        switch random.below(4) {
        case 0 where model[key] != nil:
          try write.delete(from: "Note", key: key)
          model[key] = nil
        case 1 where model[key] != nil:
          try write.set(value, in: "Note", key: key, column: "text")
          model[key] = value
        default:
          try write.upsert(into: "Note", key: key, [.int(1), value])
          model[key] = value
        }
      }
      found += try Self.compare(write, model, &random, searches: 6)
      if round % 5 == 4 {
        write.cancel()
        model = before
      } else {
        try write.commit()
      }
      let snapshot = try database.snapshot()
      found += try Self.compare(snapshot, model, &random, searches: 6)
      snapshot.release()
      try database.verify()
    }
    #expect(found > 100, "too few rows are found to say anything")
  }

  /// Rows with several leaves of words.
  private static func large(
    _ random: inout TestRandom, indexedFirst: Bool
  ) throws -> (database: Database, model: [Int64: Value]) {
    let database = try Database.open(backend: TestBackend())
    var schema = schema
    schema.columns[1].isFullText = indexedFirst
    var model: [Int64: Value] = [:]
    let write = try database.beginWrite()
    try write.createTable(schema)
    for number in 0..<1_500 {
      // Every other row comes out of order.
      let key = Int64(number % 2 == 0 ? number * 3 : number * 3 ^ 0x155)
      guard model[key] == nil else { continue }
      model[key] = value(&random, words: 24)
      try write.insert(into: "Note", key: key, [.int(key), model[key]!])
    }
    if !indexedFirst { try write.addFullTextIndex(to: "text", in: "Note") }
    try write.commit()
    return (database, model)
  }

  private static func pairs(_ database: Database) throws -> [KeyPair] {
    let snapshot = try database.snapshot()
    defer { snapshot.release() }
    let table = try #require(snapshot.state.group.tables.first)
    var pairs: [KeyPair] = []
    let index = table.columns[1].index
    try KeyPairTree(
      reader: snapshot.state.reader, root: index.root, level: index.level,
      newest: snapshot.state.version, ofWords: true
    ).forEach(in: 0...UInt64.max) { image, key, _ in
      pairs.append(KeyPair(image, key))
      return true
    }
    return pairs
  }

  @Test("an index built from rows, and one kept row by row, have the same pairs")
  func built() throws {
    var (one, other) = (TestRandom(7), TestRandom(7))
    let kept = try Self.large(&one, indexedFirst: true)
    let built = try Self.large(&other, indexedFirst: false)
    #expect(try Self.pairs(kept.database) == Self.pairs(built.database))
    #expect(try Self.pairs(kept.database).count > 10_000)
    try built.database.verify()
  }

  @Test("many rows: leaves are split and merged, copied, removed and built again")
  func many() throws {
    var random = TestRandom(11)
    let (database, start) = try Self.large(&random, indexedFirst: true)
    var model = start
    for round in 0..<3 {
      let write = try database.beginWrite()
      for key in model.keys.sorted() where (Int(key) + round) % 3 != 0 {
        if (Int(key) + round) % 3 == 1 {
          try write.delete(from: "Note", key: key)
          model[key] = nil
        } else {
          model[key] = Self.value(&random, words: 24)
          try write.update(in: "Note", key: key, [.int(0), model[key]!])
        }
      }
      try write.commit()
      try database.verify()
      let snapshot = try database.snapshot()
      _ = try Self.compare(snapshot, model, &random, searches: 15)
      snapshot.release()
    }
    let before = try Self.pairs(database)
    try withTemporaryFolder { folder in
      try database.writeCopy(to: folder + "/copy", encryptionKey: nil)
      let copy = try Database.open(path: folder + "/copy")
      try copy.verify()
      #expect(try Self.pairs(copy) == before)
      try copy.close()
    }
    let write = try database.beginWrite()
    try write.removeIndex(from: "text", in: "Note")
    #expect(
      errorCode {
        try write.keys(in: "Note", column: "text", matching: WordSearch("a"))
      } == .noIndex)
    try write.addFullTextIndex(to: "text", in: "Note")
    _ = try Self.compare(write, model, &random, searches: 15)
    try write.commit()
    try database.verify()
    #expect(try Self.pairs(database) == before)
  }

  @Test("many changes of the same words in one transaction come to what the rows have")
  func changesOfTheSameWords() throws {
    let database = try Database.open(backend: TestBackend())
    var random = TestRandom(71)
    for _ in 0..<3 {
      let write = try database.beginWrite()
      if write.tables.isEmpty { try write.createTable(Self.schema) }
      for _ in 0..<3 {
        for key in (0..<300).shuffled(using: &random) {
          let text = Self.text(&random, words: 12)
          try write.upsert(into: "Note", key: Int64(key), [.int(Int64(key)), .string(text)])
          if key % 40 == 0 { try write.delete(from: "Note", key: Int64(key)) }
        }
      }
      try write.commit()
      // It compares the index with the words of the rows.
      try database.verify()
    }
  }

  @Test("verify reports a pair too many, a pair too few, one for another, and keys exchanged")
  func damage() throws {
    let pair = KeyPair(WordImage("swift").value, 1)
    let other = KeyPair(WordImage("c").value, 2)
    for changes in [
      [WordChange(KeyPair(5 << 59, 1), isAdded: true)], [WordChange(pair, isAdded: false)],
      [WordChange(pair, isAdded: false), WordChange(KeyPair(pair.image, 2), isAdded: true)],
      [
        WordChange(pair, isAdded: false), WordChange(KeyPair(pair.image, 2), isAdded: true),
        WordChange(other, isAdded: false), WordChange(KeyPair(other.image, 1), isAdded: true),
      ],
    ] {
      let database = try Database.open(backend: TestBackend())
      var write = try database.beginWrite()
      try write.createTable(Self.schema)
      try write.insert(into: "Note", key: 1, [.int(1), .string("swift")])
      try write.insert(into: "Note", key: 2, [.int(1), .string("c")])
      try write.commit()
      try database.verify()
      write = try database.beginWrite()
      write.mutableTables[0].index(1).waiting += changes
      try write.commit()
      #expect(errorCode { try database.verify() } == .corrupted)
    }
  }

  @Test("a pair that its tree has already, or has not, makes the transaction fail")
  func disagreement() throws {
    let database = try Database.open(backend: TestBackend())
    var write = try database.beginWrite()
    try write.createTable(Self.schema)
    try write.insert(into: "Note", key: 1, [.int(1), .string("swift")])
    try write.commit()
    for isAdded in [true, false] {
      write = try database.beginWrite()
      let word = WordImage(isAdded ? "swift" : "c").value
      write.mutableTables[0].index(1).waiting.append(
        WordChange(KeyPair(word, 1), isAdded: isAdded))
      if isAdded {
        // A search that meets the error does not hide it from the commit.
        let search = WordSearch("swift")
        #expect(
          errorCode { try write.keys(in: "Note", column: "text", matching: search) }
            == .corrupted)
      }
      #expect(errorCode { try write.commit() } == .corrupted)
    }
    try database.verify()
  }

  @Test("which columns can have one, and which calls take it")
  func schema() throws {
    let database = try Database.open(backend: TestBackend())
    let write = try database.beginWrite()
    for column in [
      ColumnSchema(name: "c", type: .int, isFullText: true),
      ColumnSchema(name: "c", type: .string, collection: .list, isFullText: true),
      ColumnSchema(name: "c", type: .string, isIndexed: true, isFullText: true),
      ColumnSchema(name: "c", type: .string, isUnique: true, isFullText: true),
    ] {
      #expect(
        errorCode { try write.createTable(TableSchema(name: "T", columns: [column])) }
          == .schemaMismatch)
    }
    try write.createTable(Self.schema)
    try write.insert(into: "Note", key: 1, [.int(1), .string("swift")])
    #expect(errorCode { try write.addFullTextIndex(to: "n", in: "Note") } == .schemaMismatch)
    #expect(errorCode { try write.addIndex(to: "text", in: "Note") } == .schemaMismatch)
    #expect(
      errorCode { try write.keys(in: "Note", column: "text", equalTo: .string("swift")) }
        == .noIndex)
    #expect(
      errorCode { try write.keys(in: "Note", column: "text", matching: WordSearch("-a")) }
        == .schemaMismatch)
    try write.addColumn(
      ColumnSchema(name: "more", type: .string, isFullText: true), to: "Note")
    try write.set(.string("more words"), in: "Note", key: 1, column: "more")
    #expect(try write.keys(in: "Note", column: "more", matching: WordSearch("WORDS")) == [1])
    try write.removeColumn("text", from: "Note")
    try write.commit()
    #expect(database.snapshotTables() == [[false, true]])
    try database.verify()
  }
}

extension Database {
  /// Which columns have a full-text index, by table.
  fileprivate func snapshotTables() -> [[Bool]] {
    guard let snapshot = try? snapshot() else { return [] }
    defer { snapshot.release() }
    return snapshot.tables.map { $0.columns.map(\.isFullText) }
  }
}

@Suite("Words")
struct WordTests {
  @Test(
    "of a text",
    arguments: [
      ("", []), ("Full-text search!", ["full", "text", "search"]),
      ("CRÈME brûlée", ["creme", "brulee"]), ("cre\u{300}me", ["creme"]), ("\u{300}", []),
      ("Straße STRASSE", ["strasse", "strasse"]), ("a_b c·d", ["a", "b", "c", "d"]),
      ("x86 3.14", ["x86", "3", "14"]), ("日本 語", ["日本", "語"]), ("Σίσυφος", ["σισυφοσ"]),
      ("it’s “so”", ["it", "s", "so"]), ("Ⅷ ½", ["ⅷ", "½"]),
    ] as [(String, [String])])
  func words(text: String, words: [String]) {
    #expect(Words.of(text) == words)
    #expect(Words.images(in: text) == Set(words.map { WordImage($0).value }).sorted())
  }

  @Test("have images that file-format.md names")
  func images() {
    #expect(WordImage("a").value == 1 << 59)
    #expect(WordImage("z").value == 26 << 59)
    #expect(WordImage("ab").value == 1 << 59 | 2 << 54)
    #expect(WordImage("0").value == 108 << 57)
    let (sigma, sun): (UInt64, UInt64) = (30 << 59 | (0x3c3 - 0x80) << 48, 31 << 59 | 0x65e5 << 38)
    #expect(WordImage("9a").value == UInt64(117) << 57 | 1 << 52)
    #expect(WordImage("σ").value == sigma && WordImage("日").value == sun)
    #expect(!WordImage("abcdefghijkl").isCut && WordImage("abcdefghijklm").isCut)
    #expect(WordImage("abcdefghijklm").value == WordImage("abcdefghijkl").value | 1)
    #expect(WordImage("日本語").value == WordImage("日本").value | 1)
  }

  @Test("that begin with one are the range of its images, and no others are in it")
  func ranges() {
    var random = TestRandom(5)
    let letters: [Character] = Array("ab9zé日σ")
    func word() -> String { String((0...random.below(14)).map { _ in letters[random.below(7)] }) }
    var inside = 0
    for _ in 0..<4_000 {
      let (prefix, tail) = (word(), word())
      let other = random.below(2) == 0 ? prefix + tail : word()
      let (start, image) = (WordImage(prefix), WordImage(other))
      if other.unicodeScalars.starts(with: prefix.unicodeScalars) {
        #expect(start.range.contains(image.value), "\(prefix) \(other)")
        inside += 1
      } else if !start.isCut {
        #expect(!start.range.contains(image.value), "\(prefix) \(other)")
      }
    }
    #expect(inside > 1_000)
  }

  @Test("that are searched by images and by themselves give the same")
  func search() {
    #expect(WordSearch("swift -c").matches("Swift, not C++") == false)
    #expect(WordSearch("swift -c").matches("Swift alone"))
    #expect(WordSearch("internationalization").matches("internationalizations") == false)
    #expect(WordSearch("internationaliz*").matches("internationalizations"))
    #expect(WordSearch("internationalis*").matches("internationalizations") == false)
    #expect(WordSearch("").matches("a") == false && WordSearch("-a").matches("b"))
    #expect(WordSearch("full-te*").matches("a full text"))
    #expect(WordSearch("-a-b").matches("b") == false)
  }
}
