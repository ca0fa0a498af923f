// SQLWriter+Indexes.swift: tables of indexes that a SELECT joins: words of texts, and predictions.

import Fleece

extension SQLWriter {
  /// Finds the full-text indexes that are searched.
  mutating func enterFullText(_ select: QuerySelect) throws(DocumentQueryError) {
    guard let condition = select.condition else { return }
    var pending = [condition]
    while let next = pending.popLast() {
      switch next.kind {
      case .operation(.and, let operands): pending += operands.reversed()
      case .collated(_, let inner): pending.append(inner)
      case .match(let name, let pattern):
        guard !pattern.usesRows, !pattern.isAggregate else {
          throw DocumentQueryError(
            .context, "what MATCH() looks for cannot come from documents", at: pattern.place)
        }
        let (source, index) = try fullTextIndex(name, at: next.place)
        guard !scope.fullText.contains(where: { $0.table == index.table && $0.source == source })
        else {
          throw DocumentQueryError(
            .context, "\(shown(name)) is matched twice; join the words with AND", at: next.place)
        }
        fullTextCount += 1
        scope.fullText.append(
          SourceScope.IndexTable(
            table: index.table, alias: "fts\(fullTextCount)", source: source,
            identity: index.name))
      default: break
      }
    }
  }

  private func fullTextIndex(
    _ name: String, at place: QueryPlace
  ) throws(DocumentQueryError) -> (source: Int, index: QuerySchema.Index) {
    for (number, source) in scope.sources.enumerated() {
      guard case .collection(let collection) = source.kind else { continue }
      let plain =
        name.hasPrefix(source.name + ".") ? String(name.dropFirst(source.name.count + 1)) : name
      guard plain != name || number == 0 || scope.sources.count == 1 else { continue }
      if let index = collection.indexes.first(where: { $0.kind == .fullText && $0.name == plain }) {
        return (number, index)
      }
    }
    let names = scope.sources.flatMap { source -> [String] in
      guard case .collection(let collection) = source.kind else { return [] }
      return collection.indexes.filter { $0.kind == .fullText }.map(\.name)
    }
    throw DocumentQueryError(
      .missingIndex, "MATCH() needs a full-text index named \(shown(name))", at: place,
      nearest: nearestName(to: name, among: names))
  }

  private func joined(
    _ name: String, _ what: String, at place: QueryPlace
  ) throws(DocumentQueryError) -> SourceScope.IndexTable {
    let (source, index) = try fullTextIndex(name, at: place)
    guard
      let found = scope.fullText.first(where: { $0.table == index.table && $0.source == source })
    else {
      throw DocumentQueryError(
        .context, "\(what) needs MATCH() of \(shown(name)) in WHERE, outermost or under AND",
        at: place)
    }
    return found
  }

  mutating func writeMatch(
    _ name: String, _ pattern: QueryExpression, at place: QueryPlace
  ) throws(DocumentQueryError) {
    let index = try joined(name, "this", at: place)
    sql += "\(index.alias).\(quoted(index.table)) MATCH "
    try write(pattern, in: QueryOperator.like.precedence)
  }

  mutating func writeRank(_ name: String, at place: QueryPlace) throws(DocumentQueryError) {
    let index = try joined(name, "RANK()", at: place)
    sql += "rank(matchinfo(\(index.alias).\(quoted(index.table))))"
  }

  /// Finds the predictions that have an index.
  mutating func enterPredictions(_ select: QuerySelect) throws(DocumentQueryError) {
    guard case .collection(let collection) = scope.sources[0].kind, scope.sources.count == 1 else {
      return
    }
    var indexes: [String: String] = [:]
    for index in collection.indexes {
      guard case .predictive(let expressions) = index.kind else { continue }
      if let identity = Self.identity(of: expressions) { indexes[identity] = index.table }
    }
    guard !indexes.isEmpty else { return }
    var pending = [select.condition, select.having].compactMap { $0 }
    pending += select.columns.map(\.expression) + select.order.map(\.expression) + select.grouping
    while let next = pending.popLast() {
      pending += next.children
      guard case .prediction(let prediction) = next.kind,
        let table = indexes[prediction.identity],
        !scope.predictions.contains(where: { $0.identity == prediction.identity })
      else { continue }
      predictionCount += 1
      scope.predictions.append(
        SourceScope.IndexTable(
          table: table, alias: "pred\(predictionCount)", source: 0,
          identity: prediction.identity))
    }
  }

  /// Model and input of an index's expressions.
  private static func identity(of expressions: String) -> String? {
    guard let node = try? QueryNode(json: expressions), let first = node.array?.first?.array,
      first.count >= 3
    else { return nil }
    return first[1].identity + first[2].identity
  }

  mutating func write(_ prediction: QueryExpression.Prediction) throws(DocumentQueryError) {
    if let index = scope.predictions.first(where: { $0.identity == prediction.identity }) {
      sql += "fl_unnested_value(\(index.alias).body"
      if let path = prediction.path { sql += ", \(literal(path))" }
      sql += ")"
      return
    }
    sql += prediction.path == nil ? "prediction(" : "fl_nested_value(prediction("
    try write(prediction.model, in: Binding.list)
    sql += ", "
    try write(prediction.input, in: Binding.list)
    sql += ")"
    if let path = prediction.path { sql += ", \(literal(path)))" }
  }
}
