// ReferenceOperation.swift: an operation with its known history and its rank:
// docs/reference/sync-merge.md, section 1. This module uses only plain data types of SyncCore.

import SyncCore

/// An operation of a log.
struct ReferenceOperation {
  let version: UInt64
  let client: UInt64
  let sequence: UInt64
  let base: UInt64
  let stamp: UInt64
  /// The index of the original, for ranks.
  let source: Int
  /// Its position in the changeset, which determines what it knows.
  let position: Int
  let operation: SyncOperation

  func knows(_ other: ReferenceOperation) -> Bool {
    if other.version <= base { return true }
    guard other.client == client else { return false }
    return other.sequence < sequence
      || (other.sequence == sequence && other.position < position)
  }

  func isLater(than other: ReferenceOperation) -> Bool {
    if stamp != other.stamp { return stamp > other.stamp }
    if client != other.client { return client > other.client }
    return source > other.source
  }
}

/// A value by the operation that wrote it and its number among that operation's values: this
/// identifies an element, and an embedded object.
struct ReferenceIdentity: Hashable {
  let operation: Int
  let number: Int
}

/// A field: an object, the embedded objects on the way, a name.
struct ReferenceAddress: Hashable {
  var object: SyncObject
  var way: [Way] = []
  var property: SyncText = ""

  struct Way: Hashable {
    let property: SyncText
    let identity: ReferenceIdentity
  }
}

/// The content of an object or an embedded object.
public struct ReferenceNode: Equatable {
  /// A value; an embedded object with its content.
  public indirect enum Slot: Equatable {
    /// A value.
    case value(SyncValue)
    /// An embedded object.
    case node(ReferenceNode)
  }

  /// The content of a property.
  public struct Content: Equatable {
    /// Its value.
    public var value: Slot?
    /// Its elements.
    public var list: [Slot] = []
    /// Its members.
    public var set: Set<SyncValue> = []
    /// Its entries.
    public var dictionary: [SyncText: Slot] = [:]
  }

  /// The properties that hold something.
  public var fields: [SyncText: Content] = [:]

  /// Converts a node of SyncCore.
  public init(_ node: SyncNode) {
    for (name, content) in node.fields {
      var copy = Content()
      copy.value = content.value.map(Self.slot)
      copy.list = content.list.map(Self.slot)
      copy.set = content.set
      copy.dictionary = content.dictionary.mapValues(Self.slot)
      fields[name] = copy
    }
  }

  init() {}

  private static func slot(_ slot: SyncSlot) -> Slot {
    slot.embedded.map { .node(ReferenceNode($0)) } ?? .value(slot.value)
  }
}
