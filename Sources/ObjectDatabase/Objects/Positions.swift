// Positions.swift: where elements are in a collection, and elements at several positions.

import Engine

extension RealmCollection {
  /// The elements at some positions, ascending, as an `IndexSet` has them.
  ///
  /// A position out of bounds stops the process.
  public func objects<Positions: Sequence>(at indexes: Positions) -> [Element]
  where Positions.Element == Int {
    Set(indexes).sorted().map { self[$0] }
  }

  /// The position of the first object that matches a query, or nil.
  ///
  /// A text that is not a query of the class stops the process.
  /// - Parameters:
  ///   - predicateFormat: The query, with `$0` or `%@` for arguments.
  ///   - arguments: The arguments.
  /// - Returns: The position.
  /// - Complexity: O(elements × cost of the condition).
  public func index(matching predicateFormat: String, _ arguments: Any?...) -> Int? {
    Misuse.unthrowingRealm { () throws(Realm.Error) in
      try firstPosition(predicateFormat, arguments)
    }
  }

  func firstIndex(matching text: String, _ arguments: [Any?]) -> Int? {
    Misuse.unthrowingRealm { () throws(Realm.Error) in try firstPosition(text, arguments) }
  }

  fileprivate func firstPosition(
    _ text: String, _ arguments: [Any?]
  ) throws(Realm.Error) -> Int? {
    let elements = elements
    guard let access = elements.access, case .keys(let keys) = elements.content else {
      throw Realm.Error(.invalidValue, "only objects are looked for by a query")
    }
    let filter = try Filter(text, arguments, access)
    guard !filter.hasClauses else {
      throw Realm.Error(
        .invalidValue, "\"\(text.prefix(200))\" sorts or limits, and one object is looked for")
    }
    let found = try translating { () throws(EngineError) in
      try filter.keys(access, among: keys)
    }
    return found.first.flatMap { keys.firstIndex(of: $0) }
  }
}

extension RealmCollection where Element: ObjectBase {
  /// The position of the first object that matches a query, or nil.
  /// - Parameter isIncluded: Builds the query from the properties of its argument.
  /// - Returns: The position.
  /// - Complexity: O(elements × cost of the condition).
  public func index(matching isIncluded: (Query<Element>) -> Query<Bool>) -> Int? {
    let (words, arguments) = isIncluded(Query([], isCondition: false)).whole
    return Misuse.unthrowingRealm { () throws(Realm.Error) in try firstPosition(words, arguments) }
  }

  /// The position of an object, or nil.
  /// - Complexity: O(elements), without making any of them.
  public func index(of object: Element) -> Int? {
    guard let elements = _elements?.elements else { return firstIndex(of: object) }
    guard case .keys(let keys) = elements.content, let access = object.tableAccess,
      access.name == elements.access?.name, access.core.isSameContent(as: elements.core)
    else { return nil }
    return keys.firstIndex(of: object.rowKey)
  }
}
