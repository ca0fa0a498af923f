// Aggregates.swift: smallest, greatest, sum and average of a property. Nil is ignored. A whole
// class is aggregated by column in the engine; other collections value by value. Invariant: sums of
// integers are exact, and one that is not a 64-bit number stops the process, as Swift's own
// addition does; sums of floating-point numbers use 64 bits, sums of decimals 34 digits.

import Engine
import FoundationEssentials

/// A type with an order: numbers, dates, and any value, of which numbers and dates count.
public protocol MinMaxType: RealmCollectionValue {}

/// A type that can be added up: numbers.
public protocol AddableType: RealmCollectionValue {
  /// The sum as this type.
  static func _sum(_ sum: _Sum) -> Self
}

/// A sum before it has a type.
public struct _Sum {
  var integers: Int128 = 0
  var floating: Double = 0
  var decimals = Decimal128.zero
  var count = 0

  mutating func add(_ value: Value) {
    switch value {
    case .int(let number): integers += Int128(number)
    case .float(let number): floating += Double(number)
    case .double(let number): floating += number
    case .decimal128(let number): decimals = decimals + number
    default: return
    }
    count += 1
  }

  /// All as one number of 64 bits; decimals rounded once.
  var double: Double {
    let sum = Double(integers) + floating
    return decimals == .zero ? sum : sum + Double(decimals)
  }

  func integer<Number: FixedWidthInteger>(_ type: Number.Type) -> Number {
    guard let exact = Number(exactly: integers) else {
      Misuse.stop("the sum \(integers) does not fit \(type); sum it up in a wider type")
    }
    return exact
  }
}

extension AddableType where Self: FixedWidthInteger {
  /// The sum, exact.
  public static func _sum(_ sum: _Sum) -> Self { sum.integer(Self.self) }
}

extension Int: MinMaxType, AddableType {}
extension Int8: MinMaxType, AddableType {}
extension Int16: MinMaxType, AddableType {}
extension Int32: MinMaxType, AddableType {}
extension Int64: MinMaxType, AddableType {}
extension Float: MinMaxType, AddableType {
  /// The sum, rounded.
  public static func _sum(_ sum: _Sum) -> Float { Float(sum.double) }
}
extension Double: MinMaxType, AddableType {
  /// The sum.
  public static func _sum(_ sum: _Sum) -> Double { sum.double }
}
extension Date: MinMaxType {}
extension AnyRealmValue: MinMaxType {}
extension Engine.Decimal128: MinMaxType, AddableType {
  /// The sum, to 34 digits.
  public static func _sum(_ sum: _Sum) -> Engine.Decimal128 { sum.decimals }
}
extension Optional: MinMaxType where Wrapped: MinMaxType {}
extension Optional: AddableType where Wrapped: AddableType {
  /// The sum.
  public static func _sum(_ sum: _Sum) -> Wrapped? { Wrapped._sum(sum) }
}

extension Elements {
  /// Calls `body` with the values of a property, or with the values themselves.
  func forEachValue(_ property: String?, _ body: (Value) -> Void) {
    switch (content, property, access) {
    case (.keys(let keys), .some(let name), .some(let access)):
      let reader = PathReader(name, access)
      for key in keys {
        body(Misuse.unthrowing { () throws(EngineError) in try reader.value(key) })
      }
    case (.values(let values), .none, _):
      for value in values { body(value) }
    default:
      Misuse.stop("properties of values, and values of objects, cannot be summed up")
    }
  }

  /// The smallest or the greatest value; nil and NaN are ignored, and so are mixed values other
  /// than numbers and dates.
  func extreme(_ property: String?, isGreatest: Bool) -> Value? {
    if let property, let whole = wholeColumn(property) {
      let found = isGreatest ? whole.greatest : whole.smallest
      // Its zero is the one of the scan's first row.
      return found.flatMap { Value.extreme(nil, $0, isGreatest: isGreatest) }
    }
    var found: Value?
    forEachValue(property) { found = Value.extreme(found, $0, isGreatest: isGreatest) }
    return found
  }

