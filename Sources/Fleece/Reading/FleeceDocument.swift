// FleeceDocument.swift: bytes that are owned, with the value in them.

/// Owned Fleece bytes: the safe way to read bytes without another owner.
public struct FleeceDocument: Sendable {
  /// The bytes.
  public let bytes: [UInt8]

  /// Takes bytes that have an outermost value, and checks nothing else: nested values are checked
  /// when they are read.
  /// - Parameter bytes: The bytes.
  /// - Throws: `FleeceError` with code `.damaged` or `.limit`.
  /// - Complexity: O(1).
  public init(_ bytes: [UInt8]) throws(FleeceError) {
    self.bytes = bytes
    try FleeceBytes.over(bytes) { (view: FleeceBytes) throws(FleeceError) in
      _ = try FleeceValue.root(of: view)
    }
  }

  /// Takes bytes, and checks all of them.
  /// - Parameter bytes: The bytes.
  /// - Throws: `FleeceError` with code `.damaged` or `.limit`.
  /// - Complexity: O(bytes); see `FleeceValue.validate`.
  public init(validating bytes: [UInt8]) throws(FleeceError) {
    self.bytes = bytes
    try FleeceBytes.over(bytes) { (view: FleeceBytes) throws(FleeceError) in
      try FleeceValue.root(of: view).validate()
    }
  }

  /// Reads the outermost value.
  /// - Parameter body: Called with the value, which must not escape.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws.
  /// - Complexity: O(1), plus `body`.
  @inline(__always)
  public func withRoot<Result>(
    _ body: (FleeceValue) throws(FleeceError) -> Result
  ) throws(FleeceError) -> Result {
    try FleeceBytes.over(bytes) { (view: FleeceBytes) throws(FleeceError) -> Result in
      try body(try FleeceValue.root(of: view))
    }
  }
}
