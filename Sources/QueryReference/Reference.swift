// Reference.swift: a naive evaluator: it tests every condition on every row, over plain values, and
// shares only the syntax tree with the query module. It is the independent reference for the
// planner and the evaluator; speed does not matter.

import Engine
import Query

/// Tables as plain values.
package struct ReferenceTables {
  var tables: [QueryTable]
  /// Rows by table and key.
  var rows: [String: [Int64: [Value]]] = [:]
  /// The numbers that the engine gives the tables, for mixed links.
  var ids: [UInt32: String] = [:]

  init(tables: [QueryTable]) { self.tables = tables }

  /// Reads all rows of a version.
  /// - Parameters:
  ///   - snapshot: The version.
  ///   - tables: The schema of its tables for queries.
  /// - Throws: `EngineError`.
  /// - Complexity: O(rows).
  package init(_ snapshot: Snapshot, tables: [QueryTable]) throws(EngineError) {
    self.tables = tables
    for table in tables {
      let name = table.schema.name
      var read: [Int64: [Value]] = [:]
      try snapshot.forEach(in: name) { key, values in read[key] = values }
      rows[name] = read
    }
  }

  func table(_ name: String) -> QueryTable { tables.first { $0.schema.name == name }.known }

  /// A value of a row; nil when there is no such row.
  package func value(_ column: String, of key: Int64, in table: String) -> Value? {
    let place = self.table(table).schema.columns.firstIndex { $0.name == column }.known
    return rows[table]?[key]?[place]
  }

  package func keys(_ table: String) -> [Int64] { (rows[table] ?? [:]).keys.sorted() }
}

/// A value in this evaluator.
enum Item: Equatable {
  case null
  case bool(Bool)
  case int(Int64)
  case float(Float)
  case double(Double)
  case decimal(Decimal128)
  case text([UInt8])
  case bytes([UInt8])
  case date(Int64, Int64)
  case objectId([UInt8])
  case uuid([UInt8])
  case row(String, Int64)
  case kinds(Set<String>)
}

/// A row that names start at.
struct ReferenceScope {
  let variable: String?
  let table: String
  let key: Int64
}

