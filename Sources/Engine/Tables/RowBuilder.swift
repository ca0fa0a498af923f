// RowBuilder.swift [U]: collects rows of a batch, column by column, until they fill a leaf: no
// allocation per row, no array of values, and one walk down the tree per leaf. Invariants: columns
// 0 ..< nextColumn have a value for row `rowCount`, the others have none; keys ascend, the first
// one is greater than the last one of the tree. A search index of a column of integers gets its
// pairs through a buffer (IndexBuffer.swift), a full-text index its words (WordBuffer.swift). In a
// table with another index, with links, or with a column of a type that has no buffer, rows are
// inserted as values, one at a time: `values` is not nil then.

/// The rows of a batch, passed to the closure of `WriteTransaction.insert(into:count:_:)`.
///
/// A row gets its values in the order of the table's columns, one call of `append` for each.
@safe public struct RowBuilder: ~Copyable {
  private static let rowsMax = 8192

  private let table: MutableTable
  private let columnCount: Int
  // Safety: allocated in init and freed in deinit; this type has one owner.
  private let columns: UnsafeMutablePointer<ColumnBuffer>
  private let keys: UnsafeMutablePointer<Int64>
  private let fixedBytes: Int
  private let leafBytesMax: Int
  private var lastKey: Int64?
  private var rowCount = 0
  private var nextColumn = 0
  private var values: [Value]?
  private var indexes: [IndexBuffer] = []
  /// Those of the full-text indexes.
  private var words: [WordBuffer] = []

  /// - Parameters:
  ///   - table: Where the rows go.
  ///   - lastKey: Its greatest key.
  ///   - indexes: The table's indexes, from `indexes(of:)`.
  init(_ table: MutableTable, behind lastKey: Int64?, _ indexes: [IndexBuffer]) {
    let shape = table.tree.shape
    self.table = table
    columnCount = shape.columns.count
    fixedBytes = shape.arraysOffsetBytes
    leafBytesMax = table.tree.leafSizeBytesMax
    values = Self.canBuffer(table) ? nil : []
    self.indexes = indexes
    if values == nil {
      for column in table.indexedColumns where table.schema.columns[column].isFullText {
        words.append(WordBuffer(table, column))
      }
    }
    self.lastKey = lastKey
    unsafe columns = .allocate(capacity: columnCount)
    unsafe keys = .allocate(capacity: Self.rowsMax)
    let bytesMax = leafBytesMax + Layout.inlineBytesMax + 64
    for index in 0..<columnCount {
      unsafe (columns + index).initialize(
        to: ColumnBuffer(shape.columns[index], rowsMax: Self.rowsMax, bytesMax: bytesMax))
    }
  }

  deinit {
    for index in 0..<columnCount { unsafe columns[index].free() }
    unsafe columns.deallocate()
    unsafe keys.deallocate()
  }

  /// The buffers of a table's indexes; none when its rows are not buffered.
  /// - Throws: `EngineError` with code `.corrupted` when an index cannot be read.
  static func indexes(of table: MutableTable) throws(EngineError) -> [IndexBuffer] {
    guard canBuffer(table) else { return [] }
    var indexes: [IndexBuffer] = []
    for column in table.indexedColumns where !table.schema.columns[column].isFullText {
      indexes.append(try IndexBuffer(table, column))
    }
    return indexes
  }

  private static func canBuffer(_ table: MutableTable) -> Bool {
    table.schema.columns.allSatisfy { column in
      switch column.type {
      case .int: return column.collection == .none && !(column.hasIndex && column.isOptional)
      case .string: return column.collection == .none && !column.isSearched
      case .bool, .float, .double: return column.collection == .none && !column.hasIndex
      default: return false
      }
    }
  }

  // MARK: values

  /// Takes the next column, which must have the type.
  @inline(__always)
  private mutating func take(_ type: ColumnType) throws(EngineError) -> Int {
    let index = nextColumn
    guard index < columnCount, unsafe columns[index].type == type else { throw mismatch(type) }
    nextColumn += 1
    return index
  }

  @inline(never)
  private func mismatch(_ type: ColumnType?) -> EngineError {
    let name = table.schema.name
    guard nextColumn < columnCount else {
      return EngineError(
        code: .schemaMismatch, message: "a row of \(name) gets \(columnCount) values, not more")
    }
    let column = table.schema.columns[nextColumn]
    let given = type.map { "a value of type \($0)" } ?? "no value"
    return EngineError(
      code: .schemaMismatch,
      message: "\(column.name) of \(name), a \(column.isOptional ? "optional " : "")\(column.type) "
        + "column, gets \(given)")
  }

