// SQLWriter+Deletion.swift: whether a query reads deleted documents, which have their own tables.
// The default collection may have some in its table of live ones, from before 3.1.

import Fleece

extension SQLWriter {
  /// Determines which documents each source has.
  mutating func enterDeletion(_ select: QuerySelect) throws(DocumentQueryError) {
    var expressions = select.columns.map(\.expression) + select.grouping
    expressions += [select.condition, select.having, select.limit, select.offset]
      .compactMap { $0 }
    expressions += select.order.map(\.expression)
    for source in select.sources {
      if case .join(_, let condition?) = source.kind { expressions.append(condition) }
    }
    // Indexes have only live documents, and the view of all documents has no row IDs to join with.
    var indexed = Set((scope.fullText + scope.predictions).map(\.source))
    for (index, source) in select.sources.enumerated() {
      guard case .unnest(let expression) = source.kind,
        case .arrayTable = scope.sources[index].kind, case .property(let path) = expression.kind,
        case .property(let outer, _) = try scope.target(path, at: expression.place),
        let number = scope.sources.firstIndex(where: { $0.name == outer.name })
      else { continue }
      indexed.insert(number)
    }
    for index in scope.sources.indices where !indexed.contains(index) {
      guard case .collection(let collection) = scope.sources[index].kind else { continue }
      var documents = SourceScope.Source.Documents.live
      for expression in expressions where try asksForDeletion(expression, of: index) {
        documents = .all
      }
      // Deleted documents in the table of live ones would be missed when reading only the table of
      // dead ones.
      if documents == .all, !collection.isDefault, index == 0, let condition = select.condition,
        try isDeletion(condition, of: index)
      {
        documents = .dead
      }
      scope.sources[index].documents = documents
    }
  }

  private func asksForDeletion(
    _ expression: QueryExpression, of index: Int
  ) throws(DocumentQueryError) -> Bool {
    switch expression.kind {
    case .property: return try isDeletion(expression, of: index)
    case .meta(let name): return try scope.source(named: name, at: expression.place) == index
    case .nested(let value, let path, _):
      if case .meta(let name) = value.kind {
        guard path == [.key("deleted")] else { return false }
        return try scope.source(named: name, at: expression.place) == index
      }
    default: break
    }
    for child in expression.children where try asksForDeletion(child, of: index) { return true }
    return false
  }

  /// Whether an expression is true for deleted documents only.
  private func isDeletion(
    _ expression: QueryExpression, of index: Int
  ) throws(DocumentQueryError) -> Bool {
    switch expression.kind {
    case .property(let path):
      guard path.last == .key("_deleted"),
        case .meta(let source, .deleted)? = try? scope.target(path, at: expression.place)
      else { return false }
      return source.name == scope.sources[index].name
    case .nested(let value, let path, _):
      guard case .meta(let name) = value.kind else { return false }
      guard path == [.key("deleted")] else { return false }
      return try scope.source(named: name, at: expression.place) == index
    case .operation(.and, let operands):
      for operand in operands where try isDeletion(operand, of: index) { return true }
      return false
    default: return false
    }
  }
}
