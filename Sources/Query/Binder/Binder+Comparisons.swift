// Binder+Comparisons.swift: which operators fit which types.

import Engine

extension Binder {
  mutating func bind(_ comparison: QueryComparison) throws(QueryError) -> BoundComparison {
    let text = Self.text(comparison)
    var left = try bind(comparison.left)
    var right = try bind(comparison.right)
    switch comparison.comparison {
    case .equal, .notEqual, .in:
      left = truth(left, beside: right)
      right = truth(right, beside: left)
    default: break
    }
    let (leftText, rightText) = (left, right)
    left = number(left, comparison.left, beside: rightText)
    right = number(right, comparison.right, beside: leftText)
    try checkQuantifier(comparison.leftQuantifier, left, comparison.left, text)
    if comparison.comparison != .between {
      try checkQuantifier(comparison.rightQuantifier, right, comparison.right, text)
    }
    let operation: BoundOperator
    if left.type == .typeName || right.type == .typeName {
      operation = try typeComparison(comparison, &left, &right, text)
    } else {
      operation = try self.operation(comparison, left, &right, text)
    }
    if comparison.ignoresCase || comparison.ignoresMarks {
      let options = (comparison.ignoresCase ? "c" : "") + (comparison.ignoresMarks ? "d" : "")
      for side in [left, right] where side.type != .string && !side.type.isOpen {
        guard side.type != .binary || comparison.ignoresMarks else { continue }
        throw QueryError(
          .type, "\(text): [\(options)] is for strings, and one side is \(side.type.named(schema))")
      }
    }
    var bound = BoundComparison(
      left: settled(left.operand, right.type), leftQuantifier: comparison.leftQuantifier ?? .any,
      operation: operation, ignoresCase: comparison.ignoresCase,
      ignoresMarks: comparison.ignoresMarks,
      right: settled(right.operand, left.type),
      rightQuantifier: comparison.rightQuantifier ?? .any,
      isWhole: left.isMany && right.isMany && comparison.leftQuantifier == nil
        && comparison.rightQuantifier == nil && comparison.comparison.pairs
        && operation != .sharesType && operation != .sharesNoType,
      text: text)
    try checkLinks(bound)
    switch operation {
    case .equal, .notEqual, .beginsWith, .endsWith, .contains:
      guard bound.isExact, case .value(.string(let wanted)) = bound.right else { break }
      bound.wantedBytes = Array(wanted.utf8)
    default: break
    }
    return bound
  }

  /// Constants 1 and 0 compared with a bool are true and false.
  private func truth(_ side: Bound, beside other: Bound) -> Bound {
    guard other.type == .bool else { return side }
    func truth(_ operand: BoundOperand) -> Value? {
      switch operand.constant {
      case .bool(let isTrue): .bool(isTrue)
      case .int(1): .bool(true)
      case .int(0): .bool(false)
      case .null: .null
      default: nil
      }
    }
    if case .list(let members) = side.operand {
      let values = members.compactMap(truth)
      guard values.count == members.count, values.contains(where: { $0 != .null }) else {
        return side
      }
      return Bound(operand: .list(values.map { .value($0) }), type: .bool, isMany: true)
    }
    guard let value = truth(side.operand), value != .null else { return side }
    return Bound(operand: .value(value), type: .bool)
  }

  /// Constant texts in quotes that are numbers, beside a number, are these numbers; beside a
  /// decimal the texts of arguments, too.
  private func number(
    _ side: Bound, _ operand: QueryOperand, beside other: Bound
  ) -> Bound {
    guard other.type.isNumeric, side.type == .string || side.type == .mixed else { return side }
    func converted(_ member: BoundOperand, _ operand: QueryOperand?) -> Bound? {
      guard case .value(.string(let text)) = member else { return nil }
      switch operand {
      case .literal?: break
      case .argument? where other.type == .decimal: break
      default: return nil
      }
      return Numbers.written(text)
    }
    guard case .list(let members) = side.operand else {
      return converted(side.operand, operand) ?? side
    }
    let written: [QueryOperand?] =
      switch operand {
      case .list(let written): written
      default: members.map { _ in operand }
      }
    var isChanged = false
    let numbers = zip(members, written).map { member, operand -> Bound in
      guard let number = converted(member, operand) else {
        return Bound(operand: member, type: member.constant.map { OperandType(of: $0) } ?? .number)
      }
      isChanged = true
      return number
    }
    return isChanged ? joined(numbers) : side
  }

  private func checkQuantifier(
    _ quantifier: Quantifier?, _ side: Bound, _ operand: QueryOperand, _ text: String
  ) throws(QueryError) {
    guard let quantifier, !side.isMany else { return }
    // ANY of a single value is the value.
    if quantifier == .any, case .path = operand { return }
    throw QueryError(
      .type,
      "\(text): \(quantifier.rawValue) is for collections, and \(Self.text(operand)) is one "
        + side.type.named(schema))
  }

  /// A link without a table can be compared only with objects of a known table.
  private func checkLinks(_ bound: BoundComparison) throws(QueryError) {
    for side in [bound.left, bound.right] {
      let members = if case .list(let members) = side { members } else { [side] }
      for member in members {
        guard case .value(.link(let key)) = member else { continue }
        throw QueryError(
          .argument,
          "\(bound.text): a link to key \(key) says no table; give a typedLink, or compare with a "
            + "property that links to one table")
      }
    }
  }

  private func mismatch(_ text: String, _ left: Bound, _ right: Bound) -> QueryError {
    QueryError(
      .type,
      "\(text): \(left.type.named(schema)) and \(right.type.named(schema)) do not go together here")
  }

