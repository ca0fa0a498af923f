// NodeCacheTests.swift [U]: what the lab's cache saves must not show: with it and without it every
// crash state gets the same verdict, in the same words, torn and damaged ones and planted bugs
// included.

import Engine
import TestSupport
import Testing

@testable import CrashStates
@testable import EngineExploration
@testable import LabCore
@testable import Oracles
@testable import Recording
@testable import Scenarios
@testable import Workload

@Suite struct NodeCacheTests {
  /// What is done to the trace, so that states fail.
  enum Bug: String, CaseIterable, Sendable {
    case none, noFirstSync, noSecondSync, noSync
  }

  /// Commits that write leaves where older ones stood.
  private static func reusing() throws -> WorkloadPlan {
    let scenario = try ScenarioParser.parse(
      """
      title: leaves in the place of leaves
      schema: {Dog: {_id: int primary, name: string, age: int}}
      processes: {app: [ui]}
      steps:
        - ui: open
        - ui: {write: [{insert: Dog, _id: sequence, name: {random: letters 60}, age: 1, times: 30}]}
        - ui:
            repeat: 12
            write: [{update: Dog, _id: 1..30, name: {random: letters 60}, age: random, times: 2}]
      """, file: "reuse.yaml")
    return try WorkloadPlan(scenario, seed: Seed(rawValue: 5))
  }

  @Test("with and without the cache, verdicts are the same", arguments: Bug.allCases)
  func sameVerdicts(bug: Bug) throws {
    try compare(try RecordedRun.ordinary().plan, bug)
  }

  @Test("an older leaf where its parent means another is found by its parent's checksum")
  func reusedSectors() throws {
    try compare(try Self.reusing(), .noSync)
  }

  private func compare(_ plan: WorkloadPlan, _ bug: Bug) throws {
    var trace = try EngineRecording(plan).trace
    trace.events = Self.withBug(bug, trace.events)
    let check = try EngineCheck(plan, marks: trace.marks)
    let cached = ImageBackend()
    let plain = ImageBackend()
    var states = 0
    var broken = 0
    for model in [PersistenceModel.ext4Ordered, .posix, .posixDamage] {
      let enumerator = try CrashStateEnumerator(
        trace: trace, model: model, seed: Seed(rawValue: 99))
      let selected = try enumerator.plan(budget: FullSize.isOn ? 250 : 80)
      try enumerator.visit(selected) { (explored, image) throws(LabError) in
        let seen = explored.state.acknowledgedMarks
        let isThere = try cached.load(image, at: DatabaseFile.name)
        let bytes = image.content(at: DatabaseFile.name) ?? []
        #expect(isThere && cached.bytes == bytes, "the image of \(explored.ordinal)")
        plain.load(bytes)
        let expected = check.judge(plain, marksSeen: seen)
        #expect(check.judge(cached, marksSeen: seen) == expected, "state \(explored.ordinal)")
        states += 1
        broken += expected.isEmpty ? 0 : 1
        return .goOn
      }
    }
    #expect(states > (FullSize.isOn ? 400 : 150))
    #expect((broken > 0) == (bug != .none), "\(broken) of \(states) states break a promise")
  }

  /// The trace without some of its syncs; each commit has two, the last of them after its slot.
  private static func withBug(_ bug: Bug, _ events: [TraceEvent]) -> [TraceEvent] {
    var result: [TraceEvent] = []
    var wroteSlot = false
    for event in events {
      if case .operation(.write(_, let offset, _)) = event.body {
        wroteSlot = offset == 4096 || offset == 8192
      }
      if case .operation(.sync) = event.body {
        switch bug {
        case .none: break
        case .noFirstSync: if !wroteSlot { continue }
        case .noSecondSync: if wroteSlot { continue }
        case .noSync: continue
        }
      }
      result.append(event)
    }
    return result
  }

  @Test("a byte that changes under the cache is found, wherever it is")
  func changedByte() throws {
    let plan = try RecordedRun.ordinary().plan
    let trace = try EngineRecording(plan).trace
    let enumerator = try CrashStateEnumerator(
      trace: trace, model: .strict, seed: Seed(rawValue: 1))
    let last = try enumerator.state(
      for: StateKey(
        enumerator.table.state(at: trace.events.count, keeping: []), of: enumerator.table))
    let check = try EngineCheck(plan, marks: trace.marks)
    let cached = ImageBackend()
    try enumerator.withImage(of: last) { (image) throws(LabError) in
      let bytes = image.content(at: DatabaseFile.name) ?? []
      var damaged = 0
      for sector in 0..<bytes.count / 4096 {
        // Warm: every node of the image is in the cache.
        #expect(try cached.load(image, at: DatabaseFile.name))
        #expect(check.judge(cached, marksSeen: trace.markCount) == [])
        #expect(try cached.load(image, at: DatabaseFile.name))
        var changed = Array(bytes[sector * 4096..<(sector + 1) * 4096])
        changed[9] ^= 0x10
        try Self.overwrite(cached, sector, changed)
        let plain = ImageBackend()
        plain.load(cached.bytes)
        let expected = check.judge(plain, marksSeen: trace.markCount)
        #expect(check.judge(cached, marksSeen: trace.markCount) == expected, "sector \(sector)")
        damaged += expected.isEmpty ? 0 : 1
      }
      #expect(damaged >= 4)
    }
  }

  private static func overwrite(
    _ backend: ImageBackend, _ sector: Int, _ bytes: [UInt8]
  ) throws(LabError) {
    var failure: EngineError?
    unsafe bytes.withUnsafeBytes { buffer in
      do throws(EngineError) { try unsafe backend.write(buffer, at: UInt64(sector) * 4096) } catch {
        failure = error
      }
    }
    if let failure { throw .lab("\(failure)") }
  }

  @Test("identities: a sector that nobody vouches for is in no key")
  func keys() {
    let cache = NodeCache(slotCountBits: 2)
    let sectors = SectorIdentities(sectorCount: 8, cache: cache)
    for sector in 0..<8 { sectors[sector] = UInt64(sector + 100) }
    #expect(sectors[3] == 103)
    sectors.forget(3..<5)
    #expect(sectors[3] == SectorIdentities.unknown && sectors[5] == 105)
    let copy = SectorIdentities(copying: sectors, sectorCount: 16)
    #expect(copy[5] == 105 && copy[4] == SectorIdentities.unknown)
    #expect(copy[12] == SectorIdentities.unknown)
    copy[5] = 7
    #expect(sectors[5] == 105)
  }
}
