// CollectionName.swift: names of collections and of their scopes. Rule of the real library: 1 to
// 251 bytes of letters, digits, `_`, `%` and `-`, the first neither `_` nor `%`; `_default` stands
// for no name.

/// The name of a collection, with its scope.
public struct CollectionName: Hashable, Sendable, CustomStringConvertible {
  /// The name of the default scope, and of the default collection in it.
  public static let defaultName = "_default"
  /// Most bytes of a name.
  public static let sizeMaxBytes = 251
  /// The collection that every data file has.
  public static let `default` = CollectionName()

  /// The scope's name.
  public let scope: String
  /// The collection's name.
  public let name: String

  private init() {
    scope = Self.defaultName
    name = Self.defaultName
  }

  /// A collection.
  /// - Parameters:
  ///   - name: Its name.
  ///   - scope: The name of its scope.
  /// - Throws: `DocumentStoreError` with code `.invalidParameter`, for an invalid name; the default
  ///   collection exists only in the default scope.
  public init(_ name: String, scope: String = defaultName) throws(DocumentStoreError) {
    let isDefaultScope = scope == Self.defaultName
    guard isDefaultScope || Self.isValid(scope) else { throw Self.invalid("scope", scope) }
    guard Self.isValid(name) || isDefaultScope && name == Self.defaultName else {
      throw Self.invalid("collection", name)
    }
    self.scope = scope
    self.name = name
  }

  /// Scope and name, a dot between them.
  public var description: String { "\(scope).\(name)" }

  private static func isValid(_ name: String) -> Bool {
    let bytes = Array(name.utf8)
    guard (1...sizeMaxBytes).contains(bytes.count) else { return false }
    guard bytes[0] != UInt8(ascii: "_"), bytes[0] != UInt8(ascii: "%") else { return false }
    return bytes.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "%"),
        UInt8(ascii: "-"):
        true
      default: false
      }
    }
  }

  private static func invalid(_ what: String, _ name: String) -> DocumentStoreError {
    DocumentStoreError(
      .invalidParameter,
      "no \(what) can be named \(quoted(name)) (\(name.utf8.count) bytes); use 1 to "
        + "\(sizeMaxBytes) letters, digits, _, % or -, and neither _ nor % first")
  }
}
