// KeptStates.swift: what a recorder knows of old states that are stored already, so that it need
// not look for them (BaseRows.swift, PendingPage.swift). Invariants: it is valid for one identity
// of the file, which an agent changes whenever it removes old states or moves a class's mark, and
// for one state of the classes; what was added for a transaction counts once that is in the file:
// if it is lost, another one may have its number and its stamp.

import SyncCore

/// Properties of an object with single values that are no links, or the whole object.
struct TouchedProperties: Equatable {
  /// By the position of the column; all of them for the whole object.
  private var bits: UInt64

  static let none = TouchedProperties(bits: 0)
  static let whole = TouchedProperties(bits: .max)

  private init(bits: UInt64) { self.bits = bits }

  /// One property; the whole object for a column behind many others.
  init(_ position: Int) { bits = position < 63 ? 1 << UInt64(position) : .max }

  var isWhole: Bool { bits == .max }

  /// Whether other properties are all among these.
  func isSuperset(of other: Self) -> Bool { other.bits & ~bits == 0 }

  func contains(_ position: Int) -> Bool { isSuperset(of: TouchedProperties(position)) }

  func union(_ other: Self) -> Self { TouchedProperties(bits: bits | other.bits) }

  func subtracting(_ other: Self) -> Self { TouchedProperties(bits: bits & ~other.bits) }
}

struct KeptStates {
  /// A row, found faster than its object.
  struct Place: Hashable {
    private let described: ObjectIdentifier
    private let row: Int64

    init(described: FileClass, row: Int64) {
      self.described = ObjectIdentifier(described)
      self.row = row
    }
  }

  private static let countMax = 10_000
  private var known: [SyncObject: TouchedProperties] = [:]
  /// The same of rows, as far as they were asked for.
  private var places: [Place: TouchedProperties] = [:]
  /// What was known of objects before the current or last transaction.
  private var earlier: [(object: SyncObject, properties: TouchedProperties)] = []
  /// The stored marks of classes' tables, as far as they were asked for.
  var marks: [String: Int64] = [:]
  private var identity: SyncIdentity?

  /// Called when a transaction is about to be committed.
  /// - Parameters:
  ///   - identity: The file's identity; nil when it is the same as in the last transaction.
  ///   - isLastThere: Whether all of the last transaction is in the file.
  mutating func begin(_ identity: SyncIdentity?, isLastThere: Bool) {
    if let identity, self.identity != identity {
      self = KeptStates()
      self.identity = identity
    }
    if known.count > Self.countMax || places.count > Self.countMax {
      (known, places) = ([:], [:])
    }
    if !isLastThere {
      places = [:]
      for (object, properties) in earlier.reversed() { known[object] = properties }
    }
    earlier.removeAll(keepingCapacity: earlier.count < 64)
  }

  /// What is known of the object of a row, without looking for the object.
  func properties(of place: Place) -> TouchedProperties { places[place] ?? .none }

  /// Notes that properties of the object of a row are known when the transaction is in the file.
  mutating func add(_ place: Place, _ properties: TouchedProperties) {
    places[place] = self.properties(of: place).union(properties)
  }

  /// What is known of an object.
  func properties(of object: SyncObject) -> TouchedProperties { known[object] ?? .none }

  mutating func add(_ object: SyncObject, _ properties: TouchedProperties) {
    let before = self.properties(of: object)
    earlier.append((object, before))
    known[object] = before.union(properties)
  }
}
