// ReaderSlotsTests.swift: pins in the shared memory: how many, whose, and what they keep.

import Glibc
import Synchronization
import Testing

@testable import Engine

@Suite("Reader slots")
struct ReaderSlotsTests {
  private static func slots(
    _ region: SharedRegion, pid: Int32 = 7, startTime: UInt64 = 100,
    life: @escaping @Sendable (Int32) -> ProcessTable.Life = { _ in .running(startTime: 100) }
  ) -> ReaderSlots {
    ReaderSlots(
      region: region, processes: ProcessTable(life: life, namespaceID: 0),
      owner: ProcessOwner(pid: pid, startTime: startTime), allocate: { _ in nil })
  }

  private static func region() throws -> SharedRegion {
    try SharedRegion(descriptor: -1, path: "memory")
  }

  private static func version(_ number: UInt64) -> Version { Version(rawValue: number) }

  @Test("every version that is pinned is in the set, once, sorted, and gone when it is released")
  func exactSet() throws {
    let slots = Self.slots(try Self.region())
    var held: [Int] = []
    for number: UInt64 in [9, 3, 5, 3, 12] {
      let slot = try slots.claim(thread: 1, now: 0)
      slots.store(Self.version(number), in: slot)
      held.append(slot)
    }
    #expect(Set(held).count == 5)
    #expect(slots.collect(current: Self.version(12)) == [3, 5, 9].map(Self.version))
    slots.release(held[0])
    slots.release(held[1])
    #expect(slots.collect(current: Self.version(12)) == [3, 5].map(Self.version))
    slots.release(held[3])
    #expect(slots.collect(current: Self.version(12)) == [Self.version(5)])
  }

  @Test("a look at all slots has a point at each that was ever claimed, and at the next one")
  func points() throws {
    let met = Mutex<[SchedulePoint]>([])
    let hook = ScheduleHook(
      meetsShared: true, reach: { point in met.withLock { $0.append(point) } },
      wait: { _, _, _ in true })
    let slots = ReaderSlots(
      region: try Self.region(), processes: ProcessTable(life: { _ in .dead }, namespaceID: 0),
      owner: ProcessOwner(pid: 7, startTime: 100), schedule: hook, allocate: { _ in nil })
    let look = SchedulePoint.shared(SharedAccess(.load, .slotOwner)).description
    for claimed in 0..<4 {
      met.withLock { $0 = [] }
      _ = slots.collect(current: Self.version(9))
      let owners = met.withLock { $0.count { $0.description == look } }
      #expect(owners == claimed + 1)
      _ = try slots.claim(thread: 1, now: 0)
    }
  }

  @Test("slots grow up to 65,536, and then say that there are too many readers")
  func limit() throws {
    let slots = Self.slots(try Self.region())
    for _ in 0..<RegionLayout.slotCountMax { _ = try slots.claim(thread: 1, now: 0) }
    #expect(slots.count == 65_536)
    #expect(errorCode { try slots.claim(thread: 1, now: 0) } == .tooManyReaders)
    slots.release(40_000)
    #expect(try slots.claim(thread: 1, now: 0) == 40_000)
    #expect(errorCode { try slots.claim(thread: 1, now: 0) } == .tooManyReaders)
  }

  @Test("the slots of a dead process make room when all are taken")
  func limitReaps() throws {
    let region = try Self.region()
    let dead = Self.slots(region, pid: 8)
    for _ in 0..<RegionLayout.slotCountMax { _ = try dead.claim(thread: 1, now: 0) }
    let slots = Self.slots(region, life: { $0 == 8 ? .dead : .running(startTime: 100) })
    _ = try slots.claim(thread: 1, now: 0)
    #expect(slots.records(now: 0).isEmpty)
  }

