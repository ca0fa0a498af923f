// Reference+Operands.swift: evaluates operands to items.

import Engine
import Query

/// The current position of a path.
private enum Place {
  case row(String, Int64)
  /// A column of a row, not read yet.
  case column(String, Int64, Int)
  case item(Item)
}

extension Reference {
  /// The type of the column that an operand reads; it decides the type of constants compared with
  /// it.
  func kind(_ operand: QueryOperand, _ scopes: [ReferenceScope]) -> ColumnType? {
    switch operand {
    case .path(let path): return walk(path, scopes).kind
    case .arithmetic(let first, let terms):
      let kinds = ([first] + terms.map(\.operand)).map { kind($0, scopes) }
      return kinds.contains(.decimal128) ? .decimal128 : nil
    case .argument(let number):
      if case .decimal128 = arguments[number] { return .decimal128 }
      return nil
    default: return nil
    }
  }

  /// The table that an operand's links lead to.
  func target(_ operand: QueryOperand, _ scopes: [ReferenceScope]) -> String? {
    guard case .path(let path) = operand else { return nil }
    return walk(path, scopes).target
  }

  /// A constant beside another operand: the key of a row is one of the other's table, and a text in
  /// quotes beside numbers is a number.
  func settled(
    _ operand: QueryOperand, _ scopes: [ReferenceScope], beside other: QueryOperand
  ) -> QueryOperand {
    switch operand {
    case .list(let members): return .list(members.map { settled($0, scopes, beside: other) })
    case .literal(.value(.link(let key))):
      guard let table = target(other, scopes) else { return operand }
      return .literal(.object(table: table, key: .int(key), isRowKey: true))
    case .literal(.value(.string(let text))):
      switch kind(other, scopes) {
      case .int, .float, .double, .decimal128: break
      default: return operand
      }
      if let whole = Int64(text) { return .literal(.value(.int(whole))) }
      switch text {
      case "inf": return .literal(.value(.double(.infinity)))
      case "NaN": return .literal(.value(.double(.nan)))
      default: return .literal(.number(text))
      }
    default: return operand
    }
  }

  /// The numbers 1 and 0 beside a bool are true and false; in a list only if all its values are
  /// these, bools or null.
  func truth(
    _ operand: QueryOperand, _ scopes: [ReferenceScope], beside other: QueryOperand
  ) -> QueryOperand {
    guard kind(other, scopes) == .bool else { return operand }
    func bool(_ value: Value) -> Value? {
      switch value {
      case .int(0), .bool(false): .bool(false)
      case .int(1), .bool(true): .bool(true)
      case .null: .null
      default: nil
      }
    }
    func constant(_ operand: QueryOperand) -> Value? {
      switch operand {
      case .literal(.value(let value)): bool(value)
      case .argument(let number): bool(arguments[number])
      default: nil
      }
    }
    if case .list(let members) = operand {
      let values = members.compactMap(constant)
      guard values.count == members.count else { return operand }
      return .list(values.map { .literal(.value($0)) })
    }
    return constant(operand).map { .literal(.value($0)) } ?? operand
  }

  func items(
    _ operand: QueryOperand, _ scopes: [ReferenceScope], beside kind: ColumnType?
  ) -> (items: [Item], isMany: Bool) {
    switch operand {
    case .literal(let literal): return ([item(literal, beside: kind)], false)
    case .argument(let number):
      switch arguments[number] {
      case .list(let values): return (values.map { item($0, kind) }, true)
      default: return ([item(arguments[number], kind)], false)
      }
    case .list(let members):
      return (members.map { items($0, scopes, beside: kind).items[0] }, true)
    case .path(let path): return items(path, scopes)
    case .subquery(let subquery):
      let rows = items(subquery.collection, scopes).items
      let count = rows.filter { row in
        guard case .row(let table, let key) = row else { return false }
        let scope = ReferenceScope(variable: subquery.variable, table: table, key: key)
        return passes(subquery.predicate, scopes + [scope])
      }.count
      return ([.int(Int64(count))], false)
    case .arithmetic(let first, let terms):
      let own = self.kind(operand, scopes) == .decimal128 ? .decimal128 : kind
      var result = items(first, scopes, beside: own)
      for term in terms {
        let next = items(term.operand, scopes, beside: own)
        var all: [Item] = []
        for left in result.items {
          for right in next.items { all.append(calculated(left, term.arithmetic, right)) }
        }
        result = (all, result.isMany || next.isMany)
      }
      return result
    case .shape: return ([], true)
    }
  }

