// TypedQuery+Collections.swift: the conditions of typed queries on collections, maps, numbers, and
// types stored as others.

import Engine
import FoundationEssentials

extension Query {
  /// The condition that any value of a collection meets.
  fileprivate func any(_ words: String, _ argument: Any?) -> Query<Bool> {
    Query<Bool>(
      [.words("(ANY ")] + pieces + [.words(" \(words) "), .argument(argument), .words(")")],
      isCondition: true)
  }

  /// The condition that there are elements, and all are within a range.
  fileprivate func allWithin<Bound>(_ range: ClosedRange<Bound>) -> Query<Bool> {
    let (least, greatest): (Query<Bound>, Query<Bound>) = (
      step(.operation("@min")), step(.operation("@max"))
    )
    return least.condition(">=", range.lowerBound) && greatest.condition("<=", range.upperBound)
  }

  /// The condition that there are elements, and all are within a range.
  fileprivate func allWithin<Bound>(_ range: Range<Bound>) -> Query<Bool> {
    let (least, greatest): (Query<Bound>, Query<Bound>) = (
      step(.operation("@min")), step(.operation("@max"))
    )
    return least.condition(">=", range.lowerBound) && greatest.condition("<", range.upperBound)
  }

  /// The same path to values that are read as another type.
  fileprivate func read<Other>(as type: Other.Type) -> Query<Other> {
    Query<Other>(pieces, isCondition: false)
  }
}

extension Query where Value: RealmCollection {
  /// The number of elements.
  public var count: Query<Int> { step(.operation("@count")) }

  /// Whether an element is equal to a value.
  public func contains(_ value: Value.Element) -> Query<Bool> { any("==", value) }

  /// Whether an element is equal to one of some values.
  public func containsAny<Values: Sequence>(in values: Values) -> Query<Bool>
  where Values.Element == Value.Element {
    any("IN", values.map { DynamicValue.flattened($0) })
  }

  /// Whether an element is equal to a value.
  public static func == (left: Query, right: Value.Element) -> Query<Bool> {
    left.any("==", right)
  }

  /// Whether an element is not equal to a value.
  public static func != (left: Query, right: Value.Element) -> Query<Bool> {
    left.any("!=", right)
  }
}

extension Query where Value: RealmCollection, Value.Element: Comparable {
  /// Whether there are elements, and all are within a range, both ends included.
  public func contains(_ range: ClosedRange<Value.Element>) -> Query<Bool> { allWithin(range) }

  /// Whether there are elements, and all are within a range, without its upper end.
  public func contains(_ range: Range<Value.Element>) -> Query<Bool> { allWithin(range) }
}

extension Query
where Value: RealmCollection, Value.Element: OptionalProtocol, Value.Element.Wrapped: Comparable {
  /// Whether there are elements that are not nil, and all of them are within a range.
  public func contains(_ range: ClosedRange<Value.Element.Wrapped>) -> Query<Bool> {
    allWithin(range)
  }

  /// Whether there are elements that are not nil, and all of them are within a range.
  public func contains(_ range: Range<Value.Element.Wrapped>) -> Query<Bool> { allWithin(range) }
}

extension Query where Value: RealmCollection, Value.Element.PersistedType: _QueryNumeric {
  /// Whether an element is less than a value.
  public static func < (left: Query, right: Value.Element) -> Query<Bool> { left.any("<", right) }
  /// Whether an element is less than a value, or equal.
  public static func <= (left: Query, right: Value.Element) -> Query<Bool> {
    left.any("<=", right)
  }
  /// Whether an element is greater than a value.
  public static func > (left: Query, right: Value.Element) -> Query<Bool> { left.any(">", right) }
  /// Whether an element is greater than a value, or equal.
  public static func >= (left: Query, right: Value.Element) -> Query<Bool> {
    left.any(">=", right)
  }

  /// The smallest element; nil without elements.
  public var min: Query<Value.Element> { step(.operation("@min")) }
  /// The greatest element; nil without elements.
  public var max: Query<Value.Element> { step(.operation("@max")) }
  /// The sum of the elements.
  public var sum: Query<Value.Element> { step(.operation("@sum")) }
  /// The average of the elements; nil without elements.
  public var avg: Query<Value.Element> { step(.operation("@avg")) }
}

// MARK: properties of a collection's objects

/// A type whose values have an order, and a minimum and a maximum: numbers, dates, and any value.
public protocol _QueryNumeric {}
extension Int: _QueryNumeric {}
extension Int8: _QueryNumeric {}
extension Int16: _QueryNumeric {}
extension Int32: _QueryNumeric {}
extension Int64: _QueryNumeric {}
extension Float: _QueryNumeric {}
extension Double: _QueryNumeric {}
extension Engine.Decimal128: _QueryNumeric {}
extension Date: _QueryNumeric {}
extension AnyRealmValue: _QueryNumeric {}
extension Optional: _QueryNumeric where Wrapped: _QueryNumeric {}

