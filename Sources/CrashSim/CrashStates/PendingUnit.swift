// PendingUnit.swift: the smallest piece of a volatile change that can persist alone.
// Invariants: ids ascend in trace order; a unit depends only on units with smaller ids; effects of
// a kept set are applied in order of ids.

import LabCore
import Recording

/// One elementary change of a file tree.
public enum Effect: Sendable, Equatable {
  /// Bytes of a payload in place. Does not change the size: bytes beyond it stay invisible.
  case data(inode: InodeNumber, offsetBytes: UInt64, payload: Payload, slice: Range<Int>)
  /// The size; bytes beyond a smaller one are discarded and read as zeros if the file grows again.
  case size(inode: InodeNumber, newSizeBytes: UInt64)
  /// A range that reads as zeros.
  case zero(inode: InodeNumber, offsetBytes: UInt64, countBytes: UInt64)
  /// A name for an inode, replacing its previous target. An entry that persists implies that its
  /// inode exists, with the ownership, link text and device of its creation.
  case setEntry(parent: InodeNumber, name: FileName, inode: InodeNumber)
  /// Removes a name.
  case removeEntry(parent: InodeNumber, name: FileName)
  /// Owner and permissions.
  case ownership(inode: InodeNumber, ownership: Ownership)
  /// An extended attribute; nil removes.
  case extendedAttribute(inode: InodeNumber, name: FileName, value: [UInt8]?)
  /// A modification time that the program chose; nil for the time of a change.
  case modificationTime(inode: InodeNumber, time: Timestamp?)
}

extension Effect {
  /// The inode whose sync makes the effect durable.
  var syncedInode: InodeNumber {
    switch self {
    case .data(let inode, _, _, _), .size(let inode, _), .zero(let inode, _, _),
      .ownership(let inode, _), .extendedAttribute(let inode, _, _),
      .modificationTime(let inode, _):
      inode
    case .setEntry(let parent, _, _), .removeEntry(let parent, _): parent
    }
  }
}

extension Effect {
  /// True for a change of owner, mode or extended attributes of an inode.
  func isAttribute(of inode: InodeNumber) -> Bool {
    switch self {
    case .ownership(let changed, _), .extendedAttribute(let changed, _, _): changed == inode
    default: false
    }
  }
}

/// The smallest piece of a volatile change that can persist alone.
public struct PendingUnit: Sendable {
  /// The kind of change, which decides the applicable rules.
  public enum Kind: Sendable, Hashable {
    /// Bytes of a file.
    case data
    /// A size increased by a write.
    case growth
    /// A size set by truncate or fallocate, possibly with a range of zeros.
    case explicitSize
    /// A range of zeros alone.
    case zero
    /// Names.
    case entry
    /// Owner, permissions, extended attributes, chosen times.
    case attribute
    /// All effects of an operation together.
    case operation
  }

  /// Number of the unit, from 0 in trace order.
  public let id: Int
  /// Index of the event whose operation it belongs to.
  public let event: Int
  /// What the unit changes.
  public let kind: Kind
  /// The effects, which persist all together or not at all.
  public let effects: [Effect]
  /// Units that must persist before this one; all smaller than `id`.
  public let dependencies: [Int]
  /// For a write's data: the previous size of the file; bytes below it are overwritten in place.
  public var sizeBeforeBytes: UInt64 = 0
  /// For a write's data: whether the file's page is on the medium already.
  public var page: PageAge = .old

  /// The age of the page that a unit writes.
  public enum PageAge: Sendable, Hashable {
    /// The page is new to the file with this write.
    case fresh
    /// It was new with an earlier write that no sync has covered yet.
    case unsynced
    /// It has a block on the medium.
    case old
  }

  /// The same unit with one more dependency.
  func waiting(for dependency: Int) -> PendingUnit {
    PendingUnit(
      id: id, event: event, kind: kind, effects: effects,
      dependencies: (dependencies + [dependency]).sorted(), sizeBeforeBytes: sizeBeforeBytes,
      page: page)
  }

  /// The same unit with one more effect, and possibly one more dependency.
  func joined(with effect: Effect, waitingFor dependency: Int?) -> PendingUnit {
    PendingUnit(
      id: id, event: event, kind: kind, effects: effects + [effect],
      dependencies: Set(dependencies + (dependency.map { [$0] } ?? [])).sorted())
  }

  /// The file whose bytes it writes or zeroes first, and where they start.
  var content: (inode: InodeNumber, offsetBytes: UInt64)? {
    switch effects.first {
    case .data(let inode, let offsetBytes, _, _)?, .zero(let inode, let offsetBytes, _)?:
      (inode, offsetBytes)
    default: nil
    }
  }

  /// True when both change bytes of the same file, so that the later one's effect includes or hides
  /// the earlier one's.
  func changesContent(ofFileIn other: PendingUnit) -> Bool {
    guard case .data(let file, _, _, _)? = other.effects.first else { return false }
    return effects.contains { effect in
      switch effect {
      case .data(let inode, _, _, _), .zero(let inode, _, _): inode == file
      default: false
      }
    }
  }
}