  /// Sets the row's next column to an integer.
  /// - Throws: `EngineError` with code `.schemaMismatch`; the row is not inserted then.
  public mutating func append(_ number: Int64) throws(EngineError) {
    if values != nil { return try append(.int(number)) }
    let index = try take(.int)
    unsafe columns[index].add(number, at: rowCount)
  }

  /// Sets the row's next column to true or false.
  /// - Throws: `EngineError` with code `.schemaMismatch`; the row is not inserted then.
  public mutating func append(_ isTrue: Bool) throws(EngineError) {
    if values != nil { return try append(.bool(isTrue)) }
    let index = try take(.bool)
    unsafe columns[index].add(isTrue ? 1 : 0, at: rowCount)
  }

  /// Sets the row's next column to a 64-bit floating-point number.
  /// - Throws: `EngineError` with code `.schemaMismatch`; the row is not inserted then.
  public mutating func append(_ number: Double) throws(EngineError) {
    if values != nil { return try append(.double(number)) }
    let index = try take(.double)
    unsafe columns[index].add(Int64(bitPattern: number.bitPattern), at: rowCount)
  }

  /// Sets the row's next column to a 32-bit floating-point number.
  /// - Throws: `EngineError` with code `.schemaMismatch`; the row is not inserted then.
  public mutating func append(_ number: Float) throws(EngineError) {
    if values != nil { return try append(.float(number)) }
    let index = try take(.float)
    unsafe columns[index].add(Int64(number.bitPattern), at: rowCount)
  }

  /// Sets the row's next column to a text.
  /// - Throws: `EngineError` with code `.schemaMismatch` or `.valueTooLarge`; the row is not
  ///   inserted then.
  /// - Complexity: O(bytes).
  public mutating func append(_ text: consuming String) throws(EngineError) {
    if values != nil { return try append(.string(text)) }
    var failure: EngineError?
    text.withUTF8 { buffer in
      do throws(EngineError) {
        try unsafe add(RawBytes(UnsafeRawBufferPointer(buffer)))
      } catch { failure = error }
    }
    if let failure { throw failure }
  }

  /// Sets the row's next column to a text given as UTF-8 bytes.
  /// - Throws: `EngineError` with code `.schemaMismatch`, also when the bytes are not UTF-8, or
  ///   `.valueTooLarge`; the row is not inserted then.
  /// - Complexity: O(bytes).
  public mutating func append(utf8 bytes: Swift.Span<UInt8>) throws(EngineError) {
    var failure: EngineError?
    unsafe bytes.withUnsafeBytes { buffer in
      let text = unsafe RawBytes(buffer)
      do throws(EngineError) {
        guard text.isUTF8 else {
          throw EngineError(
            code: .schemaMismatch,
            message: "a text of \(table.schema.name) is not UTF-8 (\(text.count) bytes)")
        }
        if values != nil {
          try append(.string(String(decoding: text.array, as: UTF8.self)))
        } else {
          try add(text)
        }
      } catch { failure = error }
    }
    if let failure { throw failure }
  }

  /// Sets the row's next column to any value.
  /// - Throws: `EngineError` with code `.schemaMismatch` or `.valueTooLarge`; the row is not
  ///   inserted then.
  public mutating func append(_ value: Value) throws(EngineError) {
    guard values == nil else {
      // Checked with the whole row.
      guard nextColumn < columnCount else { throw mismatch(nil) }
      nextColumn += 1
      values?.append(value)
      return
    }
    switch value {
    case .int(let number): try append(number)
    case .bool(let isTrue): try append(isTrue)
    case .float(let number): try append(number)
    case .double(let number): try append(number)
    case .string(let text): try append(text)
    case .null:
      guard nextColumn < columnCount, unsafe columns[nextColumn].isOptional else {
        throw mismatch(nil)
      }
      unsafe columns[nextColumn].addNull(at: rowCount)
      nextColumn += 1
    default: throw mismatch(nil)
    }
  }

  @inline(__always)
  private mutating func add(_ text: RawBytes) throws(EngineError) {
    let index = try take(.string)
    if text.count > Layout.inlineBytesMax {
      try addLong(text, index)
    } else {
      unsafe columns[index].add(text, isExternal: false, at: rowCount)
    }
    if !words.isEmpty { addWords(text, index) }
  }

