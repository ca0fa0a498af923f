// SQLTests.swift: the part of the language that SQL can say, asked of SQLite over the same rows.
// SQL's three-valued logic is brought to our two values where a comparison is made, so that NOT
// means the same; Translation says how.

import Engine
import Foundation
import GRDB
import Testing

@testable import Query
@testable import QueryReference

@Suite("Queries and SQLite")
struct SQLTests {
  @Test("agree on comparisons, links to one, collections, IN, BETWEEN, arithmetic, logic and order")
  func agree() throws {
    var found = 0
    for round in 0..<20 {
      var random = ReferenceRandom(900 + UInt64(round))
      var data = Kennel.rows(&random, people: 9, dogs: 6)
      Self.soften(&data)
      let database = try Kennel.database(data, "sql \(round)")
      let snapshot = try database.snapshot()
      let queue = try DatabaseQueue()
      try Self.fill(queue, data)
      var generator = QueryGenerator(random)
      generator.isPlain = true
      for number in 0..<120 {
        let table = number % 3 == 2 ? "Dog" : "Person"
        let query = generator.query(table)
        let bound = try query.bound(
          to: Kennel.schema, table: table, arguments: generator.arguments)
        let keys = try bound.keys(in: snapshot)
        var translation = Translation(arguments: generator.arguments)
        let condition = translation.condition(query.predicate, table)
        let order = translation.order(query.clauses, table)
        let expected = try queue.read { db in
          try Int64.fetchAll(
            db, sql: "SELECT key FROM \(table) t WHERE \(condition) \(order)",
            arguments: StatementArguments(translation.values))
        }
        found += keys.count
        #expect(keys == expected, "round \(round) query \(number): \(query)\n\(condition)")
      }
      snapshot.release()
      try database.close()
    }
    #expect(found > 2_000)
  }

  /// Replaces what SQLite has no value for, and what it calculates with in floating point.
  private static func soften(_ data: inout ReferenceTables) {
    for table in data.tables.map(\.schema) {
      for (index, column) in table.columns.enumerated() {
        for key in data.keys(table.name) {
          switch data.rows[table.name]![key]![index] {
          case .int(let number) where column.name == "age":
            data.rows[table.name]![key]![index] = .int(number % 100)
          case .double(let number) where number.isNaN:
            data.rows[table.name]![key]![index] = .double(0.5)
          case .set(let values):
            data.rows[table.name]![key]![index] = .set(
              values.filter { Numbers.double($0)?.isNaN != true })
          case .float(let number) where number.isNaN:
            data.rows[table.name]![key]![index] = .float(0.5)
          default: break
          }
        }
      }
    }
  }

  /// Elements are rows of tables of their own.
  private static func fillElements(_ db: GRDB.Database, _ data: ReferenceTables) throws {
    for name in ["tags", "numbers", "scores"] {
      try db.execute(sql: "CREATE TABLE Person_\(name) (owner, value)")
      let column = Kennel.person.columns.firstIndex { $0.name == name }!
      for key in data.keys("Person") {
        let elements: [Value]
        switch data.rows["Person"]![key]![column] {
        case .list(let values), .set(let values): elements = values
        default: elements = []
        }
        for element in elements {
          try db.execute(
            sql: "INSERT INTO Person_\(name) VALUES (?, ?)",
            arguments: StatementArguments([key, Translation.stored(element)]))
        }
      }
    }
  }

  private static func fill(_ queue: DatabaseQueue, _ data: ReferenceTables) throws {
    try queue.write { db in
      try fillElements(db, data)
      for table in data.tables.map(\.schema) {
        let columns = table.columns.filter { $0.collection == .none && $0.type != .mixed }
        let names = columns.map { "\"\($0.name)\"" }
        try db.execute(
          sql: "CREATE TABLE \(table.name) (key INTEGER PRIMARY KEY, "
            + names.joined(separator: ", ") + ")")
        let marks = Array(repeating: "?", count: columns.count + 1).joined(separator: ", ")
        for key in data.keys(table.name) {
          let row = zip(table.columns, data.rows[table.name]![key]!).filter {
            $0.0.collection == .none && $0.0.type != .mixed
          }
          try db.execute(
            sql: "INSERT INTO \(table.name) VALUES (\(marks))",
            arguments: StatementArguments([key] + row.map { Translation.stored($0.1) }))
        }
      }
    }
  }
}

