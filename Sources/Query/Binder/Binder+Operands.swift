// Binder+Operands.swift: constants, arguments, lists, arithmetic and subqueries.

import Engine

extension Binder {
  /// The value of an argument.
  func argument(_ number: Int) throws(QueryError) -> Value {
    guard case .value(let value) = try anyArgument(number) else {
      throw QueryError(
        .argument, "$\(number) is a part of the Earth, which can only come after GEOWITHIN")
    }
    return value
  }

  /// An argument of any kind.
  private func anyArgument(_ number: Int) throws(QueryError) -> QueryArgument {
    guard arguments.indices.contains(number) else {
      throw QueryError(
        .argument,
        "$\(number) is not there: the query got \(arguments.count) arguments, the first one is $0")
    }
    return arguments[number]
  }

  /// Binds an operand; a type that depends on the other operand is decided by `settled`.
  mutating func bind(_ operand: QueryOperand) throws(QueryError) -> Bound {
    switch operand {
    case .literal(let literal): return try bind(literal)
    case .argument(let number): return try bind(argument: number)
    case .list(let members): return try bind(list: members)
    case .path(let path):
      let (bound, type) = try bind(path)
      return Bound(operand: .path(bound), type: type, isMany: bound.isMany)
    case .arithmetic(let first, let terms): return try bind(first, terms, operand)
    case .subquery(let subquery): return try bind(subquery)
    case .shape(let shape): return Bound(operand: .area(try area(shape)), type: .shape)
    }
  }

  private func bind(_ literal: QueryLiteral) throws(QueryError) -> Bound {
    switch literal {
    case .value(.typedLink(let table, let key)):
      return Bound(operand: .engineLink(table: table, key: key), type: .object(nil))
    case .value(let value): return Bound(operand: .value(value), type: OperandType(of: value))
    case .number(let text): return Bound(operand: .number(text), type: .number)
    case .object(let name, let key, let isRowKey):
      let index = try schema.table(named: name)
      let table = schema.tables[index]
      let type: OperandType
      if !isRowKey, let primaryKey = table.primaryKey {
        guard let column = table.column(named: primaryKey) else {
          throw QueryError(.unknownName, "\(name) has no property \"\(primaryKey)\" for its keys")
        }
        type = OperandType(table.schema.columns[column].type, target: nil)
      } else {
        type = .int
      }
      guard OperandType(of: key) == type || key == .null else {
        throw QueryError(
          .type,
          "obj(\"\(name)\", …): the key is \(type.named(schema)), not "
            + OperandType(of: key).named(schema))
      }
      return Bound(
        operand: .object(
          table: index, key: key, isRowKey: isRowKey || table.primaryKey == nil),
        type: .object(index))
    }
  }

  private func bind(argument number: Int) throws(QueryError) -> Bound {
    let argument = try anyArgument(number)
    guard case .value(let value) = argument else {
      return Bound(operand: .area(try GeoArea(argument)), type: .shape)
    }
    switch value {
    case .list(let members), .set(let members): return try bind(values: members)
    case .dictionary(let entries): return try bind(values: entries.map(\.value))
    case .typedLink(let table, let key):
      return Bound(operand: .engineLink(table: table, key: key), type: .object(nil))
    default: return Bound(operand: .value(value), type: OperandType(of: value))
    }
  }

  private func bind(values: [Value]) throws(QueryError) -> Bound {
    var members: [Bound] = []
    for value in values {
      switch value {
      case .list, .set, .dictionary:
        throw QueryError(.argument, "a collection in a collection of arguments has no use here")
      case .typedLink(let table, let key):
        members.append(Bound(operand: .engineLink(table: table, key: key), type: .object(nil)))
      default: members.append(Bound(operand: .value(value), type: OperandType(of: value)))
      }
    }
    return joined(members)
  }

