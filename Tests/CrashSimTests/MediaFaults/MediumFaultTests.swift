// MediumFaultTests.swift: what each kind of fault does to bytes, which contents a stale sector can
// show, which part of the file a byte is of, and which faults a plan chooses.

import TestSupport
import Testing

@testable import CrashStates
@testable import EngineExploration
@testable import Exploration
@testable import FaultFS
@testable import LabCore
@testable import Oracles
@testable import Recording
@testable import Workload

@Suite struct MediumFaultTests {
  private func fault(
    _ kind: MediumFault.Kind, at offset: UInt64, _ count: Int, _ source: UInt64 = 0
  ) -> MediumFault {
    MediumFault(
      kind: kind, file: "f", offsetBytes: offset, countBytes: count, source: source)
  }

  private func applied(_ fault: MediumFault, _ bytes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    fault.apply(to: &bytes, stale: { _ in [9, 9, 9, 9] })
    return bytes
  }

  @Test("each kind of fault changes the bytes that it names, and no others")
  func effects() {
    let bytes: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8]
    #expect(applied(fault(.bitFlip, at: 2, 1, 6), bytes) == [1, 2, 67, 4, 5, 6, 7, 8])
    #expect(applied(fault(.zeroSector, at: 4, 4), bytes) == [1, 2, 3, 4, 0, 0, 0, 0])
    #expect(applied(fault(.staleSector, at: 0, 4, 7), bytes) == [9, 9, 9, 9, 5, 6, 7, 8])
    #expect(applied(fault(.misdirectedSector, at: 0, 4, 4), bytes) == [5, 6, 7, 8, 5, 6, 7, 8])
    #expect(applied(fault(.truncatedTail, at: 3, 0), bytes) == [1, 2, 3])
    #expect(applied(fault(.truncatedTail, at: 0, 0), bytes) == [])
    // A place that another fault cut off.
    for kind in MediumFault.Kind.allCases {
      #expect(applied(fault(kind, at: 8, 4, 0), bytes) == bytes)
    }
  }

  @Test("a sector's earlier contents are those it had, the last first, each once")
  func history() {
    let inode = InodeNumber(rawValue: 7)
    var initial = TreeImage()
    initial.inodes[inode] = InodeImage(type: .regular, ownership: Ownership(mode: 0o644))
    initial.inodes[.root]?.entries[FileName("f")] = inode
    func write(_ offset: UInt64, _ bytes: [UInt8]) -> TraceEvent {
      TraceEvent(.operation(.write(inode: inode, offsetBytes: offset, payload: Payload(bytes))))
    }
    let old = [UInt8](repeating: 1, count: 512)
    let trace = Trace(
      initial: initial,
      events: [
        write(0, old), TraceEvent(.mark(Mark("one"))), write(0, [2]), write(512, [5]),
        write(1, [3]),
        write(0, [1, 1]), write(0, [4]),
        TraceEvent(.operation(.truncate(inode: inode, oldSizeBytes: 513, newSizeBytes: 100))),
        TraceEvent(
          .operation(
            .allocate(
              inode: inode, offsetBytes: 0, countBytes: 10, zeroes: true, oldSizeBytes: 100,
              newSizeBytes: 100))),
      ])
    var history = MediumHistory(trace, sectorBytes: 512)
    history.advance(to: 7)
    #expect(history.marksSeen == 1)
    #expect(history.bytes(at: "f") == [4] + old.dropFirst() + [5])
    let earlier = history.earlierContents(at: "f", sector: 0)
    #expect(earlier.map { Array($0.bytes.prefix(2)) } == [[1, 1], [2, 3], [2, 1]])
    #expect(earlier.map(\.event) == [6, 5, 4])
    let stale = fault(.staleSector, at: 0, 512, 5)
    #expect(history.bytes(at: "f", with: [stale])?.prefix(2) == [2, 3])
    history.advance(to: 9)
    #expect(history.bytes(at: "f") == [UInt8](repeating: 0, count: 10) + old.prefix(90))
    #expect(history.bytes(at: "g") == nil)
    let tree = history.tree(with: [fault(.truncatedTail, at: 50, 0)])
    #expect(tree.inodes[inode]?.sizeBytes == 50)
  }

  @Test("every sector of a database is of the part that the X-ray says")
  func parts() throws {
    try withTemporaryDirectory { directory in
      let fixture = try MediaFixture(MediaFixture.yaml("", "{}"), in: directory)
      let bytes = try #require(fixture.history().bytes(at: MediaFixture.file))
      let map = try StructureMap(bytes)
      #expect(map.parts.count == bytes.count / 4096)
      #expect(map.parts.prefix(3) == [.header, .slots, .slots])
      let newest = map.version % 2 == 0 ? 1 : 2
      #expect(map.names[newest].hasSuffix("the newest"))
      for part in FileStructure.allCases { #expect(map.parts.contains(part), "\(part)") }
      let nodes = XRay(bytes).nodes
      #expect(map.parts.count { $0 == .newest } >= 3)
      for node in nodes {
        let part: FileStructure = node.version == map.version ? .newest : .nodes
        #expect(map.part(at: node.refBytes) == part)
      }
      var damaged = bytes
      damaged[Int(nodes[0].refBytes)] ^= 1
      #expect(throws: XRayFault.self) { try StructureMap(damaged) }
    }
  }

  @Test("of few faults a plan has all, each once; of many, some of every part; by seed")
  func choice() throws {
    try withTemporaryDirectory { directory in
      let fixture = try MediaFixture(MediaFixture.yaml("", "{}"), in: directory)
      let history = fixture.history()
      let bytes = try #require(history.bytes(at: MediaFixture.file))
      var declaration = MediaDeclaration()
      declaration.kinds = [.bitFlip]
      declaration.place = .bytes(offset: 4096, length: 3)
      #expect(try fixture.plan(declaration).states.count == 24)
      // Every sector with every kind comes before any second variant of one.
      declaration = MediaDeclaration()
      declaration.budgetStates = bytes.count / 4096 * 5
      let plan = try fixture.plan(declaration)
      let files = plan.states.map { history.bytes(at: MediaFixture.file, with: $0.faults) }
      #expect(Set(files).count == plan.states.count)
      #expect(!files.contains(bytes))
      for kind in MediumFault.Kind.allCases {
        let hit = Set(
          plan.states.filter { $0.faults[0].kind == kind }.map { $0.faults[0].offsetBytes / 4096 })
        #expect(hit.count >= (kind == .staleSector ? 3 : bytes.count / 4096 / 2), "\(kind)")
      }
      declaration.budgetStates = 15
      let few = try fixture.plan(declaration)
      let map = try StructureMap(bytes)
      #expect(few.states.count == 15)
      #expect(Set(few.states.map { map.part(at: $0.faults[0].offsetBytes) }).count == 5)
      #expect(try fixture.plan(declaration).states == few.states)
      declaration.each = 2
      declaration.budgetStates = 200
      #expect(try fixture.plan(declaration).states.count { $0.faults.count == 2 } == 100)
      declaration.moment = .everyCommit
      #expect(try fixture.plan(declaration).moments.count >= 9)
    }
  }

  @Test("faults that hit nothing are refused")
  func nothing() throws {
    try withTemporaryDirectory { directory in
      let fixture = try MediaFixture(MediaFixture.yaml("", "{}"), in: directory)
      var declaration = MediaDeclaration()
      declaration.fileGlob = "*.sqlite"
      #expect(throws: LabError.self) { try fixture.plan(declaration) }
      declaration = MediaDeclaration()
      declaration.place = .bytes(offset: 1 << 40, length: 1)
      #expect(throws: LabError.self) { try fixture.plan(declaration) }
    }
  }

  @Test("a time budget that ends anywhere has seen faults of every moment and part of the file")
  func waves() throws {
    let directory = try TemporaryDirectory()
    let fixture = try MediaFixture(
      MediaFixture.yaml("", "{when: every commit, budget: {states: 400}}"), in: directory.path)
    var plan = try fixture.plan()
    let whole = Shard.whole
    #expect(plan.visits(of: whole) == Array(plan.states.indices))
    plan.visitInWaves(seed: Seed(rawValue: 1))
    let visits = plan.visits(of: whole)
    #expect(visits.sorted() == Array(plan.states.indices), "each once")
    let moments = Set(plan.moments)
    try #require(moments.count >= 8 && plan.states.count > 256)
    for count in [32, 64, 128] {
      let seen = Set(visits.prefix(count).map { plan.states[$0].eventCount })
      #expect(seen == moments, "\(count) visits have \(seen.count) moments")
    }
    // Within a wave a history goes forward only.
    #expect(Array(visits[32..<64]) == visits[32..<64].sorted())
    // A child that died is followed by one behind its state, in the order of visits.
    let shard = Shard(index: 1, of: 3)
    let mine = plan.visits(of: shard)
    #expect(mine.allSatisfy { $0 % 3 == 1 } && mine.count == visits.count { $0 % 3 == 1 })
    #expect(plan.visits(of: shard, after: mine[10]) == Array(mine[11...]))
  }
}
