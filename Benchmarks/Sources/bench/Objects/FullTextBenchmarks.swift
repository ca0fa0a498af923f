// FullTextBenchmarks.swift [U]: full-text indexes of the object database against FTS5 of the
// system's SQLite, on the same texts. Safety: the bytes of a TextSet are allocated once and never
// freed.

import Foundation
import ObjectDatabase

/// A text under a full-text index.
class Article: Object {
  @Persisted var id: Int
  @Persisted(indexed: .fullText) var text: String
}

/// Texts of 20 words, of a vocabulary whose few first words are frequent, as in languages.
@safe struct TextSet: @unchecked Sendable {
  let texts: [String]
  /// One behind the other, each ended by a zero.
  let bytes: UnsafePointer<CChar>

  static let shared = TextSet(count: 50_000, wordsEach: 20, vocabulary: 20_000)

  private init(count: Int, wordsEach: Int, vocabulary: Int) {
    var random = Draw(11)
    texts = (0..<count).map { _ in
      (0..<wordsEach).map { _ in Self.word(&random, of: vocabulary) }.joined(separator: " ")
    }
    let all = texts.map { $0 + "\0" }.joined().utf8.map { CChar(bitPattern: $0) }
    let made = UnsafeMutablePointer<CChar>.allocate(capacity: all.count)
    unsafe made.initialize(from: all, count: all.count)
    unsafe bytes = UnsafePointer(made)
  }

  /// Draws a word: the r-th with a probability of about 1/r.
  private static func word(_ random: inout Draw, of vocabulary: Int) -> String {
    let share = Double(random.next() >> 11) / Double(UInt64(1) << 53)
    return spelled(Int(pow(Double(vocabulary), share)))
  }

  /// The word of a rank: syllables, the rank's digits to the base of 60.
  private static func spelled(_ rank: Int) -> String {
    var (rest, word) = (rank, "")
    let consonants = Array("bcdfghklmnpr")
    let vowels = Array("aeiou")
    repeat {
      let digit = rest % 60
      word.append(consonants[digit / 5])
      word.append(vowels[digit % 5])
      rest /= 60
    } while rest > 0
    return word
  }

  /// Words of the vocabulary that a search asks for, most of them rare.
  static let searches: [[String]] = {
    var random = Draw(12)
    return (0..<200).map { _ in (0..<2).map { _ in word(&random, of: 2_000) } }
  }()
}

extension Benchmark {
  static let fullText: [Benchmark] = [
    Benchmark(name: "fulltext-build/fts5") { settings in
      let texts = TextSet.shared
      return try ObjectWork(
        name: "fulltext-build/fts5", unit: "texts/s", peerName: fts5, count: texts.texts.count
      ) {
        try Scratch.withDisk("text") { directory in
          let realm = try articles(directory)
          let (taken, _) = try Taken.by { try fill(realm, texts) }
          return (taken, realm.objects(Article.self).count)
        }
      } timedPeer: {
        try Scratch.withDisk("text") { directory in
          let peer = try fts5(directory)
          let (taken, _) = try Taken.by { _ = try peer.insert(texts: texts, insertion) }
          return (taken, Int(try peer.answer("SELECT count(*) FROM article")))
        }
      }.rate(settings)
    },
    search("fulltext-search/fts5", repeats: 5) { realm, words in
      realm.objects(Article.self).where { $0.text.textSearch(words.joined(separator: " ")) }.count
    } peer: { peer, words in
      let text = words.joined(separator: " ")
      return Int(
        try peer.answer("SELECT count(*) FROM article WHERE article MATCH '\(text)'"))
    },
    search("fulltext-prefix/fts5", repeats: 5) { realm, words in
      let text = "\(words[0].prefix(3))*"
      return realm.objects(Article.self).where { $0.text.textSearch(text) }.count
    } peer: { peer, words in
      Int(
        try peer.answer(
          "SELECT count(*) FROM article WHERE article MATCH '\(words[0].prefix(3))*'"))
    },
    Benchmark(name: "fulltext-size/fts5") { settings in
      try Scratch.withDisk("text") { directory in
        try fill(try articles(directory), .shared)
        do {
          let peer = try fts5(directory)
          _ = try peer.insert(texts: .shared, insertion)
        }
        let other = try sizeBytes(directory.appending(path: "peer.sqlite").path)
        let own = try sizeBytes(directory.appending(path: "ours.realm").path)
        return .cost(
          "fulltext-size/fts5", ours: (settings.peerOnBothSides ? other : own) / 1e6,
          peer: other / 1e6, peerName: fts5, unit: "MB")
      }
    },
  ]

  private static let fts5 = "SQLite FTS5"
  private static let insertion = "INSERT INTO article(rowid, text) VALUES (?, ?)"

  private static func articles(_ directory: URL) throws -> Realm {
    var configuration = Realm.Configuration()
    configuration.fileURL = directory.appending(path: "ours.realm")
    configuration.objectTypes = [Article.self]
    return try Realm(configuration: configuration)
  }

  private static func fill(_ realm: Realm, _ texts: TextSet) throws {
    try realm.write {
      realm.create(Article.self, from: Array(texts.texts.enumerated())) { article, text in
        article.id = text.offset
        article.text = text.element
      }
    }
  }

  private static func fts5(_ directory: URL) throws -> SQLiteStore {
    let peer = try SQLiteStore(directory.appending(path: "peer.sqlite").path)
    try peer.execute("CREATE VIRTUAL TABLE article USING fts5(text)")
    return peer
  }

  /// 200 searches a call; both sides must find as much in each.
  private static func search(
    _ name: String, repeats: Int, ours: @escaping @Sendable (Realm, [String]) -> Int,
    peer: @escaping @Sendable (SQLiteStore, [String]) throws -> Int
  ) -> Benchmark {
    Benchmark(name: name) { settings in
      try Scratch.withDisk("text") { directory in
        let realm = try articles(directory)
        try fill(realm, .shared)
        let store = try fts5(directory)
        _ = try store.insert(texts: .shared, insertion)
        return try ObjectWork(
          name: name, unit: "searches/s", peerName: fts5, count: TextSet.searches.count,
          repeats: repeats
        ) {
          TextSet.searches.map { ours(realm, $0) }
        } peer: {
          try TextSet.searches.map { try peer(store, $0) }
        }.rate(settings)
      }
    }
  }
}
