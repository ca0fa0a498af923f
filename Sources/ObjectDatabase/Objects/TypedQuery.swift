// TypedQuery.swift: queries that the compiler checks:
// `where { $0.age > 3 && $0.owner.name == "A" }`. The closure is run once, on names instead of
// objects, and builds a textual query with arguments; it is never called with an object.

import Engine

/// A part of a query: a property of a class, or a condition.
@dynamicMemberLookup
public struct Query<Value> {
  let pieces: [QueryPiece]
  /// Whether the pieces are a condition, and no property.
  let isCondition: Bool

  init(_ pieces: [QueryPiece], isCondition: Bool) {
    self.pieces = pieces
    self.isCondition = isCondition
  }

  /// The path that this is; an expression that is none stops the process.
  private var names: QueryNames {
    guard let last = pieces.last else { return QueryNames() }
    guard pieces.count == 1, case .path(let names) = last else {
      Misuse.stop("a typed query asks for a property of something that is not a property")
    }
    return names
  }

  /// One step further; with `isElement` this is a collection, and the step one from each object.
  func step<Other>(_ step: QueryNames.Step, isElement: Bool = false) -> Query<Other> {
    var names = names
    if isElement, names.collectionEnd == nil { names.collectionEnd = names.steps.count }
    names.steps.append(step)
    return Query<Other>([.path(names)], isCondition: false)
  }

  func condition(_ words: String, _ argument: Any?) -> Query<Bool> {
    compared(words, [.argument(argument)])
  }

  func condition<Other>(_ words: String, _ other: Query<Other>) -> Query<Bool> {
    compared(words, other.pieces)
  }

  private func compared(_ words: String, _ right: [QueryPiece]) -> Query<Bool> {
    Query<Bool>(
      [.words("(")] + pieces + [.words(" \(words) ")] + right + [.words(")")], isCondition: true)
  }

  private func name<Owner: ObjectBase, Member>(_ member: KeyPath<Owner, Member>) -> String {
    let info = Misuse.unthrowingRealm { () throws(Realm.Error) in
      try Discovery.info(for: Owner.self)
    }
    guard let name = Discovery.name(of: member, in: info) else {
      Misuse.stop("a query asks for something of \(info.name) that is not a persisted property")
    }
    return name
  }
}

// MARK: properties

extension Query where Value: ObjectBase {
  /// A property of the objects.
  public subscript<Member>(dynamicMember member: KeyPath<Value, Member>) -> Query<Member> {
    step(.property(name(member)))
  }
}

extension Query where Value: OptionalProtocol, Value.Wrapped: ObjectBase {
  /// A property of a linked object.
  public subscript<Member>(dynamicMember member: KeyPath<Value.Wrapped, Member>) -> Query<Member> {
    step(.property(name(member)))
  }
}

extension Query where Value: RealmCollection, Value.Element: ObjectBase {
  /// A property of any of the objects of a collection.
  public subscript<Member>(dynamicMember member: KeyPath<Value.Element, Member>) -> Query<Member> {
    step(.property(name(member)), isElement: true)
  }
}

// MARK: conditions

extension Query where Value: _Persistable {
  /// Equal to a value.
  public static func == (left: Query, right: Value) -> Query<Bool> { left.condition("==", right) }
  /// Not equal to a value.
  public static func != (left: Query, right: Value) -> Query<Bool> { left.condition("!=", right) }
  /// Less than a value.
  public static func < (left: Query, right: Value) -> Query<Bool> { left.condition("<", right) }
  /// Less than a value, or equal.
  public static func <= (left: Query, right: Value) -> Query<Bool> { left.condition("<=", right) }
  /// Greater than a value.
  public static func > (left: Query, right: Value) -> Query<Bool> { left.condition(">", right) }
  /// Greater than a value, or equal.
  public static func >= (left: Query, right: Value) -> Query<Bool> { left.condition(">=", right) }

