// ReaderSlots.swift: pins of all processes: a slot per pin, with its owner and its version.
// Invariants: a slot belongs to the process that changed its owner from 0; only the owner stores
// its version; only the owner, or any process once the owner is dead, resets it to 0. The number of
// slots only rises. No lock is taken to pin or to unpin.
//
// The race between a reader and the writer. The reader stores v in its slot (S), then loads the
// published version again (L), and holds v only if L says v. The writer publishes v + 1 (P), and
// reads the slots (W) in its *next* commit, the first one that may use space that v reaches and v +
// 1 does not. All four are sequentially consistent: L saw v, so S < L < P < W, and W sees the slot.
// If L sees another version, the reader stores that one and loads again. Until then its slot may
// hold a version that it never reads, which costs space for one commit and nothing else.

import Synchronization

/// A pin of another or of this process, as statistics show it.
public struct PinRecord: Hashable, Sendable {
  /// The version that the pin keeps.
  public var version: Version
  /// The process that holds it.
  public var processID: Int32
  /// The thread that took it.
  public var threadID: Int32
  /// How long it has been held.
  public var ageMilliseconds: UInt64
}

/// The reader slots of a region.
struct ReaderSlots: ~Copyable, Sendable {
  let region: SharedRegion
  let processes: ProcessTable
  let owner: ProcessOwner
  /// Allocates disk space for this many slots; returns the error.
  let allocate: @Sendable (Int) -> EngineError?
  private let schedule: ScheduleHook?
  /// Slots known to have disk space.
  private let allocatedCount = Atomic<Int>(0)
  /// Where the search for a free slot begins: after the last one taken, or at a released one.
  private let hint = Atomic<Int>(0)

  init(
    region: SharedRegion, processes: ProcessTable, owner: ProcessOwner,
    schedule: ScheduleHook? = nil, allocate: @escaping @Sendable (Int) -> EngineError?
  ) {
    self.schedule = schedule
    self.region = region
    self.processes = processes
    self.owner = owner
    self.allocate = allocate
  }

  /// The number of slots; garbage counts as something between the smallest and the largest number.
  var count: Int { Self.bounded(region.load32(RegionLayout.slotCountOffset)) }

  private static func bounded(_ stored: UInt32) -> Int {
    min(max(Int(stored), RegionLayout.slotCountMin), RegionLayout.slotCountMax)
  }

  /// Takes a free slot.
  /// - Throws: `EngineError` with code `.tooManyReaders`, or `.noSpace` when the lock file cannot
  ///   grow.
  func claim(thread: Int32, now: UInt64) throws(EngineError) -> Int {
    while true {
      schedule?.meet(.load, .slotCount)
      let stored = region.load32(RegionLayout.slotCountOffset)
      let count = Self.bounded(stored)
      try provide(count)
      if let index = claimOne(of: count) {
        let slot = RegionLayout.slot(index)
        let number = UInt64(UInt32(bitPattern: thread))
        region.storeReleasing(number, at: slot + RegionLayout.slotThreadOffset)
        region.storeReleasing(now, at: slot + RegionLayout.slotSinceOffset)
        return index
      }
      if count == RegionLayout.slotCountMax {
        guard reapAll() > 0 else {
          throw EngineError(
            code: .tooManyReaders,
            message: "reader slots in use: \(count) of \(RegionLayout.slotCountMax); release "
              + "snapshots that are no longer needed")
        }
        continue
      }
      let larger = min(count * 2, RegionLayout.slotCountMax)
      try provide(larger)
      // Another thread may have grown it in the meantime; either way there are more slots now.
      schedule?.meet(.exchange, .slotCount)
      _ = region.exchange32(stored, UInt32(larger), at: RegionLayout.slotCountOffset)
    }
  }

  private func provide(_ count: Int) throws(EngineError) {
    guard allocatedCount.load(ordering: .relaxed) < count else { return }
    if let error = allocate(count) { throw error }
    allocatedCount.store(count, ordering: .relaxed)
  }

  private func claimOne(of count: Int) -> Int? {
    let start = hint.load(ordering: .relaxed)
    var index = start < count ? start : 0
    for _ in 0..<count {
      let slot = RegionLayout.slot(index)
      if loadOwner(slot) == 0, exchangeOwner(of: slot, 0, owner.rawValue) {
        hint.store(index + 1, ordering: .relaxed)
        return index
      }
      index = index + 1 < count ? index + 1 : 0
    }
    return nil
  }

  private func loadOwner(_ slot: Int) -> UInt64 {
    schedule?.meet(.load, .slotOwner)
    return region.loadRelaxed(slot)
  }

