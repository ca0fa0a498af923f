// ResultSet.swift [U]: the rows of a query. Safety: a row's stored properties are constant and
// `Sendable`; its superclass is `@unchecked Sendable` because it has subclasses.

import DocumentStore
import Fleece
import Foundation
import Synchronization

/// The rows of a query, one after the other.
///
/// The rows are those of one commit, and are read when the query runs. Any thread may use it; a row
/// is returned once.
public final class ResultSet: Sequence, IteratorProtocol, Sendable {
  private let values: ResultValues
  private let position = Atomic(0)

  init(_ result: QueryResult, _ file: DataFile?) { values = ResultValues(result, file) }

  /// The next row; nil after the last.
  /// - Returns: The row.
  public func next() -> Result? {
    let index = position.wrappingAdd(1, ordering: .relaxed).oldValue
    return index < values.rowCount ? Result(values, row: index) : nil
  }

  /// The rows that were not returned yet.
  /// - Returns: The rows.
  public func allResults() -> [Result] { Array(self) }
}

/// The values of a result, which its rows share.
final class ResultValues: Sendable {
  let titles: [String]
  let file: DataFile?
  let rowCount: Int
  private let width: Int
  private let values: [QueryValue]

  init(_ result: QueryResult, _ file: DataFile?) {
    titles = result.columnTitles
    self.file = file
    (width, values) = (result.width, result.values)
    rowCount = width > 0 ? values.count / width : 0
  }

  /// The numbers of the columns.
  var columns: Range<Int> { 0..<width }

  /// A value; nil outside of the columns.
  func value(_ row: Int, _ column: Int) -> QueryValue? {
    columns.contains(column) ? values[row * width + column] : nil
  }
}

/// A row of a result: values by column.
public final class Result: Properties, @unchecked Sendable {
  private let values: ResultValues
  private let row: Int

  init(_ values: ResultValues, row: Int) {
    self.values = values
    self.row = row
    super.init(nil)
  }

  override func item(_ key: String) -> Item? {
    values.titles.firstIndex(of: key).flatMap(item(at:))
  }

  override func items() -> [String: Item] {
    var items: [String: Item] = [:]
    for (index, title) in values.titles.enumerated() { items[title] = item(at: index) }
    return items
  }

  private func item(at index: Int) -> Item? {
    values.value(row, index).flatMap { Item($0, file: values.file) }
  }

  /// The names of the columns, in their order.
  public override var keys: [String] { values.titles }

  /// The number of columns.
  public override var count: Int { values.titles.count }

  /// A value.
  /// - Parameter index: The column's number, from 0.
  /// - Returns: The value, as `value(forKey:)`.
  public func value(at index: Int) -> Any? { item(at: index)?.value(isMutable: false) }

  /// A text.
  /// - Parameter index: The column's number, from 0.
  /// - Returns: The text; nil for other values.
  public func string(at index: Int) -> String? {
    if case .text(let text)? = values.value(row, index) { return text }
    return nil
  }

  /// A number.
  /// - Parameter index: The column's number, from 0.
  /// - Returns: The number; nil for other values.
  public func number(at index: Int) -> NSNumber? { item(at: index)?.number }

  /// An integer.
  /// - Parameter index: The column's number, from 0.
  /// - Returns: The nearest integer towards 0; 0 for values that are not numbers.
  public func int(at index: Int) -> Int { Int(item(at: index)?.int64 ?? 0) }

  /// An integer of 64 bits.
  /// - Parameter index: The column's number, from 0.
  /// - Returns: The nearest integer towards 0; 0 for values that are not numbers.
  public func int64(at index: Int) -> Int64 { item(at: index)?.int64 ?? 0 }

  /// A number as a float.
  /// - Parameter index: The column's number, from 0.
  /// - Returns: The number; 0 for other values.
  public func float(at index: Int) -> Float { Float(item(at: index)?.double ?? 0) }

  /// A number as a double.
  /// - Parameter index: The column's number, from 0.
  /// - Returns: The number; 0 for other values.
  public func double(at index: Int) -> Double { item(at: index)?.double ?? 0 }

  /// A boolean.
  /// - Parameter index: The column's number, from 0.
  /// - Returns: True for true and for numbers other than 0.
  public func boolean(at index: Int) -> Bool { item(at: index)?.boolean ?? false }

  /// A date.
  /// - Parameter index: The column's number, from 0.
  /// - Returns: The date of a text in ISO 8601; nil for other values.
  public func date(at index: Int) -> Date? { item(at: index)?.date }

  /// A blob.
  /// - Parameter index: The column's number, from 0.
  /// - Returns: The blob; nil for other values.
  public func blob(at index: Int) -> Blob? { item(at: index)?.blob }

  /// An array.
  /// - Parameter index: The column's number, from 0.
  /// - Returns: The array; nil for other values.
  public func array(at index: Int) -> ArrayObject? {
    item(at: index)?.array.map { ArrayObject($0) }
  }

  /// A dictionary.
  /// - Parameter index: The column's number, from 0.
  /// - Returns: The dictionary; nil for other values.
  public func dictionary(at index: Int) -> DictionaryObject? {
    item(at: index)?.dictionary.map { DictionaryObject($0) }
  }

  /// A value, to be read as any type.
  /// - Parameter index: The column's number, from 0.
  public subscript(index: Int) -> Fragment { Fragment(item(at: index)) }

  /// The values by column, with arrays and dictionaries of Swift; `NSNull` for missing ones.
  /// - Returns: The values.
  public func toArray() -> [Any] {
    values.columns.map { item(at: $0)?.plain() ?? NSNull() }
  }
}

extension Item {
  /// A value of a result; nil for a missing one.
  init?(_ value: QueryValue, file: DataFile?) {
    switch value {
    case .missing: return nil
    case .null: self = .null
    case .boolean(let value): self = .boolean(value)
    case .integer(let value): self = .integer(value)
    case .unsigned(let value): self = .unsigned(value)
    case .real(let value): self = .double(value)
    case .text(let text): self = .text(text)
    case .data(let bytes): self = .data(bytes)
    case .collection(let bytes):
      let item = try? FleeceDocument(bytes).withRoot { (root) throws(FleeceError) in
        try Item(root, keys: FleeceSharedKeys(), file: file)
      }
      self = item ?? .null
    }
  }
}

extension QueryValue {
  /// A value of a program as a parameter.
  init(_ item: Item) {
    switch item {
    case .null: self = .null
    case .boolean(let value): self = .boolean(value)
    case .integer(let value): self = .integer(value)
    case .unsigned(let value): self = .unsigned(value)
    case .float(let value): self = .real(Double(value))
    case .double(let value): self = .real(value)
    case .text(let text): self = .text(text)
    case .data(let bytes): self = .data(bytes)
    case .blob, .array, .dictionary:
      var encoder = FleeceEncoder()
      do {
        try item.write(to: &encoder)
        self = .collection(try encoder.finish())
      } catch {
        self = .null
      }
    }
  }
}
