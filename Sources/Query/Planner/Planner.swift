// Planner.swift: how a query finds its rows: through an index, by scans of columns, and by testing
// rows, the cheapest condition first. The conditions that AND joins are sorted into three kinds.
// Which index is used, if any, is decided when the query runs, by the number of rows that each
// would give.

import Engine

/// One of the conditions that AND joins.
struct PlannedCondition: Sendable {
  let predicate: BoundPredicate
  let probe: IndexProbe?
  let column: ColumnCondition?
  /// The cost of testing one row, in comparisons of numbers.
  let cost: Int
  let text: String
  /// The tables that may be scanned for all rows at once.
  let tallied: [Int]
}

/// The conditions of a query in the order in which they are tested.
struct Plan: Sendable {
  let conditions: [PlannedCondition]

  init(_ predicate: BoundPredicate, _ schema: QuerySchema) {
    var tallies = 0
    self.init(predicate, schema, tallies: &tallies)
  }

  /// - Parameters:
  ///   - predicate: The condition.
  ///   - schema: The query's.
  ///   - tallies: The number of tallies of the plans around this one, and its own added.
  init(_ predicate: BoundPredicate, _ schema: QuerySchema, tallies: inout Int) {
    let members = if case .all(let members) = predicate { members } else { [predicate] }
    var planned: [PlannedCondition] = []
    for member in members {
      var planner = TallyPlanner(schema, count: tallies)
      planned.append(
        PlannedCondition(
          predicate: planner.marked(member), probe: IndexProbe(member, schema),
          column: ColumnCondition(member, schema), cost: Self.cost(member),
          text: Self.text(member), tallied: planner.tables))
      tallies = planner.count
    }
    // A stable order: of two that cost the same the first one stays first.
    conditions = planned.enumerated().sorted {
      ($0.element.cost, $0.offset) < ($1.element.cost, $1.offset)
    }.map(\.element)
  }

  // MARK: costs

  private static func cost(_ predicate: BoundPredicate) -> Int {
    switch predicate {
    case .constant: 0
    case .not(let member): cost(member)
    case .all(let members), .any(let members):
      members.reduce(0) { $0 &+ cost($1) }
    case .comparison(let comparison):
      cost(comparison.operation) &+ cost(comparison.left) &+ cost(comparison.right)
        &+ (comparison.isExact ? 0 : comparison.ignoresMarks ? 40 : 20)
    }
  }

  private static func cost(_ operation: BoundOperator) -> Int {
    switch operation {
    case .equal, .notEqual, .less, .lessEqual, .greater, .greaterEqual, .between, .sharesType,
      .sharesNoType:
      1
    case .beginsWith, .endsWith: 2
    case .contains: 5
    case .like: 20
    case .text: 100
    case .within: 40
    }
  }

  private static func cost(_ operand: BoundOperand) -> Int {
    switch operand {
    case .value, .number, .words, .area, .engineLink: 0
    case .object: 10
    case .list(let members): members.reduce(0) { $0 &+ 1 &+ cost($1) }
    case .arithmetic(let first, let terms):
      terms.reduce(cost(first)) { $0 &+ 1 &+ cost($1.operand) }
    case .path(let path): path.steps.reduce(0) { $0 &+ cost($1) }
    case .subquery(let subquery):
      subquery.collection.steps.reduce(200) { $0 &+ cost($1) } &+ 10 &* cost(subquery.predicate)
    }
  }

  private static func cost(_ step: BoundStep) -> Int {
    switch step {
    case .itself: 0
    case .value: 2
    case .link: 10
    case .elementCount, .element, .linkCount, .named: 20
    case .links, .backlinks, .elements, .keys, .namedLinks, .nested: 50
    }
  }

  // MARK: words

  private static func text(_ predicate: BoundPredicate) -> String {
    switch predicate {
    case .constant(let isTrue): isTrue ? "TRUEPREDICATE" : "FALSEPREDICATE"
    case .not(let member): "NOT (\(text(member)))"
    case .all(let members): members.map { "(\(text($0)))" }.joined(separator: " AND ")
    case .any(let members): members.map { "(\(text($0)))" }.joined(separator: " OR ")
    case .comparison(let comparison): comparison.text
    }
  }

  /// Whether a condition reads texts for their words.
  private static func readsWords(_ predicate: BoundPredicate) -> Bool {
    switch predicate {
    case .constant: false
    case .not(let member): readsWords(member)
    case .all(let members), .any(let members): members.contains(where: readsWords)
    case .comparison(let comparison): comparison.operation == .text
    }
  }

  /// The plan in lines: which conditions may use an index, which use scans, and which are tested
  /// per row.
  func explained(_ schema: QuerySchema) -> [String] {
    var lines: [String] = []
    for condition in conditions {
      guard let probe = condition.probe else { continue }
      let kind =
        switch probe.wanted {
        case .values(let values): values.count == 1 ? "one value" : "\(values.count) values"
        case .range: "range, unless it holds most rows"
        case .words: "words"
        }
      lines.append("index of \(schema.name(probe.column)) (\(kind)): \(condition.text)")
    }
    let scanned = conditions.filter { $0.probe == nil && $0.column != nil }
    for condition in scanned {
      let isLinked = condition.column?.linkedTables.isEmpty == false
      lines.append("scan of columns\(isLinked ? " through links" : ""): \(condition.text)")
    }
    for condition in conditions where condition.probe == nil && condition.column == nil {
      var note = Self.readsWords(condition.predicate) ? ", no index of words" : ""
      for table in condition.tallied {
        note += ", or a scan of \(schema.tables[table].schema.name) for all"
      }
      lines.append("row by row (cost \(condition.cost)\(note)): \(condition.text)")
    }
    return lines
  }
}
