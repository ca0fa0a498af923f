// PlaintextCache.swift [U]: the decrypted nodes of one file, each at its own offset of a stretch of
// memory as large as the file, of which only the cached parts are backed by pages. So code that
// reads a node at its ref in a mapping reads it here the same way. Invariants: a sector's mark is
// not 0 only while the node that starts there is in memory completely; it is set after the last
// byte is written. No sector belongs to two entries. The memory of an entry is zeroed and freed
// after its mark is 0 and every operation that may have seen the mark has ended. Entries are
// evicted oldest first; one that is requested again before it is freed returns without being
// decrypted again (a second chance). Memory in use is at most the bound and what one operation
// reads.

import Synchronization

@safe final class PlaintextCache: @unchecked Sendable {
  // Safety: one stretch of reserved memory: marks and owners, then the plaintext. All of it is
  // freed in deinit; readers hold the cache. Marks are atomics; owners and plaintext are written
  // under the lock, plaintext only where no mark is set.
  private let memory: UnsafeMutableRawPointer
  private let memoryBytes: Int
  private let plaintext: UnsafeMutableRawPointer
  private let owners: UnsafeMutablePointer<UInt32>
  /// One per sector: the value that `NodeReader` compares with a link before it reads.
  let marks: UnsafeMutablePointer<Atomic<UInt32>>
  let markCount: Int
  /// The largest file it can hold.
  let capacityBytes: Int
  let sections = ReadSections()
  private let state: Mutex<State>
  private let isOverBound = Atomic<Bool>(false)
  /// The epoch of an operation that outlasted a wait.
  private let outlasting = Atomic<UInt64>(0)
  /// Waits that freed nothing.
  let vainWaits = Atomic<Int>(0)
  /// Called with memory that is about to be freed; for tests.
  private let willGiveBack: (@Sendable (RawBytes) -> Void)?

  static let boundBytesMin = 1 << 20
  /// Address space is free; with this much a small file never outgrows its cache.
  static let capacityBytesMin = 1 << 30

  private struct Entry {
    var sector = 0
    var sectors = 0
    var checksum: UInt64 = 0
    var isActive = false
    /// Epoch at which it was evicted.
    var stamp: UInt64 = 0
    var previous: UInt32 = 0
    var next: UInt32 = 0
  }

  /// Entries in order of insertion; index 0 is not an entry.
  private struct Queue {
    var first: UInt32 = 0
    var last: UInt32 = 0
    var sizeBytes = 0
  }

  private struct State {
    var boundBytes: Int
    var entries = [Entry()]
    var unusedEntries: [UInt32] = []
    var active = Queue()
    var leaving = Queue()
    var peakBytes = 0
    var unguardedLoads = 0
    var loads = 0

    var residentBytes: Int { active.sizeBytes + leaving.sizeBytes }
  }

  /// Reserves memory for a file of `sizeBytes` and some growth.
  init(
    sizeBytes: Int, boundBytes: Int, capacityBytesMin: Int = capacityBytesMin,
    willGiveBack: (@Sendable (RawBytes) -> Void)? = nil
  ) throws(EngineError) {
    self.willGiveBack = willGiveBack
    var capacity = capacityBytesMin
    while capacity < 2 * sizeBytes { capacity *= 2 }
    let sectors = capacity / Layout.sectorSizeBytes
    let tableBytes = sectors * 4
    memoryBytes = 2 * tableBytes + capacity
    do throws(Syscalls.Errno) {
      unsafe memory = try unsafe Syscalls.reserve(memoryBytes)
    } catch {
      throw .syscall("mmap", "the plaintext cache", errno: error.number)
    }
    // A zeroed word is an atomic that holds 0.
    unsafe marks = memory.assumingMemoryBound(to: Atomic<UInt32>.self)
    unsafe owners = (memory + tableBytes).assumingMemoryBound(to: UInt32.self)
    unsafe plaintext = memory + 2 * tableBytes
    markCount = sectors
    capacityBytes = capacity
    state = Mutex(State(boundBytes: max(boundBytes, Self.boundBytesMin)))
  }

  deinit {
    state.withLock { state in
      wipe(state, from: state.active.first)
      wipe(state, from: state.leaving.first)
    }
    unsafe Syscalls.unreserve(memory, memoryBytes)
  }

  private func wipe(_ state: State, from first: UInt32) {
    var index = first
    while index != 0 {
      wipe(state.entries[Int(index)])
      index = state.entries[Int(index)].next
    }
  }

  private func wipe(_ entry: Entry) {
    let memory = unsafe part(entry)
    unsafe Syscalls.wipe(memory)
    if let willGiveBack { unsafe willGiveBack(RawBytes(UnsafeRawBufferPointer(memory))) }
  }

