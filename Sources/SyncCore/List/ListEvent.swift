// ListEvent.swift: the events of a list, in order, and which of them authors know.

/// A step of a list's history.
struct ListEvent {
  enum Kind {
    /// `count` elements were inserted, in items from `item` on.
    case insert
    /// The same, as an assignment.
    case fill
    /// `count` elements from those of `item` on were erased.
    case erase
    /// The element of `item` moved there.
    case move
    /// The element `item` was set to another value.
    case set
  }

  var mark: EventMark
  var kind: Kind
  var item: Int32
  var count: Int32 = 1
  /// Lanes that have it already.
  var applied: UInt8 = 0
}

/// The part of a list's history that an author knows.
struct ListLane {
  /// The owner of the lane; 0 while it is free.
  var client: UInt64 = 0
  /// Up to where it has the entries of others.
  var base: UInt64 = 0
  /// The first event above `base`.
  var next = 0
  /// The latest assignment that it knows; -1 for none.
  var fill: Int32 = -1
  /// When it was used last.
  var used = 0

  /// Whether it knows an operation.
  func knows(_ mark: EventMark) -> Bool { mark.version <= base || mark.client == client }
}

/// The delete of an object that elements link to.
struct ListCut {
  var mark: EventMark
  var target: SyncObject
}

/// The values set for an element after its insertion.
struct ListSettings {
  /// The latest.
  var mark: EventMark
  var value: SyncValue
  /// The embedded object's node in the graph; -1 for none.
  var node: Int32
  /// All values set, in order of arrival, without the first one.
  var history: [(mark: EventMark, value: SyncValue)] = []
}

/// Elements inserted by one operation.
struct ListBirth {
  var element: Int32
  var item: Int32
  /// Its event; -1 for the initial list.
  var event: Int32
}