  func sum(_ property: String?) -> _Sum {
    if let property, let sum = columnSum(property) { return sum }
    var sum = _Sum()
    forEachValue(property) { sum.add($0) }
    return sum
  }

  /// The sum of an int or double of the objects themselves, from their column; nil when the
  /// elements have to be read one by one.
  private func columnSum(_ property: String) -> _Sum? {
    guard let access, access.core.write == nil, !access.isInvalidated,
      let number = access.info.number(of: property)
    else { return nil }
    let type = access.info.properties[number].type
    guard type == .int || type == .double, access.info.properties[number].collection == .none
    else { return nil }
    if steps.isEmpty, case .table = origin { return access.sum(number, isDouble: type == .double) }
    guard case .keys(let keys) = content,
      let numbers = Misuse.unthrowing({ () throws(EngineError) in
        try access.numbers(keys, number)
      })
    else { return nil }
    var sum = _Sum()
    for index in keys.indices where numbers.nulls.isEmpty || numbers.nulls[index] == 0 {
      sum.count += 1
      if type == .double {
        sum.floating += Double(bitPattern: UInt64(bitPattern: numbers.words[index]))
      } else {
        sum.integers += Int128(numbers.words[index])
      }
    }
    return sum
  }

  /// Smallest and greatest of all rows of a class, from the engine's scan; nil where it has none.
  private func wholeColumn(_ property: String) -> (smallest: Value?, greatest: Value?)? {
    guard steps.isEmpty, case .table(let access) = origin, access.core.write == nil,
      !access.isInvalidated, let number = access.info.number(of: property),
      access.info.properties[number].collection == .none
    else { return nil }
    let column = access.info.properties[number].columnName
    let type = access.info.properties[number].type
    return Misuse.unthrowing { () throws(EngineError) -> (Value?, Value?)? in
      let snapshot = try access.core.currentSnapshot()
      guard snapshot.hasTable(access.name) else { return (nil, nil) }
      let reader = try snapshot.reader(for: access.name)
      switch type {
      case .int:
        let column = try reader.column(column, of: Int64.self)
        return (
          try reader.minimum(column).map { .int($0) }, try reader.maximum(column).map { .int($0) }
        )
      case .double:
        let column = try reader.column(column, of: Double.self)
        return (
          try reader.minimum(column).map { .double($0) },
          try reader.maximum(column).map { .double($0) }
        )
      default: return nil
      }
    }
  }
}

extension RealmCollection {
  /// The smallest value of a property; nil without values.
  public func min<Value: MinMaxType>(ofProperty property: String) -> Value? {
    elements.extreme(property, isGreatest: false).map {
      elements.made(Value.self, of: $0, property)
    }
  }

  /// The greatest value of a property; nil without values.
  public func max<Value: MinMaxType>(ofProperty property: String) -> Value? {
    elements.extreme(property, isGreatest: true).map {
      elements.made(Value.self, of: $0, property)
    }
  }

  /// The sum of a property; nil is ignored.
  public func sum<Value: AddableType>(ofProperty property: String) -> Value {
    Value._sum(elements.sum(property))
  }

  /// The average of a property; nil without values.
  public func average(ofProperty property: String) -> Double? {
    let sum = elements.sum(property)
    return sum.count == 0 ? nil : sum.double / Double(sum.count)
  }
}

extension RealmCollection where Element: MinMaxType {
  /// The smallest element; nil without elements.
  public func min() -> Element? {
    elements.extreme(nil, isGreatest: false).map { elements.made(Element.self, of: $0) }
  }

  /// The greatest element; nil without elements.
  public func max() -> Element? {
    elements.extreme(nil, isGreatest: true).map { elements.made(Element.self, of: $0) }
  }
}

extension RealmCollection where Element: AddableType {
  /// The sum of the elements.
  public func sum() -> Element { Element._sum(elements.sum(nil)) }

  /// The average of the elements; nil without any.
  public func average() -> Double? {
    let sum = elements.sum(nil)
    return sum.count == 0 ? nil : sum.double / Double(sum.count)
  }
}
