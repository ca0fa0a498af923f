// ChangeTypes.swift: what callbacks are told, in RealmSwift's words.

import Engine

/// What happened to a collection.
///
/// All positions ascend. Applied in this order, deletions, insertions and modifications make the
/// old collection the new one.
public enum RealmCollectionChange<Collection> {
  /// The collection as it is at the first call.
  case initial(Collection)
  /// Something changed.
  /// - Parameters:
  ///   - deletions: Positions in the collection as it was.
  ///   - insertions: Positions in the collection as it is.
  ///   - modifications: Positions in the collection as it is, of elements that were there before.
  case update(Collection, deletions: [Int], insertions: [Int], modifications: [Int])
  /// The changes cannot be found; there is no further call.
  case error(any Error)
}

/// What happened to a map.
public enum RealmMapChange<Collection, Key: _MapKey> {
  /// The map as it is at the first call.
  case initial(Collection)
  /// Something changed: keys that went, that came, and whose values are other ones; ascending.
  case update(Collection, deletions: [Key], insertions: [Key], modifications: [Key])
  /// The changes cannot be found; there is no further call.
  case error(any Error)
}

/// What happened to an object.
public enum ObjectChange<Observed: ObjectBase> {
  /// The changes cannot be found; there is no further call.
  case error(any Error)
  /// Properties of the object changed.
  case change(Observed, [PropertyChange])
  /// The object was deleted; there is no further call.
  case deleted
}

/// A property that changed.
public struct PropertyChange {
  /// The name of the property in the class.
  public let name: String
  /// The value before; nil for links and collections.
  public let oldValue: Any?
  /// The value now; nil for collections.
  public let newValue: Any?
}

extension Realm {
  /// What happened to a realm.
  public enum Notification: String, Sendable {
    /// The realm went to another version: by `refresh()`, by itself, or by a write transaction.
    case didChange
    /// There is a newer version, and `autorefresh` is off.
    case refreshRequired
  }

  /// What is called when something happens to a realm.
  public typealias NotificationBlock = (_ notification: Notification, _ realm: Realm) -> Void
}

/// What is called when something happens to a realm.
public typealias NotificationBlock = Realm.NotificationBlock

/// Positions that changed in a collection.
struct IndexChanges: Equatable {
  var deletions: [Int] = []
  var insertions: [Int] = []
  var modifications: [Int] = []

  var isEmpty: Bool { deletions.isEmpty && insertions.isEmpty && modifications.isEmpty }
}
