// CodableTests.swift: documents as values of `Codable` types.

import DocumentDatabase
import Foundation
import Testing

@Suite("a Codable value")
struct CodableTests {
  struct Person: Codable, Equatable {
    enum Role: String, Codable { case author, reader }
    struct Address: Codable, Equatable {
      var city: String
      var lines: [String]
    }

    @DocumentID var id: String?
    var name: String
    var age: UInt8
    var height: Double
    var isActive: Bool
    var born: Date
    var role: Role
    var address: Address?
    var scores: [String: [Int]]
    var key: Data
    var link: URL
    var picture: Blob?

    static func == (first: Person, second: Person) -> Bool {
      first.id == second.id && first.name == second.name && first.age == second.age
        && first.height == second.height && first.isActive == second.isActive
        && first.born == second.born && first.role == second.role
        && first.address == second.address && first.scores == second.scores
        && first.key == second.key && first.link == second.link && first.picture == second.picture
    }
  }

  private static func person(_ id: String?) -> Person {
    Person(
      id: id, name: "Ann", age: 200, height: 1.75, isActive: true,
      born: Date(timeIntervalSince1970: 86_400.5), role: .author,
      address: Person.Address(city: "Oslo", lines: ["a", "b"]), scores: ["x": [1, -2]],
      key: Data([1, 2]), link: URL(filePath: "/a"), picture: nil)
  }

  @Test("is a document and comes back equal")
  func roundTrip() throws {
    let test = try TestDatabase()
    let collection = try test.collection()
    var person = Self.person("a")
    person.picture = Blob(contentType: "image/png", data: Data([1, 2, 3]))
    #expect(try collection.saveDocument(from: person) == "a")
    let document = try #require(try collection.document(id: "a"))
    #expect(document["address"]["lines"][1].string == "b" && document["scores"]["x"][1].int == -2)
    #expect(document["role"].string == "author" && document["born"].date == person.born)
    #expect(document["picture"].blob?.content == Data([1, 2, 3]) && !document.contains(key: "id"))
    let found = try #require(try collection.document(id: "a", as: Person.self))
    #expect(found == person && found.picture?.content == Data([1, 2, 3]))
    #expect(try document.data(as: Person.self) == person)
    #expect(try collection.document(id: "b", as: Person.self) == nil)
    try test.check()
  }

  @Test("gets an ID, replaces its document, and is deleted")
  func ids() throws {
    let test = try TestDatabase()
    let collection = try test.collection()
    let person = Self.person(nil)
    let id = try collection.saveDocument(from: person)
    #expect(person.id == id && collection.count == 1)
    var changed = person
    changed.name = "Bob"
    changed.address = nil
    try collection.saveDocument(from: changed)
    #expect(try collection.document(id: id, as: Person.self) == changed)
    #expect(try collection.document(id: id)?.contains(key: "address") == false)
    try collection.saveDocument(from: ["n": 1], id: "other")
    #expect(collection.count == 2)
    try collection.deleteDocument(for: changed)
    #expect(code { try collection.deleteDocument(for: changed) } == CBLError.notFound)
    #expect(throws: EncodingError.self) { try collection.saveDocument(from: [1, 2]) }
    try test.check()
  }

  @Test("is a row of a result")
  func rows() throws {
    struct Name: Codable, Equatable {
      @DocumentID var id: String?
      var name: String
      var age: Int?

      static func == (first: Name, second: Name) -> Bool {
        first.id == second.id && first.name == second.name && first.age == second.age
      }
    }
    let test = try TestDatabase()
    try test.fill([#"{"name": "Ann", "age": 3}"#, #"{"name": "Bob"}"#])
    let query = try test.database.createQuery("SELECT META().id, name, age FROM _ ORDER BY name")
    let expected = [Name(id: "1", name: "Ann", age: 3), Name(id: "2", name: "Bob", age: nil)]
    #expect(try query.execute().data(as: Name.self) == expected)
    let all = try test.database.createQuery("SELECT * FROM _ ORDER BY name")
    #expect(try all.execute().next()?.data(as: Name.self).name == "Ann")
  }

  @Test("of another form is an error")
  func refusals() throws {
    struct Small: Codable { var n: Int8 }
    struct Nested: Codable { var n: [String: Bool] }
    let test = try TestDatabase()
    let collection = try test.collection()
    for json in [#"{"n": 128}"#, #"{"n": 1.5}"#, #"{"n": "1"}"#, #"{"n": null}"#, "{}"] {
      try test.fill([json])
      #expect(throws: DecodingError.self, "\(json)") {
        _ = try collection.document(id: "1", as: Small.self)
      }
      #expect(throws: DecodingError.self, "\(json)") {
        _ = try collection.document(id: "1", as: Nested.self)
      }
    }
  }

  @Test("has its types' forms in arrays and dictionaries, too")
  func forms() throws {
    struct Forms: Codable, Equatable {
      var dates = [Date(timeIntervalSince1970: 0)]
      var links = ["a": URL(filePath: "/a")]
      var bytes = [Data([1]), Data()]
      var blobs = [Blob(contentType: "text/plain", data: Data([7]))]
      var large = [UInt64.max, 1]
      var small: [Int8] = [-128]
      var floats: [Float] = [0.5]
      var perhaps: [Int?] = [1, nil]
      var when: Date? = Date(timeIntervalSince1970: 1)
      var never: Date?
      var kinds = [[true, false], []]
      var texts = ["x": ["é", ""]]
    }
    let test = try TestDatabase()
    let collection = try test.collection()
    let forms = Forms()
    try collection.saveDocument(from: forms, id: "f")
    let found = try #require(try collection.document(id: "f", as: Forms.self))
    #expect(found == forms)
    let document = try #require(try collection.document(id: "f"))
    #expect(
      document.toDictionary()["dates"] as? [String] == ["1970-01-01T00:00:00.000Z"]
        && document["links"]["a"].string == "file:///a" && document["blobs"][0].blob != nil
        && document["large"][0].value as? UInt64 == .max && !document.contains(key: "never")
        && document["perhaps"][1].value is NSNull && document["kinds"][0][0].value as? Bool == true)
    try test.check()
  }

  @Test("that does not encode changes nothing, and the next one is saved")
  func failures() throws {
    final class Chain: Codable {
      var next: Chain?
      var number = 1.5
      init(_ length: Int) { next = length > 1 ? Chain(length - 1) : nil }
    }
    let test = try TestDatabase()
    let collection = try test.collection()
    for _ in 0..<2 {
      #expect(throws: (any Error).self) {
        try collection.saveDocument(from: ["list": [1, .nan]], id: "n")
      }
      #expect(throws: EncodingError.self) { try collection.saveDocument(from: Chain(300), id: "n") }
      #expect(try collection.document(id: "n") == nil)
    }
    try collection.saveDocument(from: Chain(200), id: "n")
    #expect(try collection.document(id: "n")?["next"]["next"]["number"].double == 1.5)
    try test.check()
  }
}
