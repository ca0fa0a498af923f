// ExpressionTerm.swift: expressions in the JSON form of the query language
// (docs/reference/document-queries.md).

import Fleece
import Foundation

/// An expression in the form that queries are stored in: JSON.
public struct ExpressionTerm: Sendable, CustomStringConvertible {
  indirect enum Form: Sendable {
    case null
    case boolean(Bool)
    case integer(Int64)
    case unsigned(UInt64)
    case real(Double)
    case text(String)
    case list([ExpressionTerm])
    case dict([String: ExpressionTerm])
  }

  let form: Form

  init(_ form: Form) { self.form = form }

  /// A list with a word in front.
  init(_ word: String, _ operands: [ExpressionTerm]) {
    self.init(.list([ExpressionTerm(.text(word))] + operands))
  }

  /// A text.
  init(text: String) { self.init(.text(text)) }

  /// A value of a document.
  init(_ item: Item, depth: Int = 0) {
    guard depth < Item.depthMax else {
      self.init(.null)
      return
    }
    switch item {
    case .null: self.init(.null)
    case .boolean(let value): self.init(.boolean(value))
    case .integer(let value): self.init(.integer(value))
    case .unsigned(let value): self.init(.unsigned(value))
    case .float(let value): self.init(.real(Double(value)))
    case .double(let value): self.init(.real(value))
    case .text(let text): self.init(.text(text))
    case .data, .blob: self.init(.null)
    case .array(let contents):
      self.init("[]", contents.items().map { ExpressionTerm($0, depth: depth + 1) })
    case .dictionary(let contents):
      self.init(.dict(contents.items().mapValues { ExpressionTerm($0, depth: depth + 1) }))
    }
  }

  func write(to encoder: inout FleeceEncoder) throws(FleeceError) {
    switch form {
    case .null: encoder.null()
    case .boolean(let value): encoder.boolean(value)
    case .integer(let value): try encoder.integer(value)
    case .unsigned(let value): try encoder.unsignedInteger(value)
    case .real(let value): try encoder.double(value)
    case .text(let text): try encoder.text(text)
    case .list(let terms):
      try encoder.beginArray()
      for term in terms { try term.write(to: &encoder) }
      try encoder.endArray()
    case .dict(let pairs):
      try encoder.beginDict()
      for (key, term) in pairs.sorted(by: { $0.key < $1.key }) {
        try encoder.key(key)
        try term.write(to: &encoder)
      }
      try encoder.endDict()
    }
  }

  /// The JSON; a text that is not a query when the expression is too deep.
  public var description: String {
    do throws(FleeceError) {
      var encoder = FleeceEncoder()
      try write(to: &encoder)
      return try FleeceDocument(try encoder.finish()).withRoot { (root) throws(FleeceError) in
        try root.json()
      }
    } catch {
      return "\(error)"
    }
  }
}

/// An expression of a query.
public protocol ExpressionProtocol: Sendable {
  /// The expression in the query language.
  var term: ExpressionTerm { get }
}

/// An expression that was made of others.
struct CombinedExpression: ExpressionProtocol {
  let term: ExpressionTerm

  init(_ word: String, _ operands: [any ExpressionProtocol]) {
    term = ExpressionTerm(word, operands.map(\.term))
  }

  init(_ term: ExpressionTerm) { self.term = term }
}
