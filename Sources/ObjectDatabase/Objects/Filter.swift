// Filter.swift: results of a textual query (docs/reference/query-language.md), with the arguments
// that RealmSwift's callers write: `$0`, and `%@` and `%K` as in format strings. Invariant: a
// filter is bound again to the schema of each version that it runs on.

import Engine
import Query

/// A query in words with its arguments.
struct Filter {
  private let query: ParsedQuery
  private let arguments: [QueryArgument]

  /// - Throws: `Realm.Error` with code `.invalidValue`, with the position and the problem in the
  ///   text.
  init(_ text: String, _ arguments: [Any?], _ access: _TableAccess) throws(Realm.Error) {
    let numbers: [Int]
    do throws(QueryError) {
      (query, numbers) = try ParsedQuery.reading(
        format: text, names: arguments.map { DynamicValue.unwrapped($0) as? String })
    } catch {
      throw Self.error(text, error)
    }
    var converted: [QueryArgument] = []
    for number in numbers { converted.append(try Self.argument(arguments[number], access.core)) }
    self.arguments = converted
    do throws(QueryError) {
      _ = try bound(to: access.querySchema, access)
    } catch {
      throw Self.error(text, error)
    }
  }

  private static func error(_ text: String, _ error: QueryError) -> Realm.Error {
    Realm.Error(.invalidValue, "\"\(text.prefix(200))\": \(error)")
  }

  var description: String { query.description }

  /// Whether the query itself sorts, or takes rows out by more than a condition.
  var hasClauses: Bool { !query.clauses.isEmpty }

  /// The keys of all matching rows of the class; a program's own query has no step limit.
  func keys(_ access: _TableAccess) throws(EngineError) -> [Int64] {
    try asking { () throws(QueryError) in try keys(access, stepsMax: .max) }
  }

  /// The keys that pass, of some of the class.
  func keys(_ access: _TableAccess, among keys: [Int64]) throws(EngineError) -> [Int64] {
    try asking { () throws(QueryError) in
      try found(access, absent: [], stepsMax: .max) { query, source throws(QueryError) in
        try query.keys(among: keys, in: source)
      }
    }
  }

  /// The number of rows of the class that pass.
  func count(_ access: _TableAccess) -> Int {
    unthrowing { () throws(QueryError) in try count(access, stepsMax: .max) }
  }

  /// What a run of the query found.
  enum Found {
    case count(Int)
    case keys([Int64])
  }

  /// Runs the query once, for a text from an untrusted source.
  /// - Returns: What it found among all objects of the class.
  /// - Throws: `Realm.Error` with code `.invalidValue` when it costs more than the bound.
  func check(_ access: _TableAccess, stepsMax: Int?) throws(Realm.Error) -> Found {
    access.core.checkThread()
    let stepsMax = stepsMax ?? QueryLimits.stepsDefault
    do throws(QueryError) {
      // The count costs at most as much as the keys, and far less where scans alone give it.
      return hasClauses
        ? .keys(try keys(access, stepsMax: stepsMax))
        : .count(try count(access, stepsMax: stepsMax))
    } catch {
      throw Realm.Error(.invalidValue, "\"\(query)\": \(error)")
    }
  }

  /// The sum of an int property over all objects of the class that pass, and the number of its
  /// values; nil where their keys have to be found first.
  func sum(
    _ access: _TableAccess, _ property: Int
  ) -> (total: Int128, count: Int)? {
    unthrowing { () throws(QueryError) in
      try found(access, absent: (0, 0), stepsMax: .max) { query, source throws(QueryError) in
        let column = access.info.properties[property].columnName
        guard let table = source.tables.first(where: { $0.name == access.name }),
          let stored = table.columns.first(where: { $0.name == column }), stored.type == .int,
          stored.collection == .none
        else { return nil }
        return try query.sum(ofColumn: column, in: source)
      }
    }
  }

  private func count(_ access: _TableAccess, stepsMax: Int) throws(QueryError) -> Int {
    try found(access, absent: 0, stepsMax: stepsMax) { query, source throws(QueryError) in
      try query.count(in: source)
    }
  }

  private func keys(_ access: _TableAccess, stepsMax: Int) throws(QueryError) -> [Int64] {
    try found(access, absent: [], stepsMax: stepsMax) { query, source throws(QueryError) in
      try query.keys(in: source)
    }
  }

