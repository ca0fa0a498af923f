// Map+Views.swift: results over the values of a managed map, in the order of their keys. Null links
// are ignored.

extension Map {
  private var elements: Elements {
    guard let row = _row else {
      Misuse.stop(
        "the values of an unmanaged map are not sorted, filtered or summed up; add it first")
    }
    return Elements(.collection(row))
  }

  /// The values that are objects and match a query.
  ///
  /// A text that is not a query of the class stops the process; `filtered(by:arguments:)` throws.
  /// - Parameters:
  ///   - predicateFormat: The query, with `$0` or `%@` for arguments.
  ///   - arguments: The arguments.
  /// - Returns: The results, as live as the map.
  public func filter(_ predicateFormat: String, _ arguments: Any?...) -> Results<Value> {
    Misuse.unthrowingRealm { () throws(Realm.Error) in
      Results(try elements.selected(predicateFormat, arguments).elements)
    }
  }

  /// The values that are objects and match a query; for texts from an untrusted source.
  /// - Parameters:
  ///   - text: The query, with `$0` or `%@` for arguments.
  ///   - arguments: The arguments.
  ///   - stepsMax: Rows and values that the query may visit; nil means 2^28.
  /// - Returns: The results, as live as the map.
  /// - Throws: `Realm.Error` with code `.invalidValue`, with the position and the problem in the
  ///   text, or because the query visits more than `stepsMax`.
  public func filtered(
    by text: String, arguments: [Any?] = [], stepsMax: Int? = nil
  ) throws -> Results<Value> {
    let (elements, filter) = try elements.selected(text, arguments)
    try elements.check(filter, stepsMax: stepsMax)
    return Results(elements)
  }

  /// The values that are objects and match a query.
  /// - Parameter isIncluded: Builds the query from the properties of its argument.
  /// - Returns: The results, as live as the map.
  public func `where`<Owner: ObjectBase>(
    _ isIncluded: (Query<Owner>) -> Query<Bool>
  ) -> Results<Value> where Value == Owner? {
    let (words, arguments) = isIncluded(Query([], isCondition: false)).whole
    return Misuse.unthrowingRealm { () throws(Realm.Error) in
      Results(try elements.selected(words, arguments).elements)
    }
  }

  /// The values in their order.
  public func sorted(ascending: Bool = true) -> Results<Value> {
    Results(elements.adding(.sorted([SortDescriptor(keyPath: "self", ascending: ascending)])))
  }

  /// The objects by one property.
  public func sorted(byKeyPath keyPath: String, ascending: Bool = true) -> Results<Value> {
    sorted(by: [SortDescriptor(keyPath: keyPath, ascending: ascending)])
  }

  /// The objects by several properties, the first one first.
  public func sorted<Descriptors: Sequence>(
    by sortDescriptors: Descriptors
  ) -> Results<Value> where Descriptors.Element == SortDescriptor {
    Results(elements.sorted(by: Array(sortDescriptors)))
  }

  /// Each value once.
  public func distinct() -> Results<Value> { Results(elements.adding(.distinct([]))) }
}
