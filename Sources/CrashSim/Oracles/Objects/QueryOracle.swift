// QueryOracle.swift: a query, with or without an index, finds what checking each object finds.

import Engine
import Findings
import Query
import QueryReference
import Workload

package enum QueryOracle {
  /// The result of a query for the dogs of one age.
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

  /// The tables of Faultline's classes in the form of the query compiler.
  static func tables(_ schemas: [TableSchema]) -> [QueryTable] {
    let fans = BacklinkProperty(
      name: "fans", originTable: ObjectClasses.person, originColumn: "dogs")
    return schemas.map { schema in
      QueryTable(
        schema, primaryKey: schema.columns.contains { $0.name == "_id" } ? "_id" : nil,
        backlinks: schema.name == ObjectClasses.dog ? [fans] : [])
    }
  }

  /// A query must find what the naive evaluator finds, which checks each condition on each object.
  /// - Parameters:
  ///   - query: The query, accepted by the database.
  ///   - found: The primary keys that it found, in order.
  ///   - snapshot: The version that was queried.
  /// - Returns: The violation, or nil.
  /// - Throws: `EngineError`, or `QueryError` for an invalid query.
  /// - Complexity: O(objects²) for `SORT` and `DISTINCT`, O(objects) for conditions without links.
  package static func judge(
    _ query: ObjectQuery, found: [Int], _ snapshot: Snapshot
  ) throws -> Violation? {
    let data = try ReferenceTables(snapshot, tables: tables(snapshot.tables))
    let rows = Reference(data: data, arguments: [], emptyFindsNothing: true)
      .keys(try ParsedQuery(parsing: query.text), table: query.table)
    let expected = rows.compactMap { row -> Int? in
      if case .int(let key) = data.value("_id", of: row, in: query.table) { Int(key) } else { nil }
    }
    guard found != expected else { return nil }
    let promised = "'\(query.text)' of \(query.table) finds what asking each finds: \(expected)"
    return Violation(.objects, promised: promised, got: "it finds \(found)")
  }
}
