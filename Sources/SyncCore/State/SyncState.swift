// SyncState.swift: all objects of a realm as plain values: the state that the app reads, without
// its history. Invariants: empty fields are omitted; each node's sum, and the digest, are those of
// docs/reference/sync-merge.md, section 11; `linkers` counts the links in `objects`.

/// A value, with the content of an embedded object.
public struct SyncSlot: Hashable, Sendable {
  /// The value.
  public var value: SyncValue
  /// The embedded object, where the value is one.
  public var embedded: SyncNode?

  /// A value; an embedded object has no properties yet.
  public init(_ value: SyncValue) {
    self.value = value
    embedded = value == .embedded ? SyncNode() : nil
  }
}

/// The content of a property: a value, a list, a set and a dictionary.
public struct SyncContent: Hashable, Sendable {
  /// The value; nil when it was never set.
  public var value: SyncSlot?
  /// The elements.
  public var list = SyncList()
  /// The members.
  public var set: Set<SyncValue> = []
  /// The entries.
  public var dictionary: [SyncText: SyncSlot] = [:]

  /// Creates empty content.
  public init() {}

  /// Whether it is empty.
  public var isEmpty: Bool {
    value == nil && list.isEmpty && set.isEmpty && dictionary.isEmpty
  }
}

/// The properties of an object or an embedded object.
public struct SyncNode: Hashable, Sendable {
  /// The fields that are not empty.
  public internal(set) var fields: [SyncText: SyncContent] = [:]
  /// The sum of the hashes of its parts.
  public internal(set) var sum: UInt128 = 0

  /// No properties.
  public init() {}

  /// Compares the content of the properties; the sum follows from it.
  public static func == (left: SyncNode, right: SyncNode) -> Bool { left.fields == right.fields }

  /// Hashes the content of the properties.
  public func hash(into hasher: inout Hasher) { hasher.combine(fields) }

  /// The content of a property.
  public subscript(_ name: SyncText) -> SyncContent { fields[name] ?? SyncContent() }
}

/// All objects that are alive.
public struct SyncState: Sendable {
  /// The objects.
  public internal(set) var objects: [SyncObject: SyncNode] = [:]
  /// The digest of all of them.
  public package(set) var digest: UInt128 = 0
  /// For each object that links lead to: how many from which object.
  var linkers: [SyncObject: [SyncObject: Int]] = [:]

  /// No objects.
  public init() {}
}

extension SyncState: Equatable {
  /// Compares the content of the objects.
  public static func == (left: SyncState, right: SyncState) -> Bool {
    left.digest == right.digest && left.objects == right.objects
  }
}
