// QueryValue.swift: a value of a result or of a parameter. Missing, null and false are three
// values.

import Fleece

/// A value in the result or the parameters of a query.
public enum QueryValue: Sendable, Hashable {
  /// No value.
  case missing
  /// JSON's null.
  case null
  case boolean(Bool)
  case integer(Int64)
  /// An integer from 2⁶³ on.
  case unsigned(UInt64)
  case real(Double)
  case text(String)
  case data([UInt8])
  /// An array or a dict: the bytes of Fleece, with keys as texts.
  case collection([UInt8])

  /// The value as JSON; nil for a missing one, and for bytes that do not decode.
  public var json: String? {
    let bytes: [UInt8]
    switch self {
    case .missing: return nil
    case .null: return "null"
    case .boolean(let value): return value ? "true" : "false"
    case .integer(let value): return "\(value)"
    case .unsigned(let value): return "\(value)"
    case .collection(let collection): bytes = collection
    case .real, .text, .data:
      guard let encoded = try? encoded() else { return nil }
      bytes = encoded
    }
    return try? FleeceDocument(bytes).withRoot { (root) throws(FleeceError) in try root.json() }
  }

  /// An array or a dict of JSON.
  /// - Parameter json: The text.
  /// - Returns: The value.
  /// - Throws: `FleeceError` with code `.json`.
  public static func collection(json: String) throws(FleeceError) -> QueryValue {
    .collection(try FleeceEncoder.bytes(ofJSON: json))
  }

  private func encoded() throws(FleeceError) -> [UInt8] {
    var encoder = FleeceEncoder()
    switch self {
    case .real(let value): try encoder.double(value)
    case .text(let value): try encoder.text(value)
    case .data(let value): try encoder.data(value)
    default: encoder.null()
    }
    return try encoder.finish()
  }

  /// A value of Fleece that is not a collection.
  init(_ root: FleeceValue) {
    switch root.kind {
    case .null, .undefined: self = .null
    case .boolean: self = .boolean(root.boolean ?? false)
    case .integer:
      self = root.integer.map { .integer($0) } ?? .unsigned(root.unsignedInteger ?? 0)
    case .real: self = .real(root.double ?? 0)
    case .text: self = .text(root.text ?? "")
    case .data: self = .data(root.data?.array ?? [])
    case .array, .dict: preconditionFailure("collections are copied")
    }
  }
}
