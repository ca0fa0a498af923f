// SyncRefusal.swift: why a server gives a transaction no effect. Invariant (I19): a refusal is
// about the whole transaction; the session goes on, and so do the changesets after it.

/// The reasons for a refusal; a server's own validation has other numbers, from `firstOfServer`.
package enum SyncRefusal: UInt32, Sendable, CaseIterable {
  /// It writes a class that no client may write.
  case forbidden = 1
  /// The server has no such class or property, or the class has no primary key.
  case unknownName = 2
  /// The property is of another type, or a collection, or none.
  case otherType = 3
  /// A new object has a property without a value.
  case incomplete = 4
  /// A value that the server cannot store.
  case notStorable = 5

  /// The first number of a server's own reasons.
  package static let firstOfServer: UInt32 = 1000
}
