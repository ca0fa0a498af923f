// ColumnTitles.swift: the titles of the columns of a result: as given in the query, else the last
// name of a path, else `$1`, `$2`; a repeated title gets the first free suffix from ` #2` on.

import Fleece

/// Names the columns of a result.
struct ColumnTitles {
  let scope: SourceScope

  func titles(of select: QuerySelect) throws(DocumentQueryError) -> [String] {
    guard !select.columns.isEmpty else { return ["_id", "_sequence"] }
    var (titles, taken, unnamed): ([String], Set<String>, Int) = ([], [], 0)
    var counts: [String: Int] = [:]
    for column in select.columns {
      let title: String
      if let name = column.name ?? column.metaTitle {
        title = name
      } else if let name = try name(of: column.expression) {
        title = name
      } else {
        unnamed += 1
        title = "$\(unnamed)"
      }
      var unique = title
      while !taken.insert(unique).inserted {
        let count = counts[title, default: 1] + 1
        counts[title] = count
        unique = "\(title) #\(count)"
      }
      titles.append(unique)
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
      guard let last = rest.last else { return title(of: source) }
      guard case .key(let key) = last else { return nil }
      return key
    }
  }

  /// The title of a whole source: its name, or of a collection that is named with its scope the
  /// collection's name alone, unless a joined one has the same.
  private func title(of source: SourceScope.Source) -> String {
    let parts = source.name.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2, case .collection(let collection) = source.kind,
      collection.scope == parts[0], collection.name == parts[1]
    else { return source.name }
    let isShared = scope.sources.contains { other in
      guard other.name != source.name, case .collection(let joined) = other.kind else {
        return false
      }
      return joined.name == collection.name
    }
    return isShared ? source.name : collection.name
  }
}
