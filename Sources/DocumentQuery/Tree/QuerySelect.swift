// QuerySelect.swift: a SELECT: columns, sources, conditions, order.

/// A SELECT.
package struct QuerySelect: Sendable {
  var isDistinct = false
  /// None mean the document's ID and sequence.
  var columns: [Column] = []
  /// None mean the default collection.
  var sources: [Source] = []
  var condition: QueryExpression?
  var grouping: [QueryExpression] = []
  var having: QueryExpression?
  var order: [Order] = []
  var limit: QueryExpression?
  var offset: QueryExpression?
  let place: QueryPlace

  init(at place: QueryPlace) { self.place = place }

  /// A column of the result.
  struct Column: Sendable {
    let expression: QueryExpression
    /// The name that AS gives it.
    let name: String?
    /// The title of a property of META(), which is no name: `["_.", ["meta()"], ".id"]`.
    var metaTitle: String?
  }

  /// A source of the selection.
  struct Source: Sendable {
    enum Kind: Sendable {
      case first
      case join(String, on: QueryExpression?)
      case unnest(QueryExpression)
    }

    let alias: String?
    let collection: String?
    let scope: String?
    let kind: Kind
    let place: QueryPlace
  }

  /// A term of the order.
  struct Order: Sendable {
    enum Direction: String, Sendable {
      case ascending = " ASC"
      case descending = " DESC"
    }

    let expression: QueryExpression
    let direction: Direction?
  }
}
