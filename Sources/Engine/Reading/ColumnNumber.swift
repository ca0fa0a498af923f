// ColumnNumber.swift: the three numeric column types, behind one interface for scans. The public
// methods of a table are generic over `ColumnNumber`. A caller in another module runs them
// unspecialised, so they only check their column and call one of the type's scans, which are
// generic functions of this module, specialised for the type.

/// A number that columns hold: scans compare it, add it up and look for its extremes.
public protocol ColumnNumber: ColumnElement, Comparable {
  /// The sum of such numbers.
  associatedtype Sum: Sendable
  /// For this module.
  static var _scans: _NumberScans<Self> { get }
}

/// The engine's scans of the columns of one numeric type.
public struct _NumberScans<Number: ColumnNumber>: Sendable {
  /// Turns a comparison into a test of a leaf.
  let test: @Sendable (Comparison<Number>) -> LeafTest.Kind
  let sum: @Sendable (TableReader, TableColumn<Number>) throws(EngineError) -> Number.Sum
  let extremes:
    @Sendable (TableReader, TableColumn<Number>) throws(EngineError)
      -> (lower: Number, upper: Number)?
}

/// A number whose columns are stored in leaves as arrays of one type.
protocol ScannedNumber: ColumnNumber {
  associatedtype Numbers: NumberArray where Numbers.Number == Self
  /// The numbers of a leaf's column.
  static func numbers(
    of column: Int, in leaf: LeafView, _ shape: LeafShape
  ) throws(EngineError) -> Numbers
}

/// The numbers of one column in one leaf.
protocol NumberArray {
  associatedtype Number: Comparable
  associatedtype Total
  /// The memory of the elements.
  var bytes: RawBytes { get }
  /// Adds all elements to a sum.
  func add(to sum: inout Total)
  /// Adds the elements whose rows are not null; `nulls` has a bit per row.
  func add(to sum: inout Total, except nulls: PackedArray)
  /// The smallest and the greatest element that is not NaN, or nil when there is none.
  func extremes() -> (lower: Number, upper: Number)?
  /// The same for the rows that are not null.
  func extremes(except nulls: PackedArray) -> (lower: Number, upper: Number)?
}

extension FloatingArray: NumberArray {}

extension PackedArray: NumberArray {
  func add(to sum: inout Int128) { sum += self.sum() }

  func add(to sum: inout Int128, except nulls: PackedArray) { sum += self.sum(except: nulls) }
}

extension Int64: ScannedNumber {
  /// The type of sums.
  public typealias Sum = Int64
  /// For this module.
  public static let _scans = _NumberScans<Int64>(
    test: { .integers(IntegerTest($0)) },
    sum: { reader, column throws(EngineError) in
      // Fewer than 2^63 rows of less than 2^63 each: 128 bits hold every sum.
      let sum = try reader.total(of: column, from: Int128(0))
      guard let exact = Int64(exactly: sum) else {
        throw EngineError(
          code: .limit,
          message: "sum=\(sum) is not a 64-bit number; add parts up, or use a column of doubles")
      }
      return exact
    },
    extremes: { reader, column throws(EngineError) in try reader.extremes(of: column) })

  @inline(__always)
  static func numbers(
    of column: Int, in leaf: LeafView, _ shape: LeafShape
  ) throws(EngineError) -> PackedArray {
    try leaf.integers(column, shape)
  }
}

extension Double: ScannedNumber {
  /// The type of sums.
  public typealias Sum = Double
  typealias Numbers = FloatingArray<Double>
  /// For this module.
  public static let _scans = _NumberScans<Double> { .doubles($0) }
}

extension Float: ScannedNumber {
  /// The type of sums.
  public typealias Sum = Double
  typealias Numbers = FloatingArray<Float>
  /// For this module.
  public static let _scans = _NumberScans<Float> { .floats($0) }
}

extension _NumberScans
where
  Number: ColumnFloat & ScannedNumber, Number.Sum == Double, Number.Numbers == FloatingArray<Number>
{
  fileprivate init(_ kind: @escaping @Sendable (FloatingTest<Number>) -> LeafTest.Kind) {
    self.init(
      test: { kind(FloatingTest($0)) },
      sum: { reader, column throws(EngineError) in
        try reader.total(of: column, from: FloatingSum()).total
      },
      extremes: { reader, column throws(EngineError) in try reader.extremes(of: column) })
  }
}

extension ColumnFloat {
  @inline(__always)
  static func numbers(
    of column: Int, in leaf: LeafView, _ shape: LeafShape
  ) throws(EngineError) -> FloatingArray<Self> {
    let array = try leaf.words(column, shape)
    guard let numbers = FloatingArray<Self>(array) else {
      throw .corrupted(
        "column \(column) has width=\(array.width) base=\(array.base), not \(Self.self)",
        at: leaf.node.ref)
    }
    return numbers
  }
}

extension TableReader {
  /// Adds a column up.
  func total<Number: ScannedNumber>(
    of column: TableColumn<Number>, from zero: Number.Numbers.Total
  ) throws(EngineError) -> Number.Numbers.Total {
    var sum = zero
    try forEachArray(of: column) { numbers, nulls in
      if nulls.isAllZero { numbers.add(to: &sum) } else { numbers.add(to: &sum, except: nulls) }
    }
    return sum
  }

  /// The extremes of a column.
  func extremes<Number: ScannedNumber>(
    of column: TableColumn<Number>
  ) throws(EngineError) -> (lower: Number, upper: Number)? {
    var found: (lower: Number, upper: Number)?
    try forEachArray(of: column) { numbers, nulls in
      guard let own = nulls.isAllZero ? numbers.extremes() : numbers.extremes(except: nulls)
      else { return }
      guard let known = found else {
        found = own
        return
      }
      found = (min(known.lower, own.lower), max(known.upper, own.upper))
    }
    return found
  }

  /// Calls `body` with the numbers of each leaf, and a bit per row that is null.
  @inline(__always)
  private func forEachArray<Number: ScannedNumber>(
    of column: TableColumn<Number>, _ body: (Number.Numbers, PackedArray) -> Void
  ) throws(EngineError) {
    try forEachLeaf { leaf, walk throws(EngineError) in
      let nulls = try leaf.nulls(column.index, tree.shape)
      let numbers = try Number.numbers(of: column.index, in: leaf, tree.shape)
      walk.prefetchNext(numbers.bytes, of: leaf)
      body(numbers, nulls)
    }
  }
}
