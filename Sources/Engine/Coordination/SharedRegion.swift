// SharedRegion.swift [U]: the memory of RegionLayout, mapped from the lock file or anonymous.
// Invariants: every access is atomic and inside the mapping; the whole size is mapped from the
// start, so the memory never moves; a store to a slot comes after disk space was allocated for it.

import Synchronization

/// Memory that handles of all processes share.
@safe final class SharedRegion: @unchecked Sendable {
  // Safety: mapped in init, unmapped or kept as the spare in deinit, accessed through atomics only.
  // Other processes may store anything at any time; no value read here is used unchecked.
  private let base: UnsafeMutableRawPointer
  private let isAnonymous: Bool

  /// The address of anonymous memory that is not in use, all zeros; or 0.
  ///
  /// Without it, opening databases without a lock file one after the other would spend a quarter of
  /// the time on memory.
  private static let spare = Atomic<UInt>(0)

  /// Maps a descriptor's file, which has `RegionLayout.sizeBytes` already; -1 is anonymous memory.
  init(descriptor: Int32, path: String) throws(EngineError) {
    isAnonymous = descriptor < 0
    if isAnonymous,
      let address = unsafe UnsafeMutableRawPointer(
        bitPattern: Self.spare.exchange(0, ordering: .acquiring))
    {
      unsafe base = unsafe address
      return
    }
    switch unsafe Syscalls.mapShared(descriptor, sizeBytes: RegionLayout.sizeBytes) {
    case .success(let address): unsafe base = unsafe address
    case .failure(let failure): throw .syscall("mmap", path, errno: failure.number)
    }
  }

  /// Whether other processes see it.
  var isInFile: Bool { !isAnonymous }

  /// Reads a byte of each page, so that an unreadable page is an error here and not a signal later;
  /// the kernel keeps the pages in memory as long as it can.
  /// - Parameters:
  ///   - offsets: Bytes that no other process uses yet, or that are already in memory.
  ///   - path: Names the file in messages.
  /// - Throws: `EngineError` with code `.io`; the region is of no use then.
  func touch(_ offsets: Range<Int>, path: String) throws(EngineError) {
    let part = unsafe UnsafeRawBufferPointer(
      start: base + offsets.lowerBound, count: offsets.count)
    let faults = unsafe MappingFaults(watching: part)
    defer { faults.end() }
    for offset in stride(from: offsets.lowerBound, to: offsets.upperBound, by: 4096) {
      _ = loadRelaxed(offset)
    }
    if let error = faults.error(of: path) { throw error }
  }

  deinit {
    if !isAnonymous || !becomesSpare() {
      unsafe Syscalls.unmap(base, sizeBytes: RegionLayout.sizeBytes)
    }
  }

  /// Clears the memory and keeps it for the next session; false when more than one page of slots
  /// was used, or a spare exists already.
  private func becomesSpare() -> Bool {
    guard load32(RegionLayout.slotCountOffset) <= RegionLayout.slotCountMin,
      Self.spare.load(ordering: .relaxed) == 0
    else { return false }
    let usedBytes = RegionLayout.sizeBytes(slotCount: RegionLayout.slotCountMin)
    for offset in stride(from: 0, to: usedBytes, by: 8) {
      unsafe word(offset).pointee.store(0, ordering: .relaxed)
    }
    return unsafe Self.spare.compareExchange(
      expected: 0, desired: UInt(bitPattern: base), ordering: .releasing
    ).exchanged
  }

  /// A word of 8 bytes.
  @inline(__always)
  private func word(_ offset: Int) -> UnsafeMutablePointer<Atomic<UInt64>> {
    precondition(offset >= 0 && offset <= RegionLayout.sizeBytes - 8 && offset & 7 == 0)
    return unsafe (base + offset).assumingMemoryBound(to: Atomic<UInt64>.self)
  }

  /// A word of 4 bytes.
  @inline(__always)
  private func half(_ offset: Int) -> UnsafeMutablePointer<Atomic<UInt32>> {
    precondition(offset >= 0 && offset <= RegionLayout.sizeBytes - 4 && offset & 3 == 0)
    return unsafe (base + offset).assumingMemoryBound(to: Atomic<UInt32>.self)
  }

  /// Loads in the one order of all sequentially consistent accesses.
  @inline(__always)
  func load(_ offset: Int) -> UInt64 {
    unsafe word(offset).pointee.load(ordering: .sequentiallyConsistent)
  }

  @inline(__always)
  func loadRelaxed(_ offset: Int) -> UInt64 {
    unsafe word(offset).pointee.load(ordering: .relaxed)
  }

  @inline(__always)
  func loadAcquiring(_ offset: Int) -> UInt64 {
    unsafe word(offset).pointee.load(ordering: .acquiring)
  }

  /// Stores in the one order of all sequentially consistent accesses.
  @inline(__always)
  func store(_ value: UInt64, at offset: Int) {
    unsafe word(offset).pointee.store(value, ordering: .sequentiallyConsistent)
  }

  @inline(__always)
  func storeReleasing(_ value: UInt64, at offset: Int) {
    unsafe word(offset).pointee.store(value, ordering: .releasing)
  }

  /// Replaces a word that has the expected value; false when it has another.
  @inline(__always)
  func exchange(_ expected: UInt64, _ value: UInt64, at offset: Int) -> Bool {
    unsafe word(offset).pointee.compareExchange(
      expected: expected, desired: value, ordering: .sequentiallyConsistent
    ).exchanged
  }

  func load32(_ offset: Int) -> UInt32 {
    unsafe half(offset).pointee.load(ordering: .sequentiallyConsistent)
  }

  func store32(_ value: UInt32, at offset: Int) {
    unsafe half(offset).pointee.store(value, ordering: .sequentiallyConsistent)
  }

  /// Adds to a count, modulo 2^32.
  func add32(_ amount: UInt32, at offset: Int) {
    unsafe half(offset).pointee.wrappingAdd(amount, ordering: .sequentiallyConsistent)
  }

  func exchange32(_ expected: UInt32, _ value: UInt32, at offset: Int) -> Bool {
    unsafe half(offset).pointee.compareExchange(
      expected: expected, desired: value, ordering: .sequentiallyConsistent
    ).exchanged
  }

  /// Sleeps until the count changes, a wake-up comes, or the timeout expires.
  func wait(at offset: Int, expecting value: UInt32, timeoutMilliseconds: Int) {
    unsafe Syscalls.futexWait(
      UnsafeMutableRawPointer(half(offset)), expecting: value,
      timeoutMilliseconds: timeoutMilliseconds)
  }

  /// Wakes all threads that sleep on the count.
  func wakeAll(at offset: Int) {
    unsafe Syscalls.futexWake(UnsafeMutableRawPointer(half(offset)))
  }
}
