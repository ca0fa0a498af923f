// TextsByKindTests.swift: two hundred query texts, over every operator and every type of column,
// each as somebody would write it, against the naive evaluator on drawn rows. Random queries
// (DifferentialTests) have the printer's spellings; these have people's.

import Engine
import Testing

@testable import Query
@testable import QueryReference

@Suite("Texts by operator and type")
struct TextsByKindTests {
  private static let numbers = [
    "age == 3", "age = 3", "age != 3", "age <> 3", "age > 1", "age >= 1", "age < 5", "age <= 5",
    "age => 1", "age =< 5", "3 == age", "1 < age", "age == -2", "age == +3", "age == 3.0",
    "age > 2.5", "age == 1.0e0", "age BETWEEN {1, 3}", "age between {0, 2}", "age IN {1, 2, 7}",
    "age in {}", "NOT age IN {1, 2}", "!(age == 3)", "not age == 3", "age == number",
    "age > number", "number == nil", "number == null", "number != NULL", "number < 0",
    "number == 0x7", "number IN {nil, 3}", "score == 1.5", "score < 0.5", "score == -1.5",
    "score >= -infinity", "score == inf", "score == +Infinity", "score == nan", "score > 1e2",
    "score == .5", "score == 1.", "ratio == 1.5", "ratio < 0", "ratio >= 3", "ratio == age",
    "price == 1.1", "price == '1.10'", "price > 0", "price == 1E40", "price < age",
    "price IN {2, 0.1}", "age + 1 == 4", "age * 2 > number", "age - number < 0", "age / 2 == 1",
    "(age + 1) * 2 == 8", "age == 16777217", "ratio == 16777217", "score == 9223372036854775808",
  ]

  private static let texts = [
    "name == 'a'", "name == \"a\"", "name = 'ab'", "name != 'a'", "name ==[c] 'AB'",
    "name =[c] 'ab'", "name !=[c] 'ab'", "name == nil", "name != nil", "name == ''",
    "name BEGINSWITH 'a'", "name beginswith[c] 'a'", "name ENDSWITH 'c'", "name ENDSWITH[c] 'B'",
    "name CONTAINS 'b'", "name contains[c] 'B'", "name LIKE 'a*'", "name LIKE[c] 'A?'",
    "name LIKE 'x\\\\*y'", "name like '*'", "name < 'b'", "name >= 'ab'", "name <= 'Ab'",
    "name IN {'a', 'b', nil}", "'a' == name", "name == 'stra\\u00dfe'", "name CONTAINS '\\u00e9'",
    "name == boss.name", "name BEGINSWITH boss.name", "name.length == 2", "name.length > 2",
    "name BETWEEN {'a', 'b'}", "tags == 'a'", "ANY tags == 'a'", "ALL tags == 'a'",
    "NONE tags == 'a'", "SOME tags BEGINSWITH 'a'", "tags.@count > 1", "tags.@size == 0",
    "tags[0] == 'a'", "tags[FIRST] == 'a'", "tags[LAST] != 'a'", "tags[SIZE] == 2",
    "tags.length == 1", "'a' IN tags", "tags IN {'a', 'ab'}", "ANY tags LIKE '?'",
    "ANY tags ==[c] 'AB'", "tags == nil", "ALL tags != nil", "name TEXT 'ab'",
  ]

  private static let others = [
    "isActive == true", "isActive == false", "isActive == TRUE", "isActive == YES",
    "isActive == NO", "isActive == nil", "isOn == true",
    "NOT isActive == true", "born == nil", "born == T0:0", "born == T0:5", "born > T0:0",
    "born < T1600000000:0", "born == 2020-09-13@12:26:40", "born >= 1970-01-01@00:00:00:0",
    "born BETWEEN {T0:0, T1600000000:0}", "born IN {T0:0, nil}", "born != T-1:-1",
    "blob == nil", "blob == binary('ab')", "blob == bin('a')", "blob != B64'YQ=='",
    "blob BEGINSWITH 'a'", "blob CONTAINS 'b'", "blob ENDSWITH 'c'", "blob LIKE 'a*'",
    "blob.length == 2", "blob ==[c] 'AB'", "oid == oid(000000000000000000000003)",
    "oid != oid(000000000000000000000000)", "oid > oid(000000000000000000000002)",
    "oid IN {oid(000000000000000000000001), oid(000000000000000000000002)}",
    "uid == uuid(00000000-0000-0000-0000-000000000001)", "uid == nil", "uid != null",
    "uid IN {uuid(00000000-0000-0000-0000-000000000002), nil}",
    "thing == 3", "thing == 'a'", "thing == true", "thing == nil", "thing != nil", "thing > 1",
    "thing < 'b'", "thing == 1.5", "thing.@type == 'string'", "thing.@type == 'int'",
    "thing.@type IN {'bool', 'double'}", "thing.@type == 'numeric'", "thing.@type == 'object'",
    "thing BEGINSWITH 'a'", "thing ==[c] 'AB'", "thing.name == 'a'", "thing.age > 0",
    "thing == age", "thing IN {1, 'a', true, nil}", "thing BETWEEN {0, 5}",
  ]

