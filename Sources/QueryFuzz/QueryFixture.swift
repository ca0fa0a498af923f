// QueryFixture.swift: [U] databases of the kennel that query targets run over, made once.
// Safety: a fuzz target runs on one thread.

import Engine
import QueryReference

/// A database with its rows as plain values.
@safe final class QueryFixture: @unchecked Sendable {
  let data: ReferenceTables
  let snapshot: Snapshot
  /// Open and unchanged, for queries in a write transaction.
  let write: WriteTransaction
  private let database: Database

  /// The one that texts are run over.
  static let shared = QueryFixture(seed: 7, people: 10, dogs: 6)

  /// Sixty-four others.
  static let all: [QueryFixture] = (0..<64).map { number in
    QueryFixture(seed: number &* 0x9e37_79b9 &+ 1, people: Int(number % 12), dogs: Int(number % 7))
  }

  private init(seed: UInt64, people: Int, dogs: Int) {
    var random = ReferenceRandom(seed)
    data = Kennel.rows(&random, people: people, dogs: dogs)
    do {
      database = try Kennel.database(data, "fuzzed queries \(seed) \(people) \(dogs)")
      snapshot = try database.snapshot()
      write = try database.beginWrite()
    } catch { preconditionFailure("a database for queries cannot be made: \(error)") }
  }
}
