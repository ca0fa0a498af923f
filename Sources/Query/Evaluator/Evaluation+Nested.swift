// Evaluation+Nested.swift: lists and dictionaries in mixed values. Each is a row of a table that no
// query names; a value links to it, with `Evaluation.collections` as the table.

import Engine

extension Evaluation {
  /// The collection that a value stands for; nil for any other value, and for one that is gone.
  private func nested(
    _ value: Value
  ) throws(QueryError) -> (path: CollectionPath, isDictionary: Bool)? {
    guard case .typedLink(Self.collections, let key) = value, let table = schema.mixedCollections
    else { return nil }
    let kind = try asking { () throws(EngineError) in
      try source.value(in: table.name, key: key, column: table.isDictionary)
    }
    guard case .bool(let isDictionary)? = kind else { return nil }
    let column = isDictionary ? table.entries : table.items
    return (CollectionPath(table: table.name, key: key, column: column), isDictionary)
  }

  /// Whether a value is a list or a dictionary, as bits of a set of types; nil for any other value.
  func nestedType(_ value: Value) throws(QueryError) -> Int64? {
    try nested(value).map { $0.isDictionary ? TypeSet.dictionary : TypeSet.list }
  }

  /// The number of elements; nil for a value that is no collection.
  func nestedCount(_ value: Value) throws(QueryError) -> Int64? {
    guard let (path, _) = try nested(value) else { return nil }
    return Int64(try asking { () throws(EngineError) in try source.count(of: path) })
  }

  /// What choices lead to in a value; null where one value is chosen that is not there.
  func chosen(_ choices: [NestedChoice], in value: Value) throws(QueryError) -> [Value] {
    var values = [value]
    for choice in choices {
      var next: [Value] = []
      for value in values { next += try chosen(choice, in: value) }
      values = next
    }
    return values
  }

  private func chosen(_ choice: NestedChoice, in value: Value) throws(QueryError) -> [Value] {
    try spend(1)
    let collection = try nested(value)
    switch choice {
    case .all:
      guard let (path, _) = collection else { return [] }
      var found: [Value] = []
      try asking { () throws(EngineError) in
        try source.forEach(in: path) { _, value in found.append(value) }
      }
      try spend(found.count)
      for index in found.indices { found[index] = try normalized(found[index]) }
      return found
    case .one(let choice):
      let isKey = if case .key = choice { true } else { false }
      guard let (path, isDictionary) = collection, isKey == isDictionary else { return [.null] }
      return [try normalized(try element(choice, of: path) ?? .null)]
    }
  }

  /// One element of a collection, as it is stored; nil when there is none.
  func element(_ choice: ElementChoice, of path: CollectionPath) throws(QueryError) -> Value? {
    try asking { () throws(EngineError) -> Value? in
      if case .key(let key) = choice { return try source.value(forKey: key, in: path) }
      let count = try source.count(of: path)
      let index = if case .index(let index) = choice { index } else { count - 1 }
      return (0..<count).contains(index) ? try source.element(at: index, of: path) : nil
    }
  }

  /// A mixed value with the table as the query's schema numbers it.
  private func normalized(_ value: Value) throws(QueryError) -> Value {
    guard case .typedLink(let table, let key) = value else { return value }
    return .typedLink(table: try index(of: table), key: key)
  }
}
