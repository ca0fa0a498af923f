// ColumnTitles.swift: the titles of the columns of a result: as given in the query, else the last
// name of a path, else `$1`, `$2`; a repeated title gets the suffix ` #2`.

import Fleece

/// Names the columns of a result.
struct ColumnTitles {
  let scope: SourceScope

  func titles(of select: QuerySelect) throws(DocumentQueryError) -> [String] {
    guard !select.columns.isEmpty else { return ["_id", "_sequence"] }
    var (titles, counts, unnamed): ([String], [String: Int], Int) = ([], [:], 0)
    for column in select.columns {
      let title: String
      if let name = column.name {
        title = name
      } else if let name = try name(of: column.expression) {
        title = name
      } else {
        unnamed += 1
        title = "$\(unnamed)"
      }
      let count = counts[title, default: 0] + 1
      counts[title] = count
      titles.append(count == 1 ? title : "\(title) #\(count)")
    }
    return titles
  }

  private func name(of expression: QueryExpression) throws(DocumentQueryError) -> String? {
    guard case .property(let path) = expression.kind else { return nil }
    switch try scope.target(path, at: expression.place) {
    case .meta(_, let property):
      return path.count == 1 ? property.rawValue : "_\(property.rawValue)"
    case .column(let name, _): return name
    case .property(let source, let rest):
      guard let last = rest.last else { return source.name }
      guard case .key(let key) = last else { return nil }
      return key
    }
  }
}
