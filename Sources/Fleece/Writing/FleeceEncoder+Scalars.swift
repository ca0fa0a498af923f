// FleeceEncoder+Scalars.swift: writes values that are not collections, and keys.

extension FleeceEncoder {
  /// Writes null.
  public mutating func null() { add(PendingItem(small: 0x3000)) }

  /// Writes `undefined`, which occurs only in deltas and has no JSON form.
  public mutating func undefined() { add(PendingItem(small: 0x3c00)) }

  /// Writes true or false.
  /// - Parameter value: The value.
  public mutating func boolean(_ value: Bool) { add(PendingItem(small: value ? 0x3800 : 0x3400)) }

  /// Writes an integer as one with a sign.
  /// - Parameter value: The value.
  /// - Throws: `FleeceError` with code `.limit` beyond 2 GiB.
  public mutating func integer(_ value: Int64) throws(FleeceError) {
    guard value < -2048 || value > 2047 else {
      return add(PendingItem(small: UInt16(bitPattern: Int16(value)) & 0x0fff))
    }
    // One bit more than the number has without its sign.
    let bits = 65 - (value < 0 ? ~value : value).leadingZeroBitCount
    try integer(bits: UInt64(bitPattern: value), sizeBytes: (bits + 7) / 8, flag: 0)
  }

  /// Writes an integer as one without a sign, as JSON's that are not negative are.
  /// - Parameter value: The value.
  /// - Throws: `FleeceError` with code `.limit` beyond 2 GiB.
  public mutating func unsignedInteger(_ value: UInt64) throws(FleeceError) {
    guard value > 2047 else { return add(PendingItem(small: UInt16(value))) }
    try integer(bits: value, sizeBytes: (71 - value.leadingZeroBitCount) / 8, flag: 8)
  }

  private mutating func integer(
    bits: UInt64, sizeBytes: Int, flag: UInt8
  ) throws(FleeceError) {
    let place = try nextPlace()
    output.append(FleeceFormat.integer << 4 | flag | UInt8(sizeBytes - 1))
    output.append(littleEndian: bits, sizeBytes: sizeBytes)
    add(PendingItem(place: place))
  }

  /// Writes a double: in four bytes if a float is the same number, else in eight.
  /// - Parameter value: The value; an infinite one is allowed, but has no JSON form.
  /// - Throws: `FleeceError` with code `.value` for NaN, `.limit` beyond 2 GiB.
  public mutating func double(_ value: Double) throws(FleeceError) {
    guard !value.isNaN else { throw Self.noNumber }
    let place = try nextPlace()
    let float = Float(value)
    if value.isFinite, Double(float) == value {
      output.append(bigEndian: UInt16(0x2400))
      output.append(littleEndian: UInt64(float.bitPattern), sizeBytes: 4)
    } else {
      output.append(bigEndian: UInt16(0x2800))
      output.append(littleEndian: value.bitPattern, sizeBytes: 8)
    }
    add(PendingItem(place: place))
  }

  /// Writes a float.
  /// - Parameter value: The value; an infinite one is allowed, but has no JSON form.
  /// - Throws: `FleeceError` with code `.value` for NaN, `.limit` beyond 2 GiB.
  public mutating func float(_ value: Float) throws(FleeceError) {
    guard !value.isNaN else { throw Self.noNumber }
    let place = try nextPlace()
    output.append(bigEndian: UInt16(0x2000))
    output.append(littleEndian: UInt64(value.bitPattern), sizeBytes: 4)
    add(PendingItem(place: place))
  }

  private static var noNumber: FleeceError {
    FleeceError(.value, "what is not a number (NaN) cannot be written")
  }

  /// Writes a text.
  /// - Parameter value: The text.
  /// - Throws: `FleeceError` with code `.limit` beyond 2 GiB.
  /// - Complexity: O(bytes).
  public mutating func text(_ value: String) throws(FleeceError) {
    try FleeceBytes.over(value) { (view: FleeceBytes) throws(FleeceError) in
      add(try item(ofText: view))
    }
  }

  /// Writes a text.
  /// - Parameter utf8: Its bytes, which are not checked.
  /// - Throws: `FleeceError` with code `.limit` beyond 2 GiB.
  /// - Complexity: O(bytes).
  public mutating func text(utf8: FleeceBytes) throws(FleeceError) {
    add(try item(ofText: utf8))
  }

  /// Writes data.
  /// - Parameter value: The bytes.
  /// - Throws: `FleeceError` with code `.limit` beyond 2 GiB.
  /// - Complexity: O(bytes).
  public mutating func data(_ value: FleeceBytes) throws(FleeceError) {
    add(try item(of: value, tag: FleeceFormat.data))
  }

  /// Writes data.
  /// - Parameter value: The bytes.
  /// - Throws: `FleeceError` with code `.limit` beyond 2 GiB.
  /// - Complexity: O(bytes).
  public mutating func data(_ value: [UInt8]) throws(FleeceError) {
    try FleeceBytes.over(value) { (view: FleeceBytes) throws(FleeceError) in
      add(try item(of: view, tag: FleeceFormat.data))
    }
  }
}
