// FuzzBackend.swift: [U] a storage backend in memory, as small as can be.

import Engine

/// Memory as a file; one thread uses it.
@safe final class FuzzBackend: StorageBackend, @unchecked Sendable {
  // Safety: mappings hold `owner`, which frees the memory; one thread reads and writes.
  @safe private final class Memory: @unchecked Sendable {
    let buffer: UnsafeMutableRawBufferPointer
    init(_ count: Int) {
      unsafe buffer = .allocate(byteCount: count, alignment: 4096)
      unsafe _ = buffer.initializeMemory(as: UInt8.self, repeating: 0)
    }
    deinit { unsafe buffer.deallocate() }
  }

  let path = "fuzz"
  private var memory: Memory

  init(_ bytes: [UInt8]) {
    memory = Memory(bytes.count)
    unsafe memory.buffer.copyBytes(from: bytes)
  }

  var bytes: [UInt8] { unsafe [UInt8](memory.buffer) }

  func sizeBytes() throws(EngineError) -> UInt64 { unsafe UInt64(memory.buffer.count) }

  func write(_ bytes: UnsafeRawBufferPointer, at offsetBytes: UInt64) throws(EngineError) {
    let start = Int(offsetBytes)
    precondition(unsafe start + bytes.count <= memory.buffer.count, "writes stay in the file")
    unsafe UnsafeMutableRawBufferPointer(rebasing: memory.buffer[start..<start + bytes.count])
      .copyMemory(from: bytes)
  }

  func allocate(upTo sizeBytes: UInt64) throws(EngineError) {
    guard sizeBytes < 1 << 24 else {
      throw EngineError(code: .noSpace, message: "the fuzzer's file is full")
    }
    let larger = Memory(Int(sizeBytes))
    unsafe larger.buffer.copyMemory(from: UnsafeRawBufferPointer(memory.buffer))
    memory = larger
  }

  func truncate(to sizeBytes: UInt64) throws(EngineError) {
    let smaller = Memory(Int(sizeBytes))
    unsafe smaller.buffer.copyMemory(
      from: UnsafeRawBufferPointer(rebasing: memory.buffer[..<Int(sizeBytes)]))
    memory = smaller
  }

  func sync() throws(EngineError) {}

  func map() throws(EngineError) -> MappedFile {
    unsafe MappedFile(borrowing: UnsafeRawBufferPointer(memory.buffer), owner: memory)
  }

  func close() {}
}
