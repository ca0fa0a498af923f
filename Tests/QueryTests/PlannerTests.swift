// PlannerTests.swift: the plan in words, and its answers on tables of many leaves, where indexes,
// scans and lookups are each used; the naive evaluator says what is right.

import Engine
import Testing

@testable import Query
@testable import QueryReference

@Suite("The planner")
struct PlannerTests {
  private static func explained(_ text: String, _ table: String = "Person") throws -> [String] {
    try ParsedQuery(parsing: text).bound(to: Kennel.schema, table: table).explain()
      .split(separator: "\n").map(String.init)
  }

  @Test("uses an index, then scans, then looks at rows, the cheapest condition first")
  func order() throws {
    let lines = try Self.explained(
      "friends.@count > 1 AND boss.name == 'a' AND score > 1.5 AND born == T0:0 "
        + "SORT(age DESC) DISTINCT(name) LIMIT(3)")
    #expect(lines.count == 8)
    #expect(lines[1] == "  index of Person.born (one value): born == T0:0")
    #expect(lines[2] == "  scan of columns: score > 1.5")
    #expect(lines[3] == "  scan of columns through links: boss.name == 'a'")
    #expect(lines[4].hasPrefix("  row by row (cost 51): friends.@count > 1"))
    #expect(lines[5] == "  then sort by 1 keys, ties by key")
    #expect(lines[6] == "  then the first of each 1 values")
    #expect(lines[7] == "  then the first 3 rows")
  }

  @Test(
    "answers by index what an index can answer",
    arguments: [
      ("age == 5", "one value"), ("age IN {1, 2, 3.0}", "3 values"), ("age > 5", "range"),
      ("age BETWEEN {1, 9}", "range"), ("boss == obj('Person', O5)", "one value"),
      ("oid == oid(000000000000000000000001)", "one value"), ("uid == null", "one value"),
      ("born >= T0:0", "range"), ("age == 1.5", "0 values"), ("name TEXT 'a -b'", "words"),
    ])
  func indexed(text: String, kind: String) throws {
    let database = try Kennel.database(ReferenceTables(tables: Kennel.tables), "indexed \(text)")
    let snapshot = try database.snapshot()
    let query = try ParsedQuery(parsing: text).bound(to: Kennel.schema, table: "Person")
    let evaluation = Evaluation(snapshot, Kennel.schema, QueryLimits())
    let plan = Plan(try evaluation.resolved(query.predicate), Kennel.schema)
    let line = plan.explained(Kennel.schema).first
    if !text.contains("obj") { #expect(line?.contains("(\(kind)") == true, "\(line ?? "")") }
    #expect(plan.conditions[0].probe != nil)
    snapshot.release()
    try database.close()
  }

  @Test(
    "does not ask an index or a scan what it cannot answer",
    arguments: [
      "boss.age != 5", "boss.age == null", "boss.age == age", "price > 1",
      "thing == 1", "age + 1 == 2",
      "name TEXT '-a'", "boss.name TEXT 'a'",
      "age == number", "tags == 'a'", "age IN ALL {1}", "blob == 'a'",
      "blob CONTAINS 'a'", "name LIKE 'a*'", "boss.name !=[c] 'a'",
      "name CONTAINS '\(String(repeating: "a", count: 65))'",
    ])
  func rowByRow(text: String) throws {
    let lines = try Self.explained(text)
    #expect(lines[1].contains("row by row"), "\(lines)")
  }

  @Test(
    "searches columns of texts by scans",
    arguments: [
      "name ==[c] 'a'", "name !=[c] 'a'", "name CONTAINS 'a'", "name CONTAINS[cd] 'a'",
      "name ENDSWITH 'a'", "name BEGINSWITH[d] 'a'", "boss.name CONTAINS[c] 'a'",
    ])
  func searches(text: String) throws {
    let lines = try Self.explained(text)
    #expect(lines[1].contains("scan of columns"), "\(lines)")
  }

  @Test("says that words are looked for in every text")
  func words() throws {
    let lines = try Self.explained("name TEXT 'a' AND age > 1", "Dog")
    #expect(
      lines.contains { $0.contains("row by row (cost 102, no index of words): name TEXT 'a'") })
  }