  private func calculated(_ left: Item, _ operation: ArithmeticOperator, _ right: Item) -> Item {
    if case .int(let left) = left, case .int(let right) = right {
      let (first, second) = (Int128(left), Int128(right))
      let result: Int128
      switch operation {
      case .add: result = first + second
      case .subtract: result = first - second
      case .multiply: result = first * second
      case .divide:
        if second == 0 { return .null }
        result = first / second
      }
      return Int64(exactly: result).map { .int($0) } ?? .null
    }
    func calculate<Number>(
      _ left: Number, _ right: Number, plus: (Number, Number) -> Number,
      minus: (Number, Number) -> Number, times: (Number, Number) -> Number,
      over: (Number, Number) -> Number
    ) -> Number {
      switch operation {
      case .add: plus(left, right)
      case .subtract: minus(left, right)
      case .multiply: times(left, right)
      case .divide: over(left, right)
      }
    }
    if case .float(let left) = left, case .float(let right) = right {
      return .float(calculate(left, right, plus: +, minus: -, times: *, over: /))
    }
    let isDecimal = [left, right].contains { if case .decimal = $0 { true } else { false } }
    if isDecimal {
      guard let left = ReferenceOrder.decimal(left), let right = ReferenceOrder.decimal(right)
      else {
        return .null
      }
      return .decimal(calculate(left, right, plus: +, minus: -, times: *, over: /))
    }
    guard let left = double(left), let right = double(right) else { return .null }
    return .double(calculate(left, right, plus: +, minus: -, times: *, over: /))
  }

  func double(_ item: Item) -> Double? {
    switch item {
    case .int(let number): Double(number)
    case .float(let number): Double(number)
    case .double(let number): number
    case .decimal(let number): Double("\(number)")
    default: nil
    }
  }

  // MARK: constants

  private func item(_ literal: QueryLiteral, beside kind: ColumnType?) -> Item {
    switch literal {
    case .value(let value): return item(value, kind)
    case .number(let text):
      if kind == .float { return .float(Float(text).known) }
      if kind == .decimal128 { return .decimal(Decimal128(text).known) }
      return .double(Double(text).known)
    case .object(let table, let key, let isRowKey):
      let definition = data.table(table)
      guard !isRowKey, let primaryKey = definition.primaryKey else {
        guard case .int(let number) = key, data.rows[table]?[number] != nil else {
          return .row("nowhere", 0)
        }
        return .row(table, number)
      }
      let column = definition.schema.columns.firstIndex { $0.name == primaryKey }.known
      let found = data.keys(table).first {
        item(data.rows[table].known[$0].known[column], nil) == item(key, nil)
      }
      return found.map { .row(table, $0) } ?? .row("nowhere", 0)
    }
  }

  /// A stored value or an argument.
  private func item(_ value: Value, _ kind: ColumnType?, target: String? = nil) -> Item {
    switch value {
    case .null: return .null
    case .bool(let isTrue): return .bool(isTrue)
    case .int(let number): return .int(number)
    case .float(let number): return .float(number)
    case .double(let number): return .double(number)
    case .decimal128(let number): return .decimal(number)
    case .string(let text):
      return kind == .binary ? .bytes(Array(text.utf8)) : .text(Array(text.utf8))
    case .binary(let bytes):
      let isText = kind == .string && String(validating: bytes, as: UTF8.self) != nil
      return isText ? .text(bytes) : .bytes(bytes)
    case .date(let seconds, let nanoseconds): return .date(seconds, nanoseconds)
    case .objectId(let id): return .objectId(id.bytes)
    case .uuid(let id): return .uuid(id.bytes)
    case .link(let key): return .row(target ?? "nowhere", key)
    case .typedLink(let table, let key): return .row(data.ids[table] ?? "nowhere", key)
    case .list, .set, .dictionary: return .null
    }
  }