  private static let collections = [
    "numbers == 3", "ALL numbers > 0", "NONE numbers == 3", "ANY numbers == nil",
    "numbers.@count == 2", "numbers.@min == 1", "numbers.@max > 2", "numbers.@sum == 3",
    "numbers.@avg > 1", "numbers[0] > 1", "numbers[1] == nil", "numbers IN {1, 3}",
    "ANY numbers BETWEEN {1, 3}", "numbers.@min < numbers.@max", "scores.@sum > 1",
    "scores.@avg == 1.5", "ALL scores >= 0", "scores.@count == age", "2 IN scores",
    "things == 'a'", "ALL things == nil", "things.@type == 'string'", "things[0] == 3",
    "things.@max == 'b'", "things.@min < 2", "things[*] == true", "things.@sum > 3",
    "map == 3", "map['a'] == 3", "map.a == 'a'", "map.@keys == 'b'", "ANY map.@values == true",
    "map.@allKeys BEGINSWITH 'k'", "map.@count == 2", "map['k'] == nil", "map['b'].@type == 'int'",
    "map.@max > 2", "NONE map.@keys == 'a'", "map[*] == 'a'", "ALL map > 0", "map[\"a\"] != nil",
    "walks['a'].age == 3", "walks.age > 1", "walks.@values.name == 'a'", "walks.@count == 0",
    "walks.@keys == 'a'", "walks['b'] == nil",
  ]

  private static let links = [
    "boss == nil", "boss != nil", "boss.age == 3", "boss.name == 'a'", "boss.boss.age > 0",
    "boss.boss == nil", "pet.name BEGINSWITH 'a'", "pet.age == nil", "pet.owner.age == 3",
    "friends.age > 2", "ALL friends.age > 0", "NONE friends.age == 3", "friends.@count == 2",
    "friends.@min.age == 1", "friends.@max.age >= 3", "friends.@sum.age > 1",
    "friends.@avg.age < 3", "friends.age.@sum > 1", "friends[0].age == 3",
    "friends[LAST].name == 'a'", "friends.friends.age == 3", "friends.boss.name != nil",
    "dogs.weight > 1", "ANY dogs.age == nil", "dogs.owner.name == 'a'", "dogs.prices == 2",
    "ALL dogs.prices > 0", "dogs.prices.@max > 1", "dogs.@count > pet.age",
    "staff.@count > 0", "staff.age == 3", "ownedDogs.age > 1", "@links.@count > 2",
    "@links.Person.boss.age == 3", "@links.Person.friends.@count == 1", "boss.staff.@count > 1",
    "SUBQUERY(friends, $f, $f.age > 1).@count > 0",
    "SUBQUERY(friends, $f, $f.age > 1 AND $f.name != nil).@count == 1",
    "SUBQUERY(dogs, $d, $d.weight > 1 OR $d.age == 3).@size >= 1",
    "SUBQUERY(friends, $f, SUBQUERY($f.friends, $g, $g.age > 0).@count > 0).@count > 0",
    "SUBQUERY(staff, $s, $s.age == age).@count == 0", "home.type == 'Point'",
    "home GEOWITHIN geoBox([0, 0], [2, 2])", "home geoWithin geoCircle([1, 1], 0.05)",
    "home GEOWITHIN geoPolygon({[-1, -1], [9, -1], [-1, 9.5]})", "boss == O5", "friends == O2",
  ]

  private static let whole = [
    "TRUEPREDICATE", "FALSEPREDICATE", "age > 0 AND name != nil", "age > 0 && name != nil",
    "age > 0 OR name == nil", "age > 0 || name == nil AND isActive == true",
    "(age > 0 || name == nil) and isActive == true", "NOT (age > 0 AND age < 3)",
    "!age == 1 && !(name == 'a')", "TRUEPREDICATE SORT(age ASC, name DESC)",
    "age > 0 SORT(name DESC) LIMIT(3)", "TRUEPREDICATE DISTINCT(name)",
    "age >= 0 DISTINCT(age, isActive) SORT(score ASC)", "TRUEPREDICATE SORT(boss.age ASC) LIMIT(2)",
    "TRUEPREDICATE sort(pet.name desc) distinct(pet.name) limit(4)", "age > 0 LIMIT(0)",
  ]

  @Test("find what the naive evaluator finds, and so do their printed forms")
  func agree() throws {
    let all = Self.numbers + Self.texts + Self.others + Self.collections + Self.links + Self.whole
    #expect(all.count >= 200 && Set(all).count == all.count)
    var found: [String: Int] = [:]
    for round in 0..<6 {
      var random = ReferenceRandom(0x7e57 &+ UInt64(round))
      let data = Kennel.rows(&random, people: 12, dogs: 7)
      let database = try Kennel.database(data, "texts by kind \(round)")
      let snapshot = try database.snapshot()
      for text in all {
        do {
          let query = try ParsedQuery(parsing: text)
          let again = try ParsedQuery(parsing: query.description)
          #expect(again == query, "\(text)")
          let bound = try query.bound(to: Kennel.schema, table: "Person", arguments: [Value]())
          let expected = Reference(data: data, arguments: []).keys(query, table: "Person")
          #expect(try bound.keys(in: snapshot) == expected, "\(text), round \(round)")
          #expect(try bound.count(in: snapshot) == expected.count, "\(text), round \(round)")
          found[text, default: 0] += expected.count
        } catch { Issue.record("\(text): \(error)") }
      }
      snapshot.release()
      try database.close()
    }
    // Texts that never find a row, or always every one, say little.
    let telling = found.values.count { $0 > 0 && $0 < 6 * 12 }
    #expect(telling > all.count * 4 / 5, "\(telling) of \(all.count) find some rows, not all")
  }
}
