// SyncObject.swift: the identity of an object in operations: its class and primary key. It is the
// same in every replica, whereas row keys are local to a file.

/// A primary key.
public enum SyncKey: Hashable, Sendable {
  /// No value, which is a distinct key.
  case null
  /// A number.
  case int(Int64)
  /// A text.
  case text(SyncText)
  /// The 12 bytes of an ObjectId: its first eight, big-endian, and its last four.
  case objectId(high: UInt64, low: UInt32)
  /// The 16 bytes of a UUID, big-endian.
  case uuid(UInt128)
}

extension SyncKey: Comparable {
  /// Orders by kind, then by value: numbers by size, texts and identifiers by bytes.
  public static func < (left: SyncKey, right: SyncKey) -> Bool {
    switch (left, right) {
    case (.int(let left), .int(let right)): left < right
    case (.text(let left), .text(let right)): left < right
    case (.objectId(let high, let low), .objectId(let otherHigh, let otherLow)):
      (high, low) < (otherHigh, otherLow)
    case (.uuid(let left), .uuid(let right)): left < right
    default: left.kind < right.kind
    }
  }

  private var kind: Int {
    switch self {
    case .null: 0
    case .int: 1
    case .text: 2
    case .objectId: 3
    case .uuid: 4
    }
  }
}

/// An object of a synchronized class.
public struct SyncObject: Hashable, Sendable {
  /// The name of its class.
  public let type: SyncText
  /// Its primary key.
  public let key: SyncKey

  /// The object of a class with a key.
  public init(_ type: SyncText, _ key: SyncKey) {
    self.type = type
    self.key = key
  }
}

extension SyncObject: Comparable {
  /// Orders by class, then by key.
  public static func < (left: SyncObject, right: SyncObject) -> Bool {
    left.type == right.type ? left.key < right.key : left.type < right.type
  }
}