  // MARK: paths

  func items(_ path: QueryPath, _ scopes: [ReferenceScope]) -> (items: [Item], isMany: Bool) {
    let walked = walk(path, scopes)
    return (walked.items, walked.isMany)
  }

  private func column(_ table: String, _ name: String) -> Int? {
    let definition = data.table(table)
    let column = definition.aliases[name] ?? name
    return definition.schema.columns.firstIndex { $0.name == column }
  }

  private func elements(_ place: Place) -> [Item] {
    guard case .column(let table, let key, let index) = place else {
      if case .row(let table, let key) = place { return [.row(table, key)] }
      if case .item(let item) = place { return [item] }
      return []
    }
    let target = data.table(table).schema.columns[index].target
    switch data.rows[table].known[key].known[index].canonical {
    case .list(let values), .set(let values): return values.map { item($0, nil, target: target) }
    case .dictionary(let entries): return entries.map { item($0.value, nil, target: target) }
    case let value: return [item(value, nil, target: target)]
    }
  }

  private func linked(_ places: [Place]) -> [Place] {
    places.flatMap { place -> [Place] in
      if case .row = place { return [place] }
      return elements(place).compactMap {
        guard case .row(let table, let key) = $0, data.rows[table]?[key] != nil else { return nil }
        return .row(table, key)
      }
    }
  }

  private func links(from origin: String, _ property: String, to table: String, _ key: Int64)
    -> [Place]
  {
    let index = column(origin, property).known
    return data.keys(origin).flatMap { originKey in
      elements(.column(origin, originKey, index))
        .filter { $0 == .row(table, key) }.map { _ in .row(origin, originKey) }
    }
  }

  /// The keys of a dictionary.
  private func keys(_ place: Place) -> [Place] {
    guard case .column(let table, let key, let index) = place,
      case .dictionary(let entries) = data.rows[table].known[key].known[index].canonical
    else { return [] }
    return entries.map { .item(.text(Array($0.key.utf8))) }
  }

  /// How many links lead to a row.
  private func linkCount(_ place: Place) -> Int64 {
    guard case .row(let own, let key) = place else { return 0 }
    var count = 0
    for origin in data.tables {
      for other in origin.schema.columns where other.target == own {
        count += links(from: origin.schema.name, other.name, to: own, key).count
      }
    }
    return Int64(count)
  }

  /// The steps of a path, with those that its arguments name.
  private func steps(_ path: QueryPath) -> [QueryStep] {
    path.steps.flatMap { step -> [QueryStep] in
      guard case .pathArgument(let number) = step else { return [step] }
      guard case .string(let names) = arguments[number] else { return [] }
      return names.split(separator: ".").map { .property(String($0)) }
    }
  }

  /// Where a path leads.
  struct Walk {
    var items: [Item]
    var isMany: Bool
    var kind: ColumnType?
    /// The table of the rows, when they are rows.
    var target: String?
  }

