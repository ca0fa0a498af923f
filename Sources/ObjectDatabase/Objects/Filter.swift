// Filter.swift: results by a query in words (docs/query-language.md), with the arguments that
// RealmSwift's callers write: `$0`, and `%@` and `%K` as in format strings.
// Invariant: a filter is bound anew to the schema of each version that it is asked on.

import Engine
import Query

/// A query in words with its arguments.
struct Filter {
  private let query: ParsedQuery
  private let arguments: [Value]

  /// - Throws: `Realm.Error` with code `.invalidValue`, which says where and what in the text.
  init(_ text: String, _ arguments: [Any?], _ access: _TableAccess) throws(Realm.Error) {
    let (numbered, values) = try Self.numbered(text, arguments)
    var converted: [Value] = []
    for value in values { converted.append(try Self.value(value, access.core)) }
    self.arguments = converted
    do throws(QueryError) {
      query = try ParsedQuery(parsing: numbered)
      _ = try query.bound(
        to: access.core.querySchema(ofFile: nil), table: access.name, arguments: converted)
    } catch {
      throw Realm.Error(.invalidValue, "\"\(text.prefix(200))\": \(error)")
    }
  }

  var description: String { query.description }

  /// Whether the query itself sorts, or takes rows out by more than a condition.
  var hasClauses: Bool { !query.clauses.isEmpty }

  /// The keys of all rows of the class that pass.
  func keys(_ access: _TableAccess) -> [Int64] {
    asking(access, absent: []) { query, source throws(QueryError) in
      try query.keys(in: source)
    }
  }

  /// The number of rows of the class that pass.
  func count(_ access: _TableAccess) -> Int {
    asking(access, absent: 0) { query, source throws(QueryError) in
      try query.count(in: source)
    }
  }

  private func asking<Answer>(
    _ access: _TableAccess, absent: Answer,
    _ body: (BoundQuery, any QuerySource) throws(QueryError) -> Answer
  ) -> Answer {
    let core = access.core
    return unthrowing { () throws(QueryError) in
      if let write = core.write {
        guard write.hasTable(access.name) else { return absent }
        return try body(bound(access, write.tables), write)
      }
      let snapshot = Misuse.unthrowing { () throws(EngineError) in try core.currentSnapshot() }
      guard snapshot.schema(of: access.name) != nil else { return absent }
      return try body(bound(access, snapshot.tables), snapshot)
    }
  }

  /// How the rows are found, in words.
  func explain(_ access: _TableAccess) -> String {
    unthrowing { () throws(QueryError) in
      try query.bound(
        to: access.core.querySchema(ofFile: nil), table: access.name, arguments: arguments
      ).explain()
    }
  }

  private func bound(
    _ access: _TableAccess, _ tables: [TableSchema]
  ) throws(QueryError) -> BoundQuery {
    try query.bound(
      to: access.core.querySchema(ofFile: tables), table: access.name, arguments: arguments)
  }

  private func unthrowing<Result>(_ body: () throws(QueryError) -> Result) -> Result {
    do throws(QueryError) { return try body() } catch {
      Misuse.stop("the filter \"\(query)\" cannot run, and results cannot throw: \(error)")
    }
  }

  // MARK: arguments

  /// Puts `$n` in the place of `%@` and its like, and names in the place of `%K`.
  private static func numbered(
    _ text: String, _ arguments: [Any?]
  ) throws(Realm.Error) -> (String, [Any?]) {
    guard text.utf8.contains(UInt8(ascii: "%")) else { return (text, arguments) }
    var out: [UInt8] = []
    var values: [Any?] = []
    var used = 0
    var quote: UInt8?
    var bytes = Array(text.utf8)[...]
    while let byte = bytes.popFirst() {
      if byte == UInt8(ascii: "\\"), quote != nil, let next = bytes.popFirst() {
        out += [byte, next]
        continue
      }
      if byte == quote {
        quote = nil
      } else if quote == nil, byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
        quote = byte
      }
      guard quote == nil, byte == UInt8(ascii: "%"), let kind = bytes.first,
        [UInt8]("@Kdifu".utf8).contains(kind)
      else {
        out.append(byte)
        continue
      }
      bytes.removeFirst()
      guard used < arguments.count else {
        throw Realm.Error(
          .invalidValue, "\"\(text.prefix(200))\" has more places than \(arguments.count) arguments"
        )
      }
      if kind == UInt8(ascii: "K"), let name = arguments[used] as? String {
        out += name.utf8
      } else {
        out += "$\(values.count)".utf8
        values.append(arguments[used])
      }
      used += 1
    }
    return (String(decoding: out, as: UTF8.self), values)
  }

  private static func value(_ any: Any?, _ core: _RealmCore) throws(Realm.Error) -> Value {
    guard let flat = DynamicValue.flattened(any) else { return .null }
    if let object = flat as? ObjectBase {
      guard let access = object.tableAccess, access.core.store === core.store else {
        throw Realm.Error(
          .invalidValue, "an object of another realm, or an unmanaged one, is an argument")
      }
      let table = try translating { () throws(EngineError) -> UInt32 in
        if let write = core.write { return try write.tableID(of: access.name) }
        return try core.currentSnapshot().tableID(of: access.name)
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

extension _RealmCore {
  /// What queries may speak of.
  /// - Parameter tables: The tables of a version; nil for the classes as the program has them.
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
      })
  }
}

extension RealmCollection {
  /// The objects that a query finds.
  ///
  /// A text that is no query of the class stops the process; `filtered(by:arguments:)` throws.
  /// - Parameters:
  ///   - predicateFormat: The query, with `$0` or `%@` for arguments.
  ///   - arguments: The arguments.
  /// - Returns: The results, live as those they were made of.
  public func filter(_ predicateFormat: String, _ arguments: Any?...) -> Results<Element> {
    Misuse.unthrowingRealm { () throws(Realm.Error) in
      try found(predicateFormat, arguments)
    }
  }

  /// The objects that a query finds; for texts that come from outside.
  /// - Parameters:
  ///   - text: The query, with `$0` or `%@` for arguments.
  ///   - arguments: The arguments.
  /// - Returns: The results, live as those they were made of.
  /// - Throws: `Realm.Error` with code `.invalidValue`, which says where and what in the text.
  public func filtered(by text: String, arguments: [Any?] = []) throws -> Results<Element> {
    try found(text, arguments)
  }

  func found(
    _ text: String, _ arguments: [Any?]
  ) throws(Realm.Error) -> Results<Element> {
    let elements = elements
    guard let access = elements.access else {
      throw Realm.Error(.invalidValue, "only objects are filtered, not values of \(Element.self)")
    }
    let filter = try Filter(text, arguments, access)
    var isWhole = elements.steps.isEmpty
    if case .table = elements.origin {} else { isWhole = false }
    guard isWhole || !filter.hasClauses else {
      throw Realm.Error(
        .invalidValue,
        "\"\(text.prefix(200))\" sorts or limits what is a part of the class; use sorted(by:) and "
          + "distinct(by:) on the results")
    }
    return Results(elements.adding(.selected(filter)))
  }
}

extension Results {
  /// How the objects are found, in words, a line for each step.
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
