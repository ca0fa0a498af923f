// GrowingBytes.swift [U]: memory that grows at its end, for the encoder and for JSON text: one
// owner, no copy on write, and no more than one allocation for each doubling.
// Invariant: `count` bytes of `capacity` are initialized; every access is checked against `count`.

/// Bytes that are appended to.
@safe struct GrowingBytes: ~Copyable {
  // Safety: allocated here with `capacity` bytes, freed by `deinit`, and passed on only during
  // calls.
  private var base: UnsafeMutableRawPointer
  private(set) var capacity: Int
  private(set) var count = 0

  init(capacity: Int = 256) {
    self.capacity = max(16, capacity)
    unsafe base = .allocate(byteCount: self.capacity, alignment: 16)
  }

  deinit { unsafe base.deallocate() }

  /// Makes room for more bytes.
  @inline(__always)
  mutating func reserve(_ more: Int) {
    if more > capacity - count { grow(more) }
  }

  @inline(never)
  private mutating func grow(_ more: Int) {
    capacity = max(count + more, 2 * capacity)
    let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
    unsafe larger.copyMemory(from: base, byteCount: count)
    unsafe base.deallocate()
    unsafe base = larger
  }

  @inline(__always)
  mutating func append(_ byte: UInt8) {
    reserve(1)
    unsafe base.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
    count += 1
  }

  /// Appends two bytes, the high one first.
  @inline(__always)
  mutating func append(bigEndian number: UInt16) {
    reserve(2)
    unsafe base.storeBytes(of: number.bigEndian, toByteOffset: count, as: UInt16.self)
    count += 2
  }

  /// Appends four bytes, the high one first.
  @inline(__always)
  mutating func append(bigEndian number: UInt32) {
    reserve(4)
    unsafe base.storeBytes(of: number.bigEndian, toByteOffset: count, as: UInt32.self)
    count += 4
  }

  /// Appends the low bytes of a number, the lowest first.
  @inline(__always)
  mutating func append(littleEndian number: UInt64, sizeBytes: Int) {
    precondition(sizeBytes >= 0 && sizeBytes <= 8)
    reserve(8)
    unsafe base.storeBytes(of: number.littleEndian, toByteOffset: count, as: UInt64.self)
    count += sizeBytes
  }

  @inline(__always)
  mutating func append(_ bytes: FleeceBytes) {
    reserve(bytes.count)
    unsafe (base + count).copyMemory(from: bytes.base, byteCount: bytes.count)
    count += bytes.count
  }

  mutating func removeAll() { count = 0 }

  /// Truncates to `newCount` bytes.
  mutating func cut(to newCount: Int) {
    precondition(newCount >= 0 && newCount <= count)
    count = newCount
  }

  func byte(at offset: Int) -> UInt8 {
    precondition(offset >= 0 && offset < count)
    return unsafe base.load(fromByteOffset: offset, as: UInt8.self)
  }

  mutating func setByte(_ byte: UInt8, at offset: Int) {
    precondition(offset >= 0 && offset < count)
    unsafe base.storeBytes(of: byte, toByteOffset: offset, as: UInt8.self)
  }

  /// Calls `body` with a view of the bytes, valid during the call.
  @inline(__always)
  borrowing func view<Result, Failure: Error>(
    _ body: (FleeceBytes) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    // Safety: the memory does not move while `self` is borrowed.
    try unsafe body(FleeceBytes(UnsafeRawBufferPointer(start: base, count: count)))
  }

  /// A copy of the bytes.
  var array: [UInt8] { view { $0.array } }
}