/// The naive evaluator.
package struct Reference {
  let data: ReferenceTables
  let arguments: [Value]
  /// Whether an empty text is a part of no text, as the object database has it.
  let emptyFindsNothing: Bool
  /// For the tests of the comparison itself: an evaluator that is wrong on purpose.
  var mistake = Mistake.none

  enum Mistake: CaseIterable {
    case none, nullIsLess, allIsAny, sortsBackwards, wholeIsAny
  }

  package init(data: ReferenceTables, arguments: [Value], emptyFindsNothing: Bool = false) {
    self.data = data
    self.arguments = arguments
    self.emptyFindsNothing = emptyFindsNothing
  }

  // MARK: queries

  package func keys(_ query: ParsedQuery, table: String) -> [Int64] {
    var keys = data.keys(table).filter {
      passes(query.predicate, [ReferenceScope(variable: nil, table: table, key: $0)])
    }
    for clause in query.clauses { keys = applied(clause, keys, table) }
    return keys
  }

  private func applied(_ clause: QueryClause, _ keys: [Int64], _ table: String) -> [Int64] {
    func item(_ path: QueryPath, _ key: Int64) -> Item {
      items(path, [ReferenceScope(variable: nil, table: table, key: key)]).items[0]
    }
    switch clause {
    case .limit(let count): return Array(keys.prefix(count))
    case .sort(let sortKeys):
      // Insertion into a sorted list, after everything that is not greater.
      var sorted: [Int64] = []
      for key in keys {
        let place = sorted.firstIndex { other in
          for sortKey in sortKeys {
            let order = ReferenceOrder.total(item(sortKey.path, key), item(sortKey.path, other))
            let isAscending = sortKey.isAscending != (mistake == .sortsBackwards)
            if order != 0 { return (order < 0) == isAscending }
          }
          return false
        }
        sorted.insert(key, at: place ?? sorted.count)
      }
      return sorted
    case .distinct(let paths):
      var kept: [Int64] = []
      for key in keys {
        let isKnown = kept.contains { other in
          paths.allSatisfy { ReferenceOrder.total(item($0, key), item($0, other)) == 0 }
        }
        if !isKnown { kept.append(key) }
      }
      return kept
    }
  }

  // MARK: conditions

  func passes(_ predicate: QueryPredicate, _ scopes: [ReferenceScope]) -> Bool {
    switch predicate {
    case .constant(let isTrue): isTrue
    case .all(let members): members.allSatisfy { passes($0, scopes) }
    case .any(let members): members.contains { passes($0, scopes) }
    case .not(let member): !passes(member, scopes)
    case .comparison(let comparison): passes(comparison, scopes)
    }
  }

  private func passes(_ written: QueryComparison, _ scopes: [ReferenceScope]) -> Bool {
    var comparison = written
    comparison.left = settled(written.left, scopes, beside: written.right)
    comparison.right = settled(written.right, scopes, beside: written.left)
    if [.equal, .notEqual, .in].contains(written.comparison) {
      comparison.left = truth(comparison.left, scopes, beside: comparison.right)
      comparison.right = truth(comparison.right, scopes, beside: comparison.left)
    }
    if emptyFindsNothing, looksForNothing(comparison) { return false }
    let neighbours = [kind(comparison.left, scopes), kind(comparison.right, scopes)]
    let left = items(comparison.left, scopes, beside: neighbours[1])
    let leftQuantifier = comparison.leftQuantifier ?? .any
    if comparison.comparison == .between {
      let ends = items(comparison.right, scopes, beside: neighbours[0]).items
      return quantified(leftQuantifier, left) {
        one(.greaterEqual, $0, ends[0]) && one(.lessEqual, $0, ends[1])
      }
    }
    if case .shape(let shape) = comparison.right {
      return quantified(leftQuantifier, left) { isWithin($0, shape) }
    }
    let right = items(comparison.right, scopes, beside: neighbours[0])
    if left.isMany, right.isMany, isWhole(comparison) {
      let equal = comparison.comparison == .notEqual ? .equal : comparison.comparison
      let pairs = zip(left.items, right.items).filter { left, right in
        one(equal, folded(left, comparison), folded(right, comparison))
      }
      let areAll = pairs.count == left.items.count && pairs.count == right.items.count
      return areAll == (comparison.comparison != .notEqual)
    }
    let rightQuantifier = comparison.rightQuantifier ?? .any
    return quantified(leftQuantifier, left) { leftItem in
      quantified(rightQuantifier, right) { rightItem in
        one(
          comparison.comparison, folded(leftItem, comparison), folded(rightItem, comparison))
      }
    }
  }

  /// Whether a part of texts is looked for that is a constant without a letter.
  private func looksForNothing(_ comparison: QueryComparison) -> Bool {
    guard [.beginsWith, .endsWith, .contains].contains(comparison.comparison) else { return false }
    switch comparison.right {
    case .literal(.value(let value)): return value == .string("") || value == .binary([])
    case .argument(let number):
      return arguments[number] == .string("") || arguments[number] == .binary([])
    default: return false
    }
  }

  /// Whether two collections are compared as a whole.
  private func isWhole(_ comparison: QueryComparison) -> Bool {
    let areKinds = [comparison.left, comparison.right].contains { operand in
      if case .path(let path) = operand { path.steps.last == .operation(.type) } else { false }
    }
    return comparison.leftQuantifier == nil && comparison.rightQuantifier == nil
      && comparison.comparison != .in && comparison.comparison != .text && !areKinds
      && mistake != .wholeIsAny
  }

  private func quantified(
    _ quantifier: Quantifier, _ values: (items: [Item], isMany: Bool), _ test: (Item) -> Bool
  ) -> Bool {
    guard values.isMany else { return test(values.items[0]) }
    let count = values.items.filter(test).count
    switch quantifier {
    case .any: return count > 0
    case .all: return mistake == .allIsAny ? count > 0 : count == values.items.count
    case .none: return count == 0
    }
  }

  /// Whether one pair passes.
  private func one(
    _ comparison: ComparisonOperator, _ left: Item, _ right: Item
  ) -> Bool {
    if case .kinds(let names) = left {
      return names.isDisjoint(with: kinds(right)) == (comparison == .notEqual)
    }
    if case .kinds(let names) = right {
      return names.isDisjoint(with: kinds(left)) == (comparison == .notEqual)
    }
    let order = ReferenceOrder.order(left, right)
    let areNull = left == .null && right == .null
    switch comparison {
    case .equal, .in: return order == 0 || areNull
    case .notEqual: return !(order == 0 || areNull)
    case .less:
      return order == -1 || mistake == .nullIsLess && left == .null && right != .null
    case .lessEqual: return order == -1 || order == 0 || areNull
    case .greater: return order == 1
    case .greaterEqual: return order == 1 || order == 0 || areNull
    case .beginsWith, .endsWith, .contains, .like:
      return searches(comparison, left, right)
    case .text: return hasWords(left, right)
    case .between, .geoWithin: return false
    }
  }

  private func kinds(_ item: Item) -> Set<String> {
    switch item {
    case .kinds(let names): return names
    case .text(let name):
      let word = String(decoding: name, as: UTF8.self)
      if word == "objectlink" { return ["object"] }
      return word == "numeric" ? ["int", "float", "double", "decimal"] : [word]
    default: return []
    }
  }

  // MARK: texts

  private func folded(_ item: Item, _ comparison: QueryComparison) -> Item {
    if case .bytes(let bytes) = item, comparison.ignoresCase {
      return .bytes(bytes.map { (65...90).contains($0) ? $0 + 32 : $0 })
    }
    guard case .text(let bytes) = item else { return item }
    var text = String(decoding: bytes, as: UTF8.self)
    if comparison.ignoresMarks { text = ReferenceText.withoutMarks(text) }
    guard comparison.ignoresCase else { return .text(Array(text.utf8)) }
    return .text(Array(ReferenceText.folded(text).utf8))
  }

  /// Whether a text has all words of a list, and none of those after a hyphen.
  private func hasWords(_ left: Item, _ right: Item) -> Bool {
    guard case .text(let bytes) = left, case .text(let wanted) = right else { return false }
    let words = ReferenceText.words(String(decoding: bytes, as: UTF8.self))
    var isAsked = false
    for term in String(decoding: wanted, as: UTF8.self).split(separator: " ") {
      let parts = ReferenceText.words(String(term))
      for (index, part) in parts.enumerated() {
        isAsked = true
        let isPrefix = term.hasSuffix("*") && index == parts.count - 1
        let isThere = words.contains {
          let word = Array($0.utf8)
          return (isPrefix ? Array(word.prefix(part.utf8.count)) : word) == Array(part.utf8)
        }
        if isThere == term.hasPrefix("-") { return false }
      }
    }
    return isAsked
  }

  private func searches(_ comparison: ComparisonOperator, _ left: Item, _ right: Item) -> Bool {
    if comparison == .like, left == .null { return right == .null }
    let (text, wanted): ([UInt8], [UInt8])
    var areTexts = false
    switch (left, right) {
    case (.text(let left), .text(let right)): (text, wanted, areTexts) = (left, right, true)
    case (.text(let left), .bytes(let right)), (.bytes(let left), .text(let right)),
      (.bytes(let left), .bytes(let right)):
      (text, wanted) = (left, right)
    default: return false
    }
    switch comparison {
    case .beginsWith: return Array(text.prefix(wanted.count)) == wanted
    case .endsWith: return Array(text.suffix(wanted.count)) == wanted
    case .contains:
      return (0...text.count).contains { Array(text.dropFirst($0).prefix(wanted.count)) == wanted }
    default:
      return isLike(scalars(text, areTexts)[...], scalars(wanted, areTexts)[...])
    }
  }

  /// The scalars of a text, or bytes as if each was one.
  private func scalars(_ bytes: [UInt8], _ areTexts: Bool) -> [Unicode.Scalar] {
    areTexts
      ? Array(String(decoding: bytes, as: UTF8.self).unicodeScalars)
      : bytes.map { Unicode.Scalar($0) }
  }

  /// By trying every way, which short texts allow.
  private func isLike(
    _ text: ArraySlice<Unicode.Scalar>, _ pattern: ArraySlice<Unicode.Scalar>
  ) -> Bool {
    guard let first = pattern.first else { return text.isEmpty }
    switch first {
    case "*":
      return (0...text.count).contains { isLike(text.dropFirst($0), pattern.dropFirst()) }
    case "?": return !text.isEmpty && isLike(text.dropFirst(), pattern.dropFirst())
    case "\\" where pattern.count > 1:
      let second = pattern[pattern.startIndex + 1]
      return text.first == second && isLike(text.dropFirst(), pattern.dropFirst(2))
    default: return text.first == first && isLike(text.dropFirst(), pattern.dropFirst())
    }
  }
}
