// TestDisk.swift [U]: a file in memory that loses power: at a drawn operation everything fails, and
// of what was not synced only a drawn part is there afterwards. Invariants: what a sync covered is
// there; a sector has its old bytes or the new ones; nothing is written once the power is gone.

import Engine
import ObjectDatabase
import Synchronization

/// The file's medium, and the storage that is open on it.
final class TestDisk: Sendable {
  private struct State {
    var durable: [UInt8] = []
    /// What was written since the last sync, in order.
    var pending: [Change] = []
    /// The operations until power fails; nil for never.
    var operationsLeft: Int?
    var hasFailed = false
    var openCount = 0
    var syncCount = 0
  }

  fileprivate enum Change {
    case write(offset: Int, [UInt8])
    case size(Int)
  }

  private let state = Mutex(State())

  /// Whether power has failed since the last start.
  var hasFailed: Bool { state.withLock { $0.hasFailed } }
  /// The durable bytes: a copy of the file.
  var bytes: [UInt8] { state.withLock { $0.durable } }
  var syncCount: Int { state.withLock { $0.syncCount } }

  init(_ bytes: [UInt8] = []) { state.withLock { $0.durable = bytes } }

  /// Lets power fail after some operations; nil for never.
  func fail(after operations: Int?) { state.withLock { $0.operationsLeft = operations } }

  /// Power comes back; of what was not synced, a drawn part is there.
  func restart(_ random: inout TestRandom) {
    let (durable, pending) = state.withLock { ($0.durable, $0.pending) }
    var image = durable
    let percent = [0, 50, 100][random.below(3)]
    for change in pending {
      switch change {
      case .size(let size):
        if random.below(100) < max(50, percent) { Self.resize(&image, size) }
      case .write(let offset, let bytes):
        for start in stride(from: 0, to: bytes.count, by: 4096)
        where random.below(100) < percent {
          let end = min(start + 4096, bytes.count)
          if image.count < offset + end { Self.resize(&image, offset + end) }
          image.replaceSubrange(offset + start..<offset + end, with: bytes[start..<end])
        }
      }
    }
    restart(with: image)
  }

  /// Power comes back, with a copy of the file.
  func restart(with bytes: [UInt8]) {
    state.withLock {
      $0.durable = bytes
      $0.pending = []
      $0.operationsLeft = nil
      $0.hasFailed = false
    }
  }

  private static func resize(_ bytes: inout [UInt8], _ size: Int) {
    if bytes.count > size { bytes.removeLast(bytes.count - size) }
    bytes += [UInt8](repeating: 0, count: size - bytes.count)
  }

  /// How a realm opens the file.
  func opener() -> EngineOpener {
    let number = state.withLock { state in
      state.openCount += 1
      return state.openCount
    }
    return EngineOpener(number: number) { (options) throws(EngineError) in
      try Database.open(backend: TestStorage(self), options: options)
    }
  }

  // MARK: for the storage

  fileprivate func change(_ change: Change, of storage: String) throws(EngineError) {
    try operate(storage) { $0.pending.append(change) }
  }

  fileprivate func sync(_ storage: String) throws(EngineError) {
    try operate(storage) { state in
      for change in state.pending {
        switch change {
        case .size(let size): Self.resize(&state.durable, size)
        case .write(let offset, let bytes):
          state.durable.replaceSubrange(offset..<offset + bytes.count, with: bytes)
        }
      }
      state.pending = []
      state.syncCount += 1
    }
  }

  private func operate(
    _ storage: String, _ body: (inout State) -> Void
  ) throws(EngineError) {
    let isOn = state.withLock { state in
      if let left = state.operationsLeft {
        state.hasFailed = state.hasFailed || left == 0
        state.operationsLeft = max(0, left - 1)
      }
      guard !state.hasFailed else { return false }
      body(&state)
      return true
    }
    guard isOn else { throw EngineError(code: .io, message: "\(storage) has no power") }
  }
}

/// The file as one process sees it.
@safe private final class TestStorage: StorageBackend, @unchecked Sendable {
  // Safety: one thread at a time, as the engine promises; mappings keep the memory itself.
  let path = "a test disk"
  private let disk: TestDisk
  private var memory: TestMemory
  private var size: Int

  init(_ disk: TestDisk) {
    self.disk = disk
    let bytes = disk.bytes
    size = bytes.count
    memory = TestMemory(capacity: max(1 << 18, 2 * size))
    unsafe memory.bytes.copyBytes(from: bytes)
  }

  func sizeBytes() -> UInt64 { UInt64(size) }

  func write(_ bytes: UnsafeRawBufferPointer, at offsetBytes: UInt64) throws(EngineError) {
    let start = Int(offsetBytes)
    guard start + bytes.count <= size else {
      throw EngineError(code: .io, message: "\(path) ends at \(size)")
    }
    try disk.change(.write(offset: start, unsafe Array(bytes)), of: path)
    unsafe UnsafeMutableRawBufferPointer(rebasing: memory.bytes[start..<start + bytes.count])
      .copyMemory(from: bytes)
  }

  func allocate(upTo sizeBytes: UInt64) throws(EngineError) {
    let wanted = Int(sizeBytes)
    guard wanted > size else { return }
    try disk.change(.size(wanted), of: path)
    if unsafe wanted > memory.bytes.count {
      let larger = TestMemory(capacity: 2 * wanted)
      unsafe larger.bytes.copyMemory(from: UnsafeRawBufferPointer(rebasing: memory.bytes[..<size]))
      memory = larger
    }
    size = wanted
  }

  func truncate(to sizeBytes: UInt64) throws(EngineError) {
    try disk.change(.size(Int(sizeBytes)), of: path)
    let kept = Int(sizeBytes)
    let smaller = TestMemory(capacity: 2 * kept)
    unsafe smaller.bytes.copyMemory(from: UnsafeRawBufferPointer(rebasing: memory.bytes[..<kept]))
    memory = smaller
    size = kept
  }

  func sync() throws(EngineError) { try disk.sync(path) }

  func map() -> MappedFile {
    unsafe MappedFile(
      borrowing: UnsafeRawBufferPointer(rebasing: memory.bytes[..<size]), owner: memory)
  }

  func close() {}
}

/// Memory that is zero at first, freed with the last mapping of it.
@safe private final class TestMemory: @unchecked Sendable {
  // Safety: one thread writes, and readers look only at what the engine has published.
  let bytes: UnsafeMutableRawBufferPointer

  init(capacity: Int) {
    unsafe bytes = .allocate(byteCount: max(1, capacity), alignment: 4096)
    unsafe bytes.initializeMemory(as: UInt8.self, repeating: 0)
  }

  deinit { unsafe bytes.deallocate() }
}
