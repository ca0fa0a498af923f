// Document.swift [U]: documents as programs see them: contents, and the revision that they are of.
// Safety: `@unchecked Sendable` because the class has a subclass; its stored properties are
// constant and `Sendable`.

import DocumentStore
import Fleece
import Foundation
import Synchronization

/// The revision that a document's contents began with.
struct DocumentBase: Sendable {
  /// The stored form of the revision's ID.
  var version: [UInt8]
  var sequence: Int64

  /// The ID as a text.
  var text: String? {
    if version.first == 0 { return (try? VersionVector(stored: version))?.description }
    return (try? RevisionID(stored: version))?.description
  }
}

/// A document that does not change.
///
/// It shows the revision that it was read from, whatever is saved later. Any thread may use it.
public class Document: Properties, @unchecked Sendable, Hashable, CustomStringConvertible {
  /// The ID, unique in the collection.
  public let id: String

  struct State: Sendable {
    var base: DocumentBase?
    var collection: Collection?
  }

  private let state: Mutex<State>

  init(id: String, _ contents: DictionaryContents, base: DocumentBase?, in collection: Collection?)
  {
    self.id = id
    state = Mutex(State(base: base, collection: collection))
    super.init(contents)
  }

  /// The revision that the contents began with; nil before the document is saved.
  var base: DocumentBase? { state.withLock { $0.base } }

  /// Makes it a document of another revision.
  /// - Returns: The state before.
  @discardableResult
  func saved(as base: DocumentBase?, in collection: Collection) -> State {
    state.withLock { state in
      defer { state = State(base: base, collection: collection) }
      return state
    }
  }

  func restore(_ before: State) { state.withLock { $0 = before } }

  /// The collection; nil before the document is saved.
  public var collection: Collection? { state.withLock { $0.collection } }

  /// The revision's ID; nil before the document is saved.
  public var revisionID: String? { base?.text }

  /// Its place in the order of the collection's changes; 0 before the document is saved.
  public var sequence: UInt64 { UInt64(clamping: base?.sequence ?? 0) }

  /// A copy that can be changed and saved.
  /// - Returns: The copy.
  public func toMutable() -> MutableDocument {
    let (base, collection) = state.withLock { ($0.base, $0.collection) }
    return MutableDocument(id: id, contents.copy(), base: base, in: collection)
  }

  /// Whether both are the same document with equal contents.
  /// - Parameters:
  ///   - first: A document.
  ///   - second: Another one.
  /// - Returns: Whether they are equal.
  public static func == (first: Document, second: Document) -> Bool {
    guard first !== second else { return true }
    return first.id == second.id && first.collection == second.collection
      && first.contents.isEqual(to: second.contents, depth: 0)
  }

  /// Hashes the ID.
  /// - Parameter hasher: The hasher.
  public func hash(into hasher: inout Hasher) { hasher.combine(id) }

  /// ID, revision and contents.
  public var description: String { "\(id) \(revisionID ?? "(not saved)") \(toJSON())" }
}

/// A document that can be changed and saved.
///
/// Any thread may use it; each call is one change. Saving it makes it a document of the new
/// revision.
public final class MutableDocument: Document, MutableDictionaryProtocol, @unchecked Sendable {
  override var isMutable: Bool { true }

  /// An empty document.
  /// - Parameter id: The ID; a new UUID without one.
  public convenience init(id: String? = nil) {
    self.init(id: id ?? Self.newID(), DictionaryContents(), base: nil, in: nil)
  }

  /// A random UUID of version 4 (RFC 9562, section 5.4).
  private static func newID() -> String {
    var bytes = DataFile.Options().entropy(16)
    bytes[6] = bytes[6] & 0x0f | 0x40
    bytes[8] = bytes[8] & 0x3f | 0x80
    var text = ""
    for (index, byte) in bytes.enumerated() {
      if [4, 6, 8, 10].contains(index) { text += "-" }
      text += String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
    }
    return text
  }

  /// A document of values.
  /// - Parameters:
  ///   - id: The ID; a new UUID without one.
  ///   - data: The values by name.
  public convenience init(id: String? = nil, data: [String: Any]) {
    self.init(id: id)
    setData(data)
  }

  /// A document of JSON.
  /// - Parameters:
  ///   - id: The ID; a new UUID without one.
  ///   - json: The text of an object.
  /// - Throws: ``DatabaseError`` with code ``CBLError/invalidParameter``.
  public convenience init(id: String? = nil, json: String) throws {
    self.init(id: id)
    try setJSON(json)
  }

  override init(
    id: String, _ contents: DictionaryContents, base: DocumentBase?, in collection: Collection?
  ) {
    super.init(id: id, contents, base: base, in: collection)
  }

  /// An array that can be changed.
  /// - Parameter key: Its name.
  /// - Returns: The array; nil for other values.
  public override func array(forKey key: String) -> MutableArrayObject? {
    item(key)?.array.map { MutableArrayObject($0) }
  }

  /// A dictionary that can be changed.
  /// - Parameter key: Its name.
  /// - Returns: The dictionary; nil for other values.
  public override func dictionary(forKey key: String) -> MutableDictionaryObject? {
    item(key)?.dictionary.map { MutableDictionaryObject($0) }
  }

  /// A value, to be read as any type, and to be replaced.
  /// - Parameter key: Its name.
  public override subscript(key: String) -> MutableFragment { MutableFragment(contents, key) }
}

/// A document that may not exist.
public struct DocumentFragment: Sendable {
  /// The document; nil when there is none.
  public let document: Document?

  /// Whether there is one.
  public var exists: Bool { document != nil }

  /// A value of the document.
  /// - Parameter key: Its name.
  public subscript(key: String) -> Fragment { document?[key] ?? Fragment(nil) }
}
