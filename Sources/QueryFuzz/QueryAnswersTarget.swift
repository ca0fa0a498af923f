// QueryAnswersTarget.swift: bytes → choices → queries that fit the kennel → the planner's result
// compared with the naive evaluator's. Invariants checked: the same keys in the same order, from a
// snapshot and from a write transaction; the count matches; the text of a query parses to the same
// query.

import Engine
import Fuzz
import Query
import QueryReference

enum QueryAnswersTarget {
  static let target = FuzzTarget(
    name: "query-answers",
    judges: "generated queries over small databases: planner against the naive evaluator",
    smokeCount: 400, seeds: { FuzzTarget.choiceSeeds("query-answers") }, run: { run($0) }
  ).with {
    $0.describe = { describe($0) }
    $0.sizeMax = 512
  }

  /// The database, the tables and the queries that an input encodes.
  private static func decode(
    _ input: [UInt8]
  ) -> (fixture: Int, queries: [(table: String, query: ParsedQuery, arguments: [Value])]) {
    let fixture = Int(input.first ?? 0) % 64
    var generator = QueryGenerator(ReferenceRandom(bytes: Array(input.dropFirst(2))))
    let count = 1 + Int(input.dropFirst().first ?? 0) % 3
    return (
      fixture,
      (0..<count).map { number in
        let table = (fixture + number) % 3 == 2 ? "Dog" : "Person"
        let query = generator.query(table)
        return (table, query, generator.arguments)
      }
    )
  }

  private static func describe(_ input: [UInt8]) -> [String] {
    let (fixture, queries) = decode(input)
    return ["database \(fixture)"]
      + queries.map { "\($0.table): \($0.query)  with \($0.arguments)" }
  }

  private static func run(_ input: [UInt8]) -> FuzzOutcome {
    let (number, queries) = decode(input)
    let fixture = QueryFixture.all[number]
    for (table, query, arguments) in queries {
      let place = "database \(number), \(table): \(query), arguments \(arguments)"
      do {
        let parsed = try ParsedQuery(parsing: query.description)
        guard parsed == query else { return .finding("reads otherwise: \(place)") }
        let bound = try parsed.bound(to: Kennel.schema, table: table, arguments: arguments)
        let expected = Reference(data: fixture.data, arguments: arguments)
          .keys(query, table: table)
        let keys = try bound.keys(in: fixture.snapshot)
        guard keys == expected else {
          return .finding("finds \(keys), the reference \(expected): \(place)")
        }
        guard try bound.count(in: fixture.snapshot) == expected.count else {
          return .finding("counts otherwise than \(expected.count): \(place)")
        }
        guard try bound.keys(in: fixture.write) == expected else {
          return .finding("other rows in a write transaction than \(expected): \(place)")
        }
      } catch { return .finding("\(error): \(place)") }
    }
    return .accepted
  }
}
