// Tally.swift: conditions on the collections of each row that one scan answers for all rows:
// `SUBQUERY(pets, $pet, …).@count`, `ANY pets.age > 5`, `pets.@sum.age`. The planner says what to
// scan; a run does so as soon as it has visited enough rows one by one (Evaluation+Tallies.swift).
// Invariant: a tally's condition reads no row but the collection's, so its answer for one of them
// is the same whichever row of the query it belongs to.

import Engine

/// What a scan finds out about the rows in the collections of all rows of a table.
struct Tally: Sendable {
  /// How the rows of the query's table have collections of others.
  enum Collection: Sendable {
    /// The rows that link to it by this column.
    case backlinks(ColumnID)
    /// The rows that this column of its own leads to, in a table.
    case links(ColumnID, table: Int)
  }

  /// One number for each tally of a plan, from 0 on.
  let number: Int
  let collection: Collection
  /// The column whose numbers are added up.
  let numbers: ColumnID?
  /// Which rows of the collections' table count.
  let plan: Plan

  /// The table of the collections' rows.
  var table: Int {
    switch collection {
    case .backlinks(let column): column.table
    case .links(_, let table): table
    }
  }
}

/// Marks what tallies can answer in a condition.
struct TallyPlanner {
  let schema: QuerySchema
  /// The number of tallies so far.
  private(set) var count: Int
  /// The tables that tallies scan.
  private(set) var tables: [Int] = []

  init(_ schema: QuerySchema, count: Int) {
    self.schema = schema
    self.count = count
  }

  /// The condition with its tallies.
  mutating func marked(_ predicate: BoundPredicate) -> BoundPredicate {
    switch predicate {
    case .constant: return predicate
    case .not(let member): return .not(marked(member))
    case .all(let members): return .all(members.map { marked($0) })
    case .any(let members): return .any(members.map { marked($0) })
    case .comparison(var comparison):
      if let counted = counted(comparison) { comparison = counted }
      comparison.left = marked(comparison.left)
      comparison.right = marked(comparison.right)
      return .comparison(comparison)
    }
  }

  private mutating func marked(_ operand: BoundOperand) -> BoundOperand {
    switch operand {
    case .subquery(var subquery):
      guard let collection = collection(subquery.collection),
        let condition = subquery.predicate.ofInnerRows
      else { return operand }
      subquery.tally = tally(collection, of: condition)
      return .subquery(subquery)
    case .path(var path):
      path.tally = totals(path)
      return .path(path)
    case .arithmetic(let first, let terms):
      return .arithmetic(
        marked(first),
        terms.map { BoundTerm(arithmetic: $0.arithmetic, operand: marked($0.operand)) })
    default: return operand
    }
  }

  private mutating func tally(
    _ collection: Tally.Collection, of condition: BoundPredicate, _ numbers: ColumnID? = nil
  ) -> Tally {
    let number = count
    count += 1
    let plan = Plan(condition, schema, tallies: &count)
    let tally = Tally(number: number, collection: collection, numbers: numbers, plan: plan)
    if !tables.contains(tally.table) { tables.append(tally.table) }
    return tally
  }

  /// The collection of the query's own row that a path leads to.
  private func collection(_ path: BoundPath) -> Tally.Collection? {
    guard path.origin == 0, path.finish == .none else { return nil }
    switch (path.steps.count, path.steps[0], path.steps.last) {
    case (2, .backlinks(let id), .itself): return backlinks(id)
    case (1, .elements(let id), _): return links(id)
    default: return nil
    }
  }

  /// The collection whose rows a step of a path goes on from.
  private func collection(_ step: BoundStep) -> Tally.Collection? {
    switch step {
    case .backlinks(let id): backlinks(id)
    case .links(let id): links(id)
    default: nil
    }
  }

  private func backlinks(_ id: ColumnID) -> Tally.Collection? {
    let column = schema.column(id)
    return column.type == .link && column.collection == .none ? .backlinks(id) : nil
  }

  private func links(_ id: ColumnID) -> Tally.Collection? {
    let column = schema.column(id)
    guard column.type == .link, let target = column.target,
      let table = schema.tables.firstIndex(where: { $0.schema.name == target })
    else { return nil }
    return .links(id, table: table)
  }