  private func walk(_ path: QueryPath, _ scopes: [ReferenceScope]) -> Walk {
    let scope = scopes.last { $0.variable == path.variable }.known
    var (table, places) = (scope.table, [Place.row(scope.table, scope.key)])
    var column: ColumnSchema?
    var operation: PathOperation?
    var kind: ColumnType? = .link
    // The last: whether all elements of the last column were asked for.
    var (isMany, isAnyTable, isSpread) = (false, false, false)
    /// Reads what the last property links to.
    func follow() {
      guard let last = column else { return }
      isMany = isMany || last.collection != .none
      table = last.target ?? table
      isAnyTable = isAnyTable || last.type == .mixed
      places = linked(places)
      (column, isSpread) = (nil, false)
    }
    func goBack(_ origin: String, _ property: String) {
      places = places.flatMap { linking(to: $0, from: origin, property) }
      (table, isMany, kind) = (origin, true, .link)
    }
    let steps = self.steps(path)
    for (number, step) in steps.enumerated() {
      switch step {
      case .property("length") where isText(kind) && number == steps.count - 1:
        return finished(places.flatMap(elements), isMany, column, .length, kind)
      case .property(let key)
      where column?.collection == .dictionary && column?.type != .link && !isSpread:
        places = places.compactMap { chosen($0, .key(key)) }
        column?.collection = .none
      case .property(let name):
        follow()
        if isAnyTable {
          (column, kind) = (anyColumn(name), .mixed)
          places = places.compactMap { named(name, $0, column) }
        } else if let index = self.column(table, name) {
          column = data.table(table).schema.columns[index]
          kind = column?.type
          places = places.compactMap { place($0, index) }
        } else {
          let backlink = data.table(table).backlinks.first { $0.name == name }.known
          goBack(backlink.originTable, backlink.originColumn)
        }
      case .backlinks(let origin, let property):
        follow()
        goBack(origin, property)
      case .links:
        follow()
        let count = places.map(linkCount).reduce(0, +)
        return Walk(items: [.int(count)], isMany: false, kind: .int)
      case .operation(.keys):
        places = places.flatMap(keys)
        (isMany, kind, column) = (true, .string, nil)
      case .operation(.values), .allElements: isSpread = true
      case .pathArgument: preconditionFailure("steps of arguments were read above")
      case .operation(let other): operation = other
      case .elementCount where (column?.collection ?? CollectionKind.none) == CollectionKind.none:
        operation = .size
      case .index, .firstElement, .lastElement, .key, .argument, .elementCount:
        places = places.compactMap { chosen($0, step) }
        // The chosen element is a single value.
        column?.collection = .none
        if step == .elementCount { kind = .int }
      }
    }
    var walk = finished(
      places.flatMap(elements), isMany, column, operation.map { .operation($0) }, kind)
    walk.target = column?.target ?? table
    return walk
  }

  /// A column of a row.
  private func place(_ row: Place, _ column: Int) -> Place? {
    if case .row(let table, let key) = row { .column(table, key, column) } else { nil }
  }

  /// The rows that link to a row.
  private func linking(to row: Place, from origin: String, _ property: String) -> [Place] {
    guard case .row(let table, let key) = row else { return [] }
    return links(from: origin, property, to: table, key)
  }

  private func isText(_ kind: ColumnType?) -> Bool {
    kind == .string || kind == .binary || kind == .mixed
  }

  /// A property of a row of any table; null when its table does not have it.
  private func named(_ name: String, _ place: Place, _ merged: ColumnSchema?) -> Place? {
    guard case .row(let table, let key) = place, let index = column(table, name) else {
      return merged?.collection == CollectionKind.none ? .item(.null) : nil
    }
    return .column(table, key, index)
  }

  /// The common form of the columns of one name: with several values if one of them has.
  private func anyColumn(_ name: String) -> ColumnSchema {
    let isSeveral = data.tables.contains { definition in
      column(definition.schema.name, name).map {
        definition.schema.columns[$0].collection != .none
      } ?? false
    }
    return ColumnSchema(name: name, type: .mixed, collection: isSeveral ? .list : .none)
  }

  private func chosen(_ place: Place, _ step: QueryStep) -> Place? {
    guard case .column(let table, let key, let index) = place else { return nil }
    let target = data.table(table).schema.columns[index].target
    let content = data.rows[table].known[key].known[index].canonical
    var step = step
    if case .argument(let number) = step {
      if case .int(let index) = arguments[number] { step = .index(Int(index)) }
      if case .string(let key) = arguments[number] { step = .key(key) }
    }
    switch (content, step) {
    case (.list(let values), .index(let index)):
      let value = values.indices.contains(index) ? values[index] : .null
      return .item(item(value, nil, target: target))
    case (.list(let values), .firstElement):
      return .item(item(values.first ?? .null, nil, target: target))
    case (.list(let values), .lastElement):
      return .item(item(values.last ?? .null, nil, target: target))
    case (.dictionary(let entries), .key(let key)):
      let entry = entries.first { Array($0.key.utf8) == Array(key.utf8) }
      return .item(item(entry?.value ?? .null, nil, target: target))
    case (.list(let values), .elementCount), (.set(let values), .elementCount):
      return .item(.int(Int64(values.count)))
    case (.dictionary(let entries), .elementCount): return .item(.int(Int64(entries.count)))
    default: return nil
    }
  }
}
