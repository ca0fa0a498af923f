// QueryReader+Sources.swift: the items of FROM.

extension QueryReader {
  private static let keys = ["AS", "COLLECTION", "SCOPE", "ON", "JOIN", "UNNEST"]
  private static let joins = [
    "INNER": "INNER", "LEFT": "LEFT", "LEFT OUTER": "LEFT OUTER", "CROSS": "CROSS",
  ]

  mutating func sources(
    _ nodes: [QueryNode]
  ) throws(DocumentQueryError) -> [QuerySelect.Source] {
    var sources: [QuerySelect.Source] = []
    for (index, node) in nodes.enumerated() {
      sources.append(try source(node, isFirst: index == 0))
    }
    guard sources.count <= QueryLimits.sourcesMax else {
      throw DocumentQueryError(
        .limit, "\(sources.count) sources > \(QueryLimits.sourcesMax)", at: sources[0].place)
    }
    return sources
  }

  private mutating func source(
    _ node: QueryNode, isFirst: Bool
  ) throws(DocumentQueryError) -> QuerySelect.Source {
    guard let pairs = node.dict else {
      throw DocumentQueryError(
        .operands, "an item of FROM is a dict, and not \(node.kind)", at: node.place)
    }
    var values: [String: QueryNode] = [:]
    for pair in pairs {
      let key = pair.key.uppercased()
      guard Self.keys.contains(key) else {
        throw DocumentQueryError(
          .unknownName, "unknown key \(shown(pair.key)) in FROM", at: pair.value.place,
          nearest: nearestName(to: pair.key, among: Self.keys))
      }
      values[key] = pair.value
    }
    let alias = try name(values["AS"], "AS")
    return QuerySelect.Source(
      alias: alias, collection: try name(values["COLLECTION"], "COLLECTION"),
      scope: try name(values["SCOPE"], "SCOPE"), kind: try kind(values, isFirst, node),
      place: node.place)
  }

  private mutating func kind(
    _ values: [String: QueryNode], _ isFirst: Bool, _ node: QueryNode
  ) throws(DocumentQueryError) -> QuerySelect.Source.Kind {
    let (on, join, unnest) = (values["ON"], values["JOIN"], values["UNNEST"])
    if isFirst {
      if let wrong = on ?? join ?? unnest {
        throw DocumentQueryError(
          .context, "the first item of FROM has no ON, JOIN or UNNEST", at: wrong.place)
      }
      return .first
    }
    if let unnest {
      if let wrong = on ?? join ?? values["COLLECTION"] ?? values["SCOPE"] {
        throw DocumentQueryError(
          .context, "UNNEST has no ON, JOIN, COLLECTION or SCOPE beside it", at: wrong.place)
      }
      return .unnest(try expression(unnest, in: .list))
    }
    let word = try join.map { (node) throws(DocumentQueryError) in try text(node, "JOIN") }
    guard let type = Self.joins[word?.uppercased() ?? "INNER"] else {
      throw DocumentQueryError(
        .unknownName, "unknown JOIN \(shown(word ?? ""))", at: join?.place ?? node.place,
        nearest: nearestName(to: word ?? "", among: Self.joins.keys.sorted()))
    }
    if type == "CROSS", let on {
      throw DocumentQueryError(.context, "a CROSS join has no ON", at: on.place)
    }
    return .join(
      type, on: try on.map { (node) throws(DocumentQueryError) in try expression(node) })
  }

  private func name(
    _ node: QueryNode?, _ key: String
  ) throws(DocumentQueryError) -> String? {
    guard let node else { return nil }
    let name = try text(node, key)
    guard SQLNames.isAllowed(name) else { throw SQLNames.refusal(name, node.place) }
    return name
  }
}
