// FleeceDocument.swift: bytes that are owned, with the value in them.

/// Bytes of Fleece, owned: the safe way to read what no one else keeps alive.
public struct FleeceDocument: Sendable {
  /// The bytes.
  public let bytes: [UInt8]

  /// Takes bytes whose outermost value is there, and checks nothing else: what lies in it is
  /// checked when it is read.
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
  /// - Parameter body: What is done with it; it must not let it out.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws.
  /// - Complexity: O(1), besides `body`.
  @inline(__always)
  public func withRoot<Result>(
    _ body: (FleeceValue) throws(FleeceError) -> Result
  ) throws(FleeceError) -> Result {
    try FleeceBytes.over(bytes) { (view: FleeceBytes) throws(FleeceError) -> Result in
      try body(try FleeceValue.root(of: view))
    }
  }
}
