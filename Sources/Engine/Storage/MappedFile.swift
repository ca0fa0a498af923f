// MappedFile.swift [U]: read-only memory with a file's bytes, released when the last user lets go.

/// A read-only view of a file's bytes as `StorageBackend.map()` returns it.
///
/// Snapshots keep the mapping they were opened on, so a file can grow and be mapped anew while old
/// readers go on. The memory is released when the last reference goes.
@safe public final class MappedFile: @unchecked Sendable {
  // Safety: the memory is constant for the nodes anyone reads, and `release` runs once, in deinit.
  private let buffer: UnsafeRawBufferPointer
  private let release: @Sendable () -> Void
  /// What the sectors hold, where the lab knows it.
  package let identities: SectorIdentities?

  /// Takes memory over, and says how to give it back.
  /// - Parameters:
  ///   - buffer: The memory; it must stay readable until `release` is called.
  ///   - release: Called once, from whatever thread lets go of the last reference.
  @unsafe public init(_ buffer: UnsafeRawBufferPointer, release: @escaping @Sendable () -> Void) {
    unsafe self.buffer = unsafe buffer
    self.release = release
    identities = nil
  }

  /// Uses memory that belongs to someone else.
  /// - Parameters:
  ///   - buffer: The memory.
  ///   - owner: An object that keeps the memory alive; it is held as long as the mapping.
  @unsafe public convenience init(
    borrowing buffer: UnsafeRawBufferPointer, owner: (any AnyObject & Sendable)? = nil
  ) {
    unsafe self.init(buffer, release: { withExtendedLifetime(owner) {} })
  }

  /// Uses the lab's memory, of which it says what the sectors hold.
  @unsafe package init(
    borrowing buffer: UnsafeRawBufferPointer, owner: any AnyObject & Sendable,
    identities: SectorIdentities
  ) {
    unsafe self.buffer = unsafe buffer
    release = { withExtendedLifetime(owner) {} }
    self.identities = identities
  }

  deinit {
    release()
  }

  /// Size of the mapping.
  public var count: Int { unsafe buffer.count }

  /// The bytes; the view must not outlive the mapping, so this is for whoever keeps a reference.
  package var bytes: RawBytes { unsafe RawBytes(buffer) }

  /// Calls `body` with the bytes, and keeps the mapping alive meanwhile.
  package func withBytes<Result, Failure: Error>(
    _ body: (RawBytes) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    defer { withExtendedLifetime(self) {} }
    return try body(bytes)
  }
}