  /// The tally of a path that adds up numbers of a collection's rows.
  private mutating func totals(_ path: BoundPath) -> Tally? {
    guard path.origin == 0, !path.isMixed, path.steps.count == 2,
      case .value(let id) = path.steps[1], let collection = collection(path.steps[0])
    else { return nil }
    switch (path.finish, schema.column(id).type) {
    case (.sum, .int), (.average, .int), (.minimum, .int), (.maximum, .int), (.sum, .double),
      (.average, .double):
      return tally(collection, of: .constant(true), id)
    default: return nil
    }
  }

  /// A comparison of one property of a collection's rows, or of what they link to, with a constant,
  /// as one of the number of rows that pass it.
  private func counted(_ comparison: BoundComparison) -> BoundComparison? {
    guard !comparison.isWhole, case .path(let path) = comparison.left, path.origin == 0,
      path.finish == .none, case .value? = path.steps.dropFirst().last,
      path.steps.dropFirst().dropLast().allSatisfy({ if case .link = $0 { true } else { false } }),
      comparison.right.isConstant, let collection = collection(path.steps[0])
    else { return nil }
    // Where a link in between leads nowhere the path has no value, and the subquery's has a null.
    let isAll = comparison.leftQuantifier == .all
    guard path.steps.count == 2 || !isAll && comparison.failsNull else { return nil }
    let steps: [BoundStep] =
      switch collection {
      case .backlinks(let id): [.backlinks(id), .itself]
      case .links(let id, _): [.elements(id)]
      }
    var inner = comparison
    inner.leftQuantifier = .any
    inner.left = .path(
      BoundPath(
        origin: 1, steps: Array(path.steps.dropFirst()), finish: .none, isMany: false))
    let passes = BoundPredicate.comparison(inner)
    let subquery = BoundSubquery(
      collection: BoundPath(origin: 0, steps: steps, finish: .none, isMany: true),
      predicate: isAll ? .not(passes) : passes)
    return BoundComparison(
      left: .subquery(subquery), leftQuantifier: .any,
      operation: comparison.leftQuantifier == .any ? .greater : .equal, ignoresCase: false,
      ignoresMarks: false, right: .value(.int(0)), rightQuantifier: .any, isWhole: false,
      text: comparison.text, wantedBytes: nil)
  }
}

extension BoundOperand {
  /// Whether it reads no row.
  fileprivate var isConstant: Bool {
    switch self {
    case .value, .words, .area: true
    case .list(let members): members.allSatisfy(\.isConstant)
    default: false
    }
  }
}

// MARK: conditions of a collection's rows alone

extension BoundPredicate {
  /// The condition of a subquery as one of its own rows; nil when it reads others, too.
  fileprivate var ofInnerRows: BoundPredicate? {
    switch self {
    case .constant: return self
    case .not(let member): return member.ofInnerRows.map { .not($0) }
    case .all(let members): return Self.ofInnerRows(members).map { .all($0) }
    case .any(let members): return Self.ofInnerRows(members).map { .any($0) }
    case .comparison(var comparison):
      guard let left = comparison.left.ofInnerRows, let right = comparison.right.ofInnerRows
      else { return nil }
      (comparison.left, comparison.right) = (left, right)
      return .comparison(comparison)
    }
  }

  private static func ofInnerRows(_ members: [BoundPredicate]) -> [BoundPredicate]? {
    let found = members.compactMap(\.ofInnerRows)
    return found.count == members.count ? found : nil
  }
}

extension BoundOperand {
  fileprivate var ofInnerRows: BoundOperand? {
    switch self {
    case .value, .number, .object, .engineLink, .words, .area: return self
    case .path(let path): return path.ofInnerRows.map { .path($0) }
    case .list(let members):
      let found = members.compactMap(\.ofInnerRows)
      return found.count == members.count ? .list(found) : nil
    case .arithmetic(let first, let terms):
      let found = terms.compactMap { term in
        term.operand.ofInnerRows.map { BoundTerm(arithmetic: term.arithmetic, operand: $0) }
      }
      guard let first = first.ofInnerRows, found.count == terms.count else { return nil }
      return .arithmetic(first, found)
    case .subquery(let subquery):
      guard let collection = subquery.collection.ofInnerRows,
        let predicate = subquery.predicate.ofInnerRows
      else { return nil }
      return .subquery(BoundSubquery(collection: collection, predicate: predicate))
    }
  }
}

extension BoundPath {
  fileprivate var ofInnerRows: BoundPath? {
    guard origin > 0 else { return nil }
    var path = self
    path.origin -= 1
    return path
  }
}
