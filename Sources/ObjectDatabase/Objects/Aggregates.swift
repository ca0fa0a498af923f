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
  /// The average as this type; of integers truncated towards zero. There is at least one value.
  static func _average(_ sum: _Sum) -> Self
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

  /// All as one decimal number.
  var decimal: Decimal128 {
    var sum = decimals
    if floating != 0 { sum = sum + Decimal128(shortest: floating) }
    return integers == 0 ? sum : sum + (Decimal128("\(integers)" as String) ?? .nan)
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
  /// The average, truncated towards zero.
  public static func _average(_ sum: _Sum) -> Self {
    Self(exactly: (sum.double / Double(sum.count)).rounded(.towardZero)) ?? 0
  }
}

extension Int: MinMaxType, AddableType {}
extension Int8: MinMaxType, AddableType {}
extension Int16: MinMaxType, AddableType {}
extension Int32: MinMaxType, AddableType {}
extension Int64: MinMaxType, AddableType {}
extension Float: MinMaxType, AddableType {
  /// The sum, rounded.
  public static func _sum(_ sum: _Sum) -> Float { Float(sum.double) }
  /// The average, rounded.
  public static func _average(_ sum: _Sum) -> Float { Float(sum.double / Double(sum.count)) }
}
extension Double: MinMaxType, AddableType {
  /// The sum.
  public static func _sum(_ sum: _Sum) -> Double { sum.double }
  /// The average.
  public static func _average(_ sum: _Sum) -> Double { sum.double / Double(sum.count) }
}
extension Date: MinMaxType {}
extension AnyRealmValue: MinMaxType, AddableType {
  /// The sum of the numbers, as a decimal one.
  public static func _sum(_ sum: _Sum) -> AnyRealmValue { .decimal128(sum.decimal) }
  /// The average of the numbers, as a decimal one.
  public static func _average(_ sum: _Sum) -> AnyRealmValue {
    .decimal128(Engine.Decimal128._average(sum))
  }
}
extension Engine.Decimal128: MinMaxType, AddableType {
  /// The sum, to 34 digits.
  public static func _sum(_ sum: _Sum) -> Engine.Decimal128 { sum.decimal }
  /// The average, to 34 digits.
  public static func _average(_ sum: _Sum) -> Engine.Decimal128 {
    sum.decimal / Engine.Decimal128(sum.count)
  }
}
extension Optional: MinMaxType where Wrapped: MinMaxType {}
extension Optional: AddableType where Wrapped: AddableType {
  /// The sum.
  public static func _sum(_ sum: _Sum) -> Wrapped? { Wrapped._sum(sum) }
  /// The average.
  public static func _average(_ sum: _Sum) -> Wrapped? { Wrapped._average(sum) }
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
    if type == .int, !isContentKnown, let (filter, _) = wholeFilter,
      let found = filter.sum(access, number)
    {
      var sum = _Sum()
      (sum.integers, sum.count) = (found.total, found.count)
      return sum
    }
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

/// The numbers of a collection: elements of a realm, or an unmanaged collection.
private enum Numbers {
  case managed(Elements)
  case unmanaged([Value])

  init<Collection: RealmCollection>(_ collection: Collection, _ property: String?) {
    if let elements = collection._elements?.elements {
      self = .managed(elements)
    } else {
      self = .unmanaged(collection.map { Self.value(of: $0, property) })
    }
  }

  /// A value, or the property of an object, managed or not.
  static func value(of element: some RealmCollectionValue, _ property: String?) -> Value {
    guard let property else { return element._plainValue ?? .null }
    guard let object = DynamicValue.unwrapped(element) as? ObjectBase else {
      if DynamicValue.unwrapped(element) == nil { return .null }
      Misuse.stop("properties of values cannot be summed up; these are \(type(of: element))")
    }
    let any = object.value(forKeyPath: property) as Any
    return AnyRealmValue(any: any)?._plainValue ?? .null
  }

  func extreme<Made: RealmCollectionValue>(
    _ property: String?, isGreatest: Bool
  ) -> Made? {
    switch self {
    case .managed(let elements):
      return elements.extreme(property, isGreatest: isGreatest).map {
        elements.made(Made.self, of: $0, property)
      }
    case .unmanaged(let values):
      var found: Value?
      for value in values { found = Value.extreme(found, value, isGreatest: isGreatest) }
      return found.flatMap { Made._fromAny(DynamicValue.scalar($0)) }
    }
  }

