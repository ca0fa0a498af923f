// TypedQuery+Collections.swift: the conditions of typed queries on collections, maps, numbers, and
// types stored as others.

extension Query {
  /// The condition that any value of a collection meets.
  fileprivate static func any(
    _ pieces: [QueryPiece], _ words: String, _ argument: Any?
  ) -> Query<Bool> {
    Query<Bool>(
      [.words("(ANY ")] + pieces + [.words(" \(words) "), .argument(argument), .words(")")],
      isCondition: true)
  }
}

extension Query where Value: RealmCollection {
  /// The number of elements.
  public var count: Query<Int> { step(.operation("@count")) }

  /// Whether an element is equal to a value.
  public func contains(_ value: Value.Element) -> Query<Bool> { Self.any(pieces, "==", value) }

  /// Whether an element is equal to one of some values.
  public func containsAny<Values: Sequence>(in values: Values) -> Query<Bool>
  where Values.Element == Value.Element {
    Self.any(pieces, "IN", values.map { DynamicValue.flattened($0) })
  }
}

extension Query where Value: RealmCollection, Value.Element: MinMaxType {
  /// The smallest element; nil without elements.
  public var min: Query<Value.Element> { step(.operation("@min")) }
  /// The greatest element; nil without elements.
  public var max: Query<Value.Element> { step(.operation("@max")) }

  /// Whether there are elements, and all are within a range, both ends included.
  public func contains(_ range: ClosedRange<Value.Element>) -> Query<Bool>
  where Value.Element: Comparable {
    min >= range.lowerBound && max <= range.upperBound
  }

  /// Whether there are elements, and all are within a range, without its upper end.
  public func contains(_ range: Range<Value.Element>) -> Query<Bool>
  where Value.Element: Comparable {
    min >= range.lowerBound && max < range.upperBound
  }
}

extension Query where Value: RealmCollection, Value.Element: AddableType {
  /// The sum of the elements.
  public var sum: Query<Value.Element> { step(.operation("@sum")) }
  /// The average of the elements; nil without elements.
  public var avg: Query<Value.Element> { step(.operation("@avg")) }
}

// MARK: properties of a collection's objects

extension Query where Value: MinMaxType {
  /// The smallest value of a property that the objects of a collection have.
  public var min: Query { step(.operation("@min")) }
  /// The greatest value of a property that the objects of a collection have.
  public var max: Query { step(.operation("@max")) }
}

extension Query where Value: AddableType {
  /// The sum of a property that the objects of a collection have.
  public var sum: Query { step(.operation("@sum")) }
  /// The average of a property that the objects of a collection have.
  public var avg: Query { step(.operation("@avg")) }
}

// MARK: numbers

extension Query where Value: AddableType {
  private static func calculated(
    _ left: Query, _ operation: String, _ right: [QueryPiece]
  ) -> Query {
    Query(
      [.words("(")] + left.pieces + [.words(" \(operation) ")] + right + [.words(")")],
      isCondition: false)
  }

  /// More by a number.
  public static func + (left: Query, right: Value) -> Query {
    calculated(left, "+", [.argument(right)])
  }
  /// Less by a number.
  public static func - (left: Query, right: Value) -> Query {
    calculated(left, "-", [.argument(right)])
  }
  /// Times a number.
  public static func * (left: Query, right: Value) -> Query {
    calculated(left, "*", [.argument(right)])
  }
  /// Divided by a number; integers are truncated towards zero, and a division by zero gives nil.
  public static func / (left: Query, right: Value) -> Query {
    calculated(left, "/", [.argument(right)])
  }
  /// The sum of two properties.
  @_disfavoredOverload
  public static func + (left: Query, right: Query) -> Query { calculated(left, "+", right.pieces) }
  /// The difference of two properties.
  @_disfavoredOverload
  public static func - (left: Query, right: Query) -> Query { calculated(left, "-", right.pieces) }
  /// The product of two properties.
  @_disfavoredOverload
  public static func * (left: Query, right: Query) -> Query { calculated(left, "*", right.pieces) }
  /// The quotient of two properties.
  @_disfavoredOverload
  public static func / (left: Query, right: Query) -> Query { calculated(left, "/", right.pieces) }
}

// MARK: maps

/// A map, for typed queries.
public protocol _QueryMap {
  /// Its keys.
  associatedtype Key: _MapKey
  /// Its values.
  associatedtype Value: RealmCollectionValue
}

extension Map: _QueryMap {}

extension Query where Value: _QueryMap {
  /// The number of entries.
  public var count: Query<Int> { step(.operation("@count")) }

  /// Any of the keys.
  public var keys: Query<String> { step(.operation("@keys")) }

  /// Any of the values.
  public var values: Query<Value.Value> { step(.operation("@values")) }

  /// The value of a key; nil when there is none.
  public subscript(key: Value.Key) -> Query<Value.Value> { step(.key(key._keyText)) }

  /// Whether a value is equal to another.
  public func contains(_ value: Value.Value) -> Query<Bool> { Self.any(pieces, "==", value) }

  /// Whether a value is equal to one of some others.
  public func containsAny<Values: Sequence>(in values: Values) -> Query<Bool>
  where Values.Element == Value.Value {
    Self.any(pieces, "IN", values.map { DynamicValue.flattened($0) })
  }
}

extension Query where Value: _QueryMap, Value.Value: MinMaxType {
  /// The smallest value; nil without values.
  public var min: Query<Value.Value> { step(.operation("@min")) }
  /// The greatest value; nil without values.
  public var max: Query<Value.Value> { step(.operation("@max")) }
}

extension Query where Value: _QueryMap, Value.Value: AddableType {
  /// The sum of the values.
  public var sum: Query<Value.Value> { step(.operation("@sum")) }
  /// The average of the values; nil without values.
  public var avg: Query<Value.Value> { step(.operation("@avg")) }
}

// MARK: collections in mixed values

extension Query where Value == AnyRealmValue {
  /// The element of a list at a position; nil when there is none, or the value is no list.
  public subscript(position: Int) -> Query<AnyRealmValue> { step(.index(position)) }

  /// The value of a dictionary's key; nil when there is none, or the value is no dictionary.
  public subscript(key: String) -> Query<AnyRealmValue> { step(.key(key)) }

  /// Any of the elements of a list or a dictionary.
  public var any: Query<AnyRealmValue> { step(.all) }
}

// MARK: types stored as others

extension Query where Value: PersistableEnum {
  /// The stored value of the case.
  public var rawValue: Query<Value.RawValue> { Query<Value.RawValue>(pieces, isCondition: false) }
}

extension Query where Value: CustomPersistable {
  /// The stored form of the value.
  public var persistableValue: Query<Value.PersistedType> {
    Query<Value.PersistedType>(pieces, isCondition: false)
  }
}