/// Conditions as SQL.
private struct Translation {
  let arguments: [Value]
  var values: [(any DatabaseValueConvertible)?] = []

  init(arguments: [Value]) {
    self.arguments = arguments
  }

  /// Bytes in the order of dates: by second, then by Double, nanoseconds before fine dates.
  private static func date(_ seconds: Int64, _ part: Int64) -> Data {
    let bits = Value.sinceReferenceDate(seconds: seconds, nanoseconds: part).bitPattern
    let sign: UInt64 = 1 << 63
    let ordered: UInt64 = bits & sign == 0 ? bits | sign : ~bits
    let words: [UInt64] = [UInt64(bitPattern: seconds) ^ sign, ordered, UInt64(part)]
    return Data(
      words.flatMap { (word: UInt64) -> [UInt8] in
        (0..<8).map { (byte: UInt64) -> UInt8 in UInt8(truncatingIfNeeded: word >> (56 - 8 * byte))
        }
      })
  }

  static func stored(_ value: Value) -> (any DatabaseValueConvertible)? {
    switch value {
    case .int(let number), .link(let number): number
    case .string(let text): text
    case .bool(let isTrue): isTrue ? 1 : 0
    case .float(let number): Double(number)
    case .double(let number): number
    case .binary(let bytes): Data(bytes)
    case .date(let seconds, let nanoseconds): date(seconds, nanoseconds)
    case .objectId(let id): Data(id.bytes)
    case .uuid(let id): Data(id.bytes)
    default: nil
    }
  }

  mutating func condition(_ predicate: QueryPredicate, _ table: String) -> String {
    switch predicate {
    case .constant(let isTrue): return isTrue ? "1" : "0"
    case .not(let member): return "NOT (\(condition(member, table)))"
    case .all(let members):
      return members.map { "(\(condition($0, table)))" }.joined(separator: " AND ")
    case .any(let members):
      return members.map { "(\(condition($0, table)))" }.joined(separator: " OR ")
    case .comparison(let comparison): return condition(comparison, table)
    }
  }

  mutating func order(_ clauses: [QueryClause], _ table: String) -> String {
    var keys: [String] = []
    var limit = ""
    for clause in clauses {
      switch clause {
      case .sort(let sortKeys):
        for key in sortKeys {
          let text = expression(key.path.steps[...], table, "t", 0)
          keys.append(text + (key.isAscending ? " ASC" : " DESC"))
        }
      case .limit(let count): limit = " LIMIT \(count)"
      case .distinct: break
      }
    }
    return "ORDER BY " + (keys + ["t.key ASC"]).joined(separator: ", ") + limit
  }

  /// A comparison of a collection's elements; nil when there is none.
  private mutating func elements(_ comparison: QueryComparison) -> String? {
    guard case .path(let path) = comparison.left, case .property(let name)? = path.steps.first,
      ["tags", "numbers", "scores"].contains(name)
    else { return nil }
    let from = "FROM Person_\(name) e WHERE e.owner = t.key"
    var left = "e.value"
    if case .operation(let operation)? = path.steps.last {
      let function =
        operation == .count ? "COUNT(*)" : operation.rawValue.uppercased() + "(e.value)"
      left = "(SELECT \(function) \(from))"
    }
    var condition = pair(comparison.comparison, left, operand(comparison.right, "Person", false))
    if comparison.comparison == .lessEqual || comparison.comparison == .greaterEqual {
      let right = operand(comparison.right, "Person", false)
      condition = "(\(condition) OR (\(left) IS NULL AND \(right) IS NULL))"
    }
    guard path.steps.count == 1 else { return condition }
    switch comparison.leftQuantifier ?? .any {
    case .any: return "EXISTS (SELECT 1 \(from) AND (\(condition)))"
    case .none: return "NOT EXISTS (SELECT 1 \(from) AND (\(condition)))"
    case .all: return "NOT EXISTS (SELECT 1 \(from) AND NOT (\(condition)))"
    }
  }

