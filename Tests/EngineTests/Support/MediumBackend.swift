// MediumBackend.swift: [U] a storage backend in memory with a medium below its cache: a sync that
// fails has written some of the dirty pages, and a power cut leaves what the medium has.
// As ext4 has it: the pages of a failed sync are clean afterwards, whether they arrived or not, and
// the file's size arrives with a sync that succeeds only.

@testable import Engine

final class MediumBackend: StorageBackend, @unchecked Sendable {
  // Safety: tests use a backend from one thread.
  static let pageBytes = 4096
  let path = "memory"
  private let cache: TestBackend
  /// What arrived, also behind the size that did.
  private var medium: [UInt8]
  private var mediumSizeBytes: Int
  /// Numbers of the pages that the medium does not have.
  private(set) var dirtyPages: Set<Int> = []
  /// Syncs until the one that fails; nil for none.
  var failingSync: Int?
  /// Which of the dirty pages of the sync that fails arrive, by their place among them.
  var arrives: (Int) -> Bool = { _ in false }
  /// The pages that were dirty when the sync failed, ascending.
  private(set) var pagesOfFailure: [Int] = []

  /// Begins with a file on the medium, and nothing in the cache that it lacks.
  init(_ bytes: [UInt8] = []) {
    cache = TestBackend(bytes)
    cache.logs = false
    medium = bytes
    mediumSizeBytes = bytes.count
  }

  /// What a power cut leaves.
  var afterPowerCut: [UInt8] { Array(medium[..<mediumSizeBytes]) }

  func sizeBytes() throws(EngineError) -> UInt64 { try cache.sizeBytes() }

  func write(_ bytes: UnsafeRawBufferPointer, at offsetBytes: UInt64) throws(EngineError) {
    try unsafe cache.write(bytes, at: offsetBytes)
    let first = Int(offsetBytes) / Self.pageBytes
    dirtyPages.formUnion(first..<first + bytes.count / Self.pageBytes)
  }

  func allocate(upTo sizeBytes: UInt64) throws(EngineError) { try cache.allocate(upTo: sizeBytes) }

  func truncate(to sizeBytes: UInt64) throws(EngineError) {
    try cache.truncate(to: sizeBytes)
    dirtyPages = dirtyPages.filter { $0 * Self.pageBytes < Int(sizeBytes) }
  }

  func sync() throws(EngineError) {
    let pages = dirtyPages.sorted()
    dirtyPages = []
    if let left = failingSync {
      failingSync = left - 1
      if left == 0 {
        pagesOfFailure = pages
        for (place, page) in pages.enumerated() where arrives(place) { arrive(page) }
        throw EngineError(code: .io, message: "planted", isInjected: true)
      }
    }
    for page in pages { arrive(page) }
    let size = unsafe cache.memory.buffer.count
    if size < mediumSizeBytes { medium.removeSubrange(size...) }
    reach(size)
    mediumSizeBytes = size
  }

  private func reach(_ size: Int) {
    if medium.count < size { medium += [UInt8](repeating: 0, count: size - medium.count) }
  }

  private func arrive(_ page: Int) {
    let range = page * Self.pageBytes..<(page + 1) * Self.pageBytes
    reach(range.upperBound)
    unsafe medium.withUnsafeMutableBytes { medium in
      unsafe UnsafeMutableRawBufferPointer(rebasing: medium[range])
        .copyMemory(from: UnsafeRawBufferPointer(rebasing: cache.memory.buffer[range]))
    }
  }

  func map() throws(EngineError) -> MappedFile { try cache.map() }

  /// Clean pages show what the medium has.
  func forgetCache(at offsetBytes: UInt64, count: UInt64) {
    let size = unsafe cache.memory.buffer.count
    let first = Int(offsetBytes) / Self.pageBytes
    let end = min(Int(offsetBytes + count), size) / Self.pageBytes
    reach(end * Self.pageBytes)
    for page in first..<max(first, end) where !dirtyPages.contains(page) {
      let range = page * Self.pageBytes..<(page + 1) * Self.pageBytes
      unsafe medium.withUnsafeBytes { medium in
        unsafe UnsafeMutableRawBufferPointer(rebasing: cache.memory.buffer[range])
          .copyMemory(from: UnsafeRawBufferPointer(rebasing: medium[range]))
      }
    }
  }

  func close() {}
}
