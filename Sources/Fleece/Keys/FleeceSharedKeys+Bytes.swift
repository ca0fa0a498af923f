// FleeceSharedKeys+Bytes.swift: the table as stored in the database: an array of texts, in the
// order of their numbers.

extension FleeceSharedKeys {
  /// Reads a table.
  /// - Parameter bytes: An array of texts.
  /// - Throws: `FleeceError` with code `.sharedKeys` when it is something else, or has more than
  ///   2048 keys or a duplicate; with `.damaged` when the bytes are not valid Fleece.
  /// - Complexity: O(bytes).
  public init(reading bytes: FleeceBytes) throws(FleeceError) {
    self.init()
    let root = try FleeceValue.root(of: bytes)
    guard let array = root.array else {
      throw FleeceError(.sharedKeys, "the table is not an array", at: root.offset)
    }
    guard array.count <= Self.countMax else {
      throw FleeceError(.sharedKeys, "\(array.count) keys > \(Self.countMax)", at: root.offset)
    }
    for index in 0..<array.count {
      guard let key = try array.value(at: index)?.textBytes else {
        throw FleeceError(.sharedKeys, "key \(index) is not text", at: root.offset)
      }
      // Many pointers may lead to one long text, which would be copied each time.
      guard self.bytes.count + key.count <= bytes.count * 8 + 1024 else {
        throw FleeceError(.sharedKeys, "keys of more bytes than are there", at: root.offset)
      }
      guard number(of: key) == nil else {
        throw FleeceError(.sharedKeys, "key \(index) occurs twice", at: root.offset)
      }
      append(key)
    }
  }

  /// Reads a table.
  /// - Parameter bytes: An array of texts.
  /// - Throws: `FleeceError` with code `.sharedKeys` when it is something else, or has more than
  ///   2048 keys or a duplicate; with `.damaged` when the bytes are not valid Fleece.
  /// - Complexity: O(bytes).
  public init(reading bytes: [UInt8]) throws(FleeceError) {
    self = try FleeceBytes.over(bytes) { (view: FleeceBytes) throws(FleeceError) in
      try FleeceSharedKeys(reading: view)
    }
  }

  /// The table as bytes.
  /// - Returns: An array of texts.
  /// - Throws: Nothing that a table could cause.
  /// - Complexity: O(bytes).
  public func encoded() throws(FleeceError) -> [UInt8] {
    var encoder = FleeceEncoder(capacityBytes: bytes.count + 4 * count + 64)
    try encoder.beginArray()
    for number in 0..<count {
      try FleeceBytes.over(Array(bytes[range(of: number)])) {
        (view: FleeceBytes) throws(FleeceError) in try encoder.text(utf8: view)
      }
    }
    try encoder.endArray()
    return try encoder.finish()
  }
}