  private mutating func condition(_ comparison: QueryComparison, _ table: String) -> String {
    if let elements = elements(comparison) { return elements }
    let isFloat =
      if case .path(let path) = comparison.left { type(path, table) == .float } else { false }
    if case .list(let members) = comparison.right {
      if comparison.comparison == .between {
        return "("
          + inOrder(.greaterEqual, comparison.left, members[0], table, isFloat) + ") AND ("
          + inOrder(.lessEqual, comparison.left, members[1], table, isFloat) + ")"
      }
      if members.isEmpty { return "0" }
      return members.map {
        "(\(pair(.equal, operand(comparison.left, table, isFloat), operand($0, table, isFloat))))"
      }
      .joined(separator: " OR ")
    }
    if comparison.comparison == .beginsWith {
      guard case .literal(.value(.string(let wanted))) = comparison.right else { return "0" }
      let left = operand(comparison.left, table, isFloat)
      // SQLite's substr of an empty blob is null.
      guard !wanted.isEmpty else { return "\(left) IS NOT NULL" }
      values.append(Data(wanted.utf8))
      return "COALESCE(substr(CAST(\(left) AS BLOB), 1, \(wanted.utf8.count)) = ?, 0)"
    }
    return inOrder(comparison.comparison, comparison.left, comparison.right, table, isFloat)
  }

  /// A pair in which `<=` and `>=` hold for two nulls; those need their operands twice.
  private mutating func inOrder(
    _ comparison: ComparisonOperator, _ left: QueryOperand, _ right: QueryOperand, _ table: String,
    _ isFloat: Bool
  ) -> String {
    let first = pair(
      comparison, operand(left, table, isFloat), operand(right, table, isFloat))
    guard comparison == .lessEqual || comparison == .greaterEqual else { return first }
    return "\(first) OR (\(operand(left, table, isFloat)) IS NULL AND "
      + "\(operand(right, table, isFloat)) IS NULL)"
  }

  private func pair(_ comparison: ComparisonOperator, _ left: String, _ right: String) -> String {
    switch comparison {
    case .equal: "\(left) IS \(right)"
    case .notEqual: "\(left) IS NOT \(right)"
    default: "COALESCE(\(left) \(comparison.rawValue) \(right), 0)"
    }
  }

  // MARK: operands

  private mutating func operand(
    _ operand: QueryOperand, _ table: String, _ isFloat: Bool
  ) -> String {
    switch operand {
    case .literal(.value(let value)):
      values.append(Self.stored(value))
      return "?"
    case .literal(.number(let text)):
      values.append(isFloat ? Double(Float(text)!) : Double(text)!)
      return "?"
    case .literal(.object(let target, let key, let isRowKey)):
      values.append(Self.stored(key))
      let column = isRowKey || target != "Person" ? "key" : "oid"
      return "COALESCE((SELECT key FROM \(target) WHERE \(column) = ?), -999999)"
    case .argument(let number):
      values.append(Self.stored(arguments[number]))
      return "?"
    case .path(let path): return expression(path.steps[...], table, "t", 0)
    case .arithmetic(let first, let terms):
      return terms.reduce(self.operand(first, table, isFloat)) { text, term in
        "(\(text) \(term.arithmetic.rawValue) \(self.operand(term.operand, table, isFloat)))"
      }
    default: return "NULL"
    }
  }

  private func column(_ step: QueryStep, _ table: String) -> ColumnSchema {
    guard case .property(let name) = step else { preconditionFailure("plain paths") }
    let definition = Kennel.tables.first { $0.schema.name == table }!
    return definition.schema.columns[definition.column(named: name)!]
  }

  private func type(_ path: QueryPath, _ table: String) -> ColumnType {
    var table = table
    for step in path.steps.dropLast() { table = column(step, table).target! }
    return column(path.steps.last!, table).type
  }

  private func expression(
    _ steps: ArraySlice<QueryStep>, _ table: String, _ alias: String, _ depth: Int
  ) -> String {
    let column = column(steps.first!, table)
    let reference = "\(alias).\"\(column.name)\""
    guard steps.count > 1, let target = column.target else { return reference }
    let inner = expression(steps.dropFirst(), target, "t\(depth)", depth + 1)
    return "(SELECT \(inner) FROM \(target) t\(depth) WHERE t\(depth).key = \(reference))"
  }
}
