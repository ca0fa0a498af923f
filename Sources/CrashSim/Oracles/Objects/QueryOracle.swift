// QueryOracle.swift: a query, over an index or not, finds what a look at each object finds.

import Engine
import Findings
import Query
import QueryReference
import Workload

package enum QueryOracle {
  /// What a query found for the dogs of one age.
  package struct Found: Sendable, Hashable {
    var age: Int
    var dogs: [Int]

    package init(age: Int, dogs: [Int]) {
      self.age = age
      self.dogs = dogs
    }
  }

  package static func judge(_ found: [Found], _ seen: ObjectSight) -> Violation? {
    for query in found {
      let scanned = seen.dogs.filter { $0.value.age == query.age }.keys.sorted()
      guard query.dogs.sorted() == scanned else {
        return Violation(
          .objects, promised: "the query 'age == \(query.age)' finds the dogs \(scanned)",
          got: "over the index it finds \(query.dogs.sorted())")
      }
    }
    return nil
  }

  /// How queries see the tables of the lab's classes.
  static func tables(_ schemas: [TableSchema]) -> [QueryTable] {
    let fans = BacklinkProperty(
      name: "fans", originTable: ObjectClasses.person, originColumn: "dogs")
    return schemas.map { schema in
      QueryTable(
        schema, primaryKey: schema.columns.contains { $0.name == "_id" } ? "_id" : nil,
        backlinks: schema.name == ObjectClasses.dog ? [fans] : [])
    }
  }

  /// A query must find what the naive evaluator finds, which asks each condition of each object.
  /// - Parameters:
  ///   - query: The query; the database has taken it.
  ///   - found: The primary keys that it found, in order.
  ///   - snapshot: The version that it was asked of.
  /// - Returns: What is broken, or nil.
  /// - Throws: `EngineError`, or `QueryError` for a query that is none.
  /// - Complexity: O(objects²) for `SORT` and `DISTINCT`, O(objects) for conditions without links.
  package static func judge(
    _ query: ObjectQuery, found: [Int], _ snapshot: Snapshot
  ) throws -> Violation? {
    let data = try ReferenceTables(snapshot, tables: tables(snapshot.tables))
    let rows = Reference(data: data, arguments: [])
      .keys(try ParsedQuery(parsing: query.text), table: query.table)
    let expected = rows.compactMap { row -> Int? in
      if case .int(let key) = data.value("_id", of: row, in: query.table) { Int(key) } else { nil }
    }
    guard found != expected else { return nil }
    let promised = "'\(query.text)' of \(query.table) finds what asking each finds: \(expected)"
    return Violation(.objects, promised: promised, got: "it finds \(found)")
  }
}
