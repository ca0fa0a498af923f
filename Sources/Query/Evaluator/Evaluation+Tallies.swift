// Evaluation+Tallies.swift: what a scan has found out about the collections of all rows, and when
// one is worth it. Rows are visited one by one until so many were visited that a scan would have
// cost about the same: a run costs at most about twice what the better way would have.

import Engine

/// What a run knows of a tally.
enum TallyState {
  /// How many rows of collections were visited one by one.
  case visited(Int)
  /// What links to each row of the query's table.
  case groups(LinkTally)
  /// The rows of the collections' table that count.
  case matching(RowKeySet)
  /// What the rows of the collections' table have in a column.
  case numbers(KeyedNumbers)
}

extension Evaluation {
  /// A scan looks at about this many rows in the time that a visit of one row takes.
  private static let rowsPerVisit = 32

  /// What a run knows of a tally, after the scan if it is worth it by now; nil where rows are
  /// visited one by one.
  private func state(_ tally: Tally) throws(QueryError) -> TallyState? {
    guard snapshot != nil else { return nil }
    let visited: Int
    switch tallies[tally.number] {
    case .visited(let count): visited = count
    case nil: visited = 0
    case let known?: return known
    }
    guard let reader = try reader(tally.table), visited >= reader.rowCount / Self.rowsPerVisit,
      reader.rowCount <= stepsLeft
    else { return nil }
    let found = try scanned(tally, reader)
    tallies[tally.number] = found
    return found
  }

  /// Notes that rows of a collection were visited one by one.
  func visited(_ count: Int, of tally: Tally) {
    guard snapshot != nil else { return }
    if case .visited(let before) = tallies[tally.number] ?? .visited(0) {
      tallies[tally.number] = .visited(before + count)
    }
  }

  private func scanned(_ tally: Tally, _ reader: TableReader) throws(QueryError) -> TallyState {
    let numbers = tally.numbers.map { schema.column($0).name }
    switch tally.collection {
    case .links:
      guard let numbers else { return .matching(RowKeySet(try keys(tally.plan, tally.table))) }
      try spend(reader.rowCount)
      return .numbers(try asking { () throws(EngineError) in try reader.keyedNumbers(numbers) })
    case .backlinks(let id):
      let name = schema.column(id).name
      var (test, keys) = (RowTest.all([]), RowKeySet?.none)
      if let scan = try scan(tally.plan, tally.table) {
        test = scan.test
      } else {
        keys = RowKeySet(try self.keys(tally.plan, tally.table))
      }
      return .groups(
        try asking { () throws(EngineError) in
          try reader.tally(
            numbers, by: reader.column(name, of: Int64.self), where: test, keys: keys)
        })
    }
  }

  /// The number of rows of a collection that pass a subquery's condition.
  func count(_ subquery: BoundSubquery, _ rows: [QueriedRow]) throws(QueryError) -> Int64 {
    if let tally = subquery.tally, let state = try state(tally) {
      switch (state, tally.collection) {
      case (.groups(let groups), _): return Int64(groups[rows[0].key].rows)
      case (.matching(let keys), .links(let id, _)):
        var count: Int64 = 0
        try forEachLink(id, rows[0]) { if keys.contains($0) { count += 1 } }
        return count
      default: break
      }
    }
    let collection = try self.rows(subquery.collection, rows)
    if let tally = subquery.tally { visited(collection.count, of: tally) }
    var count: Int64 = 0
    for row in collection where try passes(subquery.predicate, rows + [row]) { count += 1 }
    return count
  }

  /// What a path adds up, if a scan has found it.
  func total(_ path: BoundPath, _ rows: [QueriedRow]) throws(QueryError) -> Value? {
    guard let tally = path.tally, let id = tally.numbers, let state = try state(tally) else {
      return nil
    }
    let isDouble = schema.column(id).type == .double
    switch (state, tally.collection) {
    case (.groups(let groups), _):
      return Self.total(groups[rows[0].key], path.finish, isDouble: isDouble)
    case (.numbers(let numbers), .links(let column, _)):
      var group = LinkTally.Group()
      try forEachLink(column, rows[0]) { group.add(numbers[$0]) }
      return Self.total(group, path.finish, isDouble: isDouble)
    default: return nil
    }
  }

  private static func total(
    _ group: LinkTally.Group, _ finish: PathFinish, isDouble: Bool
  ) -> Value {
    switch finish {
    case .sum where isDouble: .double(group.sum)
    case .sum: Int64(exactly: group.total).map { .int($0) } ?? .null
    case _ where group.numbers == 0: .null
    case .average: .double(group.sum / Double(group.numbers))
    case .minimum: .int(group.least)
    default: .int(group.greatest)
    }
  }
}