  private mutating func bind(list: [QueryOperand]) throws(QueryError) -> Bound {
    var members: [Bound] = []
    for operand in list {
      let member = try bind(operand)
      guard !member.isMany else {
        throw QueryError(
          .type, "\(Self.text(operand)) has several values and is in a list of single ones")
      }
      members.append(member)
    }
    return joined(members)
  }

  /// Joins several single operands to one; its type is theirs, or `mixed`.
  func joined(_ members: [Bound]) -> Bound {
    let types = members.map(\.type).filter { $0 != .null }
    var type = types.first ?? .null
    if types.contains(where: { $0 != type }) {
      type = types.allSatisfy(\.isNumeric) ? .double : .mixed
    }
    return Bound(operand: .list(members.map(\.operand)), type: type, isMany: true)
  }

  private mutating func bind(
    _ first: QueryOperand, _ terms: [ArithmeticTerm], _ whole: QueryOperand
  ) throws(QueryError) -> Bound {
    var members: [Bound] = []
    for operand in [first] + terms.map(\.operand) {
      let member = try bind(operand)
      guard member.type.isNumeric || member.type.isOpen else {
        throw QueryError(
          .type,
          "\(Self.text(whole)): \(Self.text(operand)) is \(member.type.named(schema)), which is no "
            + "number")
      }
      members.append(member)
    }
    guard members.filter(\.isMany).count <= 1 else {
      throw QueryError(
        .type, "\(Self.text(whole)): arithmetic takes one operand with several values, not two")
    }
    let types = members.map(\.type)
    let type: OperandType =
      types.contains(where: \.isOpen)
      ? .mixed
      : types.contains(.decimal)
        ? .decimal
        : types.allSatisfy { $0 == .int }
          ? .int
          : types.allSatisfy { $0 == .number }
            ? .number : types.allSatisfy { $0 == .float } ? .float : .double
    let hint: OperandType? = type == .decimal ? .decimal : nil
    let operands =
      type == .decimal ? members.map { settled($0.operand, hint) } : members.map(\.operand)
    return Bound(
      operand: .arithmetic(
        operands[0],
        zip(terms, operands.dropFirst()).map { BoundTerm(arithmetic: $0.arithmetic, operand: $1) }),
      type: type, isMany: members.contains(where: \.isMany))
  }

  private mutating func bind(_ subquery: QuerySubquery) throws(QueryError) -> Bound {
    let (collection, type) = try bind(subquery.collection)
    guard collection.isMany, case .object(let table?) = type, collection.finish == .none else {
      throw QueryError(
        .type,
        "SUBQUERY(\(Self.text(subquery.collection)), …): it is \(type.named(schema)), not a "
          + "collection of objects")
    }
    guard !scopes.contains(where: { $0.variable == subquery.variable }) else {
      throw QueryError(
        .syntax, "$\(subquery.variable) is a variable of the subquery around this one; use another")
    }
    scopes.append(Scope(variable: subquery.variable, table: table))
    let predicate = try bind(subquery.predicate)
    scopes.removeLast()
    return Bound(
      operand: .subquery(BoundSubquery(collection: collection, predicate: predicate)), type: .int)
  }

  /// Decides what constants are beside operands of a type: numbers, texts for binaries, and links
  /// without a table.
  func settled(_ operand: BoundOperand, _ hint: OperandType?) -> BoundOperand {
    switch operand {
    case .number(let text): return .value(Numbers.value(text, hint))
    case .value(.string(let text)) where hint == .binary: return .value(.binary(Array(text.utf8)))
    case .value(.binary(let bytes)) where hint == .string:
      return String(validating: bytes, as: UTF8.self).map { .value(.string($0)) } ?? operand
    case .value(.link(let key)):
      if case .object(let table?) = hint {
        return .value(.typedLink(table: UInt32(table), key: key))
      }
      return operand
    case .list(let members): return .list(members.map { settled($0, hint) })
    case .arithmetic(let first, let terms):
      return .arithmetic(
        settled(first, hint),
        terms.map { BoundTerm(arithmetic: $0.arithmetic, operand: settled($0.operand, hint)) })
    default: return operand
    }
  }
}
