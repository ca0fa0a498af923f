// StorageBackend.swift: [U] THE SEAM between the engine and its storage. The engine accesses its
// file only through these calls, so a lab that implements them sees every disk operation of the
// engine, and can reorder it or make it fail.

/// One file, as the engine needs it.
///
/// The engine calls `write`, `allocate`, `truncate` and `sync` from one thread at a time; `map` as
/// well. All offsets and sizes of writes are multiples of 4,096 bytes, so an implementation can
/// treat sectors as units.
public protocol StorageBackend: AnyObject, Sendable {
  /// Names the file in messages.
  var path: String { get }

  /// Size of the file.
  /// - Throws: `EngineError` with code `.io`.
  func sizeBytes() throws(EngineError) -> UInt64

  /// Writes all of the bytes, inside the present size of the file.
  ///
  /// - Parameters:
  ///   - bytes: The bytes to write; valid during the call only.
  ///   - offsetBytes: The position of the first byte.
  /// - Throws: `EngineError` with code `.io` or `.noSpace`; the range then holds any mixture of old
  ///   and new bytes.
  ///
  /// Durability: none before the next `sync` returns; until then each sector may hold the old
  /// bytes, the new ones, or garbage.
  func write(_ bytes: UnsafeRawBufferPointer, at offsetBytes: UInt64) throws(EngineError)

  /// Makes the file at least `sizeBytes` large, with disk space for every byte; new bytes read
  /// as 0.
  ///
  /// - Parameter sizeBytes: The new size; never smaller than the present size.
  /// - Throws: `EngineError` with code `.noSpace` when the medium is full; the content below the
  ///   old size is unchanged then, and the handle stays usable.
  ///
  /// Durability: none; the engine calls `sync` before it uses the new space.
  func allocate(upTo sizeBytes: UInt64) throws(EngineError)

  /// Makes the file `sizeBytes` large by cutting its end off.
  ///
  /// After the call, no mapping is read or written beyond the new end.
  /// - Parameter sizeBytes: The new size; smaller than the present size, a multiple of 4,096.
  /// - Throws: `EngineError` with code `.io`; the file then has the old size or the new one.
  ///
  /// Durability: none, and none is needed: the file is right with either size.
  func truncate(to sizeBytes: UInt64) throws(EngineError)

  /// Forces all writes and the size to the medium.
  ///
  /// - Throws: `EngineError` with code `.io`. The state of every unsynced write is then unknown;
  ///   the engine poisons its handle and does not call again.
  ///
  /// Durability: on return, every earlier write and size survives any crash.
  func sync() throws(EngineError)

  /// Maps the present size of the file read-only.
  ///
  /// The mapping must show every write made before it and after it, up to the next call of
  /// `allocate` or `truncate`; after that the engine makes a new mapping, and the old one only has
  /// to keep showing the bytes that have not been written since.
  /// - Throws: `EngineError` with code `.io`.
  func map() throws(EngineError) -> MappedFile

  /// Makes the next reads of a range come from the medium and not from a cache.
  ///
  /// A hint: an implementation without a cache does nothing.
  func forgetCache(at offsetBytes: UInt64, count: UInt64)

  /// Closes the file; no other call follows. Mappings stay valid.
  func close()
}

extension StorageBackend {
  /// Does nothing.
  public func forgetCache(at offsetBytes: UInt64, count: UInt64) {}
}
