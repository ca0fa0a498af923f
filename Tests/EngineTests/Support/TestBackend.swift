// TestBackend.swift: [U] a storage backend in memory that logs every call, fails where a test says
// so, and can plant two bugs that an engine could have.

import Synchronization

@testable import Engine

/// Memory that mappings share with the backend that made it.
@safe final class TestMemory: @unchecked Sendable {
  // Safety: tests use a backend from one thread.
  let buffer: UnsafeMutableRawBufferPointer

  init(_ bytes: [UInt8]) {
    unsafe buffer = .allocate(byteCount: bytes.count, alignment: 4096)
    unsafe buffer.copyBytes(from: bytes)
  }

  deinit { unsafe buffer.deallocate() }

  var bytes: [UInt8] { unsafe [UInt8](buffer) }
}

enum TestOperation: Equatable {
  case write(offset: Int, bytes: [UInt8])
  case allocate(Int)
  case truncate(Int)
  case sync

  /// For expectations: the kind of call without its bytes.
  var name: String {
    switch self {
    case .write(let offset, let bytes):
      Layout.slotOffsetsBytes.contains(offset) && bytes.count == 4096 ? "slot" : "nodes"
    case .allocate: "allocate"
    case .truncate: "truncate"
    case .sync: "sync"
    }
  }
}

/// A bug that the backend fakes in the engine's place.
enum PlantedBug {
  case none
  /// Phase 1 ends without a sync.
  case firstSyncMissing
  /// The commit ends without a sync.
  case secondSyncMissing
  /// The root slot goes to the file before the nodes it leads to.
  case slotBeforeNodes
}

final class TestBackend: StorageBackend, @unchecked Sendable {
  let path = "memory"
  // Safety: tests use a backend from one thread.
  private(set) var memory: TestMemory
  private(set) var log: [TestOperation] = []
  private var held: [TestOperation] = []
  /// Whether calls are kept in `log`; a long run only counts them.
  var logs = true
  private(set) var writeCount = 0
  private(set) var writtenBytes = 0
  var bug = PlantedBug.none
  var isBugActive = false
  var failingSync: Int?
  var failingWrite: Int?
  var failingAllocation: Int?
  var failingTruncate: Int?
  /// Whether the first write after the next growth fails.
  var failsWriteAfterGrowth = false
  var failingMap: Int?
  var capacityBytes = Int.max

  init(_ bytes: [UInt8] = []) { memory = TestMemory(bytes) }

  var bytes: [UInt8] { memory.bytes }
  func clearLog() { log = [] }

  private static func failure(_ code: EngineError.Code) -> EngineError {
    EngineError(code: code, message: "planted", isInjected: true)
  }

  func sizeBytes() throws(EngineError) -> UInt64 { UInt64(unsafe memory.buffer.count) }

  func write(_ bytes: UnsafeRawBufferPointer, at offsetBytes: UInt64) throws(EngineError) {
    if let left = failingWrite {
      failingWrite = left - 1
      if left == 0 { throw Self.failure(.io) }
    }
    let target = unsafe UnsafeMutableRawBufferPointer(
      rebasing: memory.buffer[Int(offsetBytes)..<Int(offsetBytes) + bytes.count])
    unsafe target.copyMemory(from: bytes)
    writeCount += 1
    writtenBytes += bytes.count
    if logs { record(.write(offset: Int(offsetBytes), bytes: unsafe [UInt8](bytes))) }
  }

  func allocate(upTo sizeBytes: UInt64) throws(EngineError) {
    if let left = failingAllocation {
      failingAllocation = left - 1
      if left == 0 { throw Self.failure(.noSpace) }
    }
    guard Int(sizeBytes) <= capacityBytes else { throw Self.failure(.noSpace) }
    let missing = unsafe Int(sizeBytes) - memory.buffer.count
    memory = TestMemory(memory.bytes + [UInt8](repeating: 0, count: missing))
    record(.allocate(Int(sizeBytes)))
    if failsWriteAfterGrowth { (failsWriteAfterGrowth, failingWrite) = (false, 0) }
  }

  func truncate(to sizeBytes: UInt64) throws(EngineError) {
    if let left = failingTruncate {
      failingTruncate = left - 1
      if left == 0 { throw Self.failure(.io) }
    }
    let kept = Array(memory.bytes[..<Int(sizeBytes)])
    // A real mapping has nothing there any more; a reader that looks must not find what was there.
    unsafe _ = UnsafeMutableRawBufferPointer(rebasing: memory.buffer[Int(sizeBytes)...])
      .initializeMemory(as: UInt8.self, repeating: 0xa5)
    memory = TestMemory(kept)
    record(.truncate(Int(sizeBytes)))
  }

  func sync() throws(EngineError) {
    if let left = failingSync {
      failingSync = left - 1
      if left == 0 { throw Self.failure(.io) }
    }
    record(.sync)
  }

  func map() throws(EngineError) -> MappedFile {
    if let left = failingMap {
      failingMap = left > 0 ? left - 1 : nil
      if left == 0 { throw Self.failure(.io) }
    }
    return unsafe MappedFile(borrowing: UnsafeRawBufferPointer(memory.buffer), owner: memory)
  }

  func close() {}

  /// Logs an operation, or what the planted bug makes of it.
  private func record(_ operation: TestOperation) {
    guard logs else { return }
    guard isBugActive, bug != .none else {
      log.append(operation)
      return
    }
    switch (bug, operation.name) {
    case (.firstSyncMissing, "sync") where log.last?.name == "nodes": break
    case (.secondSyncMissing, "sync") where log.last?.name == "slot": break
    case (.slotBeforeNodes, "nodes"): held.append(operation)
    case (.slotBeforeNodes, "sync") where !held.isEmpty && log.last?.name != "slot": break
    case (.slotBeforeNodes, "slot"):
      log += [operation, .sync] + held
      held = []
    default: log.append(operation)
    }
  }
}