extension Query where Value: _Persistable, Value.PersistedType: _QueryNumeric {
  /// The smallest value of a property that the objects of a collection have.
  public var min: Query { step(.operation("@min")) }
  /// The greatest value of a property that the objects of a collection have.
  public var max: Query { step(.operation("@max")) }
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

extension Query where Value: RealmKeyedCollection {
  /// The number of entries.
  public var count: Query<Int> { step(.operation("@count")) }

  /// Any of the values.
  public var values: Query<Value.Value> { step(.operation("@values")) }

  /// The value of a key; nil when there is none.
  public subscript(key: Value.Key) -> Query<Value.Value> { step(.key(key._keyText)) }

  /// Whether a value is equal to another.
  public func contains(_ value: Value.Value) -> Query<Bool> { any("==", value) }

  /// Whether a value is equal to one of some others.
  public func containsAny<Values: Sequence>(in values: Values) -> Query<Bool>
  where Values.Element == Value.Value {
    any("IN", values.map { DynamicValue.flattened($0) })
  }
}

extension Query where Value: RealmKeyedCollection, Value.Key == String {
  /// Any of the keys.
  public var keys: Query<String> { step(.operation("@keys")) }
}

extension Query where Value: RealmKeyedCollection, Value.Value: Comparable {
  /// Whether there are values, and all are within a range, both ends included.
  public func contains(_ range: ClosedRange<Value.Value>) -> Query<Bool> { allWithin(range) }

  /// Whether there are values, and all are within a range, without its upper end.
  public func contains(_ range: Range<Value.Value>) -> Query<Bool> { allWithin(range) }
}

extension Query
where Value: RealmKeyedCollection, Value.Value: OptionalProtocol, Value.Value.Wrapped: Comparable {
  /// Whether there are values that are not nil, and all of them are within a range.
  public func contains(_ range: ClosedRange<Value.Value.Wrapped>) -> Query<Bool> {
    allWithin(range)
  }

  /// Whether there are values that are not nil, and all of them are within a range.
  public func contains(_ range: Range<Value.Value.Wrapped>) -> Query<Bool> { allWithin(range) }
}

extension Query where Value: RealmKeyedCollection, Value.Value.PersistedType: _QueryNumeric {
  /// The smallest value; nil without values.
  public var min: Query<Value.Value> { step(.operation("@min")) }
  /// The greatest value; nil without values.
  public var max: Query<Value.Value> { step(.operation("@max")) }
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
  public var rawValue: Query<Value.RawValue> { read(as: Value.RawValue.self) }
}

extension Query where Value: OptionalProtocol, Value.Wrapped: PersistableEnum {
  /// The stored value of the case; nil without one.
  public var rawValue: Query<Value.Wrapped.RawValue?> { read(as: Value.Wrapped.RawValue?.self) }
}

extension Query where Value: RealmCollection, Value.Element: PersistableEnum {
  /// The stored values of the cases.
  public var rawValue: Query<AnyRealmCollection<Value.Element.RawValue>> {
    read(as: AnyRealmCollection<Value.Element.RawValue>.self)
  }
}

extension Query
where
  Value: RealmCollection, Value.Element: OptionalProtocol, Value.Element.Wrapped: PersistableEnum
{
  /// The stored values of the cases.
  public var rawValue: Query<AnyRealmCollection<Value.Element.Wrapped.RawValue?>> {
    read(as: AnyRealmCollection<Value.Element.Wrapped.RawValue?>.self)
  }
}

extension Query where Value: RealmKeyedCollection, Value.Value: PersistableEnum {
  /// The stored values of the cases.
  public var rawValue: Query<Map<Value.Key, Value.Value.RawValue>> {
    read(as: Map<Value.Key, Value.Value.RawValue>.self)
  }
}

extension Query
where
  Value: RealmKeyedCollection, Value.Value: OptionalProtocol, Value.Value.Wrapped: PersistableEnum
{
  /// The stored values of the cases.
  public var rawValue: Query<Map<Value.Key, Value.Value.Wrapped.RawValue?>> {
    read(as: Map<Value.Key, Value.Value.Wrapped.RawValue?>.self)
  }
}

extension Query where Value: _Persistable {
  /// The stored form of the value.
  @_disfavoredOverload
  public var persistableValue: Query<Value.PersistedType> { read(as: Value.PersistedType.self) }
}

extension Query where Value: RealmCollection {
  /// The stored forms of the elements.
  public var persistableValue: Query<AnyRealmCollection<Value.Element.PersistedType>> {
    read(as: AnyRealmCollection<Value.Element.PersistedType>.self)
  }
}

extension Query where Value: RealmKeyedCollection {
  /// The stored forms of the values.
  public var persistableValue: Query<Map<Value.Key, Value.Value.PersistedType>> {
    read(as: Map<Value.Key, Value.Value.PersistedType>.self)
  }
}
