// FleeceEncoder+Copies.swift: copies values from other bytes. As in the real encoder, an integer of
// three or four bytes including its first one is stored in the slot itself, and makes its
// collection wide. So a copy of a value written by `integer` has different bytes.

extension FleeceEncoder {
  /// Writes a value from other bytes.
  ///
  /// Keys that are numbers there are looked up in this encoder's table: they become its numbers, or
  /// texts.
  /// - Parameters:
  ///   - value: The value.
  ///   - keys: The table that its keys are numbers of.
  /// - Throws: `FleeceError` with code `.damaged`, `.unknownSharedKey`, or `.limit` when it is
  ///   nested too deep or becomes more than 64 times as large as its document, plus 1 KiB: which
  ///   only collections and long texts that many pointers lead to become.
  /// - Complexity: O(bytes written).
  public mutating func copy(
    _ value: FleeceValue, keys: FleeceSharedKeys = FleeceSharedKeys()
  ) throws(FleeceError) {
    var stepsLeft = FleeceValue.expansionMax(value)
    try copy(value, keys, stepsLeft: &stepsLeft)
  }

  private mutating func copy(
    _ value: FleeceValue, _ keys: FleeceSharedKeys, stepsLeft: inout Int
  ) throws(FleeceError) {
    stepsLeft -= 2
    guard stepsLeft >= 0 else { throw FleeceValue.tooLargeExpansion(value) }
    let before = output.count
    switch value.kind {
    case .null, .boolean, .undefined: add(PendingItem(small: value.bytes.uint16(value.offset)))
    case .integer, .real: add(try item(copying: value))
    case .text: try text(utf8: value.content)
    case .data: try data(value.content)
    case .array:
      guard let array = value.array else { return }
      try beginArray()
      for index in 0..<array.count {
        guard let item = try array.value(at: index) else { break }
        try copy(item, keys, stepsLeft: &stepsLeft)
      }
      return try endArray()
    case .dict:
      guard let dict = value.dict else { return }
      try beginDict()
      for index in 0..<dict.count {
        let beforeKey = output.count
        switch try dict.key(at: index) {
        case .shared(let number): try copyKey(number, keys)
        case .text(let text): try key(utf8: text)
        }
        stepsLeft -= 2 + output.count - beforeKey
        try copy(dict.value(at: index), keys, stepsLeft: &stepsLeft)
      }
      return try endDict()
    }
    stepsLeft -= output.count - before
  }

  private mutating func copyKey(_ number: Int, _ keys: FleeceSharedKeys) throws(FleeceError) {
    guard number < keys.count else {
      throw FleeceError(.unknownSharedKey, "\(number) of \(keys.count) shared keys")
    }
    try FleeceBytes.over(Array(keys.bytes[keys.range(of: number)])) {
      (view: FleeceBytes) throws(FleeceError) in try key(utf8: view)
    }
  }

  /// A number with the bytes that it has.
  private mutating func item(copying value: FleeceValue) throws(FleeceError) -> PendingItem {
    let size = value.scalarSizeBytes
    guard size > 4 else {
      let bits = value.bytes.littleEndian(at: value.offset, count: size)
      if size > 2 { frames[frames.count - 1].isWide = true }
      return PendingItem(wide: UInt32(truncatingIfNeeded: bits).byteSwapped)
    }
    let place = try nextPlace()
    output.append(value.bytes.part(at: value.offset, count: size))
    if output.count & 1 != 0 { output.append(0) }
    return PendingItem(place: place)
  }
}

extension FleeceValue {
  /// Upper bound of the size of a value written out in full: a tree without shared collections,
  /// with short texts that many pointers of two bytes lead to and whose every byte is escaped,
  /// stays below it.
  static func expansionMax(_ value: FleeceValue) -> Int { 64 * value.bytes.count + 1024 }

  @inline(never)
  static func tooLargeExpansion(_ value: FleeceValue) -> FleeceError {
    FleeceError(
      .limit, "more than \(expansionMax(value)) bytes, of \(value.bytes.count)", at: value.offset)
  }
}