  /// The result of `body` in the version that is read; `absent` when that lacks the class, or the
  /// realm was invalidated.
  private func found<Answer>(
    _ access: _TableAccess, absent: Answer, stepsMax: Int,
    _ body: (BoundQuery, any ReadableVersion) throws(QueryError) -> Answer
  ) throws(QueryError) -> Answer {
    let core = access.core
    // An invalidated realm has no results, like all objects of the class.
    if access.isInvalidated { return absent }
    let source: any ReadableVersion
    do throws(EngineError) { source = try core.currentVersion() } catch {
      throw QueryError(error)
    }
    let tables = source.tables
    guard tables.contains(where: { $0.name == access.name }) else { return absent }
    var query = try bound(access, tables)
    query.limits.stepsMax = stepsMax
    return try body(query, source)
  }

  /// A description of how the rows are found.
  func explain(_ access: _TableAccess) -> String {
    unthrowing { () throws(QueryError) in
      try bound(to: access.querySchema, access).explain()
    }
  }

  /// The query with the class's columns; as in RealmSwift an empty text is a part of no text.
  private func bound(
    to schema: QuerySchema, _ access: _TableAccess
  ) throws(QueryError) -> BoundQuery {
    try query.bound(
      to: schema, table: access.name, arguments: arguments, emptyFindsNothing: true)
  }

  private func bound(
    _ access: _TableAccess, _ tables: [TableSchema]
  ) throws(QueryError) -> BoundQuery {
    try bound(to: access.core.querySchema(ofFile: tables), access)
  }

  /// Runs the query; its errors become errors of the engine.
  private func asking<Result>(
    _ body: () throws(QueryError) -> Result
  ) throws(EngineError) -> Result {
    do throws(QueryError) { return try body() } catch {
      throw error.engineError
        ?? EngineError(
          code: .schemaMismatch,
          message: "the filter \"\(query)\" cannot run on the version that is read: \(error)")
    }
  }

  private func unthrowing<Result>(_ body: () throws(QueryError) -> Result) -> Result {
    do throws(QueryError) { return try body() } catch {
      Misuse.stop("the filter \"\(query)\" cannot run, and results cannot throw: \(error)")
    }
  }

  // MARK: arguments

  private static func argument(
    _ any: Any?, _ core: _RealmCore
  ) throws(Realm.Error) -> QueryArgument {
    if let shape = DynamicValue.unwrapped(any) as? any GeoShape { return shape.argument }
    return .value(try value(any, core))
  }

  private static func value(_ any: Any?, _ core: _RealmCore) throws(Realm.Error) -> Value {
    guard var flat = DynamicValue.flattened(any) else { return .null }
    if case .object(let object)? = flat as? AnyRealmValue { flat = object }
    if let object = flat as? ObjectBase {
      // No property leads to an object that is in no realm.
      guard let access = object.tableAccess else { return .typedLink(table: .max, key: 0) }
      guard access.core.store === core.store else {
        throw Realm.Error(.invalidValue, "an object of another realm is an argument")
      }
      let table = try translating { () throws(EngineError) -> UInt32 in
        try core.currentVersion().tableID(of: access.name)
      }
      return .typedLink(table: table, key: object.rowKey)
    }
    if let value = AnyRealmValue(any: flat)?._plainValue { return value }
    if let sequence = flat as? any Sequence {
      var values: [Value] = []
      for item in sequence as any Sequence { values.append(try value(item, core)) }
      return .list(values)
    }
    throw Realm.Error(
      .invalidValue, "an argument of type \(Swift.type(of: flat)) has no column type")
  }
}

extension _TableAccess {
  /// The schema for queries of the class: the program's classes, or for dynamic objects, those of
  /// the version that is read.
  fileprivate var querySchema: QuerySchema {
    guard info.isDynamic else { return core.querySchema(ofFile: nil) }
    let tables = Misuse.unthrowing { () throws(EngineError) in
      try core.currentVersion().tables
    }
    return core.querySchema(ofFile: tables)
  }
}

