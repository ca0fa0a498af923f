// TextParser+Sources.swift: FROM, JOIN and UNNEST.

extension TextParser {
  mutating func sources() throws(DocumentQueryError) -> QueryNode {
    let place = current.place
    try expect("FROM")
    let first = current.place
    var sources = [QueryNode(.dict(try collection()), at: first)]
    while let next = try join() { sources.append(next) }
    return QueryNode(.array(sources), at: place)
  }

  /// A collection and its name in the query.
  private mutating func collection() throws(DocumentQueryError) -> [QueryNode.Pair] {
    let place = current.place
    var pairs: [QueryNode.Pair] = []
    let first = try name("the name of a collection")
    if takeSymbol(".") {
      pairs.append(QueryNode.Pair("SCOPE", text(first, at: place)))
      pairs.append(
        QueryNode.Pair("COLLECTION", text(try name("the name of a collection"), at: place)))
    } else {
      pairs.append(QueryNode.Pair("COLLECTION", text(first, at: place)))
    }
    if let alias = try sourceAlias() {
      pairs.append(QueryNode.Pair("AS", text(alias, at: place)))
    }
    return pairs
  }

  private mutating func sourceAlias() throws(DocumentQueryError) -> String? {
    if take("AS") { return try name("a name") }
    switch current.kind {
    case .name: return try name("a name")
    case .word(let word) where !Self.reserved.contains(word.uppercased()):
      return try name("a name")
    default: return nil
    }
  }

  private mutating func join() throws(DocumentQueryError) -> QueryNode? {
    let place = current.place
    if take("UNNEST") {
      let expression = try expression()
      guard let alias = try sourceAlias() else { throw unexpected("AS and a name") }
      return QueryNode(
        .dict([
          QueryNode.Pair("AS", text(alias, at: place)), QueryNode.Pair("UNNEST", expression),
        ]), at: place)
    }
    var type = "INNER"
    if take("LEFT") {
      type = "LEFT OUTER"
      _ = take("OUTER")
      try expect("JOIN")
    } else if take("INNER") {
      try expect("JOIN")
    } else if take("CROSS") {
      type = "CROSS"
      try expect("JOIN")
    } else if takeSymbol(",") {
      type = "CROSS"
    } else if !take("JOIN") {
      return nil
    }
    var pairs = try collection()
    pairs.append(QueryNode.Pair("JOIN", text(type, at: place)))
    if type != "CROSS" {
      try expect("ON")
      pairs.append(QueryNode.Pair("ON", try expression()))
    }
    return QueryNode(.dict(pairs), at: place)
  }
}
