// TallyTests.swift: conditions on collections that one scan answers for all rows: the naive
// evaluator's answers, and when the scan is made.

import Engine
import Testing

@testable import Query
@testable import QueryReference

@Suite("Scans for the collections of all rows")
struct TallyTests {
  /// Conditions that have a tally, each with the table that it scans.
  static let texts = [
    "staff.@sum.number > 3": "Person", "staff.@min.number < 0": "Person",
    "staff.@max.age >= 7": "Person", "staff.@avg.number <= 1.5": "Person",
    "ownedDogs.@sum.weight < 3": "Dog", "ownedDogs.@avg.weight > 1": "Dog",
    "ownedDogs.@max.age == null": "Dog", "staff.@sum.age == null": "Person",
    "staff.@sum.number + 1 > ownedDogs.@sum.age": "Person, Dog",
    "friends.@sum.number > 3": "Person", "friends.@avg.score > 0.5": "Person",
    "friends.@max.number == 7": "Person", "dogs.@sum.weight > 2": "Dog",
    "walks.@min.age == -2": "Dog", "dogs.@avg.age == null": "Dog",
    "ANY staff.boss.number > 1": "Person", "NONE dogs.owner.boss.name == 'a'": "Dog",
    "ANY staff.number > 2": "Person", "ALL staff.number > 2": "Person",
    "NONE staff.name BEGINSWITH[c] 'a'": "Person", "staff.name CONTAINS 'b'": "Person",
    "staff.number IN {1, 2, null}": "Person", "ALL staff.number BETWEEN {0, 3}": "Person",
    "staff.name LIKE 'a?'": "Person", "NOT ANY friends.number == 3": "Person",
    "ANY friends.score > 1": "Person", "ALL friends.isActive == true": "Person",
    "NONE dogs.age == null": "Dog", "walks.weight > 1": "Dog", "ALL walks.age > 0": "Dog",
    "friends.name TEXT 'a'": "Person",
    "SUBQUERY(staff, $s, $s.number > 0).@count == 2": "Person",
    "SUBQUERY(staff, $s, $s.number > 0 AND $s.boss.number < 3).@count > 0": "Person",
    "SUBQUERY(staff, $s, $s.tags.@count > 1).@count > 0": "Person",
    "SUBQUERY(staff, $s, ANY $s.friends.number == 2).@count > 0": "Person",
    "SUBQUERY(staff, $s, SUBQUERY($s.staff, $t, $t.number > 0).@count > 0).@count > 0": "Person",
    "SUBQUERY(friends, $s, $s.number > 0).@count == 1": "Person",
    "SUBQUERY(dogs, $d, $d.owner.number > 0 OR $d.age < 3).@count >= 2": "Dog",
    "SUBQUERY(walks, $d, $d.name == 'a').@count < 1": "Dog",
    "SUBQUERY(staff, $s, $s.age IN {1, 2}).@count > 0 AND number > 1": "Person",
  ]
  /// Conditions that read each row's own values in its collection, or collections of others.
  static let untold = [
    "SUBQUERY(staff, $s, $s.number > number).@count > 0",
    "SUBQUERY(boss.friends, $s, $s.number > 0).@count > 0", "ANY staff.number == age",
    "ANY staff.friends.number > 1", "ALL friends.pet.age > 0", "ANY friends.pet.age != 0",
    "NONE dogs.owner.age == null", "staff.@sum.score > 1.5 AND boss.staff.@sum.age > 1",
    "SUBQUERY(staff, $s, SUBQUERY($s.friends, $f, $f.number > number).@count > 0).@count > 0",
  ]

  /// Rows whose conditions hold often, most of them in some collection.
  static func rows(people: Int, dogs: Int) -> ReferenceTables {
    var random = ReferenceRandom(33)
    return Kennel.rows(&random, people: people, dogs: dogs)
  }

  @Test("give the naive evaluator's rows, and are in the plan's words")
  func answers() throws {
    let data = Self.rows(people: 250, dogs: 120)
    let database = try Kennel.database(data, "tallies")
    let snapshot = try database.snapshot()
    let reference = Reference(data: data, arguments: [])
    for (text, tables) in Self.texts.sorted(by: { $0.key < $1.key }) {
      let query = try ParsedQuery(parsing: text)
      let bound = try query.bound(to: Kennel.schema, table: "Person")
      for table in tables.split(separator: ", ") {
        #expect(bound.explain().contains("or a scan of \(table) for all"), "\(text)")
      }
      let expected = reference.keys(query, table: "Person")
      #expect(try bound.keys(in: snapshot) == expected, "\(text)")
      #expect(try bound.count(in: snapshot) == expected.count, "\(text)")
    }
    for text in Self.untold {
      let query = try ParsedQuery(parsing: text)
      let bound = try query.bound(to: Kennel.schema, table: "Person")
      #expect(try bound.keys(in: snapshot) == reference.keys(query, table: "Person"), "\(text)")
    }
    snapshot.release()
    try database.close()
  }

  @Test("stay right in a write transaction, which has no scans")
  func elsewhere() throws {
    let data = Self.rows(people: 90, dogs: 40)
    let reference = Reference(data: data, arguments: [])
    let database = try Kennel.database(data, "tallies in a write")
    let write = try database.beginWrite()
    for text in Self.texts.keys.sorted() {
      let query = try ParsedQuery(parsing: text)
      let bound = try query.bound(to: Kennel.schema, table: "Person")
      #expect(try bound.keys(in: write) == reference.keys(query, table: "Person"), "\(text)")
    }
    write.cancel()
    try database.close()
  }

  @Test("are made once enough rows were visited one by one, and not before")
  func worth() throws {
    let data = Self.rows(people: 2_000, dogs: 50)
    let database = try Kennel.database(data, "worth of tallies")
    let snapshot = try database.snapshot()
    func tally(_ text: String) throws -> TallyState? {
      let bound = try ParsedQuery(parsing: text).bound(to: Kennel.schema, table: "Person")
      let evaluation = Evaluation(snapshot, Kennel.schema, QueryLimits())
      _ = try evaluation.keys(Plan(bound.predicate, Kennel.schema), bound.table)
      return evaluation.tallies[0]
    }
    guard case .groups? = try tally("SUBQUERY(staff, $s, $s.number > 0).@count > 1"),
      case .groups? = try tally("staff.@sum.number > 1"),
      case .matching? = try tally("ANY friends.number == 3")
    else {
      Issue.record("all rows were visited one by one")
      return
    }
    // One row by an index: a scan of 2,000 would cost more than its few.
    let one = "oid == oid(000000000000000000000005) AND ANY staff.number > 0"
    if case .groups? = try tally(one) { Issue.record("a scan was made for one row") }
    snapshot.release()
    try database.close()
  }

  @Test("are not made when the run's limit would not allow the scan")
  func limits() throws {
    let database = try Kennel.database(Self.rows(people: 2_000, dogs: 50), "limits of tallies")
    let snapshot = try database.snapshot()
    let text = "SUBQUERY(staff, $s, $s.number > 0).@count > 1"
    var bound = try ParsedQuery(parsing: text).bound(to: Kennel.schema, table: "Person")
    bound.limits.stepsMax = 2_100
    #expect(throws: QueryError.self) { _ = try bound.keys(in: snapshot) }
    bound.limits.stepsMax = 6_500
    #expect(try !bound.keys(in: snapshot).isEmpty)
    snapshot.release()
    try database.close()
  }
}
