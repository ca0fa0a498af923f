// TableAccess+Columns.swift: one property of many rows at once, read from the columns of the
// realm's version. Inside of a write transaction there are no columns to read: nil.

import Engine

/// Numbers of rows, in the order of their keys.
struct ColumnNumbers {
  /// Integers, bits of doubles, or ranks of texts.
  var words: [Int64]
  /// 1 where there is no value; empty when every row has one.
  var nulls: [Int64]
}

extension _TableAccess {
  /// The numbers of an int or double property, or where `areTextsRanked` numbers in the order of
  /// its texts, equal ones for equal texts.
  /// - Returns: Nil when a row is missing, or when only the rows themselves have the value.
  func numbers(
    _ keys: [Int64], _ property: Int, areTextsRanked: Bool = false
  ) throws(EngineError) -> ColumnNumbers? {
    core.checkThread()
    guard core.write == nil, let cursor = try currentCursor() else { return nil }
    let column = column(property)
    let schema = cursor.schema.columns[column]
    guard schema.collection == .none, info.properties[property].column?.type == schema.type else {
      return nil
    }
    let words: [Int64]?
    switch schema.type {
    case .int: words = try cursor.integers(keys, column)
    case .double: words = try cursor.doubleBits(keys, column)
    case .string where areTextsRanked: words = try cursor.texts(keys, column).map(TextRanks.ranks)
    default: return nil
    }
    guard let words else { return nil }
    guard schema.isOptional else { return ColumnNumbers(words: words, nulls: []) }
    guard let nulls = try cursor.nulls(keys, column) else { return nil }
    return ColumnNumbers(words: words, nulls: nulls)
  }

  /// The sum of an int or double property of all rows; nil when only the rows have the values.
  func sum(_ property: Int, isDouble: Bool) -> _Sum? {
    core.checkThread()
    guard core.write == nil else { return nil }
    return Misuse.unthrowing { () throws(EngineError) -> _Sum? in
      guard let cursor = try currentCursor() else { return nil }
      let schema = cursor.schema.columns[column(property)]
      guard schema.collection == .none, schema.type == (isDouble ? .double : .int) else {
        return nil
      }
      let reader = try core.currentSnapshot().reader(for: name)
      var sum = _Sum()
      sum.count = reader.rowCount
      if schema.isOptional {
        sum.count -= try reader.count(where: reader.test(isNull: schema.name))
      }
      do throws(EngineError) {
        if isDouble {
          sum.floating = try reader.sum(reader.column(schema.name, of: Double.self))
        } else {
          sum.integers = Int128(try reader.sum(reader.column(schema.name, of: Int64.self)))
        }
      } catch {
        // More than 64 bits: the sum of the rows has 128, for an average.
        if error.code == .limit { return nil }
        throw error
      }
      return sum
    }
  }
}
