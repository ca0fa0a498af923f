// ScheduledBackend.swift [U]: the engine's storage with a scheduling point before each call that
// changes the file or makes it durable. Calls that only read are not visible to others.

import Engine

/// A backend whose calls are scheduling points.
final class ScheduledBackend: StorageBackend {
  private let backend: any StorageBackend
  private let reach: @Sendable (SchedulePlace) -> Void

  init(_ backend: any StorageBackend, reach: @escaping @Sendable (SchedulePlace) -> Void) {
    self.backend = backend
    self.reach = reach
  }

  var path: String { backend.path }

  func sizeBytes() throws(EngineError) -> UInt64 { try backend.sizeBytes() }

  func write(_ bytes: UnsafeRawBufferPointer, at offsetBytes: UInt64) throws(EngineError) {
    reach(.file(.write))
    try unsafe backend.write(bytes, at: offsetBytes)
  }

  func allocate(upTo sizeBytes: UInt64) throws(EngineError) {
    reach(.file(.allocate))
    try backend.allocate(upTo: sizeBytes)
  }

  func truncate(to sizeBytes: UInt64) throws(EngineError) {
    reach(.file(.truncate))
    try backend.truncate(to: sizeBytes)
  }

  func sync() throws(EngineError) {
    reach(.file(.sync))
    try backend.sync()
  }

  func map() throws(EngineError) -> MappedFile { try backend.map() }

  func forgetCache(at offsetBytes: UInt64, count: UInt64) {
    backend.forgetCache(at: offsetBytes, count: count)
  }

  func close() { backend.close() }
}
