// Revision.swift: a revision in a tree.

/// The flags of a revision in a tree.
public struct RevisionFlags: OptionSet, Hashable, Sendable {
  /// The bits.
  public let rawValue: UInt8

  /// Flags of bits.
  /// - Parameter rawValue: The bits.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// A tombstone.
  public static let deleted = RevisionFlags(rawValue: 1)
  /// No revision has it as its parent.
  public static let leaf = RevisionFlags(rawValue: 2)
  /// Its body names blobs.
  public static let hasAttachments = RevisionFlags(rawValue: 8)
  /// Its body is kept when it is no longer a leaf.
  public static let keepsBody = RevisionFlags(rawValue: 0x10)
  /// It was pulled as a conflict with the current revision.
  public static let conflict = RevisionFlags(rawValue: 0x20)
  /// The end of a branch that lost.
  public static let closed = RevisionFlags(rawValue: 0x40)
  /// Its body is in its entry; on disk only.
  static let hasData = RevisionFlags(rawValue: 0x80)
  /// The flags that are stored.
  static let stored = RevisionFlags(rawValue: 0x7b)
}

/// A revision in a tree.
public struct Revision: Hashable, Sendable {
  /// Its ID.
  public var id: RevisionID
  /// Index of its parent in the tree; nil for a root.
  public var parent: Int?
  /// Its flags.
  public var flags: RevisionFlags
  /// The sequence that it was saved with; nil until it is saved.
  public var sequence: Int64?
  /// Its body; nil when it is not kept.
  public var body: [UInt8]?

  /// Whether it is the end of a branch that is neither deleted nor closed.
  var isLiveLeaf: Bool {
    flags.contains(.leaf) && flags.isDisjoint(with: [.deleted, .closed])
  }

  /// Whether it sorts before another one: leaves first, then those without conflict, live and not
  /// closed, then the higher ID.
  func precedes(_ other: Revision) -> Bool {
    let orders: [(flag: RevisionFlags, comesFirst: Bool)] = [
      (.leaf, true), (.conflict, false), (.deleted, false), (.closed, false),
    ]
    for order in orders {
      let (mine, others) = (flags.contains(order.flag), other.flags.contains(order.flag))
      if mine != others { return mine == order.comesFirst }
    }
    return other.id < id
  }
}
