// HoleyBackend.swift: [U] a file of many gigabytes that takes the memory of what was written.

@testable import Engine

/// A sparse file in memory.
@safe final class HoleyBackend: StorageBackend, @unchecked Sendable {
  // Safety: the test's thread alone uses it; mappings hold `memory`, which gives the pages back.
  @safe private final class Memory: @unchecked Sendable {
    let base: UnsafeMutableRawPointer
    private let count: Int

    init(_ count: Int) throws(Syscalls.Errno) {
      self.count = count
      unsafe base = try Syscalls.reserve(count)
    }

    deinit { unsafe Syscalls.unreserve(base, count) }
  }

  let path = "holes"
  private let memory: Memory
  private let capacityBytes: Int
  private var count: Int

  /// A file of that size with `bytes` at its start, and room to grow.
  init(_ bytes: [UInt8], sizeBytes: Int) throws {
    count = sizeBytes
    capacityBytes = sizeBytes + 1 << 30
    memory = try Memory(capacityBytes)
    unsafe UnsafeMutableRawBufferPointer(start: memory.base, count: bytes.count)
      .copyBytes(from: bytes)
  }

  func sizeBytes() throws(EngineError) -> UInt64 { UInt64(count) }

  func write(_ bytes: UnsafeRawBufferPointer, at offsetBytes: UInt64) throws(EngineError) {
    precondition(Int(offsetBytes) + bytes.count <= count, "writes stay in the file")
    unsafe UnsafeMutableRawBufferPointer(
      start: memory.base + Int(offsetBytes), count: bytes.count
    ).copyMemory(from: bytes)
  }

  func allocate(upTo sizeBytes: UInt64) throws(EngineError) {
    precondition(Int(sizeBytes) <= capacityBytes, "the test asked for room enough")
    count = Int(sizeBytes)
  }

  func truncate(to sizeBytes: UInt64) throws(EngineError) {
    unsafe Syscalls.giveBack(memory.base + Int(sizeBytes), count - Int(sizeBytes))
    count = Int(sizeBytes)
  }

  func sync() throws(EngineError) {}

  func map() throws(EngineError) -> MappedFile {
    unsafe MappedFile(
      borrowing: UnsafeRawBufferPointer(start: memory.base, count: count), owner: memory)
  }

  func close() {}
}
