// DifferentialTests.swift: random queries over random rows, answered by the planner and by the
// naive evaluator; both must give the same keys in the same order.
// QUERY_PAIRS=1000000 in the environment asks for that many pairs, QUERY_SEED for another seed.

import Engine
import Foundation
import Testing

@testable import Query
@testable import QueryReference

@Suite("The planner and the naive evaluator")
struct DifferentialTests {
  private static func setting(_ name: String) -> Int? {
    ProcessInfo.processInfo.environment[name].flatMap(Int.init)
  }

  @Test("give the same keys for random queries over random rows")
  func agree() throws {
    let pairs = Self.setting("QUERY_PAIRS") ?? 12_000
    let seed = UInt64(Self.setting("QUERY_SEED") ?? 20_261_122)
    let queriesPerData = 150
    var found = 0
    for round in 0..<(pairs + queriesPerData - 1) / queriesPerData {
      var random = ReferenceRandom(seed &+ UInt64(round) &* 0x9e37_79b9)
      let data = Kennel.rows(&random, people: random.below(11), dogs: random.below(7))
      let database = try Kennel.database(data, "agree \(seed) \(round)")
      defer { #expect(throws: Never.self) { try database.close() } }
      let snapshot = try database.snapshot()
      let write = try database.beginWrite()
      defer { write.cancel() }
      var generator = QueryGenerator(random)
      for number in 0..<queriesPerData {
        let table = number % 3 == 2 ? "Dog" : "Person"
        let query = generator.query(table)
        let place: Comment = "seed \(seed) round \(round) query \(number): \(query)"
        let (keys, count) = try run(query, table, generator.arguments, snapshot, place)
        let expected = Reference(data: data, arguments: generator.arguments)
          .keys(query, table: table)
        found += expected.count
        #expect(keys == expected, "\(place), arguments \(generator.arguments)")
        #expect(count == expected.count, "\(place), arguments \(generator.arguments)")
        guard number % 8 == 0 else { continue }
        let strict = try query.bound(
          to: Kennel.schema, table: table, arguments: generator.arguments.map { .value($0) },
          emptyFindsNothing: true)
        let some = Reference(
          data: data, arguments: generator.arguments, emptyFindsNothing: true
        ).keys(query, table: table)
        #expect(try strict.keys(in: snapshot) == some, "where '' finds nothing: \(place)")
        let bound = try query.bound(
          to: Kennel.schema, table: table, arguments: generator.arguments)
        #expect(try bound.keys(in: write) == expected, "in a write transaction: \(place)")
        guard query.clauses.isEmpty else { continue }
        for key in data.keys(table).prefix(3) {
          #expect(try bound.matches(key: key, in: snapshot) == expected.contains(key), place)
          #expect(try bound.matches(key: key, in: write) == expected.contains(key), place)
        }
        #expect(try !bound.matches(key: 1_000, in: snapshot))
        #expect(try !bound.matches(key: 1_000, in: write))
      }
    }
    #expect(found > pairs / 10, "too few rows pass to say anything")
  }

  @Test(
    "disagree as soon as one of them is wrong",
    arguments: Reference.Mistake.allCases.filter { $0 != .none })
  func noticesMistakes(mistake: Reference.Mistake) throws {
    var random = ReferenceRandom(5)
    let data = Kennel.rows(&random, people: 10, dogs: 6)
    let database = try Kennel.database(data, "mistake \(mistake)")
    let snapshot = try database.snapshot()
    var generator = QueryGenerator(random)
    var differences = 0
    for _ in 0..<1_500 {
      let query = generator.query("Person")
      let (keys, _) = try run(query, "Person", generator.arguments, snapshot, "")
      var wrong = Reference(data: data, arguments: generator.arguments)
      wrong.mistake = mistake
      if wrong.keys(query, table: "Person") != keys { differences += 1 }
    }
    snapshot.release()
    try database.close()
    #expect(differences > 5, "\(mistake) shows in \(differences) of 1,500 queries")
  }

  private func run(
    _ query: ParsedQuery, _ table: String, _ arguments: [Value], _ snapshot: Snapshot,
    _ place: Comment
  ) throws -> (keys: [Int64], count: Int) {
    do {
      let parsed = try ParsedQuery(parsing: query.description)
      #expect(parsed == query, place)
      let bound = try parsed.bound(to: Kennel.schema, table: table, arguments: arguments)
      return (try bound.keys(in: snapshot), try bound.count(in: snapshot))
    } catch {
      Issue.record("\(error): \(place)")
      return ([], 0)
    }
  }
}
