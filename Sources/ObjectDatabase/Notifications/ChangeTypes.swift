// ChangeTypes.swift: the change types passed to callbacks, with RealmSwift's names.

import Engine

/// A change of a collection.
///
/// All positions ascend. Applied in this order, deletions, insertions and modifications make the
/// old collection the new one.
public enum RealmCollectionChange<Collection> {
  /// The collection at the first call.
  case initial(Collection)
  /// Something changed.
  /// - Parameters:
  ///   - deletions: Positions in the old collection.
  ///   - insertions: Positions in the new collection.
  ///   - modifications: Positions in the new collection of elements that were also in the old one.
  case update(Collection, deletions: [Int], insertions: [Int], modifications: [Int])
  /// The changes cannot be determined; there is no further call.
  case error(any Error)
}

/// A change of a map.
public enum RealmMapChange<Collection: RealmKeyedCollection> {
  /// The map at the first call.
  case initial(Collection)
  /// The map changed: keys removed, added, and with changed values; ascending.
  case update(
    Collection, deletions: [Collection.Key], insertions: [Collection.Key],
    modifications: [Collection.Key])
  /// The changes cannot be determined; there is no further call.
  case error(any Error)
}

/// A change of an object.
public enum ObjectChange<Observed> {
  /// The changes cannot be determined; there is no further call.
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
  /// An event of a realm.
  public enum Notification: String, Sendable {
    /// The realm advanced to another version: by `refresh()`, automatically, or by a write
    /// transaction.
    case didChange
    /// There is a newer version, and `autorefresh` is off.
    case refreshRequired
  }

  /// The type of a realm's notification callback.
  public typealias NotificationBlock = (_ notification: Notification, _ realm: Realm) -> Void
}

/// The type of a realm's notification callback.
public typealias NotificationBlock = Realm.NotificationBlock

/// Positions that changed in a collection.
struct IndexChanges: Equatable {
  var deletions: [Int] = []
  var insertions: [Int] = []
  var modifications: [Int] = []

  var isEmpty: Bool { deletions.isEmpty && insertions.isEmpty && modifications.isEmpty }
}
