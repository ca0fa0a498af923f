// FunctionCall+Values.swift: values of documents as arguments and results.

import Fleece

extension FunctionCall {
  /// The bytes of an empty dict, used for a record without a body.
  private static let emptyDict: [UInt8] = [0x70, 0]

  /// Runs a closure with the outermost value of a document's body, and the keys to read it.
  func withBody(
    _ index: Int, _ use: (FleeceValue) throws -> Void
  ) throws {
    let body = kind(index) == .blob ? RevisionTree.currentBody(of: bytes(index)) : nil
    guard let body, body.count > 0 else {
      return try FleeceBytes.over(Self.emptyDict) { (view: FleeceBytes) throws in
        try use(try FleeceValue.root(of: view))
      }
    }
    try use(try FleeceValue.root(of: body))
  }

  /// Runs a closure with the value at the path of the second argument in the body of the first.
  func withProperty(
    _ use: (FleeceValue?) throws -> Void
  ) throws {
    try withBody(0) { root in
      guard kind(1) != .null else { return try use(root) }
      try use(try path(1).value(in: root, keys: state.keys))
    }
  }

  /// The result is a value; missing without one.
  func result(_ value: FleeceValue?) throws {
    guard let value else { return resultMissing() }
    switch value.kind {
    case .null, .undefined: resultNull()
    case .boolean: result(value.boolean ?? false)
    case .integer:
      if value.isUnsigned {
        result(unsigned: value.unsignedInteger ?? 0)
      } else {
        result(value.integer ?? 0)
      }
    case .real: result(value.double ?? 0)
    case .text: if let text = value.textBytes { result(text: text) }
    case .data, .array, .dict: try result(encoding: value)
    }
  }

  /// The result is a value as a Fleece blob, with keys as texts.
  func result(encoding value: FleeceValue) throws {
    var encoder = FleeceEncoder()
    try encoder.copy(value, keys: state.keys)
    try encoder.finish { (view: FleeceBytes) in result(blob: view) }
  }

  /// Writes an argument as a value.
  ///
  /// Integers without sign become such with one, as with the real library.
  /// - Returns: False, and nothing is written, when it is missing.
  func write(
    argument index: Int, key: String? = nil, to encoder: inout FleeceEncoder
  ) throws -> Bool {
    let kind = kind(index)
    guard kind != .null else { return false }
    if let key { try encoder.key(key) }
    switch (kind, subtype(index)) {
    case (.integer, SQLSubtype.boolean): encoder.boolean(integer(index) != 0)
    case (.integer, _): try encoder.integer(integer(index))
    case (.real, _): try encoder.double(real(index))
    case (.text, _): try encoder.text(utf8: bytes(index))
    case (.blob, SQLSubtype.bytes): try encoder.data(bytes(index))
    default:
      let view = bytes(index)
      guard view.count > 0 else {
        encoder.null()
        return true
      }
      try encoder.copy(try FleeceValue.root(of: view), keys: state.keys)
    }
    return true
  }
}

extension RevisionTree {
  /// The current revision's body where a record of 2.x has its tree; else the bytes themselves.
  /// - Returns: The body; nil when the tree does not keep it.
  /// - Complexity: O(1).
  static func currentBody(of bytes: FleeceBytes) -> FleeceBytes? {
    // A body never begins with a short integer, since these are inline in their collection. A tree
    // does: with its first entry's size, high byte first.
    guard bytes.count > 8, bytes[0] < 0x10 else { return bytes }
    let size = (0..<4).reduce(0) { $0 << 8 | Int(bytes[$1]) }
    let (flags, idSize) = (bytes[6], Int(bytes[7]))
    guard size > 8 + idSize, size <= bytes.count, flags & 0x80 != 0 else { return nil }
    var start = 8 + idSize
    while start < size, bytes[start] & 0x80 != 0 { start += 1 }
    return start + 1 < size ? bytes.part(at: start + 1, count: size - start - 1) : nil
  }
}
