// QueryGenerator+Spellings.swift: random conditions in what Realm's own texts have beyond the plain
// ones: lengths, all elements, paths as arguments, keys of rows, numbers in quotes, bytes as texts.

import Engine
import Query

extension QueryGenerator {
  /// One of the rarer spellings.
  mutating func spelling(_ table: String) -> QueryComparison? {
    switch random.below(8) {
    case 0: length(table)
    case 1: size(table)
    case 2: spread(table)
    case 3: dictionaryKey(table)
    case 4: pathArgument(table)
    case 5: rowKey(table)
    case 6: quotedNumber(table)
    default: bytes(table)
    }
  }

  /// The length of texts and binaries, one or many.
  private mutating func length(_ table: String) -> QueryComparison? {
    let isMany = !chance(3)
    let types: [ColumnType] = [.string, .binary, .mixed]
    guard var (path, _) = path(table, isMany: isMany, where: { types.contains($0.type) }) else {
      return nil
    }
    path.steps.append(.property("length"))
    return QueryComparison(
      .path(path), order(.int), constant(.int),
      leftQuantifier: isMany && chance(2) ? pick(Quantifier.allCases) : chance(4) ? .any : nil)
  }

  /// The size of a text, of any value, or of a link, and the number of links behind a collection.
  private mutating func size(_ table: String) -> QueryComparison? {
    let isMany = chance(3)
    let types: [ColumnType] = isMany ? [.link] : [.string, .binary, .mixed, .link]
    guard
      var (path, _) = path(
        table, isMany: isMany,
        where: { types.contains($0.type) && (!isMany || $0.collection == .none) })
    else { return nil }
    path.steps.append(pick([.operation(.count), .operation(.size), .elementCount]))
    if isMany { path.steps[path.steps.count - 1] = .operation(.count) }
    return QueryComparison(.path(path), order(.int), .literal(.value(.int(Int64(random.below(4))))))
  }

  /// All elements of a collection, by name.
  private mutating func spread(_ table: String) -> QueryComparison? {
    guard
      let (found, column) = path(
        table, isMany: true, where: { $0.collection != .none && $0.type != .link })
    else { return nil }
    var path = found
    path.steps.append(
      column.collection == .dictionary && chance(2) ? .operation(.values) : .allElements)
    if column.type == .mixed, chance(3) {
      path.steps.append(.property(pick(["age", "name", "weight"])))
    }
    return QueryComparison(
      .path(path), column.type == .mixed ? pick([.equal, .less, .notEqual]) : order(column.type),
      constant(column.type), leftQuantifier: pick(Quantifier.allCases))
  }

  /// The value of a dictionary's key, written as a property.
  private mutating func dictionaryKey(_ table: String) -> QueryComparison? {
    var steps: [QueryStep] = [.property("map"), .property(pick(["a", "b", "k", "age"]))]
    switch table {
    case "Person": if chance(3) { steps.insert(.property("boss"), at: 0) }
    case "Dog": steps.insert(.property("owner"), at: 0)
    default: return nil
    }
    if chance(4) { steps.append(.property(pick(["age", "name", "length"]))) }
    let isLength = steps.last == .property("length")
    return QueryComparison(
      .path(QueryPath(steps)), pick([.equal, .notEqual, .less, .greaterEqual]),
      constant(isLength ? .int : .mixed))
  }

  /// A condition whose path is an argument, or ends in one.
  private mutating func pathArgument(_ table: String) -> QueryComparison? {
    let isMany = chance(3)
    guard
      let (found, column) = path(
        table, isMany: isMany, where: { $0.type != .mixed && $0.type != .link })
    else { return nil }
    var path = found
    var names: [String] = []
    while let last = path.steps.last, case .property(let name) = last, names.isEmpty || chance(2) {
      names.insert(name, at: 0)
      path.steps.removeLast()
    }
    guard !names.isEmpty,
      case .argument(let number) = argument(.string(names.joined(separator: ".")))
    else { return nil }
    path.steps.append(.pathArgument(number))
    return QueryComparison(
      .path(path), order(column.type), constant(column.type),
      leftQuantifier: isMany ? pick(Quantifier.allCases) : nil)
  }

  /// A link to the row of a key, written without its class.
  private mutating func rowKey(_ table: String) -> QueryComparison? {
    let isMany = chance(3)
    guard let (path, _) = path(table, isMany: isMany, where: { $0.type == .link }) else {
      return nil
    }
    func key() -> QueryOperand { .literal(.value(.link(Int64(random.below(6))))) }
    return QueryComparison(
      .path(path), chance(2) ? .equal : .notEqual, chance(3) ? .list([key(), key()]) : key(),
      leftQuantifier: isMany ? pick(Quantifier.allCases) : nil,
      rightQuantifier: nil)
  }

  /// A number in quotes beside numbers; and a list of values of other types beside anything.
  private mutating func quotedNumber(_ table: String) -> QueryComparison? {
    let isMany = chance(3)
    let types: [ColumnType] = [.int, .float, .double, .decimal128]
    let isList = chance(3)
    guard
      let (path, _) = path(
        table, isMany: isMany,
        where: { isList ? $0.type == .string : types.contains($0.type) })
    else { return nil }
    let quantifier = isMany ? pick(Quantifier.allCases) : nil
    if isList {
      let members: [QueryOperand] = [
        .literal(.value(.int(1))), .literal(.value(.string(pick(Kennel.texts)))),
        .literal(.value(pick([.null, .bool(true), .uuid(Kennel.uuid(1))]))),
      ]
      return QueryComparison(
        .path(path), chance(2) ? .in : .equal, .list(members), leftQuantifier: quantifier,
        rightQuantifier: chance(2) ? pick(Quantifier.allCases) : nil)
    }
    func number() -> QueryOperand {
      .literal(.value(.string(pick(["0", "1", "-1.5", "2", "0.1", "1e300", "inf", "NaN", "5"]))))
    }
    return QueryComparison(
      .path(path), order(.int), chance(4) ? .list([number(), number()]) : number(),
      leftQuantifier: quantifier, rightQuantifier: nil)
  }

  /// Binaries searched as texts are, and texts in order without case.
  private mutating func bytes(_ table: String) -> QueryComparison? {
    let isOrder = chance(4)
    let isMany = isOrder && chance(2)
    guard
      let (path, _) = path(
        table, isMany: isMany, where: { $0.type == (isOrder ? .string : .binary) })
    else { return nil }
    if isOrder {
      return QueryComparison(
        .path(path), pick([.less, .lessEqual, .greater, .greaterEqual]),
        .literal(.value(.string(pick(Kennel.texts)))), ignoresCase: true,
        leftQuantifier: isMany ? pick(Quantifier.allCases) : nil)
    }
    let wanted = pick(["a*", "*B", "?b", "A", "Ab", "ab?", "*", "", "c"])
    let value: Value = chance(2) ? .binary(Array(wanted.utf8)) : .string(wanted)
    return QueryComparison(
      .path(path), pick([.like, .like, .beginsWith, .endsWith, .contains, .equal, .notEqual]),
      .literal(chance(12) ? .value(.null) : .value(value)), ignoresCase: chance(2))
  }
}
