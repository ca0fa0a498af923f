// Parser+Clauses.swift: SORT, DISTINCT and LIMIT after the condition.

import Engine

extension Parser {
  /// The next clause, or nil when there is none here.
  mutating func clause() throws(QueryError) -> QueryClause? {
    let keyword = current.keyword
    switch keyword {
    case .sort, .distinct, .limit: try advance()
    default: return nil
    }
    try expect(.leftParenthesis, "(")
    let clause: QueryClause
    switch keyword {
    case .sort:
      var keys: [SortKey] = []
      repeat { keys.append(try sortKey()) } while try accept(.comma)
      clause = .sort(keys)
    case .distinct:
      var paths: [QueryPath] = []
      repeat { paths.append(try path()) } while try accept(.comma)
      clause = .distinct(paths)
    default:
      guard current.kind == .integer, let count = Int(text(current)) else {
        throw unexpected("a number of rows")
      }
      try advance()
      clause = .limit(count)
    }
    try expect(.rightParenthesis, ", or )")
    return clause
  }

  private mutating func sortKey() throws(QueryError) -> SortKey {
    let path = try path()
    switch current.keyword {
    case .asc, .ascending: try advance()
    case .desc, .descending:
      try advance()
      return SortKey(path, isAscending: false)
    default: break
    }
    return SortKey(path, isAscending: true)
  }
}
