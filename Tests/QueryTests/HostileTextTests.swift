// HostileTextTests.swift: cut, spliced and random texts are bound and run: each ends in keys or in
// an error in words, within the bounds of the call.

import Engine
import Testing

@testable import Query
@testable import QueryReference

@Suite("Hostile texts")
struct HostileTextTests {
  @Test("end in keys or in an error")
  func mutations() throws {
    var random = ReferenceRandom(77)
    let data = Kennel.rows(&random, people: 6, dogs: 4)
    let database = try Kennel.database(data, "hostile")
    let snapshot = try database.snapshot()
    var generator = QueryGenerator(ReferenceRandom(78))
    let words = QueryVocabulary.words + Kennel.person.columns.map(\.name)
    var counts: [QueryError.Code: Int] = [:]
    var answered = 0
    for round in 0..<9_000 {
      var bytes = Array(generator.query("Person").description.utf8)
      for _ in 0...random.below(2) {
        let place = random.below(bytes.count + 1)
        let word = Array((" " + words[random.below(words.count)] + " ").utf8)
        switch random.below(3) {
        case 0: bytes.removeSubrange(place..<min(place + random.below(9), bytes.count))
        case 1: bytes.insert(contentsOf: word, at: place)
        default:
          bytes.replaceSubrange(place..<min(place + word.count, bytes.count), with: word)
        }
      }
      let text = String(decoding: bytes, as: UTF8.self)
      do throws(QueryError) {
        var query = try ParsedQuery(parsing: text).bound(
          to: Kennel.schema, table: "Person", arguments: generator.arguments)
        query.limits.stepsMax = 50_000
        let keys = try query.keys(in: snapshot)
        #expect(keys.count == (try query.count(in: snapshot)), "round \(round): \(text)")
        #expect(!query.explain().isEmpty)
        answered += 1
      } catch {
        counts[error.code, default: 0] += 1
        #expect(error.code != .engine, "round \(round): \(text): \(error)")
        #expect(!error.message.isEmpty)
      }
    }
    #expect(answered > 300)
    for code in [QueryError.Code.syntax, .type, .unknownName] {
      #expect(counts[code, default: 0] > 10, "\(code)")
    }
    snapshot.release()
    try database.close()
  }

  @Test("that multiply rows stop at the bound of a path")
  func multiplies() throws {
    var data = ReferenceTables(tables: Kennel.tables)
    var random = ReferenceRandom(1)
    data = Kennel.rows(&random, people: 4, dogs: 0)
    let friends = Kennel.person.columns.firstIndex { $0.name == "friends" }!
    for key in data.keys("Person") {
      data.rows["Person"]![key]![friends] = .list(data.keys("Person").map { .link($0) })
    }
    let database = try Kennel.database(data, "multiplies")
    let snapshot = try database.snapshot()
    // Four friends each: after twelve steps there are more than the bound of four million rows.
    let path = Array(repeating: "friends", count: 31).joined(separator: ".")
    var query = try ParsedQuery(parsing: "\(path).age == 1").bound(
      to: Kennel.schema, table: "Person")
    query.limits.stepsMax = 100_000
    let error = #expect(throws: QueryError.self) { try query.keys(in: snapshot) }
    #expect(error?.code == .limit)
    snapshot.release()
    try database.close()
  }
}
