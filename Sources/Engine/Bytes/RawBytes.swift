// RawBytes.swift [U]: bounds-checked views of memory that another object keeps alive. Invariant:
// every access is checked against the view's size, in release builds too. A view does not own its
// memory: the code that returns a view documents the owner, and the view must not outlive it.

import CSystem

/// A read-only view.
@safe package struct RawBytes: @unchecked Sendable {
  // Safety: reads of memory that is not written while a view of it is in use (committed nodes).
  @unsafe package let base: UnsafeRawPointer
  package let count: Int

  /// A view of a buffer; an empty one has no bytes to read.
  @unsafe package init(_ buffer: UnsafeRawBufferPointer) {
    unsafe base = buffer.baseAddress ?? UnsafeRawPointer(bitPattern: 8).unsafelyUnwrapped
    count = buffer.count
  }

  @inline(__always)
  private init(base: UnsafeRawPointer, count: Int) {
    unsafe self.base = unsafe base
    self.count = count
  }

  @inline(__always)
  package func uint8(_ offset: Int) -> UInt8 {
    precondition(offset >= 0 && offset < count)
    return unsafe base.load(fromByteOffset: offset, as: UInt8.self)
  }

  @inline(__always)
  package func uint16(_ offset: Int) -> UInt16 {
    precondition(offset >= 0 && offset <= count - 2)
    return unsafe UInt16(
      littleEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt16.self))
  }

  @inline(__always)
  package func uint32(_ offset: Int) -> UInt32 {
    precondition(offset >= 0 && offset <= count - 4)
    return unsafe UInt32(
      littleEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
  }

  @inline(__always)
  package func uint64(_ offset: Int) -> UInt64 {
    precondition(offset >= 0 && offset <= count - 8)
    return unsafe UInt64(
      littleEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }

  @inline(__always)
  package func int64(_ offset: Int) -> Int64 { Int64(bitPattern: uint64(offset)) }

  /// The part of `count` bytes at `offset`.
  @inline(__always)
  package func part(at offset: Int, count partCount: Int) -> RawBytes {
    precondition(offset >= 0 && partCount >= 0 && partCount <= count - offset)
    return unsafe RawBytes(base: base + offset, count: partCount)
  }

  /// Prefetches the cache lines of a range that will be read soon; parts outside of the view are
  /// ignored.
  @inline(__always)
  func prefetch(at start: UInt64, plus offset: Int, count partCount: Int) {
    guard start <= UInt64(count), offset >= 0, offset <= count - Int(start) else { return }
    let first = Int(start) + offset
    let end = first + min(partCount, count - first)
    var line = first & ~63
    while line < end {
      // Safety: the address lies inside the view, and it is only prefetched, not read.
      unsafe csystem_prefetch(base + line)
      line += 64
    }
  }

  /// Where in this view another one begins that is a part of it.
  @inline(__always)
  func offset(of part: RawBytes) -> Int { unsafe part.base - base }

  /// The offset of the first byte that differs from another view's of the same size, from an offset
  /// on; nil without one.
  func firstDifference(from other: RawBytes, at start: Int) -> Int? {
    precondition(other.count == count && start >= 0 && start <= count)
    // Safety: both views have all of the loaded bytes. Byte order does not matter here.
    let (first, second) = unsafe (base, other.base)
    @inline(__always) func difference(_ offset: Int) -> UInt64 {
      unsafe first.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        ^ second.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
    }
    var offset = start
    while offset &+ 32 <= count,
      difference(offset) | difference(offset &+ 8) | difference(offset &+ 16)
        | difference(offset &+ 24) == 0
    { offset = offset &+ 32 }
    while offset &+ 8 <= count, difference(offset) == 0 { offset = offset &+ 8 }
    while offset < count, uint8(offset) == other.uint8(offset) { offset += 1 }
    return offset < count ? offset : nil
  }

  /// Whether every byte is 0.
  package var isAllZero: Bool {
    var seen: UInt64 = 0
    var offset = 0
    while offset <= count - 8 {
      seen |= uint64(offset)
      offset += 8
    }
    while offset < count {
      seen |= UInt64(uint8(offset))
      offset += 1
    }
    return seen == 0
  }

  /// Appends the bytes to an array.
  @inline(__always)
  package func append(to array: inout [UInt8]) {
    unsafe array.append(contentsOf: UnsafeRawBufferPointer(start: base, count: count))
  }

  /// A copy of the bytes.
  package var array: [UInt8] {
    unsafe [UInt8](UnsafeRawBufferPointer(start: base, count: count))
  }

  /// The bytes as text, or nil when they are not UTF-8.
  package var string: String? {
    let bytes = unsafe UnsafeRawBufferPointer(start: base, count: count)
      .assumingMemoryBound(to: UInt8.self)
    // The library's validation of any encoding costs as much as all the rest of reading a name.
    if isASCII { return unsafe String(decoding: bytes, as: UTF8.self) }
    return unsafe String(validating: bytes, as: UTF8.self)
  }

  /// Whether every byte is below 128.
  package var isASCII: Bool {
    var seen: UInt64 = 0
    var (first, second, third) = (seen, seen, seen)
    var offset = 0
    while offset <= count - 32 {
      // Safety: 32 bytes from the offset on lie inside the view. Byte order does not matter here.
      seen |= unsafe base.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      first |= unsafe base.loadUnaligned(fromByteOffset: offset + 8, as: UInt64.self)
      second |= unsafe base.loadUnaligned(fromByteOffset: offset + 16, as: UInt64.self)
      third |= unsafe base.loadUnaligned(fromByteOffset: offset + 24, as: UInt64.self)
      offset += 32
    }
    seen |= first | second | third
    while offset <= count - 8 {
      seen |= uint64(offset)
      offset += 8
    }
    while offset < count {
      seen |= UInt64(uint8(offset))
      offset += 1
    }
    return seen & 0x8080_8080_8080_8080 == 0
  }

  /// Whether the bytes are UTF-8.
  package var isUTF8: Bool { isASCII || string != nil }

  /// Calls `body` with a view of the array's bytes, valid during the call.
  package static func over<Result, Failure: Error>(
    _ array: [UInt8], _ body: (RawBytes) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    var outcome: Swift.Result<Result, Failure>?
    unsafe array.withUnsafeBytes { buffer in
      outcome = unsafe catching(RawBytes(buffer), body)
    }
    guard let outcome else { preconditionFailure("the closure ran") }
    return try outcome.get()
  }

  /// Calls `body` with a view of the text's bytes, valid during the call.
  package static func over<Result>(_ text: String, _ body: (RawBytes) -> Result) -> Result {
    var text = text
    return text.withUTF8 { buffer in
      // Safety: the view is used inside this closure only.
      unsafe body(RawBytes(UnsafeRawBufferPointer(buffer)))
    }
  }

  /// Negative, 0 or positive when the bytes sort before, equal to or after `other`.
  package func order(_ other: RawBytes) -> Int {
    let common = min(count, other.count)
    var offset = 0
    while offset <= common - 8 {
      let (left, right) = (uint64(offset), other.uint64(offset))
      if left != right { return left.byteSwapped < right.byteSwapped ? -1 : 1 }
      offset += 8
    }
    while offset < common {
      let (left, right) = (uint8(offset), other.uint8(offset))
      if left != right { return left < right ? -1 : 1 }
      offset += 1
    }
    return count - other.count
  }

  private static func catching<Result, Failure: Error>(
    _ bytes: RawBytes, _ body: (RawBytes) throws(Failure) -> Result
  ) -> Swift.Result<Result, Failure> {
    do throws(Failure) { return .success(try body(bytes)) } catch { return .failure(error) }
  }
}

/// A view that can be written; used for a writer's new nodes before anyone can read them.
@safe struct MutableBytes {
  // Safety: allocated by Slab, which owns the memory and outlives the view.
  @unsafe let base: UnsafeMutableRawPointer
  let count: Int

  @unsafe init(base: UnsafeMutableRawPointer, count: Int) {
    unsafe self.base = unsafe base
    self.count = count
  }

  @inline(__always)
  func set(_ value: UInt8, at offset: Int) {
    precondition(offset >= 0 && offset < count)
    unsafe base.storeBytes(of: value, toByteOffset: offset, as: UInt8.self)
  }

  @inline(__always)
  func set(_ value: UInt16, at offset: Int) {
    precondition(offset >= 0 && offset <= count - 2)
    unsafe base.storeBytes(of: value.littleEndian, toByteOffset: offset, as: UInt16.self)
  }

  @inline(__always)
  func set(_ value: UInt32, at offset: Int) {
    precondition(offset >= 0 && offset <= count - 4)
    unsafe base.storeBytes(of: value.littleEndian, toByteOffset: offset, as: UInt32.self)
  }

  @inline(__always)
  func set(_ value: UInt64, at offset: Int) {
    precondition(offset >= 0 && offset <= count - 8)
    unsafe base.storeBytes(of: value.littleEndian, toByteOffset: offset, as: UInt64.self)
  }

  /// Copies the array to `offset`.
  func copy(_ bytes: [UInt8], to offset: Int) {
    precondition(offset >= 0 && bytes.count <= count - offset)
    unsafe bytes.withUnsafeBytes { source in
      guard let start = source.baseAddress else { return }
      unsafe (base + offset).copyMemory(from: start, byteCount: source.count)
    }
  }

  /// Copies the bytes of a view to `offset`.
  func copy(_ bytes: RawBytes, to offset: Int) {
    precondition(offset >= 0 && bytes.count <= count - offset)
    unsafe (base + offset).copyMemory(from: bytes.base, byteCount: bytes.count)
  }

  /// Makes the bytes from `start` to `end` zero.
  func clear(from start: Int, to end: Int) {
    precondition(start >= 0 && start <= end && end <= count)
    unsafe (base + start).initializeMemory(as: UInt8.self, repeating: 0, count: end - start)
  }

  /// Calls `body` with scratch memory that is valid during the call; its content is unspecified.
  static func withScratch<Result, Failure: Error>(
    count: Int, _ body: (MutableBytes) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    var outcome: Swift.Result<Result, Failure>?
    unsafe withUnsafeTemporaryAllocation(byteCount: count, alignment: 16) { buffer in
      guard let start = buffer.baseAddress else { preconditionFailure("count is above 0") }
      // Safety: the view is used inside this closure only.
      let bytes = unsafe MutableBytes(base: start, count: count)
      do throws(Failure) { outcome = .success(try body(bytes)) } catch { outcome = .failure(error) }
    }
    guard let outcome else { preconditionFailure("the closure ran") }
    return try outcome.get()
  }

  /// The same bytes, read-only.
  var readable: RawBytes {
    unsafe RawBytes(UnsafeRawBufferPointer(start: base, count: count))
  }
}

extension [UInt8] {
  /// So many bytes; `fill` sets those that are not to be 0.
  init(zeros count: Int, fill: (MutableBytes) -> Void) {
    self.init(repeating: 0, count: count)
    unsafe withUnsafeMutableBytes { buffer in
      guard let start = buffer.baseAddress else { return }
      // Safety: the view is used inside this closure only.
      unsafe fill(MutableBytes(base: start, count: count))
    }
  }

  /// Sets 8 bytes at an offset.
  mutating func set(_ value: UInt64, at offset: Int) {
    unsafe withUnsafeMutableBytes { buffer in
      guard let start = buffer.baseAddress else { preconditionFailure("8 bytes are there") }
      // Safety: the view is used inside this closure only, and checks the offset.
      unsafe MutableBytes(base: start, count: buffer.count).set(value, at: offset)
    }
  }
}