  /// The plaintext of a file of `sizeBytes`, as far as it is in memory.
  func bytes(_ sizeBytes: Int) -> RawBytes {
    precondition(sizeBytes <= capacityBytes, "a larger file gets a larger cache")
    return unsafe RawBytes(UnsafeRawBufferPointer(start: plaintext, count: sizeBytes))
  }

  private func part(_ entry: Entry) -> UnsafeMutableRawBufferPointer {
    let sector = Layout.sectorSizeBytes
    precondition((entry.sector + entry.sectors) * sector <= capacityBytes, "inside the memory")
    return unsafe UnsafeMutableRawBufferPointer(
      start: plaintext + entry.sector * sector, count: entry.sectors * sector)
  }

  /// Brings the node of a link into memory; `again` decrypts it again even if it is there.
  /// - Throws: `EngineError` as `FileCipher.open` does.
  @inline(never)  // Inlined into its caller it crashes the optimiser of Swift 6.3.1.
  func load(
    _ link: NodeLink, from bytes: RawBytes, cipher: FileCipher, again: Bool
  ) throws(EngineError) {
    let sector = Int(truncatingIfNeeded: link.ref.sector)
    if !again, sector < markCount, state.withLock({ isResident(&$0, link, sector) }) { return }
    try cipher.open(link, in: bytes) { plain in
      state.withLock { place(&$0, plain, link, sector) }
    }
  }

  private func isResident(_ state: inout State, _ link: NodeLink, _ sector: Int) -> Bool {
    let index = unsafe owners[sector]
    let entry = state.entries[Int(index)]
    guard index != 0, entry.sector == sector, entry.checksum == link.checksum,
      link.ref.offsetBytes == UInt64(sector * Layout.sectorSizeBytes)
    else { return false }
    if !entry.isActive { activate(&state, index) }
    return true
  }

  private func place(
    _ state: inout State, _ plain: RawBytes, _ link: NodeLink, _ sector: Int
  ) {
    // A reader without a section exists, so the end of its read is unknown: from now on everything
    // stays.
    if sections.oldest == .max { state.unguardedLoads += 1 }
    if isResident(&state, link, sector) { return }
    state.loads += 1
    let sectors = (plain.count + Layout.sealBytes) / Layout.sectorSizeBytes
    // The old node in these sectors was released by every live version (E1), or it could not have
    // been overwritten.
    discard(&state, sector..<sector + sectors)
    let index = newEntry(&state)
    state.entries[Int(index)] = Entry(
      sector: sector, sectors: sectors, checksum: link.checksum)
    let target = unsafe part(state.entries[Int(index)])
    unsafe target.copyMemory(from: UnsafeRawBufferPointer(start: plain.base, count: plain.count))
    for covered in sector..<sector + sectors { unsafe owners[covered] = index }
    activate(&state, index)
    state.peakBytes = max(state.peakBytes, state.residentBytes)
    trim(&state)
  }

  private func newEntry(_ state: inout State) -> UInt32 {
    if let index = state.unusedEntries.popLast() { return index }
    state.entries.append(Entry())
    return UInt32(state.entries.count - 1)
  }

  /// Drops the nodes in these sectors; no thread may be reading them.
  func forget(_ sectors: Range<Int>) {
    let known = sectors.clamped(to: 0..<markCount)
    state.withLock { discard(&$0, known) }
  }

  private func discard(_ state: inout State, _ sectors: Range<Int>) {
    for sector in sectors {
      let index = unsafe owners[sector]
      if index != 0 { remove(&state, index) }
    }
  }

  // MARK: coming and leaving

  private func activate(_ state: inout State, _ index: UInt32) {
    let entry = state.entries[Int(index)]
    // A new entry is in no queue: it has no stamp and no predecessor.
    if entry.stamp != 0 { Self.unlink(&state.leaving, &state.entries, index) }
    state.entries[Int(index)].isActive = true
    Self.append(&state.active, &state.entries, index)
    unsafe marks[entry.sector].store(NodeReader.mark(entry.checksum), ordering: .releasing)
  }

  /// Evicts an entry; its bytes stay until no thread can be reading them.
  private func deactivate(_ state: inout State, _ index: UInt32) {
    Self.unlink(&state.active, &state.entries, index)
    unsafe marks[state.entries[Int(index)].sector].store(0, ordering: .sequentiallyConsistent)
    state.entries[Int(index)].isActive = false
    state.entries[Int(index)].stamp = sections.stamp
    Self.append(&state.leaving, &state.entries, index)
  }

