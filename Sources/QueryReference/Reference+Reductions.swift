// Reference+Reductions.swift: lengths, counts and aggregates at the end of a path.

import Engine
import Query

extension Reference {
  /// What is done with the values at the end of a path.
  enum Reduction {
    case length
    case operation(PathOperation)
  }

  private func length(_ item: Item) -> Item {
    switch item {
    case .text(let bytes), .bytes(let bytes): .int(Int64(bytes.count))
    default: .null
    }
  }

  func finished(
    _ found: [Item], _ wasMany: Bool, _ column: ColumnSchema?, _ reduction: Reduction?,
    _ kind: ColumnType?
  ) -> Walk {
    let isMany = wasMany || column.map { $0.collection != .none } ?? false
    var items = found
    if !isMany, items.isEmpty { items = [.null] }
    func one(_ item: Item, _ kind: ColumnType?) -> Walk {
      Walk(items: [item], isMany: false, kind: kind)
    }
    let operation: PathOperation
    switch reduction {
    case nil: return Walk(items: items, isMany: isMany, kind: kind)
    case .length: return Walk(items: items.map(length), isMany: isMany, kind: .int)
    case .operation(let given): operation = given
    }
    let isMixed = kind == .mixed
    switch operation {
    case .type: return Walk(items: items.map { .kinds([name($0)]) }, isMany: isMany, kind: nil)
    case .count, .size:
      // Links are counted, and not what is no link.
      let areLinks = kind == .link && (!isMany || column?.collection == CollectionKind.none)
      if areLinks { return one(.int(Int64(items.filter { $0 != .null }.count)), .int) }
      return isMany ? one(.int(Int64(items.count)), .int) : one(length(items[0]), .int)
    case .min, .max:
      let best = extreme(items, isMixed: isMixed, isLeast: operation == .min)
      return one(best ?? .null, kind)
    case .sum, .avg:
      let (sum, type) = summed(items, kind, isAverage: operation == .avg)
      return one(sum, type)
    case .keys, .values: return Walk(items: items, isMany: isMany, kind: kind)
    }
  }

  /// The least or the greatest of some values.
  private func extreme(_ items: [Item], isMixed: Bool, isLeast: Bool) -> Item? {
    let candidates = items.filter {
      if isMixed { return $0 != .null && !ReferenceOrder.isNaN($0) }
      if case .date = $0 { return true }
      return double($0) != nil && !ReferenceOrder.isNaN($0)
    }
    var best: Item?
    for candidate in candidates {
      guard let known = best else {
        best = candidate
        continue
      }
      if ReferenceOrder.total(candidate, known) == (isLeast ? -1 : 1) { best = candidate }
    }
    return best
  }

  /// The sum or the average of the numbers among some values, and its type.
  private func summed(
    _ items: [Item], _ kind: ColumnType?, isAverage: Bool
  ) -> (Item, ColumnType?) {
    let isMixed = kind == .mixed
    let numbers = items.filter { item in
      double(item) != nil && !(isMixed && ReferenceOrder.isNaN(item))
    }
    let areDecimal =
      isMixed && !numbers.isEmpty
      || numbers.contains { if case .decimal = $0 { true } else { false } }
    guard !numbers.isEmpty else {
      if isAverage { return (.null, kind) }
      let zero: Item =
        kind == .float || kind == .double
        ? .double(0) : kind == .decimal128 ? .decimal(Decimal128("0").known) : .int(0)
      return (zero, kind)
    }
    if areDecimal {
      let sum = numbers.reduce(Decimal128("0").known) { $0 + ReferenceOrder.decimal($1).known }
      return (
        .decimal(isAverage ? sum / Decimal128(String(numbers.count)).known : sum),
        isMixed ? .mixed : .decimal128
      )
    }
    let sum = numbers.reduce(0.0) { $0 + double($1).known }
    if isAverage { return (.double(sum / Double(numbers.count)), .double) }
    let ints = numbers.compactMap {
      if case .int(let number) = $0 { Int128(number) } else { nil }
    }
    guard ints.count == numbers.count else { return (.double(sum), .double) }
    return (Int64(exactly: ints.reduce(0, +)).map { .int($0) } ?? .null, .int)
  }

  private func name(_ item: Item) -> String {
    switch item {
    case .null: "null"
    case .bool: "bool"
    case .int: "int"
    case .float: "float"
    case .double: "double"
    case .decimal: "decimal"
    case .text: "string"
    case .bytes: "binary"
    case .date: "date"
    case .objectId: "objectid"
    case .uuid: "uuid"
    case .row: "object"
    case .kinds: "kinds"
    }
  }
}
