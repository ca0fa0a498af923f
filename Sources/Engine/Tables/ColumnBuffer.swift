// ColumnBuffer.swift [U]: one column of a batch of rows, in its own memory. Invariants: numbers,
// nulls and externals have room for the rows of a batch; `bytes` for those of one leaf and one row
// more. Every row added has its number and its flags; a string's number is where it ends in
// `bytes`.

/// One column of a batch.
@safe struct ColumnBuffer {
  // Safety: RowBuilder allocates the memory before the first use and frees it in its deinit.
  let numbers: UnsafeMutablePointer<Int64>
  let nulls: UnsafeMutablePointer<Bool>
  let externals: UnsafeMutablePointer<Bool>
  let bytes: UnsafeMutablePointer<UInt8>
  let type: ColumnType
  let isOptional: Bool
  var byteCount = 0
  var lower = Int64.max
  var upper = Int64.min
  var width = 0
  var hasNulls = false
  var hasExternals = false

  init(_ layout: ColumnLayout, rowsMax: Int, bytesMax: Int) {
    type = layout.type
    isOptional = layout.isOptional
    unsafe numbers = .allocate(capacity: rowsMax)
    unsafe nulls = .allocate(capacity: rowsMax)
    unsafe externals = .allocate(capacity: rowsMax)
    unsafe bytes = .allocate(capacity: layout.type == .string ? bytesMax : 1)
  }

  func free() {
    unsafe numbers.deallocate()
    unsafe nulls.deallocate()
    unsafe externals.deallocate()
    unsafe bytes.deallocate()
  }

  @inline(__always)
  mutating func add(_ number: Int64, at row: Int) {
    unsafe numbers[row] = number
    unsafe nulls[row] = false
    if number < lower || number > upper { widen(number) }
  }

  private mutating func widen(_ number: Int64) {
    lower = min(lower, number)
    upper = max(upper, number)
    switch type {
    case .float: width = lower < upper ? 32 : 0
    case .double: width = lower < upper ? 64 : 0
    default: width = MutableColumn.width(lower, upper)
    }
  }

  mutating func addNull(at row: Int) {
    hasNulls = true
    // The number of a null row has no meaning; it must not widen the array.
    unsafe numbers[row] = type == .string ? Int64(byteCount) : lower <= upper ? lower : 0
    unsafe nulls[row] = true
    unsafe externals[row] = false
  }

  @inline(__always)
  mutating func add(_ entry: RawBytes, isExternal: Bool, at row: Int) {
    unsafe UnsafeMutableRawPointer(bytes + byteCount).copyMemory(
      from: entry.base, byteCount: entry.count)
    byteCount += entry.count
    unsafe numbers[row] = Int64(byteCount)
    unsafe nulls[row] = false
    unsafe externals[row] = isExternal
    if isExternal { hasExternals = true }
  }

  /// Bytes of the column's arrays in a leaf of this many rows.
  @inline(__always)
  func sizeBytes(_ rows: Int) -> Int {
    var size = hasNulls ? PackedArray.sizeBytes(count: rows, width: 1) : 0
    guard type == .string else { return size + PackedArray.sizeBytes(count: rows, width: width) }
    size += PackedArray.sizeBytes(
      count: rows, width: PackedArray.width(forRange: UInt64(byteCount)))
    if hasExternals { size += PackedArray.sizeBytes(count: rows, width: 1) }
    return size + (byteCount + 7) / 8 * 8
  }

  /// The first rows as a column that a writer can change.
  func column(_ layout: ColumnLayout, rows: Int) -> MutableColumn {
    var column = MutableColumn(layout)
    column.numbers = unsafe Array(UnsafeBufferPointer(start: numbers, count: rows))
    if hasNulls { column.nulls = unsafe Array(UnsafeBufferPointer(start: nulls, count: rows)) }
    if type == .string {
      let end = unsafe Int(numbers[rows - 1])
      column.bytes = unsafe Array(UnsafeBufferPointer(start: bytes, count: end))
      if hasExternals {
        column.externals = unsafe Array(UnsafeBufferPointer(start: externals, count: rows))
      }
    }
    column.tighten()
    return column
  }

  /// Drops the first rows and keeps the one after them.
  mutating func keepLast(_ row: Int) {
    let (number, isNull) = unsafe (numbers[row], nulls[row])
    let isExternal = unsafe type == .string && externals[row]
    let start = type == .string && row > 0 ? unsafe Int(numbers[row - 1]) : 0
    let count = byteCount - start
    clear()
    if isNull { return addNull(at: 0) }
    guard type == .string else { return add(number, at: 0) }
    unsafe add(
      RawBytes(UnsafeRawBufferPointer(start: bytes + start, count: count)), isExternal: isExternal,
      at: 0)
  }

  /// The value of a row; a long string is taken back from the writer.
  func value(at row: Int, _ layout: ColumnLayout, _ writer: TreeWriter) throws(EngineError) -> Value
  {
    if unsafe nulls[row] { return .null }
    let number = unsafe numbers[row]
    switch type {
    case .int: return .int(number)
    case .bool: return .bool(number != 0)
    case .float: return .float(Float(bitPattern: UInt32(truncatingIfNeeded: number)))
    case .double: return .double(Double(bitPattern: UInt64(bitPattern: number)))
    default: break
    }
    let entry = entry(at: row)
    guard unsafe externals[row] else { return .string(String(decoding: entry, as: UTF8.self)) }
    let external = ExternalEntry(entry[...])
    let text = try writer.string(external)
    try writer.drop(external, layout)
    return .string(String(decoding: text, as: UTF8.self))
  }

  private func entry(at row: Int) -> [UInt8] {
    let start = row == 0 ? 0 : unsafe Int(numbers[row - 1])
    return unsafe Array(
      UnsafeBufferPointer(start: bytes + start, count: Int(numbers[row]) - start))
  }

  /// Drops the last row; bounds and flags may stay wider than they need to be.
  mutating func drop(_ row: Int) {
    if type == .string { byteCount = row == 0 ? 0 : unsafe Int(numbers[row - 1]) }
  }

  /// Drops all rows.
  mutating func clear() {
    (lower, upper, width, byteCount) = (.max, .min, 0, 0)
    (hasNulls, hasExternals) = (false, false)
  }
}
