// IndexProbe.swift: a value in the form that an index searches for, and whether a row really has
// it.

/// A value to look up, with its image.
struct IndexProbe {
  let value: Value
  let image: UInt64
  /// The bytes of a string or binary, so that a row is compared without creating a value.
  private let bytes: [UInt8]?

  init(_ value: Value) {
    self.value = value
    image = ValueImage.of(value)
    switch value {
    case .string(let text): bytes = Array(text.utf8)
    case .binary(let binary): bytes = binary
    default: bytes = nil
    }
  }

  /// Whether every row with this image has the value, so that rows need not be checked.
  func isExact(_ layout: ColumnLayout) -> Bool {
    switch value {
    case .null: layout.storage != .integers && layout.storage != .dates
    case .bool, .link: true
    case .int: image != ValueImage.null || !layout.isOptional
    default: false
    }
  }

  /// Whether a row of a committed leaf has the value.
  @inline(__always)
  func matches(
    _ arrays: NodeArrays, _ layout: ColumnLayout, _ row: Int, _ reader: NodeReader,
    newest: Version
  ) throws(EngineError) -> Bool {
    guard let bytes else {
      return try reader.value(arrays, layout, row, newest: newest) == value
    }
    if layout.hasNulls, try arrays.nulls(layout)[row] != 0 { return false }
    let strings = try arrays.strings(layout)
    return try reader.stringBytes(strings, row, newest: newest).isEqual(to: bytes)
  }
}

extension RawBytes {
  /// Whether the bytes equal those of the array.
  @inline(__always)
  func isEqual(to array: [UInt8]) -> Bool {
    guard count == array.count else { return false }
    return RawBytes.over(array) { other in
      var offset = 0
      while offset <= count - 8 {
        if uint64(offset) != other.uint64(offset) { return false }
        offset += 8
      }
      while offset < count {
        if uint8(offset) != other.uint8(offset) { return false }
        offset += 1
      }
      return true
    }
  }
}
