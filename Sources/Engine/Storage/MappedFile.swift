// MappedFile.swift [U]: read-only memory with a file's bytes, released with the last reference.

/// A read-only view of a file's bytes as `StorageBackend.map()` returns it.
///
/// Snapshots keep the mapping they were opened on, so a file can grow and be mapped again while old
/// readers continue. The memory is released with the last reference.
@safe public final class MappedFile: @unchecked Sendable {
  // Safety: the memory is constant for the nodes anyone reads, and `release` runs once, in deinit.
  private let buffer: UnsafeRawBufferPointer
  private let release: @Sendable () -> Void
  /// The content of the sectors, where the lab tracks it.
  package let identities: SectorIdentities?
  /// Names the file in messages.
  private let path: String
  /// Records that a page could not be read.
  let faults: MappingFaults

  /// Takes over memory, with a function that releases it.
  /// - Parameters:
  ///   - buffer: The memory; it must stay readable until `release` is called.
  ///   - release: Called once, on the thread that releases the last reference.
  @unsafe public init(_ buffer: UnsafeRawBufferPointer, release: @escaping @Sendable () -> Void) {
    unsafe self.buffer = unsafe buffer
    self.release = release
    identities = nil
    faults = .none
    path = ""
  }

  /// Takes over a mapping of a file.
  /// - Parameters:
  ///   - buffer: The mapping.
  ///   - path: Names the file in messages.
  @unsafe init(mapping buffer: UnsafeRawBufferPointer, of path: String) {
    unsafe self.buffer = unsafe buffer
    let faults = unsafe MappingFaults(watching: buffer)
    self.faults = faults
    self.path = path
    let start = UInt(bitPattern: buffer.baseAddress)
    let count = buffer.count
    release = {
      faults.end()
      Syscalls.unmap(start, count: count)
    }
    identities = nil
  }

  /// Uses memory owned by another object.
  /// - Parameters:
  ///   - buffer: The memory.
  ///   - owner: An object that keeps the memory alive; it is held as long as the mapping.
  @unsafe public convenience init(
    borrowing buffer: UnsafeRawBufferPointer, owner: (any AnyObject & Sendable)? = nil
  ) {
    unsafe self.init(buffer, release: { withExtendedLifetime(owner) {} })
  }

  /// Uses the lab's memory, with the lab's identities of its sectors.
  @unsafe package init(
    borrowing buffer: UnsafeRawBufferPointer, owner: any AnyObject & Sendable,
    identities: SectorIdentities
  ) {
    unsafe self.buffer = unsafe buffer
    release = { withExtendedLifetime(owner) {} }
    self.identities = identities
    faults = .none
    path = ""
  }

  deinit {
    release()
  }

  /// Size of the mapping.
  public var count: Int { unsafe buffer.count }

  /// The bytes; the view must not outlive the mapping, so the caller must keep a reference.
  package var bytes: RawBytes { unsafe RawBytes(buffer) }

  /// Calls `body` with the bytes, and keeps the mapping alive meanwhile.
  package func withBytes<Result, Failure: Error>(
    _ body: (RawBytes) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    defer { withExtendedLifetime(self) {} }
    return try body(bytes)
  }

  /// Runs an operation that reads, and takes its word only if every page of it could be read.
  /// - Parameter body: Reads the bytes; its result must not refer to bytes that it has not read.
  /// - Returns: What `body` returns.
  /// - Throws: `EngineError` with code `.io` when a page could not be read, now or earlier,
  ///   whatever `body` computed from the zeros in its place; else what `body` throws.
  @inline(__always)
  func checked<Result>(
    _ body: () throws(EngineError) -> Result
  ) throws(EngineError) -> Result {
    let result: Result
    do throws(EngineError) { result = try body() } catch {
      throw readError ?? error
    }
    try checkPages()
    return result
  }

  /// Checks that every page read so far could be read.
  /// - Throws: `EngineError` with code `.io`.
  /// - Complexity: O(1), a load.
  @inline(__always)
  func checkPages() throws(EngineError) {
    if faults.isAny, let readError { throw readError }
  }

  /// The error of the first page that could not be read.
  var readError: EngineError? { @inline(never) get { faults.error(of: path) } }
}

extension MappedFile {
  /// Maps a file in its current state, for reading only.
  static func reading(_ path: String) throws(EngineError) -> MappedFile {
    let descriptor: Int32
    switch Syscalls.open(path, writable: false) {
    case .success(let opened): descriptor = opened
    case .failure(let failure): throw .syscall("open", path, errno: failure.number)
    }
    defer { Syscalls.close(descriptor) }
    let size: UInt64
    switch Syscalls.sizeBytes(descriptor) {
    case .success(let bytes): size = bytes
    case .failure(let failure): throw .syscall("fstat", path, errno: failure.number)
    }
    switch Syscalls.map(descriptor, sizeBytes: size, path: path) {
    case .success(let mapping): return mapping
    case .failure(let failure): throw .syscall("mmap", path, errno: failure.number)
    }
  }
}