  /// Zeroes and frees an entry's memory.
  private func remove(_ state: inout State, _ index: UInt32) {
    let entry = state.entries[Int(index)]
    if entry.isActive {
      Self.unlink(&state.active, &state.entries, index)
      unsafe marks[entry.sector].store(0, ordering: .sequentiallyConsistent)
    } else {
      Self.unlink(&state.leaving, &state.entries, index)
    }
    for sector in entry.sector..<entry.sector + entry.sectors { unsafe owners[sector] = 0 }
    wipe(entry)
    let memory = unsafe part(entry)
    if let start = memory.baseAddress { unsafe Syscalls.giveBack(start, memory.count) }
    state.entries[Int(index)] = Entry()
    state.unusedEntries.append(index)
  }

  /// Reduces memory to the bound as far as readers allow.
  private func trim(_ state: inout State) {
    var hasNewLeavers = false
    while state.active.sizeBytes > state.boundBytes / 4 * 3 {
      deactivate(&state, state.active.first)
      hasNewLeavers = true
    }
    if hasNewLeavers { sections.advance() }
    if state.unguardedLoads > 0 { return }
    if state.residentBytes > state.boundBytes {
      let oldest = sections.oldest
      // Frees a little more than needed, so that not every load has to check the sections.
      let target = state.boundBytes / 16 * 15
      while state.residentBytes > target, state.leaving.first != 0,
        state.entries[Int(state.leaving.first)].stamp < oldest
      {
        remove(&state, state.leaving.first)
      }
    }
    isOverBound.store(state.residentBytes > state.boundBytes, ordering: .relaxed)
  }

  /// Called at the end of operations, when they hold no view any more.
  @inline(__always)
  func trimIfNeeded() {
    if isOverBound.load(ordering: .relaxed) { state.withLock { trim(&$0) } }
  }

  /// Called before an operation reads: memory beyond the bound is held by operations of other
  /// threads, so these get some time to end first; otherwise the other threads could fill the
  /// memory while a thread is preempted in the middle of an operation.
  /// - Parameter own: Sections of the caller that hold no view.
  @inline(__always)
  func trimIfNeeded(own: Int) {
    if isOverBound.load(ordering: .relaxed) { waitForOthers(own: own) }
  }

  @inline(never)
  private func waitForOthers(own: Int) {
    // An operation that outlasted one wait is not waited for again: it may stay in its caller's
    // code for hours. The wait is about 20 ms at most: another thread may be waiting for the
    // caller.
    guard sections.oldest != outlasting.load(ordering: .relaxed) else { return }
    for round in 0..<256 {
      trimIfNeeded()
      guard isOverBound.load(ordering: .relaxed), sections.canWait(own: own) else { return }
      Syscalls.pause(round)
    }
    outlasting.store(sections.oldest, ordering: .relaxed)
    vainWaits.add(1, ordering: .relaxed)
  }

  /// Another cache took over; only readers of old versions use this one.
  func shrink() {
    state.withLock { state in
      state.boundBytes = Self.boundBytesMin
      trim(&state)
    }
  }

  // MARK: queues

  private static func append(_ queue: inout Queue, _ entries: inout [Entry], _ index: UInt32) {
    entries[Int(index)].previous = queue.last
    entries[Int(index)].next = 0
    if queue.last == 0 { queue.first = index } else { entries[Int(queue.last)].next = index }
    queue.last = index
    queue.sizeBytes += entries[Int(index)].sectors * Layout.sectorSizeBytes
  }

  private static func unlink(_ queue: inout Queue, _ entries: inout [Entry], _ index: UInt32) {
    let entry = entries[Int(index)]
    if entry.previous == 0 {
      queue.first = entry.next
    } else {
      entries[Int(entry.previous)].next = entry.next
    }
    if entry.next == 0 {
      queue.last = entry.previous
    } else {
      entries[Int(entry.next)].previous = entry.previous
    }
    queue.sizeBytes -= entry.sectors * Layout.sectorSizeBytes
  }

  // MARK: figures

  /// Bytes of plaintext in memory now.
  var residentBytes: Int { state.withLock { $0.residentBytes } }
  /// The most there ever was.
  var peakBytes: Int { state.withLock { $0.peakBytes } }
  /// Nodes that were decrypted.
  var loads: Int { state.withLock { $0.loads } }
  /// Nodes read outside of any section: after the first, memory is not freed any more.
  var unguardedLoads: Int { state.withLock { $0.unguardedLoads } }
  /// The target for the memory in use.
  var boundBytes: Int { state.withLock { $0.boundBytes } }
}