  func sum(_ property: String?) -> _Sum {
    switch self {
    case .managed(let elements): return elements.sum(property)
    case .unmanaged(let values):
      var sum = _Sum()
      for value in values { sum.add(value) }
      return sum
    }
  }

  func average(_ property: String?) -> Double? {
    let sum = sum(property)
    return sum.count == 0 ? nil : sum.double / Double(sum.count)
  }

  func average<Value: AddableType>(_ property: String?) -> Value? {
    let sum = sum(property)
    return sum.count == 0 ? nil : Value._average(sum)
  }
}

extension RealmCollection {
  /// The smallest value of a property; nil without values.
  public func min<Value: MinMaxType>(ofProperty property: String) -> Value? {
    Numbers(self, property).extreme(property, isGreatest: false)
  }

  /// The greatest value of a property; nil without values.
  public func max<Value: MinMaxType>(ofProperty property: String) -> Value? {
    Numbers(self, property).extreme(property, isGreatest: true)
  }

  /// The sum of a property; nil is ignored.
  public func sum<Value: AddableType>(ofProperty property: String) -> Value {
    Value._sum(Numbers(self, property).sum(property))
  }

  /// The average of a property; nil without values.
  public func average(ofProperty property: String) -> Double? {
    Numbers(self, property).average(property)
  }

  /// The average of a property as a type of the caller's; nil without values.
  @_disfavoredOverload
  public func average<Value: AddableType>(ofProperty property: String) -> Value? {
    Numbers(self, property).average(property)
  }
}

extension RealmCollection where Element: MinMaxType {
  /// The smallest element; nil without elements.
  public func min() -> Element? { Numbers(self, nil).extreme(nil, isGreatest: false) }

  /// The greatest element; nil without elements.
  public func max() -> Element? { Numbers(self, nil).extreme(nil, isGreatest: true) }
}

extension RealmCollection where Element: AddableType {
  /// The sum of the elements.
  public func sum() -> Element { Element._sum(Numbers(self, nil).sum(nil)) }

  /// The average of the elements; nil without any.
  public func average() -> Double? { Numbers(self, nil).average(nil) }

  /// The average of the elements as a type of the caller's; nil without any.
  @_disfavoredOverload
  public func average<Value: AddableType>() -> Value? { Numbers(self, nil).average(nil) }
}

extension Map {
  /// The values as an unmanaged list, of a map that is unmanaged itself.
  private var unmanagedValues: List<Value> {
    let list = List<Value>()
    list.append(objectsIn: values)
    return list
  }

  private func numbers(_ property: String?) -> Numbers {
    _row.map { .managed(Elements(.collection($0))) } ?? Numbers(unmanagedValues, property)
  }

  /// The smallest value of a property; nil without values.
  public func min<Member: MinMaxType>(ofProperty property: String) -> Member? {
    numbers(property).extreme(property, isGreatest: false)
  }

  /// The greatest value of a property; nil without values.
  public func max<Member: MinMaxType>(ofProperty property: String) -> Member? {
    numbers(property).extreme(property, isGreatest: true)
  }

  /// The sum of a property; nil is ignored.
  public func sum<Member: AddableType>(ofProperty property: String) -> Member {
    Member._sum(numbers(property).sum(property))
  }

  /// The average of a property; nil without values.
  public func average(ofProperty property: String) -> Double? {
    numbers(property).average(property)
  }

  /// The average of a property as a type of the caller's; nil without values.
  @_disfavoredOverload
  public func average<Member: AddableType>(ofProperty property: String) -> Member? {
    numbers(property).average(property)
  }
}

extension Map where Value: MinMaxType {
  /// The smallest value; nil without values.
  public func min() -> Value? { numbers(nil).extreme(nil, isGreatest: false) }

  /// The greatest value; nil without values.
  public func max() -> Value? { numbers(nil).extreme(nil, isGreatest: true) }
}

extension Map where Value: AddableType {
  /// The sum of the values.
  public func sum() -> Value { Value._sum(numbers(nil).sum(nil)) }

  /// The average of the values; nil without values.
  public func average() -> Double? { numbers(nil).average(nil) }

  /// The average of the values as a type of the caller's; nil without values.
  @_disfavoredOverload
  public func average<Member: AddableType>() -> Member? { numbers(nil).average(nil) }
}