  @Test("drops conditions that decide nothing, and answers what constants alone decide")
  func constants() throws {
    #expect(
      try Self.explained("1 < 2 AND (TRUEPREDICATE OR age == 1)")[1].contains("TRUEPREDICATE"))
    #expect(try Self.explained("NOT NOT score == 1.5")[1] == "  scan of columns: score == 1.5")
    #expect(try Self.explained("2 < 1 AND score == 1.5")[1].contains("FALSEPREDICATE"))
  }

  @Test("gives the naive evaluator's rows on tables of many leaves")
  func manyRows() throws {
    var random = ReferenceRandom(31)
    var data = Kennel.rows(&random, people: 1_500, dogs: 40)
    // Ages from 0 to 999 make ranges of every width.
    let age = Kennel.person.columns.firstIndex { $0.name == "age" }!
    for key in data.keys("Person") {
      data.rows["Person"]![key]![age] = .int(Int64(random.below(1_000)))
    }
    let database = try Kennel.database(data, "many rows")
    let snapshot = try database.snapshot()
    let reference = Reference(data: data, arguments: [])
    for text in [
      "age < 10", "age < 900", "age >= 995 AND score > 1",
      "age < 900 AND score > 1 AND ratio <= 1.5",
      "age IN {3, 1, 3, 2}", "age BETWEEN {10, 20} AND name BEGINSWITH 'a'", "age > 990 OR age < 5",
      "NOT (age > 5 AND name != 'a')", "isActive == true AND age < 50", "isActive == null",
      "oid IN {oid(000000000000000000000005), oid(000000000000000000000001)}", "name == 'ab'",
      "pet == obj('Dog', O5) AND age < 500", "boss == null AND name == null AND number == null",
      "number >= 9.3e18 OR number < -9.3e18 OR score == 16777217 AND ratio < 16777217.5",
      "ratio >= 0.1 AND ratio < 16777217.0", "score < inf AND score > -inf AND number > 1.5",
      "age < 100 AND boss.age > 500 AND pet.name == 'a'", "born > T0:0 AND born <= T1600000000:0",
      "age < 100 SORT(name ASC, age DESC) DISTINCT(name, isActive) LIMIT(9)",
      "age < 40 SORT(score DESC, ratio ASC) LIMIT(50)", "boss.age < 100",
      "NOT boss.age < 100 AND score > 1", "boss.boss.age >= 300 OR boss.name BEGINSWITH 'a'",
      "boss.pet.weight > 1 AND pet.owner.age BETWEEN {100, 900}", "boss.isActive == true",
      "boss.age IN {1, 2, 3, 500} AND age >= 0", "boss.score > 1 SORT(age ASC) LIMIT(7)",
      // Few dogs and many people: the links are followed instead.
      "Dog: owner.age < 500 AND weight >= 0", "Dog: owner.boss.age < 500",
    ] {
      let table = text.hasPrefix("Dog: ") ? "Dog" : "Person"
      let query = try ParsedQuery(parsing: table == "Dog" ? String(text.dropFirst(5)) : text)
      let bound = try query.bound(to: Kennel.schema, table: table)
      let expected = reference.keys(query, table: table)
      #expect(try bound.keys(in: snapshot) == expected, "\(text)")
      #expect(try bound.count(in: snapshot) == expected.count, "\(text)")
    }
    snapshot.release()
    try database.close()
  }

  @Test("searches the constants of a long list at once, and gives the naive evaluator's rows")
  func longLists() throws {
    var random = ReferenceRandom(32)
    var data = Kennel.rows(&random, people: 1_500, dogs: 40)
    func column(_ name: String) -> Int { Kennel.person.columns.firstIndex { $0.name == name }! }
    for key in data.keys("Person") {
      let name = "name \(random.below(300))"
      data.rows["Person"]![key]![column("name")] = random.below(9) == 0 ? .null : .string(name)
      data.rows["Person"]![key]![column("number")] =
        random.below(9) == 0 ? .null : .int(Int64(random.below(300)) - 20)
    }
    let database = try Kennel.database(data, "long lists")
    let snapshot = try database.snapshot()
    let reference = Reference(data: data, arguments: [])
    let names = (0..<40).map { "'name \($0 * 7 % 100)'" }.joined(separator: ", ")
    let numbers = (0..<40).map { "\($0 * 3 - 20)" }.joined(separator: ", ")
    for text in [
      "name IN {\(names)}", "name IN {\(names), null, 'none', null}", "NOT name IN {\(names)}",
      "number IN {\(numbers)}", "number IN {\(numbers), null, 1.0, 2.5}",
      "number IN {\(numbers)} AND name IN {\(names)} AND score > 1",
      "boss.name IN {\(names)} OR boss.number IN {\(numbers)}",
      "name IN {\(names)} SORT(number ASC) LIMIT(7)",
    ] {
      let query = try ParsedQuery(parsing: text)
      let bound = try query.bound(to: Kennel.schema, table: "Person")
      #expect(bound.explain().contains("scan of columns"), "\(text)")
      let expected = reference.keys(query, table: "Person")
      #expect(!expected.isEmpty)
      #expect(try bound.keys(in: snapshot) == expected, "\(text)")
      #expect(try bound.count(in: snapshot) == expected.count, "\(text)")
    }
    snapshot.release()
    try database.close()
  }
}
