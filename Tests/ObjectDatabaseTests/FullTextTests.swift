// FullTextTests.swift: full-text indexes of classes: searches by typed queries and by words, and
// what becomes of the index when the class changes.

import Engine
import Testing

@testable import ObjectDatabase

private class Article: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted(indexed: .fullText) var body: String
  @Persisted(indexed: .fullText) var title: String?
  @Persisted var plain: String
}

private enum PlainPages {
  class Page: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var text: String
    override class func _realmObjectName() -> String? { "Page" }
  }
}

private enum WithWords {
  class Page: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted(indexed: .fullText) var text: String
    override class func _realmObjectName() -> String? { "Page" }
  }
}

private enum Values {
  class Page: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted(indexed: .general) var text = "none"
    override class func _realmObjectName() -> String? { "Page" }
  }
}

private enum KeyedPages {
  class Page: Object {
    @Persisted var id: Int
    @Persisted(primaryKey: true) var text: String
    override class func _realmObjectName() -> String? { "Page" }
  }
}

private class NumberWithWords: Object {
  @Persisted(indexed: .fullText) var number: Int
}

private class ListWithWords: Object {
  @Persisted(indexed: .fullText) var texts: List<String>
}

private class WordsAndValues: Object {
  @Persisted(indexed: .fullText) var text: String
  override class func indexedProperties() -> [String] { ["text"] }
}

@Suite("full-text indexes of classes")
struct FullTextTests {
  private static let texts = [
    "The quick brown fox", "A Crème brûlée, quickly!", "Full-text search", "foxes and hounds", "",
  ]

  @Test("typed queries and TEXT find the same with and without an index, through changes")
  func searches() throws {
    let folder = try Folder()
    let realm = try folder.realm([Article.self])
    try realm.write {
      for (id, text) in Self.texts.enumerated() {
        var value = ["id": id, "body": text, "plain": text] as [String: Any]
        // The last title is nil.
        if id < 4 { value["title"] = text }
        realm.create(Article.self, value: value)
      }
    }
    let searches = [
      ("quick", [0]), ("QUICK*", [0, 1]), ("creme brulee", [1]), ("full-text", [2]),
      ("fox*", [0, 3]), ("fox* -hounds", [0]), ("the fox missing", []), ("", []),
    ]
    for (search, expected) in searches {
      let body = realm.objects(Article.self).where { $0.body.textSearch(search) }
      #expect(body.map(\.id) == expected, "\(search)")
      #expect(body.count == expected.count)
      let title = realm.objects(Article.self).filter("title TEXT %@", search)
      #expect(title.map(\.id) == expected, "\(search)")
      let plain = realm.objects(Article.self).where { $0.plain.textSearch(search) }
      #expect(plain.map(\.id) == expected, "\(search)")
    }
    let withoutFox = realm.objects(Article.self).where { $0.body.textSearch("-fox") }
    #expect(withoutFox.map(\.id) == [1, 2, 3, 4])
    let foxes = realm.objects(Article.self).where { $0.body.textSearch("fox") && $0.id < 3 }
    try realm.write {
      let first = try #require(realm.object(ofType: Article.self, forPrimaryKey: 0))
      first.body = "a slow hare"
      #expect(foxes.map(\.id) == [])
      realm.delete(realm.objects(Article.self).filter("id == 3"))
      realm.create(
        Article.self, value: ["id": 2, "body": "one Fox"] as [String: Any], update: .modified)
      #expect(foxes.map(\.id) == [2])
    }
    #expect(foxes.map(\.id) == [2])
    #expect(realm.objects(Article.self).where { $0.body.textSearch("fox*") }.map(\.id) == [2])
    #expect(realm.schema["Article"]?["body"]?.isFullText == true)
    #expect(realm.schema["Article"]?["body"]?.isIndexed == false)
  }

  @Test("a change of the attribute builds and removes the index when the realm is opened")
  func changes() throws {
    let folder = try Folder()
    do {
      let realm = try folder.realm([PlainPages.Page.self])
      try realm.write {
        for (id, text) in Self.texts.enumerated() {
          realm.create(
            PlainPages.Page.self, value: ["id": id, "text": text + " \(id)"] as [String: Any])
        }
      }
    }
    func column() throws -> ColumnSchema {
      let database = try Database.open(path: folder.path + "/test.realm")
      try database.verify()
      let table = try #require(try database.snapshot().tables.first { $0.name == "Page" })
      return try #require(table.columns.first { $0.name == "text" })
    }
    do {
      let realm = try folder.realm([WithWords.Page.self])
      let found = realm.objects(WithWords.Page.self).where { $0.text.textSearch("quick*") }
      #expect(found.map(\.id) == [0, 1])
    }
    #expect(try column().isFullText)
    do { _ = try folder.realm([Values.Page.self]) }
    #expect(try column().isIndexed && !column().isFullText)
    do { _ = try folder.realm([WithWords.Page.self]) }
    #expect(try column().isFullText && !column().isIndexed)
    do {
      _ = try Realm(
        configuration: folder.configuration([KeyedPages.Page.self], version: 1) { _, _ in })
    }
    #expect(try column().isUnique && !column().isFullText)
    do {
      _ = try Realm(
        configuration: folder.configuration([WithWords.Page.self], version: 2) { _, _ in })
    }
    #expect(try column().isFullText && !column().isUnique)
    do { _ = try Realm(configuration: folder.configuration([PlainPages.Page.self], version: 2)) }
    #expect(try !column().isFullText && !column().isIndexed)
  }

  @Test("only single strings without another index can have one")
  func unsupported() throws {
    let folder = try Folder()
    for type in [NumberWithWords.self, ListWithWords.self, WordsAndValues.self] as [Object.Type] {
      let error = #expect(throws: Realm.Error.self) { _ = try folder.realm([type]) }
      #expect(error?.code == .unsupportedClass, "\(type)")
    }
  }
}
