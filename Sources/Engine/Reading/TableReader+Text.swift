// TableReader+Text.swift [U]: a row's text read in place, without making a String.

extension TableReader {
  /// Calls `body` with the UTF-8 bytes of a text, in place.
  ///
  /// The engine wrote these bytes as text. They are checked against damage, but not again for valid
  /// UTF-8.
  /// - Parameters:
  ///   - position: The row.
  ///   - column: The column.
  ///   - body: Called with the bytes; they must not escape.
  /// - Returns: What `body` returns.
  /// - Throws: `EngineError` with code `.corrupted` or `.closed`; with `.io` when a page could not
  ///   be read, and then `body` may have seen zeros in its place.
  /// - Complexity: O(1) before `body`.
  public func withUTF8<Result>(
    at position: RowPosition, _ column: TableColumn<String>,
    _ body: (Swift.Span<UInt8>) -> Result
  ) throws(EngineError) -> Result {
    try reading(position, column) { leaf, row throws(EngineError) in
      let bytes = try bytes(leaf, row, column)
      // Safety: the reader keeps the mapping alive during the call, an encrypted file's section the
      // plaintext, and a span cannot leave `body`.
      let text = unsafe UnsafeBufferPointer(
        start: bytes.base.assumingMemoryBound(to: UInt8.self), count: bytes.count)
      return body(unsafe Swift.Span(_unsafeElements: text))
    }
  }
}
