// QueryNode.swift: a query as written, before it is interpreted: the JSON, or SQL++ converted to
// the same form.

/// A node of a query, with its place.
package struct QueryNode: Sendable {
  /// The content of the node.
  package indirect enum Value: Sendable {
    case null
    case boolean(Bool)
    case integer(Int64)
    /// From 2⁶³ on.
    case unsigned(UInt64)
    case real(Double)
    case text(String)
    case array([QueryNode])
    /// In the order of the keys' bytes.
    case dict([Pair])
  }

  /// A key with its value.
  package struct Pair: Sendable {
    package let key: String
    package let value: QueryNode

    package init(_ key: String, _ value: QueryNode) {
      self.key = key
      self.value = value
    }
  }

  package let value: Value
  package let place: QueryPlace

  package init(_ value: Value, at place: QueryPlace) {
    self.value = value
    self.place = place
  }

  var text: String? {
    if case .text(let text) = value { return text }
    return nil
  }

  var array: [QueryNode]? {
    if case .array(let items) = value { return items }
    return nil
  }

  var dict: [Pair]? {
    if case .dict(let pairs) = value { return pairs }
    return nil
  }

  var isNull: Bool {
    if case .null = value { return true }
    return false
  }

  /// The kind, in words.
  var kind: String {
    switch value {
    case .null: "null"
    case .boolean: "a boolean"
    case .integer, .unsigned, .real: "a number"
    case .text: "a text"
    case .array: "an array"
    case .dict: "a dict"
    }
  }
}
