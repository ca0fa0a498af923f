// TypedQuery.swift: queries that the compiler checks:
// `where { $0.age > 3 && $0.owner.name == "A" }`. The closure is run once, on names instead of
// objects, and builds a query in words with arguments; it is never asked about an object.

import Engine

/// Words and arguments of a query, in their order.
enum QueryPiece {
  case words(String)
  case argument(Any?)
}

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

  /// The text and the arguments in their order.
  var text: (words: String, arguments: [Any?]) {
    var words = ""
    var arguments: [Any?] = []
    for piece in pieces {
      switch piece {
      case .words(let more): words += more
      case .argument(let value):
        words += "$\(arguments.count)"
        arguments.append(value)
      }
    }
    return (words, arguments)
  }

  private func property<Other>(_ name: String) -> Query<Other> {
    Query<Other>(pieces + [.words(pieces.isEmpty ? name : "." + name)], isCondition: false)
  }

  private func condition(_ words: String, _ argument: Any?) -> Query<Bool> {
    Query<Bool>(
      [.words("(")] + pieces + [.words(" \(words) "), .argument(argument), .words(")")],
      isCondition: true)
  }

  private func name<Owner: ObjectBase, Member>(_ member: KeyPath<Owner, Member>) -> String {
    let info = Misuse.unthrowingRealm { () throws(Realm.Error) in
      try Discovery.info(for: Owner.self)
    }
    guard let name = Discovery.name(of: member, in: info) else {
      Misuse.stop("a query asks for something of \(info.name) that is no persisted property")
    }
    return name
  }
}

// MARK: properties

extension Query where Value: ObjectBase {
  /// A property of the objects.
  public subscript<Member>(dynamicMember member: KeyPath<Value, Member>) -> Query<Member> {
    property(name(member))
  }
}

extension Query {
  /// A property of what a link leads to.
  public subscript<Owner: ObjectBase, Member>(
    dynamicMember member: KeyPath<Owner, Member>
  ) -> Query<Member> where Value == Owner? {
    property(name(member))
  }

  /// A property of any of the objects in a list.
  public subscript<Owner: ObjectBase, Member>(
    dynamicMember member: KeyPath<Owner, Member>
  ) -> Query<Member> where Value == List<Owner> {
    property(name(member))
  }

  /// A property of any of the objects in a set.
  public subscript<Owner: ObjectBase, Member>(
    dynamicMember member: KeyPath<Owner, Member>
  ) -> Query<Member> where Value == MutableSet<Owner> {
    property(name(member))
  }

  /// A property of any of the objects that link here.
  public subscript<Owner: ObjectBase, Member>(
    dynamicMember member: KeyPath<Owner, Member>
  ) -> Query<Member> where Value == LinkingObjects<Owner> {
    property(name(member))
  }
}

extension Query where Value: RealmCollection {
  /// The number of elements.
  public var count: Query<Int> { property("@count") }

  /// Whether an element is equal to a value.
  public func contains(_ value: Value.Element) -> Query<Bool> {
    Query<Bool>(
      [.words("(ANY ")] + pieces + [.words(" == "), .argument(value), .words(")")],
      isCondition: true)
  }
}

// MARK: conditions

extension Query where Value: RealmCollectionValue {
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

  /// Equal to one of some values.
  public func `in`<Values: Sequence>(_ values: Values) -> Query<Bool>
  where Values.Element == Value {
    condition("IN", values.map { DynamicValue.flattened($0) })
  }

  /// Within a range, both ends included.
  public func contains(_ range: ClosedRange<Value>) -> Query<Bool> where Value: Comparable {
    self >= range.lowerBound && self <= range.upperBound
  }

  /// Within a range, without the upper end.
  public func contains(_ range: Range<Value>) -> Query<Bool> where Value: Comparable {
    self >= range.lowerBound && self < range.upperBound
  }
}

/// How texts are compared.
public struct StringOptions: OptionSet, Sendable {
  /// The bits.
  public let rawValue: Int

  /// Makes options of bits.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Upper and lower case are the same.
  public static let caseInsensitive = StringOptions(rawValue: 1)
}

/// Text, or optional text.
public protocol _QueryText: RealmCollectionValue {}
extension String: _QueryText {}
extension Optional: _QueryText where Wrapped: _QueryText {}

extension Query where Value: _QueryText {
  private func text(_ operation: String, _ value: String, _ options: StringOptions) -> Query<Bool> {
    condition(operation + (options.contains(.caseInsensitive) ? "[c]" : ""), value)
  }

  /// Begins with a text.
  public func starts(with value: String, options: StringOptions = []) -> Query<Bool> {
    text("BEGINSWITH", value, options)
  }

  /// Ends with a text.
  public func ends(with value: String, options: StringOptions = []) -> Query<Bool> {
    text("ENDSWITH", value, options)
  }

  /// Has a text in it.
  public func contains(_ value: String, options: StringOptions = []) -> Query<Bool> {
    text("CONTAINS", value, options)
  }

  /// Has the form of a text with `*` and `?` for what may be anything.
  public func like(_ value: String, caseInsensitive: Bool = false) -> Query<Bool> {
    text("LIKE", value, caseInsensitive ? .caseInsensitive : [])
  }

  /// Equal to a text.
  public func equals(_ value: String, options: StringOptions = []) -> Query<Bool> {
    text("==", value, options)
  }
}

extension Query where Value == Bool {
  /// A property by itself asks whether it is true.
  private var asCondition: [QueryPiece] {
    isCondition ? pieces : [.words("(")] + pieces + [.words(" == true)")]
  }

  var whole: (words: String, arguments: [Any?]) {
    Query<Bool>(asCondition, isCondition: true).text
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

extension RealmCollection where Element: ObjectBase {
  /// The objects that a query finds.
  /// - Parameter isIncluded: Builds the query of the properties of its argument.
  /// - Returns: The results, live as those they were made of.
  public func `where`(_ isIncluded: (Query<Element>) -> Query<Bool>) -> Results<Element> {
    let (words, arguments) = isIncluded(Query([], isCondition: false)).whole
    return Misuse.unthrowingRealm { () throws(Realm.Error) in try found(words, arguments) }
  }
}