  /// The schedule point before an access to one of all slots.
  ///
  /// Of the slots that were never claimed, only the first is a point of its own, since no other is
  /// claimed before it; otherwise a pass over all slots would have 64 points.
  private func meetOwner(of index: Int) {
    guard let schedule, schedule.meetsShared else { return }
    if index == 0 || wasClaimed(index) || wasClaimed(index - 1) { schedule.meet(.load, .slotOwner) }
  }

  private func wasClaimed(_ index: Int) -> Bool {
    region.loadRelaxed(RegionLayout.slot(index) + RegionLayout.slotThreadOffset) != 0
  }

  private func exchangeOwner(of slot: Int, _ expected: UInt64, _ value: UInt64) -> Bool {
    schedule?.meet(.exchange, .slotOwner)
    return region.exchange(expected, value, at: slot)
  }

  /// Stores the version that the slot pins; see the race above for the next step.
  @inline(__always)
  func store(_ version: Version, in index: Int) {
    schedule?.meet(.store, .slotVersion)
    region.store(version.rawValue, at: RegionLayout.slot(index) + RegionLayout.slotVersionOffset)
  }

  /// Releases a slot.
  func release(_ index: Int) {
    let slot = RegionLayout.slot(index)
    // A slot that lost its owner was scribbled on, and may be someone else's by now.
    guard loadOwner(slot) == owner.rawValue else { return }
    schedule?.meet(.store, .slotVersion)
    region.storeReleasing(0, at: slot + RegionLayout.slotVersionOffset)
    _ = exchangeOwner(of: slot, owner.rawValue, 0)
    hint.store(index, ordering: .relaxed)
  }

  /// The exact set of pinned versions, sorted, for the writer who holds the lock.
  ///
  /// Also releases the slots of dead owners. Liveness is checked once per owner, and only for
  /// owners whose pin matters: one of a version other than `current`.
  func collect(current: Version) -> [Version] {
    var versions: Set<UInt64> = []
    var life: [UInt64: Bool] = [owner.rawValue: true]
    for index in 0..<count {
      let slot = RegionLayout.slot(index)
      meetOwner(of: index)
      let holder = region.load(slot)
      guard holder != 0 else { continue }
      schedule?.meet(.load, .slotVersion)
      let version = region.load(slot + RegionLayout.slotVersionOffset)
      // Not stored yet: any version it will pin is published after this check.
      guard version != 0, version != current.rawValue else { continue }
      guard isAlive(holder, &life) else {
        _ = exchangeOwner(of: slot, holder, 0)
        continue
      }
      versions.insert(version)
    }
    return versions.sorted().map { Version(rawValue: $0) }
  }

  /// Whether a slot pins a version, its owner alive or not: an estimate that needs no system call.
  func holds(_ version: Version) -> Bool {
    (0..<count).contains { index in
      let slot = RegionLayout.slot(index)
      meetOwner(of: index)
      return region.load(slot) != 0
        && region.load(slot + RegionLayout.slotVersionOffset) == version.rawValue
    }
  }

  private func isAlive(_ holder: UInt64, _ life: inout [UInt64: Bool]) -> Bool {
    if let known = life[holder] { return known }
    let isAlive = processes.isAlive(ProcessOwner(rawValue: holder))
    life[holder] = isAlive
    return isAlive
  }

  /// Gives the slots of all dead owners back, and says how many there were.
  ///
  /// Any process may do so: a dead owner never comes back, and its word is reset to 0 in one step.
  private func reapAll() -> Int {
    var life: [UInt64: Bool] = [owner.rawValue: true]
    var freed = 0
    for index in 0..<count {
      let slot = RegionLayout.slot(index)
      meetOwner(of: index)
      let holder = region.load(slot)
      guard holder != 0, !isAlive(holder, &life) else { continue }
      if exchangeOwner(of: slot, holder, 0) { freed += 1 }
    }
    return freed
  }

  /// All pins that hold a version, in the order of the slots; no point of a schedule.
  func records(now: UInt64) -> [PinRecord] {
    var records: [PinRecord] = []
    for index in 0..<count {
      let slot = RegionLayout.slot(index)
      let holder = region.load(slot)
      let version = region.load(slot + RegionLayout.slotVersionOffset)
      guard holder != 0, version != 0 else { continue }
      let since = region.loadRelaxed(slot + RegionLayout.slotSinceOffset)
      let thread = region.loadRelaxed(slot + RegionLayout.slotThreadOffset)
      records.append(
        PinRecord(
          version: Version(rawValue: version), processID: ProcessOwner(rawValue: holder).pid,
          threadID: Int32(truncatingIfNeeded: thread),
          ageMilliseconds: now > since ? now - since : 0))
    }
    return records
  }
}