  /// Equal to another property of the object.
  @_disfavoredOverload
  public static func == (left: Query, right: Query) -> Query<Bool> { left.condition("==", right) }
  /// Not equal to another property of the object.
  @_disfavoredOverload
  public static func != (left: Query, right: Query) -> Query<Bool> { left.condition("!=", right) }
  /// Less than another property of the object.
  @_disfavoredOverload
  public static func < (left: Query, right: Query) -> Query<Bool> { left.condition("<", right) }
  /// Less than another property of the object, or equal.
  @_disfavoredOverload
  public static func <= (left: Query, right: Query) -> Query<Bool> { left.condition("<=", right) }
  /// Greater than another property of the object.
  @_disfavoredOverload
  public static func > (left: Query, right: Query) -> Query<Bool> { left.condition(">", right) }
  /// Greater than another property of the object, or equal.
  @_disfavoredOverload
  public static func >= (left: Query, right: Query) -> Query<Bool> { left.condition(">=", right) }

  /// Equal to one of some values.
  public func `in`<Values: Sequence>(_ values: Values) -> Query<Bool>
  where Values.Element == Value {
    condition("IN", values.map { DynamicValue.flattened($0) })
  }

  /// Within a range, both ends included.
  public func contains(_ range: ClosedRange<Value>) -> Query<Bool> where Value: Comparable {
    within(range)
  }

  /// Within a range, without the upper end.
  public func contains(_ range: Range<Value>) -> Query<Bool> where Value: Comparable {
    within(range)
  }
}

extension Query where Value: OptionalProtocol, Value.Wrapped: Comparable {
  /// Within a range, both ends included; nil is not.
  public func contains(_ range: ClosedRange<Value.Wrapped>) -> Query<Bool> { within(range) }

  /// Within a range, without the upper end; nil is not.
  public func contains(_ range: Range<Value.Wrapped>) -> Query<Bool> { within(range) }
}

extension Query {
  func within<Bound>(_ range: ClosedRange<Bound>) -> Query<Bool> {
    condition(">=", range.lowerBound) && condition("<=", range.upperBound)
  }

  func within<Bound>(_ range: Range<Bound>) -> Query<Bool> {
    condition(">=", range.lowerBound) && condition("<", range.upperBound)
  }
}

extension Query where Value == Bool {
  /// A property by itself is a test whether it is true.
  private var asCondition: [QueryPiece] {
    isCondition ? pieces : [.words("(")] + pieces + [.words(" == true)")]
  }

  var whole: (words: String, arguments: [Any?]) {
    QueryPieces(all: asCondition).text
  }

  /// The number of objects of the collection that meet the condition: a subquery, as in
  /// `($0.dogs.age > 3 && $0.dogs.name == "Rex").count > 1`.
  public var count: Query<Int> {
    Query<Int>(QueryPieces(all: asCondition).counted().all, isCondition: false)
  }

  /// Both.
  public static func && (left: Query, right: Query) -> Query {
    Query(
      [.words("(")] + left.asCondition + [.words(" AND ")] + right.asCondition + [.words(")")],
      isCondition: true)
  }

  /// One of them, or both.
  public static func || (left: Query, right: Query) -> Query {
    Query(
      [.words("(")] + left.asCondition + [.words(" OR ")] + right.asCondition + [.words(")")],
      isCondition: true)
  }

  /// Not.
  public static prefix func ! (query: Query) -> Query {
    Query([.words("NOT (")] + query.asCondition + [.words(")")], isCondition: true)
  }
}

/// An optional type, for conditions on what it wraps.
public protocol OptionalProtocol {
  /// The type without nil.
  associatedtype Wrapped
}

extension Optional: OptionalProtocol {}

extension RealmCollection where Element: ObjectBase {
  /// The objects that match a query.
  /// - Parameter isIncluded: Builds the query from the properties of its argument.
  /// - Returns: The results, as live as the collection they are derived from.
  public func `where`(_ isIncluded: (Query<Element>) -> Query<Bool>) -> Results<Element> {
    let (words, arguments) = isIncluded(Query([], isCondition: false)).whole
    return Misuse.unthrowingRealm { () throws(Realm.Error) in try found(words, arguments) }
  }
}
