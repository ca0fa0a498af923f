// QueryExpression.swift: an interpreted expression of a query: a list with a leading word has
// become an operator, a path or a function. Names of sources are not looked up yet.

import Fleece

/// An expression.
package struct QueryExpression: Sendable {
  package let kind: Kind
  package let place: QueryPlace

  package init(_ kind: Kind, at place: QueryPlace) {
    self.kind = kind
    self.place = place
  }

  /// The kind of expression.
  package indirect enum Kind: Sendable {
    case null
    case boolean(Bool)
    case integer(Int64)
    case unsigned(UInt64)
    case real(Double)
    case text(String)
    case missing
    case array([QueryExpression])
    /// In the order of the keys' bytes.
    case dict([(key: String, value: QueryExpression)])
    /// A property of a document, or a source; no steps mean the document.
    case property([FleecePath.Component])
    /// A variable of ANY and EVERY.
    case variable(String, [FleecePath.Component])
    case parameter(String)
    /// A property of a value; the real library keeps a point before the path.
    case nested(QueryExpression, [FleecePath.Component], hasPoint: Bool)
    /// The metadata of a document, of the given source or the first.
    case meta(source: String?)
    case blob([FleecePath.Component])
    case operation(QueryOperator, [QueryExpression])
    case choice(QueryExpression?, [Branch], otherwise: QueryExpression?)
    case quantified(Quantifier, Quantified)
    case collated(QueryCollation, QueryExpression)
    case call(QueryFunction, [QueryExpression])
    case match(index: String, pattern: QueryExpression)
    case rank(index: String)
    case prediction(Prediction)
    case select(QuerySelect)
  }

  /// A branch of CASE.
  package struct Branch: Sendable {
    let when: QueryExpression
    let then: QueryExpression
  }

  /// The parts of ANY and EVERY.
  package struct Quantified: Sendable {
    let variable: String
    let collection: QueryExpression
    let predicate: QueryExpression
  }

  /// The parts of PREDICTION().
  package struct Prediction: Sendable {
    let model: QueryExpression
    let input: QueryExpression
    let path: [FleecePath.Component]?
    /// Model and input as text, to find a matching index.
    let identity: String
  }
}
