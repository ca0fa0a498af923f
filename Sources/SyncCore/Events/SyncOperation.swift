// SyncOperation.swift: the changes of a transaction, one step at a time. Indexes refer to the
// author's view at that moment: after its earlier operations.

/// From an object's property to the embedded object in it, on the way to a field.
public struct SyncStep: Hashable, Sendable {
  /// Where in the property the embedded object is.
  public enum Place: Hashable, Sendable {
    /// The property's own value.
    case value
    /// The element of a list with this index.
    case element(Int)
    /// The entry of a dictionary with this key.
    case entry(SyncText)
  }

  /// The property's name.
  public var property: SyncText
  /// Where in the property.
  public var place: Place

  /// The step through a property.
  public init(_ property: SyncText, _ place: Place = .value) {
    self.property = property
    self.place = place
  }
}

/// A property of an object, or of an embedded object somewhere in it.
public struct SyncField: Hashable, Sendable {
  /// The object.
  public var object: SyncObject
  /// The way to the embedded object; empty for a property of the object itself.
  public var steps: [SyncStep]
  /// The property's name.
  public var property: SyncText

  /// The property at the end of some steps.
  public init(_ object: SyncObject, _ steps: [SyncStep] = [], _ property: SyncText) {
    self.object = object
    self.steps = steps
    self.property = property
  }
}

/// A change of a field.
///
/// A field has a value, a list, a set and a dictionary, which are independent of each other; a
/// schema uses one of them.
public enum SyncChange: Hashable, Sendable {
  /// Its value is set.
  case set(SyncValue)
  /// Sets the default value of a new object.
  case setDefault(SyncValue)
  /// Its integer grows, wrapping around at the ends of its range.
  case increment(Int64)
  /// Elements are inserted into its list.
  case listInsert(at: Int, [SyncValue])
  /// Elements are erased from its list.
  case listErase(at: Int, count: Int)
  /// An element moves; `to` is its index afterwards.
  case listMove(from: Int, to: Int)
  /// Replaces an element.
  case listSet(at: Int, SyncValue)
  /// All elements are erased.
  case listClear
  /// Replaces all elements of the list.
  case listAssign([SyncValue])
  /// The second half of an assignment, whose first half is a clear: only in restated operations.
  case listFill([SyncValue])
  /// Inserts a member into its set.
  case setInsert(SyncValue)
  /// Its set loses a member.
  case setErase(SyncValue)
  /// Sets an entry of its dictionary.
  case dictionarySet(SyncText, SyncValue)
  /// Removes an entry of its dictionary.
  case dictionaryRemove(SyncText)
}

extension SyncChange {
  /// The values that it writes.
  package var values: [SyncValue] {
    switch self {
    case .set(let value), .setDefault(let value), .setInsert(let value), .setErase(let value),
      .listSet(_, let value), .dictionarySet(_, let value):
      [value]
    case .listInsert(_, let values), .listAssign(let values), .listFill(let values): values
    case .increment, .listErase, .listMove, .listClear, .dictionaryRemove: []
    }
  }
}

/// One step of a transaction.
public enum SyncOperation: Hashable, Sendable {
  /// Creates an object, or does nothing if it exists.
  case create(SyncObject)
  /// Deletes an object, with everything in it.
  case delete(SyncObject)
  /// A field changes.
  case change(SyncField, SyncChange)

  /// The object that it is about.
  public var object: SyncObject {
    switch self {
    case .create(let object), .delete(let object): object
    case .change(let field, _): field.object
    }
  }
}