extension _RealmCore {
  /// The schema that queries may refer to.
  /// - Parameter tables: The tables of a version; nil for the program's classes.
  /// - Returns: Tables, with the names that the program's classes have for their columns.
  func querySchema(ofFile tables: [TableSchema]?) -> QuerySchema {
    let infos = classes.withLock { $0.infos }
    let present =
      tables?.filter { !$0.name.hasPrefix(ClassInfo.reservedPrefix) }
      ?? infos.values.sorted { $0.name < $1.name }.map(\.tableSchema)
    return QuerySchema(
      present.map { schema in
        guard let info = infos[schema.name] else { return QueryTable(schema) }
        var aliases: [String: String] = [:]
        var backlinks: [BacklinkProperty] = []
        for property in info.properties {
          if property.name != property.columnName { aliases[property.name] = property.columnName }
          if property.type == .linkingObjects, let origin = property.objectClassName,
            let name = property.linkOriginPropertyName
          {
            backlinks.append(
              BacklinkProperty(name: property.name, originTable: origin, originColumn: name))
          }
        }
        return QueryTable(
          schema, primaryKey: info.primaryKey.map { info.properties[$0].columnName },
          aliases: aliases, backlinks: backlinks)
      }, mixedCollections: MixedCollections.queried)
  }
}

extension RealmCollection {
  /// The objects that match a query.
  ///
  /// A text that is not a query of the class stops the process; `filtered(by:arguments:)` throws.
  /// - Parameters:
  ///   - predicateFormat: The query, with `$0` or `%@` for arguments.
  ///   - arguments: The arguments.
  /// - Returns: The results, as live as the collection they are derived from.
  public func filter(_ predicateFormat: String, _ arguments: Any?...) -> Results<Element> {
    Misuse.unthrowingRealm { () throws(Realm.Error) in
      try found(predicateFormat, arguments)
    }
  }

  /// The objects that match a query; for texts from an untrusted source.
  /// - Parameters:
  ///   - text: The query, with `$0` or `%@` for arguments.
  ///   - arguments: The arguments.
  ///   - stepsMax: Rows and values that the query may visit; nil means 2^28.
  /// - Returns: The results, as live as the collection they are derived from.
  /// - Throws: `Realm.Error` with code `.invalidValue`, with the position and the problem in the
  ///   text, or because the query visits more than `stepsMax`.
  /// - Complexity: Runs the query once.
  public func filtered(
    by text: String, arguments: [Any?] = [], stepsMax: Int? = nil
  ) throws -> Results<Element> {
    let (results, filter) = try selected(text, arguments)
    try results.content.check(filter, stepsMax: stepsMax)
    return results
  }

  func found(
    _ text: String, _ arguments: [Any?]
  ) throws(Realm.Error) -> Results<Element> {
    try selected(text, arguments).results
  }

  private func selected(
    _ text: String, _ arguments: [Any?]
  ) throws(Realm.Error) -> (results: Results<Element>, filter: Filter) {
    let (elements, filter) = try elements.selected(text, arguments)
    return (Results(elements), filter)
  }
}

extension Elements {
  /// The elements that match a query.
  func selected(
    _ text: String, _ arguments: [Any?]
  ) throws(Realm.Error) -> (elements: Elements, filter: Filter) {
    guard let access else {
      throw Realm.Error(.invalidValue, "only objects are filtered; these elements are values")
    }
    let filter = try Filter(text, arguments, access)
    var isWhole = steps.isEmpty
    if case .table = origin {} else { isWhole = false }
    guard isWhole || !filter.hasClauses else {
      throw Realm.Error(
        .invalidValue,
        "\"\(text.prefix(200))\" sorts or limits what is a part of the class; use sorted(by:) and "
          + "distinct(by:) on the results")
    }
    return (adding(.selected(filter)), filter)
  }
}

extension Results {
  /// A description of how the objects are found, one line per step.
  public func explain() -> String {
    var lines: [String] = []
    switch content.origin {
    case .table(let access): lines.append("all of \(access.name)")
    case .collection: lines.append("the elements of a collection")
    case .backlinks: lines.append("what links to an object")
    }
    for step in content.steps {
      switch step {
      case .sorted(let descriptors):
        lines.append(
          "sorted by "
            + descriptors.map { $0.keyPath + ($0.ascending ? "" : " descending") }
            .joined(separator: ", "))
      case .distinct(let paths): lines.append("distinct by " + paths.joined(separator: ", "))
      case .selected(let filter):
        if let access = content.access { lines.append(filter.explain(access)) }
      }
    }
    return lines.joined(separator: "\n")
  }
}
