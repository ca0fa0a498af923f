// QueryTarget.swift: bytes → a text → a query → its text → the same query; then bound to the
// kennel's tables and run over a small database. Invariants checked: a parsed query has one
// spelling, which parses to an equal query; a run finds as many rows as it counts, in a snapshot
// and in a write transaction, and the same rows as matching by key.

import Engine
import Fuzz
import Query
import QueryReference

enum QueryTarget {
  static let target = FuzzTarget(
    name: "query",
    judges: "query texts: read, printed, read again; bound, run, counted and matched",
    smokeCount: 1500, seeds: { samples.map { Array($0.utf8) } }, run: { run($0) }
  ).with {
    $0.mutate = mutator.mutation
    $0.dictionary = words
  }

  private static let words = QueryVocabulary.words + Kennel.person.columns.map(\.name)

  static let mutator = TextMutator(words: words) { choices in
    var generator = QueryGenerator(ReferenceRandom(choices.number(8)))
    return generator.query(choices.below(3) == 0 ? "Dog" : "Person").description
  }

  private static let samples: [String] =
    [
      "age > 1 AND name BEGINSWITH[c] 'a' SORT(age DESC) DISTINCT(name) LIMIT(3)",
      "SUBQUERY(friends, $x, $x.age == 1 || $x.boss.name == NULL).@count > 0",
      "ANY dogs.owner.age BETWEEN {1, $0} and not isActive == true",
      "home GEOWITHIN geoBox([0, 0], [3, 3]) or @links.Person.boss.@count == 2",
      "map['a'] == 1 && tags[FIRST] LIKE '*b?' && numbers.@sum * 2 - 1 <= $1",
      "age - (age - (boss.age - 1)) > 2 * (3 / (age * 2))",
      "oid == oid(507f1f77bcf86cd799439011) or uid == $3 or born < 2020-01-01@00:00:00:5",
      "$K8 == 'a' AND tags.length > 1 AND map.a == 1 AND boss == O1 AND price < '2' SORT($K8 ASC)",
      "blob LIKE[c] 'A*' OR things[*] == bin('b') OR thing == L2:1 OR boss.@count=1AND $x == $",
      "home GEOWITHIN geoPolygon({[0, 0], [4, 0], [4, 4], [0, 4, 1]}, {[1, 1], [2, 1], [1, 2]})",
    ]
    + (0..<24 as Range<UInt64>).map { number in
      var generator = QueryGenerator(ReferenceRandom(number &* 0x9e37))
      return generator.query(number % 3 == 2 ? "Dog" : "Person").description
    }

  private static let arguments: [Value] = [
    .int(2), .string("a"), .null, .uuid(Kennel.uuid(1)), .double(1.5), .list([.int(1), .int(2)]),
    .bool(true), .date(seconds: 0, nanoseconds: 5), .string("boss.name"),
  ]

  private static func run(_ input: [UInt8]) -> FuzzOutcome {
    let text = String(decoding: input, as: UTF8.self)
    guard let query = try? ParsedQuery(parsing: text) else { return .refused }
    let printed = query.description
    guard let again = try? ParsedQuery(parsing: printed) else {
      return .finding("its own spelling is refused: \(printed)")
    }
    guard again == query else { return .finding("its own spelling reads otherwise: \(printed)") }
    guard again.description == printed else { return .finding("two spellings: \(printed)") }
    for table in ["Person", "Dog"] {
      if let wrong = wrongRun(query, table) { return .finding("\(table): \(printed): \(wrong)") }
    }
    return .accepted
  }

  private static func wrongRun(_ query: ParsedQuery, _ table: String) -> String? {
    let bound: BoundQuery
    do throws(QueryError) {
      var made = try query.bound(to: Kennel.schema, table: table, arguments: arguments)
      made.limits.stepsMax = 20_000
      bound = made
    } catch {
      return error.message.isEmpty || error.code == .engine ? "bound with \(error)" : nil
    }
    guard !bound.explain().isEmpty else { return "explained with no word" }
    let fixture = QueryFixture.shared
    do throws(QueryError) {
      let keys = try bound.keys(in: fixture.snapshot)
      guard try bound.count(in: fixture.snapshot) == keys.count else {
        return "finds \(keys.count) rows and counts \(try bound.count(in: fixture.snapshot))"
      }
      guard try bound.keys(in: fixture.write) == keys else {
        return "finds other rows in a write transaction"
      }
      guard query.clauses.isEmpty else { return nil }
      for key in fixture.data.keys(table)
      where try bound.matches(key: key, in: fixture.snapshot) != keys.contains(key) {
        return "row \(key) is found or not, and matches otherwise"
      }
      return nil
    } catch {
      return error.code == .limit ? nil : "runs into \(error)"
    }
  }
}
