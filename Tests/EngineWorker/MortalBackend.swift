// MortalBackend.swift [U]: a backend that kills its process before a chosen call of a commit.
// Safety: buffers are passed on during the call.

import Engine
import Synchronization

final class MortalBackend: StorageBackend {
  private let inner: any StorageBackend
  private let callsLeft: Atomic<Int>

  init(_ inner: any StorageBackend, dyingAt number: Int) {
    self.inner = inner
    callsLeft = Atomic(number)
  }

  var path: String { inner.path }

  private func count() {
    if callsLeft.subtract(1, ordering: .relaxed).newValue < 0 { die() }
  }

  func sizeBytes() throws(EngineError) -> UInt64 { try inner.sizeBytes() }

  func write(_ bytes: UnsafeRawBufferPointer, at offsetBytes: UInt64) throws(EngineError) {
    count()
    try unsafe inner.write(bytes, at: offsetBytes)
  }

  func allocate(upTo sizeBytes: UInt64) throws(EngineError) {
    count()
    try inner.allocate(upTo: sizeBytes)
  }

  func sync() throws(EngineError) {
    count()
    try inner.sync()
  }

  func map() throws(EngineError) -> MappedFile { try inner.map() }
  func close() { inner.close() }
}
