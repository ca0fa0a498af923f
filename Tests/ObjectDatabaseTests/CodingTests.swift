// CodingTests.swift: models with Codable, whose code the compiler derives.

import Foundation
import ObjectDatabase
import Testing

private class Part: EmbeddedObject, Codable {
  @Persisted var name: String
}

private class Machine: Object, Codable {
  @Persisted(primaryKey: true) var id: ObjectId
  @Persisted var title: String
  @Persisted var note: String?
  @Persisted var price: Decimal128
  @Persisted var parts: List<Part>
  @Persisted var main: Part?
  @Persisted var tags: MutableSet<String>
  @Persisted var sizes: Map<String, Int>
}

@Suite("Codable")
struct CodingTests {
  private let text = """
    {"id": "507f1f77bcf86cd799439011", "title": "mill", "price": "1.50", "parts": [{"name": "p"}],
     "main": {"name": "m"}, "tags": ["a", "b"], "sizes": {"x": 1}}
    """

  @Test("decoding makes an unmanaged object; what is optional may be missing")
  func decode() throws {
    let machine = try JSONDecoder().decode(Machine.self, from: Data(text.utf8))
    #expect(machine.realm == nil && machine.title == "mill" && machine.note == nil)
    #expect(machine.id.stringValue == "507f1f77bcf86cd799439011")
    #expect(machine.price.stringValue == "1.50")
    #expect(machine.parts.map(\.name) == ["p"] && machine.main?.name == "m")
    #expect(machine.tags.count == 2 && machine.sizes["x"] == 1)
  }

  @Test("encoding and decoding gives the same values")
  func roundTrip() throws {
    let machine = try JSONDecoder().decode(Machine.self, from: Data(text.utf8))
    let again = try JSONDecoder().decode(Machine.self, from: JSONEncoder().encode(machine))
    #expect(again.id == machine.id && again.price.stringValue == "1.50")
    #expect(again.parts.map(\.name) == ["p"] && again.sizes == machine.sizes)
    let empty = try JSONDecoder().decode(Machine.self, from: JSONEncoder().encode(Machine()))
    #expect(empty.title == "" && empty.parts.isEmpty)
  }

  @Test("a managed object throws, added or read, and its detached copy does not")
  func managed() throws {
    let realm = try Realm(
      configuration: .init(inMemoryIdentifier: #function, objectTypes: [Machine.self]))
    let machine = try JSONDecoder().decode(Machine.self, from: Data(text.utf8))
    try realm.write { realm.add(machine) }
    let read = try #require(realm.objects(Machine.self).first)
    for object in [machine, read] {
      #expect(throws: EncodingError.self) { try JSONEncoder().encode(object) }
    }
    let copy = Machine(value: read)
    let again = try JSONDecoder().decode(Machine.self, from: JSONEncoder().encode(copy))
    #expect(again.title == "mill" && again.tags.count == 2)
  }

  @Test("wrong texts are errors")
  func wrong() {
    for id in ["", "x", "507f1f77bcf86cd79943901"] {
      #expect(throws: DecodingError.self) {
        try JSONDecoder().decode([ObjectId].self, from: Data("[\"\(id)\"]".utf8))
      }
    }
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode([Decimal128].self, from: Data("[\"x\"]".utf8))
    }
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(Machine.self, from: Data("{\"title\": \"t\"}".utf8))
    }
  }
}