  private mutating func operation(
    _ comparison: QueryComparison, _ left: Bound, _ right: inout Bound, _ text: String
  ) throws(QueryError) -> BoundOperator {
    switch comparison.comparison {
    case .equal, .notEqual, .in:
      if comparison.comparison == .in, !right.isMany {
        throw QueryError(
          .type,
          "\(text): a collection comes after IN, and this is one \(right.type.named(schema))")
      }
      guard left.type.fits(right.type) else { throw mismatch(text, left, right) }
      try checkMembers(text, left, right, areOrdered: false)
      return comparison.comparison == .notEqual ? .notEqual : .equal
    case .less, .lessEqual, .greater, .greaterEqual:
      guard left.type.fits(right.type), left.type.hasOrder, right.type.hasOrder else {
        throw mismatch(text, left, right)
      }
      try checkMembers(text, left, right)
      switch comparison.comparison {
      case .less: return .less
      case .lessEqual: return .lessEqual
      case .greater: return .greater
      default: return .greaterEqual
      }
    case .between:
      guard case .list(let ends) = right.operand, ends.count == 2 else {
        throw QueryError(.type, "\(text): {lowest, highest} comes after BETWEEN")
      }
      guard left.type.fits(right.type), left.type.hasOrder, right.type.hasOrder else {
        throw mismatch(text, left, right)
      }
      try checkMembers(text, left, right)
      return .between
    case .beginsWith, .endsWith, .contains, .like:
      return try search(comparison.comparison, left, right, text)
    case .text:
      guard left.type == .string || left.type == .mixed,
        case .value(.string(let words)) = right.operand
      else {
        throw QueryError(
          .type, "\(text): TEXT looks in a string for words in quotes or of an argument")
      }
      right.operand = .words(WordSearch(words))
      return .text
    case .geoWithin:
      guard right.type == .shape, case .object(let table?) = left.type, isPlace(table) else {
        throw QueryError(
          .type,
          "\(text): GEOWITHIN looks whether an object with type (string) and coordinates (list of "
            + "doubles) is in a geoBox, geoCircle or geoPolygon")
      }
      return .within
    }
  }

  /// An operator that searches for a text or bytes in others.
  private func search(
    _ comparison: ComparisonOperator, _ left: Bound, _ right: Bound, _ text: String
  ) throws(QueryError) -> BoundOperator {
    for side in [left, right] {
      guard side.type == .string || side.type == .binary || side.type.isOpen else {
        throw QueryError(
          .type,
          "\(text): \(comparison.rawValue) is for strings and binaries, and one side is "
            + side.type.named(schema))
      }
    }
    guard left.type.fits(right.type) else { throw mismatch(text, left, right) }
    switch comparison {
    case .beginsWith: return .beginsWith
    case .endsWith: return .endsWith
    case .contains: return .contains
    default: return .like
    }
  }

  /// Each constant of a list must fit, not only their common type.
  ///
  /// One of several types may be unequal to what it is compared with; a text beside numbers is more
  /// likely a mistake.
  private func checkMembers(
    _ text: String, _ left: Bound, _ right: Bound, areOrdered: Bool = true
  ) throws(QueryError) {
    for (side, other) in [(left, right), (right, left)] {
      guard case .list(let members) = side.operand else { continue }
      for member in members {
        guard let value = member.constant else { continue }
        let type = OperandType(of: value)
        let isText = type == .string && other.type.isNumeric
        guard type.fits(other.type) || !areOrdered && !isText else {
          throw mismatch(text, Bound(operand: member, type: type), other)
        }
      }
    }
  }

  private mutating func typeComparison(
    _ comparison: QueryComparison, _ left: inout Bound, _ right: inout Bound, _ text: String
  ) throws(QueryError) -> BoundOperator {
    let isNegated = comparison.comparison == .notEqual
    guard isNegated || comparison.comparison == .equal || comparison.comparison == .in else {
      throw QueryError(.type, "\(text): @type is compared with ==, != and IN")
    }
    left.operand = try typeNames(left, text)
    right.operand = try typeNames(right, text)
    left.type = .typeName
    right.type = .typeName
    return isNegated ? .sharesNoType : .sharesType
  }

  private func typeNames(_ side: Bound, _ text: String) throws(QueryError) -> BoundOperand {
    guard side.type != .typeName else { return side.operand }
    let members = if case .list(let members) = side.operand { members } else { [side.operand] }
    var sets: [BoundOperand] = []
    for member in members {
      guard case .value(.string(let name)) = member, let set = TypeSet.named(name) else {
        throw QueryError(
          .type, "\(text): @type is compared with a name in quotes, one of \(TypeSet.names)")
      }
      sets.append(.value(.int(set)))
    }
    return side.isMany ? .list(sets) : sets[0]
  }

  /// Whether rows of a table are points: a type, and coordinates.
  private func isPlace(_ table: Int) -> Bool {
    let place = schema.tables[table]
    guard let coordinates = place.column(named: "coordinates"),
      let type = place.column(named: "type")
    else { return false }
    let columns = place.schema.columns
    return columns[coordinates].type == .double && columns[coordinates].collection == .list
      && columns[type].type == .string && columns[type].collection == .none
  }
}

extension OperandType {
  /// Whether values can be held against each other, after constants have settled.
  fileprivate func fits(_ other: OperandType) -> Bool {
    isComparable(with: other) || self == .binary && other == .string
      || self == .string && other == .binary
  }
}

extension ComparisonOperator {
  /// Whether two collections are taken as pairs of their elements.
  fileprivate var pairs: Bool {
    switch self {
    case .equal, .notEqual, .less, .lessEqual, .greater, .greaterEqual, .beginsWith, .endsWith,
      .contains, .like:
      true
    case .between, .in, .text, .geoWithin: false
    }
  }
}
