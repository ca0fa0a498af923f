// FleeceBytes.swift [U]: a bounds-checked view of bytes that another object keeps alive. Invariant:
// every access is checked against the view's size, in release builds too. A view does not own its
// memory: its creator keeps the memory alive and unchanged while it is in use.

/// A read-only view of bytes: of an array during a closure, or of memory owned by SQLite.
@safe public struct FleeceBytes: @unchecked Sendable {
  // Safety: reads of memory that is not written while a view of it is in use.
  @unsafe let base: UnsafeRawPointer
  /// How many bytes there are.
  public let count: Int

  /// A view of a buffer; the buffer must outlive the view and everything read through it.
  /// - Parameter buffer: The bytes, at any alignment.
  @unsafe public init(_ buffer: UnsafeRawBufferPointer) {
    unsafe base = buffer.baseAddress ?? UnsafeRawPointer(bitPattern: 8).unsafelyUnwrapped
    count = buffer.count
  }

  @inline(__always)
  private init(base: UnsafeRawPointer, count: Int) {
    unsafe self.base = unsafe base
    self.count = count
  }

  /// Calls `body` with a view of the array's bytes, valid during the call.
  /// - Parameters:
  ///   - array: The bytes.
  ///   - body: Called with the view; neither the view nor a value read through it may escape.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws.
  @inlinable @inline(__always)
  public static func over<Result, Failure: Error>(
    _ array: [UInt8], _ body: (FleeceBytes) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    var outcome: Swift.Result<Result, Failure>?
    unsafe array.withUnsafeBytes { buffer in
      outcome = unsafe catching(FleeceBytes(buffer), body)
    }
    guard let outcome else { preconditionFailure("the closure ran") }
    return try outcome.get()
  }

  /// Calls `body` with a view of the text's bytes of UTF-8, valid during the call.
  /// - Parameters:
  ///   - text: The text.
  ///   - body: Called with the view, which must not escape.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws.
  @inlinable @inline(__always)
  public static func over<Result, Failure: Error>(
    _ text: String, _ body: (FleeceBytes) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    var (text, outcome) = (text, Swift.Result<Result, Failure>?.none)
    text.withUTF8 { buffer in
      // Safety: the view is used inside this closure only.
      outcome = unsafe catching(FleeceBytes(UnsafeRawBufferPointer(buffer)), body)
    }
    guard let outcome else { preconditionFailure("the closure ran") }
    return try outcome.get()
  }

  @inlinable @inline(__always)
  static func catching<Result, Failure: Error>(
    _ bytes: FleeceBytes, _ body: (FleeceBytes) throws(Failure) -> Result
  ) -> Swift.Result<Result, Failure> {
    do throws(Failure) { return .success(try body(bytes)) } catch { return .failure(error) }
  }

  /// The byte at an offset; it traps outside of the view.
  @inline(__always)
  public subscript(offset: Int) -> UInt8 { uint8(offset) }

  @inline(__always)
  func uint8(_ offset: Int) -> UInt8 {
    precondition(offset >= 0 && offset < count)
    return unsafe base.load(fromByteOffset: offset, as: UInt8.self)
  }

  /// Two bytes, high one first.
  @inline(__always)
  func uint16(_ offset: Int) -> UInt16 {
    precondition(offset >= 0 && offset <= count - 2)
    return unsafe UInt16(bigEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt16.self))
  }

  /// Four bytes, high one first.
  @inline(__always)
  func uint32(_ offset: Int) -> UInt32 {
    precondition(offset >= 0 && offset <= count - 4)
    return unsafe UInt32(bigEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
  }

  /// One to eight bytes, low one first.
  @inline(__always)
  func littleEndian(at offset: Int, count sizeBytes: Int) -> UInt64 {
    if sizeBytes == 8 {
      precondition(offset >= 0 && offset <= count - 8)
      return unsafe UInt64(
        littleEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
    var number: UInt64 = 0
    for index in 0..<sizeBytes { number |= UInt64(uint8(offset + index)) << UInt64(8 * index) }
    return number
  }

  /// The eight bytes at an offset in the machine's byte order; for testing all of them at once.
  @inline(__always)
  func eight(_ offset: Int) -> UInt64 {
    precondition(offset >= 0 && offset <= count - 8)
    return unsafe base.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
  }

  /// The part of `partCount` bytes at `offset`; it traps outside of the view.
  @inline(__always)
  public func part(at offset: Int, count partCount: Int) -> FleeceBytes {
    precondition(offset >= 0 && partCount >= 0 && partCount <= count - offset)
    return unsafe FleeceBytes(base: base + offset, count: partCount)
  }

  /// Gives access to the memory.
  /// - Parameter body: Called with the memory, which must not escape.
  /// - Returns: What `body` returns.
  @unsafe public func withUnsafeBytes<Result>(
    _ body: (UnsafeRawBufferPointer) -> Result
  ) -> Result {
    unsafe body(UnsafeRawBufferPointer(start: base, count: count))
  }

  /// A copy of the bytes.
  public var array: [UInt8] {
    unsafe [UInt8](UnsafeRawBufferPointer(start: base, count: count))
  }

  /// The bytes as text; invalid UTF-8 becomes U+FFFD.
  public var text: String {
    unsafe String(decoding: UnsafeRawBufferPointer(start: base, count: count), as: UTF8.self)
  }

  /// Whether the bytes are the same.
  @inline(__always)
  func isEqual(to other: FleeceBytes) -> Bool { count == other.count && order(other) == 0 }

  /// Negative, 0 or positive, as these bytes sort before, with or after others: the first
  /// difference decides, else the count.
  @inline(__always)
  func order(_ other: FleeceBytes) -> Int {
    let common = min(count, other.count)
    var offset = 0
    while offset <= common - 8 {
      let (left, right) = (eight(offset), other.eight(offset))
      if left != right {
        return UInt64(bigEndian: left) < UInt64(bigEndian: right) ? -1 : 1
      }
      offset += 8
    }
    while offset < common {
      let (left, right) = (uint8(offset), other.uint8(offset))
      if left != right { return left < right ? -1 : 1 }
      offset += 1
    }
    return count - other.count
  }
}