  @Test(
    "a pin is given back when its owner is dead or its number is another process's by now",
    arguments: [
      (ProcessTable.Life.dead, true), (.running(startTime: 200), false),
      (.running(startTime: 201), true), (.unknown, false),
    ])
  func reaping(life: ProcessTable.Life, isGone: Bool) throws {
    let region = try Self.region()
    let other = Self.slots(region, pid: 8, startTime: 200)
    let slot = try other.claim(thread: 1, now: 0)
    other.store(Self.version(4), in: slot)
    let slots = Self.slots(region, life: { $0 == 8 ? life : .running(startTime: 100) })
    #expect(slots.collect(current: Self.version(9)) == (isGone ? [] : [Self.version(4)]))
    #expect((region.load(RegionLayout.slot(slot)) == 0) == isGone)
  }

  @Test("who lives is asked once per process, and never about pins that hold nothing back")
  func livenessIsAskedRarely() throws {
    let region = try Self.region()
    let other = Self.slots(region, pid: 8)
    for number: UInt64 in [4, 4, 5, 9] {
      other.store(Self.version(number), in: try other.claim(thread: 1, now: 0))
    }
    let newest = Self.slots(region, pid: 10)
    newest.store(Self.version(9), in: try newest.claim(thread: 1, now: 0))
    let asked = Mutex<[Int32]>([])
    let slots = Self.slots(region) { pid in
      asked.withLock { $0.append(pid) }
      return .running(startTime: 100)
    }
    #expect(slots.collect(current: Self.version(9)) == [4, 5].map(Self.version))
    #expect(asked.withLock { $0 } == [8])
  }

  @Test("a pin says whose it is and how old")
  func records() throws {
    let slots = Self.slots(try Self.region())
    slots.store(Self.version(4), in: try slots.claim(thread: 11, now: 1000))
    #expect(
      slots.records(now: 1500) == [
        PinRecord(version: Self.version(4), processID: 7, threadID: 11, ageMilliseconds: 500)
      ])
  }

  @Test("whatever the memory holds, slots answer with a bound and without a trap")
  func garbage() throws {
    var random = TestRandom(5)
    for round in 0..<20 {
      let region = try Self.region()
      for offset in stride(from: 0, to: 64 << 10, by: 8) {
        region.store(round == 0 ? .max : random.next(), at: offset)
      }
      let slots = Self.slots(region, life: { _ in .unknown })
      _ = slots.collect(current: Self.version(3))
      _ = slots.records(now: 0)
      let slot = try slots.claim(thread: 1, now: 0)
      region.store(random.next(), at: RegionLayout.slot(slot))
      slots.release(slot)
      let publication = Publication(region: region)
      #expect(publication.record(of: publication.version) == nil)
    }
  }

  @Test("the system's process table knows this process, a zombie, and nobody")
  func systemTable() throws {
    let table = ProcessTable.system
    let own = table.current()
    #expect(own.pid == getpid() && own.startTime != 0 && table.isAlive(own))
    #expect(!table.isAlive(ProcessOwner(pid: own.pid, startTime: UInt64(own.startTime) + 1)))
    #expect(!table.isAlive(ProcessOwner(rawValue: 0)))
    #expect(!table.isAlive(ProcessOwner(rawValue: .max)))
    try withAccounts { path in
      let worker = try WorkerProcess(path, "hold")
      _ = worker.line()
      guard case .running = table.life(worker.process) else {
        Issue.record("the worker runs")
        return
      }
      worker.killOnly()
      var tries = 0
      while table.life(worker.process) != .dead, tries < 2000 {
        tries += 1
        Syscalls.sleep(milliseconds: 1)
      }
      #expect(table.life(worker.process) == .dead, "a zombie holds nothing")
    }
  }

  @Test("a thousand and five thousand snapshots at once, each in a slot of its own")
  func manySnapshots() throws {
    try withAccounts { path in
      let database = try Database.open(path: path)
      for count in [1000, 5000] {
        let snapshots = try (0..<count).map { _ in try database.snapshot() }
        #expect(try database.activePins().count == count)
        try Accounts.mark(1, in: database)
        #expect(database.statistics().pinnedVersions == [snapshots[0].version])
        for snapshot in snapshots { snapshot.release() }
        #expect(try database.activePins().isEmpty)
      }
      try database.verify()
      try database.close()
    }
  }
}
