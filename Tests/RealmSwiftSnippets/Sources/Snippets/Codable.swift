// Codable.swift: 6 snippets about codable, as RealmSwift's documentation
// uses the API.

import Foundation
import ObjectDatabase

enum CodableSnippets {
  static let all: [(String, () throws -> Void)] = [
    ("decode", snippet1),
    ("encode", snippet2),
    ("decoded objects are added", snippet3),
    ("values", snippet4),
    ("lists", snippet5),
    ("results of values", snippet6),
  ]

  /// Decode.
  static func snippet1() throws {
    let recipe = try JSONDecoder().decode(
      Recipe.self,
      from: Data(
        """
        {"id": "507f1f77bcf86cd799439011", "title": "Cake", "price": "1.5",
         "steps": ["mix", "bake"], "tags": ["sweet"], "amounts": {"flour": 2}}
        """.utf8))
    check(
      recipe.title == "Cake" && recipe.steps.count == 2 && recipe.servings == nil
        && recipe.amounts["flour"] == 2)
  }

  /// Encode.
  static func snippet2() throws {
    let recipe = Recipe(value: ["title": "Cake", "steps": ["mix"]] as [String: Any])
    let id = recipe.id
    let json = try JSONEncoder().encode(recipe)
    let again = try JSONDecoder().decode(Recipe.self, from: json)
    check(again.title == "Cake" && again.id == id)
  }

  /// Decoded objects are added.
  static func snippet3() throws {
    let realm = try freshRealm()
    let recipe = try JSONDecoder().decode(
      Recipe.self,
      from: Data(
        """
        {"id": "507f1f77bcf86cd799439011", "title": "Cake", "price": 2,
         "steps": [], "tags": [], "amounts": {}}
        """.utf8))
    try realm.write { realm.add(recipe, update: .modified) }
    check(realm.objects(Recipe.self).first?.price == 2)
  }

  /// Values.
  static func snippet4() throws {
    _ = try JSONEncoder().encode([ObjectId.generate()])
    _ = try JSONEncoder().encode([Decimal128(number: 5)])
    try check(
      JSONDecoder().decode([Decimal128].self, from: Data("[1.5, \"2.5\", 3]".utf8)) == [
        1.5, 2.5, 3,
      ])
  }

  /// Lists.
  static func snippet5() throws {
    let list = List<Int>()
    list.append(objectsIn: [1, 2])
    try check(String(decoding: JSONEncoder().encode(list), as: UTF8.self) == "[1,2]")
  }

  /// Results of values.
  static func snippet6() throws {
    let realm = try freshRealm()
    let kinds = try realm.write { realm.create(Kinds.self, value: ["ints": [2, 1]]) }
    try check(String(decoding: JSONEncoder().encode(kinds.ints.sorted()), as: UTF8.self) == "[1,2]")
  }
}
