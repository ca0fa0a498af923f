// ReadSections.swift [U]: which operations are reading plaintext, so that memory is freed only when
// none can still read it. An operation stores the current epoch in its own slot when it begins; an
// entry that the cache evicts is stamped with the current epoch, and its memory is freed when every
// stored epoch is higher. Invariant: a slot's epoch is stored before the operation first reads a
// mark, and a mark is cleared before the epoch rises and the slots are read, with a full fence
// between the two on both sides. So either the evictor sees the slot, or the operation sees the
// cleared mark.

import Synchronization

/// The operations that read one cache.
@safe final class ReadSections: @unchecked Sendable {
  // Safety: `slots` has slotCount × stride atomics, freed in deinit; only atomic access. The first
  // word of a slot is the epoch, 0 for a free one, the second the thread that took it.
  private let slots: UnsafeMutablePointer<Atomic<UInt64>>
  private let epoch = Atomic<UInt64>(1)
  /// Operations that found no slot; no memory is freed while there are any.
  private let unslotted = Atomic<Int>(0)

  private static let slotCount = 64
  /// A slot has its own cache line.
  private static let stride = 8
  static let unslottedIndex = -1
  /// Marks a section that no thread ends soon.
  private static let noThread: UInt64 = 0
  /// The epoch of an operation that holds no view.
  private static let idle = UInt64.max

  init() {
    let count = Self.slotCount * Self.stride
    unsafe slots = .allocate(capacity: count)
    for index in 0..<count { unsafe (slots + index).initialize(to: Atomic(0)) }
  }

  deinit {
    unsafe slots.deinitialize(count: Self.slotCount * Self.stride)
    unsafe slots.deallocate()
  }

  /// Notes the begin of an operation.
  /// - Parameter isHeld: Whether it lasts beyond a call.
  /// - Returns: The slot, to be given to `end`.
  func begin(isHeld: Bool = false) -> Int {
    let now = epoch.load(ordering: .sequentiallyConsistent)
    let thread = Syscalls.threadNumber
    var index = Self.firstIndex(thread)
    for _ in 0..<Self.slotCount {
      let taken = unsafe slots[index * Self.stride].compareExchange(
        expected: 0, desired: now, ordering: .sequentiallyConsistent)
      if taken.exchanged {
        unsafe slots[index * Self.stride + 1].store(
          isHeld ? Self.noThread : thread, ordering: .relaxed)
        atomicMemoryFence(ordering: .sequentiallyConsistent)
        return index
      }
      index = (index + 1) & (Self.slotCount - 1)
    }
    unslotted.add(1, ordering: .sequentiallyConsistent)
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    return Self.unslottedIndex
  }

  private static func firstIndex(_ thread: UInt64) -> Int {
    Int(truncatingIfNeeded: (thread &* 0x9e37_79b9_7f4a_7c15) >> 58)
  }

  /// Whether it makes sense to wait until others end: not when one of them is the caller, or lasts.
  /// - Parameter own: Known sections of the calling thread that hold no view.
  /// - Returns: Whether all reading operations can be expected to end soon.
  func canWait(own: Int) -> Bool {
    let thread = Syscalls.threadNumber
    var found = 0
    for index in 0..<Self.slotCount {
      let noted = unsafe slots[index * Self.stride].load(ordering: .relaxed)
      if noted == 0 || noted == Self.idle { continue }
      let owner = unsafe slots[index * Self.stride + 1].load(ordering: .relaxed)
      if owner == Self.noThread { return false }
      if owner == thread { found += 1 }
    }
    return found <= own && unslotted.load(ordering: .relaxed) == 0
  }

  /// Called when the operation holds no view any more, and continues.
  func refresh(_ index: Int) {
    guard index != Self.unslottedIndex else { return }
    unsafe slots[index * Self.stride].store(
      epoch.load(ordering: .sequentiallyConsistent), ordering: .sequentiallyConsistent)
    atomicMemoryFence(ordering: .sequentiallyConsistent)
  }

  /// The operation holds no view any more, and will not read before it calls `refresh`.
  func pause(_ index: Int) {
    guard index != Self.unslottedIndex else { return }
    unsafe slots[index * Self.stride].store(Self.idle, ordering: .releasing)
  }

  /// Notes the end of an operation.
  func end(_ index: Int) {
    if index == Self.unslottedIndex {
      unslotted.subtract(1, ordering: .releasing)
    } else {
      unsafe slots[index * Self.stride].store(0, ordering: .releasing)
    }
  }

  /// The stamp for entries evicted before the next `advance`.
  var stamp: UInt64 { epoch.load(ordering: .sequentiallyConsistent) }

  /// Separates the operations that may have seen the entries just evicted from later ones.
  func advance() {
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    epoch.add(1, ordering: .sequentiallyConsistent)
  }

  /// Entries with a lower stamp are not in use.
  ///
  /// 0 when unknown, the highest number when there are no readers.
  var oldest: UInt64 {
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    guard unslotted.load(ordering: .sequentiallyConsistent) == 0 else { return 0 }
    var oldest = UInt64.max
    for index in 0..<Self.slotCount {
      let noted = unsafe slots[index * Self.stride].load(ordering: .sequentiallyConsistent)
      if noted != 0 { oldest = min(oldest, noted) }
    }
    return oldest
  }
}

/// The time in which an operation reads nodes: views of them are good until its end.
@safe struct ReadSection {
  // Safety: the reader that made the section outlives than the operation that reads with it.
  private let cache: Unmanaged<PlaintextCache>?
  private let index: Int

  /// A section of a file that is not encrypted: its nodes do not move.
  static let none = ReadSection()

  private init() {
    unsafe cache = nil
    index = 0
  }

  init(_ cache: PlaintextCache) {
    unsafe self.cache = unsafe Unmanaged.passUnretained(cache)
    cache.trimIfNeeded(own: 0)
    index = cache.sections.begin()
  }

  /// Declares that no view is held any more; views of nodes read later are valid again.
  @inline(__always)
  func refresh() {
    guard let cache = unsafe cache else { return }
    unsafe cache._withUnsafeGuaranteedRef { cache in
      cache.sections.refresh(index)
      cache.trimIfNeeded(own: 1)
    }
  }

  /// Declares that no view is held any more, and that none is needed before `refresh`: the caller's
  /// code runs in between, for any length of time.
  @inline(__always)
  func pause() {
    guard let cache = unsafe cache else { return }
    unsafe cache._withUnsafeGuaranteedRef { cache in
      cache.sections.pause(index)
      cache.trimIfNeeded()
    }
  }

  /// Ends the section.
  @inline(__always)
  func end() {
    guard let cache = unsafe cache else { return }
    unsafe cache._withUnsafeGuaranteedRef { cache in
      cache.sections.end(index)
      cache.trimIfNeeded()
    }
  }
}

/// A section that lasts as long as the object, for a type that keeps views between calls.
final class ReadHold: Sendable {
  private let cache: PlaintextCache
  private let index: Int

  init(_ cache: PlaintextCache) {
    self.cache = cache
    index = cache.sections.begin(isHeld: true)
  }

  deinit {
    cache.sections.end(index)
    cache.trimIfNeeded()
  }
}
