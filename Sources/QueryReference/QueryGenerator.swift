// QueryGenerator.swift: random queries over the kennel that fit its types.

import Engine
import Query

/// Draws queries.
package struct QueryGenerator {
  var random: ReferenceRandom
  /// The values of `$n`, generated with the query.
  package private(set) var arguments: [Value] = []
  /// Whether to use only what SQL can express, too.
  var isPlain = false
  private var variables: [(name: String, table: String)] = []

  package init(_ random: ReferenceRandom) {
    self.random = random
  }

  mutating func chance(_ share: Int) -> Bool { random.below(share) == 0 }

  mutating func pick<Member>(_ members: [Member]) -> Member { members[random.below(members.count)] }

  // MARK: queries

  package mutating func query(_ table: String) -> ParsedQuery {
    arguments = []
    variables = []
    var clauses: [QueryClause] = []
    while !isPlain, clauses.count < 3, chance(4) { clauses.append(clause(table)) }
    if isPlain, chance(3) { clauses = plainClauses(table) }
    return ParsedQuery(predicate(table, depth: 3), clauses: clauses)
  }

  /// The clauses that ORDER BY and LIMIT can express.
  private mutating func plainClauses(_ table: String) -> [QueryClause] {
    let types: [ColumnType] = [.decimal128, .mixed]
    var keys: [SortKey] = []
    while keys.count < 2, let path = path(table, isMany: false, where: { !types.contains($0.type) })
    {
      keys.append(SortKey(path.path, isAscending: !chance(2)))
    }
    let limit = QueryClause.limit(random.below(9))
    return keys.isEmpty ? [limit] : chance(2) ? [.sort(keys)] : [.sort(keys), limit]
  }

  private mutating func clause(_ table: String) -> QueryClause {
    func path() -> QueryPath {
      for _ in 0..<20 {
        if let path = self.path(table, isMany: false, where: { _ in true }) {
          return path.path
        }
      }
      return QueryPath([.property("age")])
    }
    switch random.below(3) {
    case 0:
      let keys = (0...random.below(2)).map { _ in path() }
      return .sort(keys.map { SortKey($0, isAscending: !chance(2)) })
    case 1: return .distinct((0...random.below(2)).map { _ in path() })
    default: return .limit(random.below(8))
    }
  }

  mutating func predicate(_ table: String, depth: Int) -> QueryPredicate {
    switch random.below(depth > 0 ? 9 : 5) {
    case 5, 6:
      return .all((0...random.below(3) + 1).map { _ in predicate(table, depth: depth - 1) })
    case 7: return .any((0...random.below(2) + 1).map { _ in predicate(table, depth: depth - 1) })
    case 8: return .not(predicate(table, depth: depth - 1))
    default: return chance(40) ? .constant(chance(2)) : .comparison(comparison(table, depth))
    }
  }

  // MARK: comparisons

  private mutating func comparison(_ table: String, _ depth: Int) -> QueryComparison {
    let kinds = isPlain ? 7 : 20
    for _ in 0..<50 {
      let made: QueryComparison?
      switch random.below(kinds) {
      case 0, 1: made = plain(table, isMany: false)
      case 2: made = text(table)
      case 3: made = member(table)
      case 4: made = link(table)
      case 5: made = numbers(table)
      case 6 where isPlain: made = elements(table)
      case 6, 7: made = plain(table, isMany: true)
      case 8: made = aggregate(table)
      case 9: made = subquery(table, depth)
      case 10: made = type(table)
      case 11: made = element(table)
      case 12: made = words(table)
      case 13: made = place(table)
      case 14: made = behindMixed(table)
      case 15: made = whole(table)
      case 16, 17, 18: made = spelling(table)
      default: made = mixed(table)
      }
      if let made { return made }
    }
    return QueryComparison(
      .path(QueryPath([.property("age")])), .greater, .literal(.value(.int(1))))
  }

  private mutating func quantifier() -> Quantifier? {
    chance(3) ? nil : pick(Quantifier.allCases)
  }

  mutating func order(_ type: ColumnType) -> ComparisonOperator {
    switch type {
    case .bool, .link: chance(2) ? .equal : .notEqual
    default: pick([.equal, .notEqual, .less, .lessEqual, .greater, .greaterEqual])
    }
  }

  /// A constant that fits a type, as a literal or as an argument.
  mutating func constant(_ type: ColumnType) -> QueryOperand {
    var type = type
    if [.int, .double, .float, .decimal128].contains(type), chance(3) {
      type = pick(isPlain ? [.int, .double] : [.int, .double, .float, .decimal128])
    }
    // Bools are not ordered.
    if type == .mixed { type = pick([.int, .double, .string, .date, .decimal128]) }
    var value = chance(12) ? Value.null : Kennel.scalar(type, &random)
    // A bool is compared with 0 and 1, too.
    if case .bool(let isTrue) = value, chance(3) { value = .int(isTrue ? 1 : 0) }
    // SQL has no NaN.
    if isPlain, Self.isNaN(value) { value = .double(1.5) }
    if type == .link { value = .null }
    // There are no float or decimal literals: these are arguments.
    switch value {
    case .float, .decimal128: return argument(value)
    case .double(let number):
      if number.isFinite { return chance(4) ? argument(value) : .literal(.number("\(number)")) }
    default: break
    }
    return chance(4) ? argument(value) : .literal(.value(value))
  }

  private static func isNaN(_ value: Value) -> Bool {
    switch value {
    case .double(let number): number.isNaN
    case .float(let number): number.isNaN
    default: false
    }
  }

  mutating func argument(_ value: Value) -> QueryOperand {
    arguments.append(value)
    return .argument(arguments.count - 1)
  }

  private mutating func plain(_ table: String, isMany: Bool) -> QueryComparison? {
    let isDecimal = !isPlain
    guard
      let (path, column) = path(
        table, isMany: isMany,
        where: { $0.type != .mixed && (isDecimal || $0.type != .decimal128) })
    else { return nil }
    if chance(12), column.type != .bool, column.type != .link {
      return QueryComparison(
        .path(path), .between, .list([constant(column.type), constant(column.type)]),
        leftQuantifier: isMany ? quantifier() : nil)
    }
    return QueryComparison(
      .path(path), order(column.type), constant(column.type),
      leftQuantifier: isMany ? quantifier() : nil)
  }

  /// The elements of a collection of the row's own, or their number, and their extremes.
  private mutating func elements(_ table: String) -> QueryComparison? {
    guard table == "Person" else { return nil }
    let name = pick(["tags", "numbers", "scores"])
    let type = Kennel.person.columns.first { $0.name == name }.known.type
    var path = QueryPath([.property(name)])
    guard chance(3) else {
      return QueryComparison(
        .path(path), order(type), constant(type), leftQuantifier: quantifier())
    }
    let operations: [PathOperation] = type == .string ? [.count] : [.count, .min, .max]
    path.steps.append(.operation(pick(operations)))
    return QueryComparison(.path(path), order(.int), constant(.int))
  }

  private mutating func text(_ table: String) -> QueryComparison? {
    let isMany = !isPlain && chance(3)
    let isText = isPlain || !chance(5)
    guard
      let (path, _) = path(
        table, isMany: isMany, where: { $0.type == (isText ? .string : .binary) })
    else { return nil }
    let operations: [ComparisonOperator] =
      isPlain
      ? [.beginsWith, .equal, .notEqual]
      : isText
        ? [.beginsWith, .endsWith, .contains, .like, .equal, .notEqual]
        : [.beginsWith, .endsWith, .contains]
    let operation = pick(operations)
    var wanted = pick(Kennel.texts)
    if operation == .like {
      wanted = pick(["*", "a*", "?", "*b*", "??", "é", "*?b", "a\\?b", wanted])
    }
    let right: QueryOperand =
      chance(12) ? .literal(.value(.null)) : .literal(.value(.string(wanted)))
    return QueryComparison(
      .path(path), operation, right, ignoresCase: isText && !isPlain && chance(2),
      ignoresMarks: isText && !isPlain && chance(3),
      leftQuantifier: isMany ? quantifier() : nil)
  }

  private mutating func member(_ table: String) -> QueryComparison? {
    let isMany = !isPlain && chance(4)
    let isDecimal = !isPlain
    guard
      let (path, column) = path(
        table, isMany: isMany,
        where: {
          $0.type != .mixed && $0.type != .link && (isDecimal || $0.type != .decimal128)
        })
    else { return nil }
    let members = (0..<random.below(4)).map { _ in constant(column.type) }
    return QueryComparison(
      .path(path), isPlain || chance(2) ? .in : .equal, .list(members),
      leftQuantifier: isMany ? quantifier() : nil,
      rightQuantifier: isPlain || chance(2) ? nil : pick(Quantifier.allCases))
  }

  private mutating func link(_ table: String) -> QueryComparison? {
    let isMany = !isPlain && chance(3)
    guard let (path, column) = path(table, isMany: isMany, where: { $0.type == .link }) else {
      return nil
    }
    let right: QueryOperand
    switch (random.below(3), column.target ?? table) {
    case (0, _): right = .literal(.value(.null))
    case (1, "Person"):
      right = .literal(
        .object(
          table: "Person", key: .objectId(Kennel.objectId(random.below(12))), isRowKey: false))
    default:
      right = .literal(
        .object(
          table: column.target ?? table, key: .int(Int64(random.below(8)) - 1), isRowKey: true))
    }
    return QueryComparison(
      .path(path), chance(2) ? .equal : .notEqual, right,
      leftQuantifier: isMany ? quantifier() : nil)
  }

  private mutating func numeric(_ table: String) -> QueryOperand? {
    // SQL switches to floating point where ours overflows, so ages are small.
    let (types, isSmall): ([ColumnType], Bool) =
      isPlain ? ([.int], true) : ([.int, .double, .float, .decimal128], false)
    return path(
      table, isMany: false, where: { types.contains($0.type) && (!isSmall || $0.name == "age") }
    ).map { .path($0.path) }
  }

  /// Numbers calculated and held against each other.
  private mutating func numbers(_ table: String) -> QueryComparison? {
    guard let left = calculated(table, depth: isPlain ? 0 : 2), let right = numeric(table) else {
      return nil
    }
    return QueryComparison(left, order(.int), chance(3) ? constant(.int) : right)
  }

  /// A number, or one that is calculated; its parts may be calculated, too.
  private mutating func calculated(_ table: String, depth: Int) -> QueryOperand? {
    guard let number = numeric(table), chance(2) else { return numeric(table) }
    let first = depth > 0 && chance(3) ? calculated(table, depth: depth - 1) ?? number : number
    let isProduct = chance(2)
    var terms: [ArithmeticTerm] = []
    for _ in 0...random.below(2) {
      let small = QueryOperand.literal(.value(.int(Int64(random.below(5)))))
      let next: QueryOperand? =
        chance(2) ? small : depth > 0 ? calculated(table, depth: depth - 1) : numeric(table)
      let operation: ArithmeticOperator =
        isProduct ? (chance(2) ? .multiply : .divide) : chance(2) ? .add : .subtract
      terms.append(ArithmeticTerm(operation, next ?? small))
    }
    return .arithmetic(first, terms)
  }

  private mutating func aggregate(_ table: String) -> QueryComparison? {
    let operation = pick([
      PathOperation.count, .size, .sum, .avg, .min, .max,
    ])
    let isCount = operation == .count || operation == .size
    let isExtreme = operation == .min || operation == .max
    guard
      var (path, column) = path(
        table, isMany: true,
        where: { column in
          isCount || [.int, .float, .double, .decimal128, .mixed].contains(column.type)
            || isExtreme && column.type == .date
        })
    else { return nil }
    if !isCount, chance(2), case .property? = path.steps.last, path.steps.count > 1,
      column.collection == .none
    {
      path.steps.insert(.operation(operation), at: path.steps.count - 1)
    } else {
      path.steps.append(.operation(operation))
    }
    column.type = isCount ? .int : column.type
    let right = column.type == .mixed ? constant(.int) : constant(column.type)
    return QueryComparison(.path(path), order(.int), right)
  }

  private mutating func subquery(_ table: String, _ depth: Int) -> QueryComparison? {
    guard depth > 0, variables.count < 2,
      let (path, column) = path(table, isMany: true, where: { $0.type == .link })
    else { return nil }
    let variable = "v\(variables.count)"
    variables.append((variable, column.target ?? table))
    let predicate = predicate(table, depth: depth - 1)
    variables.removeLast()
    return QueryComparison(
      .subquery(QuerySubquery(collection: path, variable: variable, predicate: predicate)),
      order(.int), .literal(.value(.int(Int64(random.below(3))))))
  }

  private mutating func type(_ table: String) -> QueryComparison? {
    let isMany = chance(2)
    guard var (path, _) = path(table, isMany: isMany, where: { _ in true }) else {
      return nil
    }
    path.steps.append(.operation(.type))
    let names = [
      "null", "int", "string", "numeric", "object", "date", "decimal", "bool", "objectlink",
      "array",
    ]
    let right: QueryOperand =
      chance(4)
      ? .list([.literal(.value(.string(pick(names)))), .literal(.value(.string(pick(names))))])
      : .literal(.value(.string(pick(names))))
    return QueryComparison(
      .path(path), chance(2) ? .equal : .notEqual, right,
      leftQuantifier: isMany ? quantifier() : nil)
  }

  private mutating func element(_ table: String) -> QueryComparison? {
    if chance(6) {
      var path = QueryPath([.links, .operation(.count)])
      if table == "Dog", chance(2) { path.steps.insert(.property("owner"), at: 0) }
      return QueryComparison(.path(path), order(.int), .literal(.value(.int(2))))
    }
    guard table == "Person" else { return nil }
    let name = pick(["tags", "numbers", "things", "map", "walks", "friends"])
    var path = QueryPath([.property(name)])
    let column = Kennel.person.columns.first { $0.name == name }.known
    if column.collection == .dictionary {
      switch random.below(4) {
      case 0:
        path.steps.append(.operation(.keys))
        return QueryComparison(
          .path(path), order(.string), .literal(.value(.string(pick(["a", "k", "z"])))),
          leftQuantifier: quantifier())
      case 1:
        path.steps.append(.elementCount)
        return QueryComparison(.path(path), order(.int), .literal(.value(.int(2))))
      default: path.steps.append(.key(pick(["a", "b", "z"])))
      }
    } else {
      path.steps.append(
        pick([.index(random.below(4)), .firstElement, .lastElement, .elementCount]))
      if path.steps.last == .elementCount {
        return QueryComparison(.path(path), order(.int), .literal(.value(.int(1))))
      }
      if chance(4) {
        path.steps[path.steps.count - 1] = .argument(arguments.count)
        arguments.append(.int(Int64(random.below(3))))
      }
    }
    if column.type == .link {
      path.steps.append(.property("age"))
      return QueryComparison(.path(path), order(.int), constant(.int))
    }
    return QueryComparison(
      .path(path), column.type == .mixed ? pick([.equal, .less, .notEqual]) : order(column.type),
      constant(column.type))
  }

  private mutating func mixed(_ table: String) -> QueryComparison? {
    let isMany = chance(2)
    guard let (path, _) = path(table, isMany: isMany, where: { $0.type == .mixed }) else {
      return nil
    }
    let right: QueryOperand =
      chance(6)
      ? .literal(.object(table: "Dog", key: .int(Int64(random.below(4))), isRowKey: false))
      : constant(.mixed)
    let isObject = if case .literal(.object) = right { true } else { false }
    return QueryComparison(
      .path(path), isObject ? .equal : order(.int), right,
      leftQuantifier: isMany ? quantifier() : nil)
  }

  // MARK: paths

  /// A random path that ends in a column of the wanted kind; nil when none was found.
  mutating func path(
    _ table: String, isMany: Bool, where isWanted: (ColumnSchema) -> Bool
  ) -> (path: QueryPath, column: ColumnSchema)? {
    var path = QueryPath([])
    var table = table
    if let variable = variables.last, !chance(4) {
      path.variable = variable.name
      table = variable.table
    }
    var isSeveral = false
    for hop in 0...2 {
      let columns = Kennel.tables.first { $0.schema.name == table }.known.schema.columns
      let fitting = columns.filter {
        isWanted($0) && (isSeveral || ($0.collection != .none)) == isMany
      }
      if !fitting.isEmpty, hop == 2 || chance(2) {
        let column = pick(fitting)
        let hasAlias = table == "Person" && column.name == "isActive" && chance(2)
        path.steps.append(.property(hasAlias ? "isOn" : column.name))
        return (path, column)
      }
      // Embedded points have their own tests.
      var links = columns.filter { $0.type == .link && $0.target != "Place" }
      if !isMany { links.removeAll { $0.collection != .none } }
      if isMany, !isPlain, chance(3) {
        let backlinks: [(QueryStep, String)] =
          table == "Person"
          ? [
            (.property("staff"), "Person"), (.property("ownedDogs"), "Dog"),
            (.backlinks(table: "Person", property: "friends"), "Person"),
          ]
          : table == "Dog"
            ? [
              (.property("fans"), "Person"),
              (.backlinks(table: "Person", property: "pet"), "Person"),
              (.backlinks(table: "Person", property: "walks"), "Person"),
            ] : []
        guard !backlinks.isEmpty else { return nil }
        let (step, origin) = pick(backlinks)
        path.steps.append(step)
        table = origin
        isSeveral = true
        let rows = ColumnSchema(name: "", type: .link, target: origin)
        if isWanted(rows), chance(3) { return (path, rows) }
        continue
      }
      guard !links.isEmpty else { return nil }
      let link = pick(links)
      path.steps.append(.property(link.name))
      isSeveral = isSeveral || link.collection != .none
      table = link.target.known
    }
    return nil
  }
}
