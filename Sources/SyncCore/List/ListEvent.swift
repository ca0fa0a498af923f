// ListEvent.swift: what happened to a list, one step after another, and what authors know of it.

/// A step of a list's history.
struct ListEvent {
  enum Kind {
    /// Items from `item` on got `count` elements.
    case insert
    /// The same, as an assignment.
    case fill
    /// `count` elements from those of `item` on were erased.
    case erase
    /// The element of `item` went there.
    case move
    /// The element `item` got another value.
    case set
  }

  var mark: EventMark
  var kind: Kind
  var item: Int32
  var count: Int32 = 1
  /// Lanes that have it already.
  var applied: UInt8 = 0
}

/// What an author knows of a list.
struct ListLane {
  /// Whose lane it is; 0 while it is free.
  var client: UInt64 = 0
  /// Up to where it has the entries of others.
  var base: UInt64 = 0
  /// The first event above `base`.
  var next = 0
  /// The latest assignment that it knows; -1 for none.
  var fill: Int32 = -1
  /// When it was used last.
  var used = 0

  /// Whether it knows what somebody did.
  func knows(_ mark: EventMark) -> Bool { mark.version <= base || mark.client == client }
}

/// The delete of an object that elements link to.
struct ListCut {
  var mark: EventMark
  var target: SyncObject
}

/// The values that an element got after it was there.
struct ListSettings {
  /// The latest.
  var mark: EventMark
  var value: SyncValue
  /// The embedded object's node in the graph; -1 for none.
  var node: Int32
  /// All that it got, in order of arrival; the first one is not among them.
  var history: [(mark: EventMark, value: SyncValue)] = []
}

/// Elements that came with one operation.
struct ListBirth {
  var element: Int32
  var item: Int32
  /// Its event; -1 for the list as it was.
  var event: Int32
}
