// MemoryBackend.swift [U]: the storage backend of a database that exists in memory only.
// Invariants: memory is zero until it is written; a mapping keeps its memory, so it stays readable
// after the file grew into other memory, or was closed. A sync does nothing, and the content ends
// with the process.

/// A file in memory.
@safe final class MemoryBackend: StorageBackend, @unchecked Sendable {
  // Safety: the engine calls everything but `path` from one thread at a time; mappings hold the
  // memory itself, not this object.

  let path: String
  private var memory: MemoryRegion?
  private var size = 0

  /// Begins as an empty file.
  init(name: String) {
    path = name
  }

  func sizeBytes() throws(EngineError) -> UInt64 { UInt64(size) }

  func write(_ bytes: UnsafeRawBufferPointer, at offsetBytes: UInt64) throws(EngineError) {
    let start = Int(clamping: offsetBytes)
    guard let memory, start <= size, bytes.count <= size - start else {
      throw EngineError(
        code: .io, message: "\(path): end_bytes=\(start + bytes.count) > file_bytes=\(size)")
    }
    unsafe UnsafeMutableRawBufferPointer(rebasing: memory.bytes[start..<start + bytes.count])
      .copyMemory(from: bytes)
  }

  func allocate(upTo sizeBytes: UInt64) throws(EngineError) {
    let wanted = Int(clamping: sizeBytes)
    guard wanted > size else { return }
    let capacity = memory.map { unsafe $0.bytes.count } ?? 0
    if wanted > capacity {
      // Old mappings keep the old memory, which is not written any more.
      let larger = try MemoryRegion(
        sizeBytes: max(wanted, capacity < 1 << 26 ? 2 * capacity : capacity), path)
      if let memory {
        unsafe larger.bytes.copyMemory(
          from: UnsafeRawBufferPointer(rebasing: memory.bytes[..<size]))
      }
      memory = larger
    } else if let memory {
      // Bytes that a truncation left there must not be read as new.
      unsafe UnsafeMutableRawBufferPointer(rebasing: memory.bytes[size..<wanted])
        .initializeMemory(as: UInt8.self, repeating: 0)
    }
    size = wanted
  }

  func truncate(to sizeBytes: UInt64) throws(EngineError) {
    let kept = Int(clamping: sizeBytes)
    guard let memory, kept < size else { return }
    // New memory, so that the truncated part is freed with the last mapping of it.
    let smaller = try MemoryRegion(sizeBytes: kept, path)
    unsafe smaller.bytes.copyMemory(
      from: UnsafeRawBufferPointer(rebasing: memory.bytes[..<kept]))
    self.memory = smaller
    size = kept
  }

  func sync() throws(EngineError) {}

  func map() throws(EngineError) -> MappedFile {
    guard let memory else {
      return unsafe MappedFile(borrowing: UnsafeRawBufferPointer(start: nil, count: 0))
    }
    return unsafe MappedFile(
      borrowing: UnsafeRawBufferPointer(rebasing: memory.bytes[..<size]), owner: memory)
  }

  func close() { memory = nil }
}

/// Anonymous memory, freed with the last reference.
@safe private final class MemoryRegion: @unchecked Sendable {
  // Safety: one thread writes; readers read only bytes that the engine has published to them.
  let bytes: UnsafeMutableRawBufferPointer

  init(sizeBytes: Int, _ path: String) throws(EngineError) {
    switch unsafe Syscalls.mapMemory(sizeBytes: sizeBytes) {
    case .success(let mapped): unsafe bytes = unsafe mapped
    case .failure(let failure):
      throw EngineError(
        code: .noSpace, message: "\(path): no memory for \(sizeBytes) bytes; delete rows",
        errno: failure.number)
    }
  }

  deinit { unsafe Syscalls.unmapMemory(bytes) }
}
