// Collection+Coding.swift: documents as values of `Codable` types.

import Foundation
import Synchronization

/// The ID of a document in a `Codable` type, which is not a property of the document:
/// `@DocumentID var id: String?`.
///
/// Saving a value without an ID gives it one.
@propertyWrapper
public final class DocumentID: Codable, Sendable {
  private let state: Mutex<String?>

  /// The ID; nil before the value is saved.
  public var wrappedValue: String? {
    get { state.withLock { $0 } }
    set { state.withLock { $0 = newValue } }
  }

  /// An ID.
  /// - Parameter wrappedValue: The ID; nil for a new one at the first save.
  public init(wrappedValue: String?) { state = Mutex(wrappedValue) }

  /// The ID of the document that is decoded.
  /// - Parameter decoder: The decoder.
  /// - Throws: Nothing.
  public init(from decoder: any Decoder) throws {
    state = Mutex(decoder.userInfo[ItemDecoder.idKey] as? String)
  }

  /// Tells the encoder the ID.
  /// - Parameter encoder: The encoder.
  /// - Throws: Nothing.
  public func encode(to encoder: any Encoder) throws {
    (encoder.userInfo[ItemEncoder.idKey] as? FoundID)?.found(self)
  }
}

/// The ID that a value has, while it is encoded.
final class FoundID: Sendable {
  private let wrapper = Mutex<DocumentID?>(nil)

  func found(_ wrapper: DocumentID) { self.wrapper.withLock { $0 = $0 ?? wrapper } }

  var id: DocumentID? { wrapper.withLock { $0 } }
}

extension Collection {
  /// A document as a value.
  /// - Parameters:
  ///   - id: Its ID.
  ///   - type: The value's type.
  /// - Returns: The value; nil when there is no such document.
  /// - Throws: ``DatabaseError``, and `DecodingError` when the document does not have the type's
  ///   form.
  public func document<Value: Decodable>(id: String, as type: Value.Type) throws -> Value? {
    try document(id: id)?.data(as: type)
  }

  /// Saves a value as a document, in place of the contents that it has then.
  /// - Parameters:
  ///   - value: The value: its type becomes an object in JSON.
  ///   - id: The document's ID; nil for that of a `@DocumentID` property, or a new one.
  /// - Returns: The ID.
  /// - Throws: ``DatabaseError``, and `EncodingError`.
  ///
  /// Durability: as `save(document:)`.
  @discardableResult
  public func saveDocument<Value: Encodable>(from value: Value, id: String? = nil) throws -> String
  {
    let found = FoundID()
    let pairs = try ItemEncoder.pairs(of: value, found)
    let document = MutableDocument(id: id ?? found.id?.wrappedValue)
    document.contents.replace(with: pairs)
    try save(document: document)
    found.id?.wrappedValue = document.id
    return document.id
  }

  /// Deletes the document of a value with a `@DocumentID` property.
  /// - Parameter value: The value.
  /// - Throws: ``DatabaseError`` with code ``CBLError/notFound`` when there is no such document.
  ///
  /// Durability: as `save(document:)`.
  public func deleteDocument<Value: Encodable>(for value: Value) throws {
    let found = FoundID()
    _ = try ItemEncoder.pairs(of: value, found)
    guard let id = found.id?.wrappedValue, let document = try self.document(id: id) else {
      throw DatabaseError(CBLError.notFound, "\(fullName) has no document for the value")
    }
    try delete(document: document)
  }
}

extension Document {
  /// The contents as a value.
  /// - Parameter type: The value's type.
  /// - Returns: The value.
  /// - Throws: `DecodingError` when the contents do not have the type's form.
  public func data<Value: Decodable>(as type: Value.Type) throws -> Value {
    try ItemDecoder.decode(type, from: .dictionary(contents), id: id)
  }
}

extension Result {
  /// The row as a value.
  /// - Parameter type: The value's type; its properties are named as the columns. A row of one
  ///   column with a dictionary, as of `SELECT *`, is that dictionary.
  /// - Returns: The value.
  /// - Throws: `DecodingError` when the row does not have the type's form.
  public func data<Value: Decodable>(as type: Value.Type) throws -> Value {
    let items = items()
    let id = items["id"]?.text ?? items["_id"]?.text
    if keys.count == 1, let only = items.values.first, case .dictionary = only {
      return try ItemDecoder.decode(type, from: only, id: nil)
    }
    return try ItemDecoder.decode(type, from: .dictionary(DictionaryContents(items)), id: id)
  }
}

extension ResultSet {
  /// The rows that were not returned yet, as values.
  /// - Parameter type: The values' type, as of `Result.data(as:)`.
  /// - Returns: The values.
  /// - Throws: `DecodingError` when a row does not have the type's form.
  public func data<Value: Decodable>(as type: Value.Type) throws -> [Value] {
    try allResults().map { try $0.data(as: type) }
  }
}
