// Ordering.swift: the order of sorted results, that of `Value.orderByValue`: nil first, then by
// value; numbers by size whatever their types, text by its UTF-8 bytes, NaN before all numbers.
// Equal rows keep their order.

import Engine

/// By which property to sort, and in which direction.
public struct SortDescriptor: Hashable, Sendable, ExpressibleByStringLiteral,
  CustomStringConvertible
{
  /// The property, or one reached through links: `owner.name`.
  public let keyPath: String
  /// Whether small values come first.
  public let ascending: Bool

  /// Makes a descriptor.
  public init(keyPath: String, ascending: Bool = true) {
    self.keyPath = keyPath
    self.ascending = ascending
  }

  /// Makes a descriptor of a property of a class, or of one that is reached through links.
  public init<Owner: ObjectBase & RealmCollectionValue>(
    keyPath: PartialKeyPath<Owner>, ascending: Bool = true
  ) {
    self.init(keyPath: Owner.name(of: keyPath), ascending: ascending)
  }

  /// Makes an ascending descriptor of the name of a property.
  public init(stringLiteral keyPath: String) { self.init(keyPath: keyPath) }

  /// Path and direction.
  public var description: String {
    "SortDescriptor(keyPath: \(keyPath), direction: \(ascending ? "ascending" : "descending"))"
  }

  /// The same property in the other direction.
  public func reversed() -> SortDescriptor {
    SortDescriptor(keyPath: keyPath, ascending: !ascending)
  }
}

/// Sorts the rows of a class.
struct Ordering {
  private let access: _TableAccess
  private let paths: [(reader: PathReader, isAscending: Bool)]

  init(_ descriptors: [SortDescriptor], _ access: _TableAccess) {
    self.access = access
    paths = descriptors.map { (PathReader($0.keyPath, access), $0.ascending) }
  }

  /// The columns of the properties; nil when one is reached through a link.
  var ownColumns: [String]? {
    var columns: [String] = []
    for path in paths {
      guard path.reader.ownNumber != nil else { return nil }
      columns.append(path.reader.property.columnName)
    }
    return columns
  }

  /// A row with the values that it is sorted by.
  struct Row {
    fileprivate let key: Int64
    fileprivate let values: [Value]
  }

  func row(_ key: Int64) throws(EngineError) -> Row {
    Row(key: key, values: try paths.map { path throws(EngineError) in try path.reader.value(key) })
  }

  /// Whether a row of the class sorts before another; equal ones are in the order of their keys.
  func precedes(_ key: Int64, _ other: Row) throws(EngineError) -> Bool {
    for (index, path) in paths.enumerated() {
      let order = Value.orderByValue(try path.reader.value(key), other.values[index])
      if order != 0 { return path.isAscending ? order < 0 : order > 0 }
    }
    return key < other.key
  }

  func sorted(_ keys: [Int64]) throws(EngineError) -> [Int64] {
    if let sorted = try sortedByColumns(keys) { return sorted }
    let rows = try keys.map { key throws(EngineError) in
      (key, try paths.map { path throws(EngineError) in try path.reader.value(key) })
    }
    // The standard library's sort keeps the order of equal elements.
    return rows.sorted { left, right in
      for (index, path) in paths.enumerated() {
        let order = Value.orderByValue(left.1[index], right.1[index])
        if order != 0 { return path.isAscending ? order < 0 : order > 0 }
      }
      return false
    }.map(\.0)
  }

  /// Sorts by ints, doubles and texts of the objects themselves, as numbers and without a value for
  /// each row; nil when the order needs anything else.
  private func sortedByColumns(_ keys: [Int64]) throws(EngineError) -> [Int64]? {
    guard keys.count <= Int(UInt32.max) else { return nil }
    var columns: [(numbers: ColumnNumbers, type: PropertyType, isAscending: Bool)] = []
    for path in paths {
      guard let number = path.reader.ownNumber,
        let numbers = try access.numbers(keys, number, areTextsRanked: true)
      else { return nil }
      columns.append((numbers, path.reader.property.type, path.isAscending))
    }
    // The last criterion first: each sort is stable.
    var order = Array(0..<UInt32(keys.count))
    for column in columns.reversed() {
      let images = RadixSort.images(
        column.numbers, isDouble: column.type == .double, isAscending: column.isAscending)
      RadixSort.sort(&order, by: images.words)
      if let nulls = images.nulls { RadixSort.sort(&order, by: nulls) }
    }
    return order.map { keys[Int($0)] }
  }

  static func sorted(_ values: [Value], ascending: Bool) -> [Value] {
    values.sorted { left, right in
      let order = Value.orderByValue(left, right)
      return ascending ? order < 0 : order > 0
    }
  }
}