  private mutating func addWords(_ text: RawBytes, _ column: Int) {
    guard let place = words.firstIndex(where: { $0.column == column }) else { return }
    words[place].add(text)
  }

  private mutating func addLong(_ text: RawBytes, _ index: Int) throws(EngineError) {
    do throws(EngineError) { try table.checkSize(text.count, column: index) } catch {
      nextColumn = index
      throw error
    }
    let entry = table.tree.writer.addString(text.array)
    RawBytes.over(entry) { entry in
      unsafe columns[index].add(entry, isExternal: true, at: rowCount)
    }
  }

  // MARK: rows

  /// Whether ending a row may read and change the table's indexes.
  var hasIndexes: Bool { !indexes.isEmpty || !words.isEmpty }

  /// Ends a row.
  /// - Returns: The row's values when it must go into the tree by itself, after `flush`.
  mutating func endRow(_ key: Int64) throws(EngineError) -> [Value]? {
    guard nextColumn == columnCount else { throw mismatch(nil) }
    if let values {
      nextColumn = 0
      self.values = []
      return values
    }
    if let lastKey, key <= lastKey {
      for index in indexes.indices {
        indexes[index].pass(unsafe columns[indexes[index].column].numbers[rowCount], key)
      }
      nextColumn = 0
      return try takeRow()
    }
    if !indexes.isEmpty { try addPairs(key) }
    for index in words.indices { try words[index].endRow(key) }
    nextColumn = 0
    lastKey = key
    unsafe keys[rowCount] = key
    rowCount += 1
    if rowCount == Self.rowsMax || isFull(key) { try flushFull() }
    return nil
  }

  /// Every check that can reject the row comes before it is stored.
  private mutating func addPairs(_ key: Int64) throws(EngineError) {
    for index in indexes.indices {
      try indexes[index].check(unsafe columns[indexes[index].column].numbers[rowCount], key)
    }
    for index in indexes.indices {
      try indexes[index].add(unsafe columns[indexes[index].column].numbers[rowCount], key)
    }
  }

  @inline(__always)
  private func isFull(_ key: Int64) -> Bool {
    var size = fixedBytes
    size += unsafe PackedArray.sizeBytes(count: rowCount, width: MutableColumn.width(keys[0], key))
    for index in 0..<columnCount { size += unsafe columns[index].sizeBytes(rowCount) }
    return size > leafBytesMax && rowCount > 1
  }

  /// A leaf of all rows but the last one, which made it too large.
  private mutating func flushFull() throws(EngineError) {
    let last = rowCount - 1
    try appendLeaf(rows: last)
    unsafe keys[0] = keys[last]
    for index in 0..<columnCount { unsafe columns[index].keepLast(last) }
    rowCount = 1
  }

  /// Moves all buffered rows to the tree, and their pairs to the indexes.
  mutating func flush() throws(EngineError) {
    for index in indexes.indices { try indexes[index].flush() }
    for index in words.indices { try words[index].flush() }
    guard rowCount > 0 else { return }
    try appendLeaf(rows: rowCount)
    for index in 0..<columnCount { unsafe columns[index].clear() }
    rowCount = 0
  }

  private func appendLeaf(rows: Int) throws(EngineError) {
    let layouts = table.tree.shape.columns
    var made: [MutableColumn] = []
    made.reserveCapacity(columnCount)
    for index in 0..<columnCount {
      made.append(unsafe columns[index].column(layouts[index], rows: rows))
    }
    let keys = unsafe Array(UnsafeBufferPointer(start: keys, count: rows))
    try table.tree.append(MutableLeaf(keys: keys, columns: made))
  }

  /// Removes the current row, and returns it as values.
  private mutating func takeRow() throws(EngineError) -> [Value] {
    var values: [Value] = []
    for index in 0..<columnCount {
      let layout = table.tree.shape.columns[index]
      values.append(
        try unsafe columns[index].value(at: rowCount, layout, table.tree.writer))
      unsafe columns[index].drop(rowCount)
    }
    return values
  }

  /// Drops the row in progress; a flush must follow.
  mutating func dropRow() {
    for index in 0..<nextColumn { unsafe columns[index].drop(rowCount) }
    nextColumn = 0
    if values != nil { values = [] }
  }
}
