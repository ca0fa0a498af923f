// FailedSyncTests.swift: what a failed sync leaves, per file system, as Rebello et al. measured it
// ("Can Applications Recover from fsync Failures?", USENIX ATC 2020), and which crash states
// follow.

import CrashStates
import FaultFS
import Foundation
import Glibc
import Recording
import TestSupport
import Testing

@Suite(
  "Failed syncs",
  .requires(.fuse), .serialized)
struct FailedSyncTests {
  private let page = ["open f cw", "write 0 4096 a", "fsync"]
  /// Two open files; the sync of the first fails; both are asked twice; a third one comes later.
  private let steps = [
    "open f w", "open f w", "use 0", "write 0 4096 b", "fsync", "use 1", "fsync", "fsync", "use 0",
    "fsync", "open f w", "fsync", "read 0 4096",
  ]

  private func answers(_ lines: [String]) -> [String] {
    lines.filter { $0.hasPrefix("fsync") || $0.hasPrefix("read") }
  }

  private func rule(_ state: FaultRule.SyncFailure) -> String {
    "{on: sync, nth: 1, failSync: \(state.rawValue)}"
  }

  @Test(
    "ext4-ordered, xfs: told now, each open file once; pages keep the new content",
    arguments: [FaultRule.SyncFailure.ext4Ordered, .xfs])
  func cleanPages(_ state: FaultRule.SyncFailure) throws {
    let mount = try FaultMount(page)
    try mount.add(rule(state))
    let (lines, trace) = try mount.record(steps)
    #expect(
      answers(lines) == [
        "fsync EIO", "fsync EIO", "fsync ok 0", "fsync ok 0", "fsync ok 0", "read ok b*4096",
      ])
    #expect(trace.faultWords == ["sync failSync EIO*", "sync failSync EIO*"])
    #expect(
      trace.operationWords == ["write", "sync!-failed", "sync!-ignored", "sync", "sync", "sync"])
  }

  @Test("ext4-data: this sync answers success, the next one of each open file is told")
  func reportedLater() throws {
    let mount = try FaultMount(page)
    try mount.add(rule(.ext4Data))
    let (lines, trace) = try mount.record(steps)
    #expect(
      answers(lines) == [
        "fsync ok 0", "fsync EIO", "fsync ok 0", "fsync EIO", "fsync ok 0", "read ok b*4096",
      ])
    #expect(trace.operationWords[1] == "sync!-failed")
  }

  @Test("btrfs: content, size and the cached pages go back to the last sync")
  func reverted() throws {
    let mount = try FaultMount(page)
    try mount.add(rule(.btrfs))
    let (lines, trace) = try mount.record([
      "open f w", "write 0 100 b", "write 4096 4096 b", "stat f", "read 0 8192", "fsync", "stat f",
      "read 0 8192", "write 10 10 c", "fsync", "read 0 30",
    ])
    #expect(
      lines == [
        "open ok 0", "write ok 100", "write ok 4096", "stat ok 8192",
        "read ok b*100 a*3996 b*4096", "fsync EIO", "stat ok 4096", "read ok a*4096",
        "write ok 10", "fsync ok 0", "read ok a*10 c*10 a*10",
      ])
    #expect(trace.operationWords[..<4] == ["write", "write", "sync!-failed", "truncate!"])
    #expect(trace.finalTree == (try mount.mount.tree().normalized()))
  }

  /// Bytes of f that crash states after the last event can hold at a position.
  private func survivors(
    _ trace: Trace, _ model: PersistenceModel, at offset: Int
  ) throws -> Set<UInt8> {
    let table = try UnitTable(trace: trace, model: model)
    let crashPoint = trace.events.count
    // Data is durable or not by itself in a file that does not grow.
    var durable: UInt8 = UInt8(ascii: "a")
    var possible: Set<UInt8> = []
    for unit in table.units {
      for case .data(_, let start, let payload, let slice) in unit.effects
      where Int(start) <= offset && offset < Int(start) + slice.count {
        let byte = payload.bytes[slice.lowerBound + offset - Int(start)]
        if table.isDurable(unit.id, at: crashPoint) {
          durable = byte
          possible = []
        } else {
          possible.insert(byte)
        }
      }
    }
    return possible.union([durable])
  }

  @Test("what a failed sync did not write, no later sync makes durable, unless it is written again")
  func crashStates() throws {
    let (old, lost, again) = (UInt8(ascii: "a"), UInt8(ascii: "b"), UInt8(ascii: "c"))
    for state in FaultRule.SyncFailure.allCases {
      for model in [PersistenceModel.ext4Ordered, .posix] {
        var mount = try FaultMount(page)
        try mount.add(rule(state))
        let later = try mount.record(["open f w", "write 0 4096 b", "fsync", "fsync", "fsync"])
        let bytes = try survivors(later.trace, model, at: 0)
        // On Btrfs the old bytes are written over the lost ones, and that is durable.
        #expect(bytes == (state == .btrfs ? [old] : [old, lost]), "\(state) \(model)")
        mount = try FaultMount(page)
        try mount.add(rule(state))
        let rewritten = try mount.record([
          "open f w", "write 0 4096 b", "fsync", "fsync", "write 0 4096 c", "fsync",
        ])
        #expect(try survivors(rewritten.trace, model, at: 0) == [again], "\(state) \(model)")
      }
    }
  }

  /// The failures that leave pages clean, as rules for the first sync.
  private let cleanFailures = [
    "{on: sync, nth: 1, failSync: ext4-ordered}", "{on: sync, nth: 1, failSync: xfs}",
    "{on: sync, nth: 1, failSync: ext4-data}", "{on: sync, nth: 1, error: EIO}",
  ]

  @Test("clean pages show what was written until they leave the cache, then what the medium has")
  func leavingTheCache() throws {
    let (old, lost) = (UInt8(ascii: "a"), UInt8(ascii: "b"))
    for text in cleanFailures + ["{on: sync, nth: 9, error: EIO}"] {
      let fails = !text.contains("nth: 9")
      let mount = try FaultMount(page)
      try mount.add(text)
      let (lines, trace) = try mount.record([
        "open f w", "write 0 4096 b", "write 4096 4096 b", "fsync", "read 0 8192", "fsync",
        "forget 0 0", "read 0 8192", "stat f", "fsync",
      ])
      #expect(lines[4] == "read ok b*8192", "\(text)")
      // The new page has nothing on the medium, and its size is in memory.
      #expect(lines[7] == (fails ? "read ok a*4096 00*4096" : "read ok b*8192"), "\(text)")
      #expect(lines[8] == "stat ok 8192", "\(text)")
      let bytes = try survivors(trace, .ext4Ordered, at: 0)
      #expect(bytes == [fails ? old : lost], "\(text)")
      #expect(trace.finalTree == (try mount.mount.tree().normalized()), "\(text)")
      let shown = trace.events.filter { $0.flags.contains(.onMedium) }
      #expect(shown.isEmpty == !fails && shown.allSatisfy { $0.process == 0 }, "\(text)")
    }
  }

  @Test("of the dirty pages any may have arrived: those stay, also when the others are forgotten")
  func someArrived() throws {
    let (old, lost) = (UInt8(ascii: "a"), UInt8(ascii: "b"))
    // Three pages that were there, one that was not changed, and two new ones behind them.
    let setUp = ["open f cw", "write 0 16384 a", "fsync"]
    let steps = [
      "open f w", "write 0 4096 b", "write 8192 16384 b", "fsync", "fsync", "forget 0 0",
      "read 0 24576",
    ]
    let changed = [0, 2, 3, 4, 5]
    for state in [FaultRule.SyncFailure.ext4Ordered, .xfs, .ext4Data] {
      for (keep, arrived) in [
        ("first 1", [0]), ("last 2", [4, 5]), ("[2, 4]", [2, 4]), ("first 0", []),
        ("last 9", changed),
      ] {
        let place: Comment = "\(state) \(keep)"
        let mount = try FaultMount(setUp)
        try mount.add("{on: sync, nth: 1, failSync: \(state.rawValue), keep: \(keep)}")
        let (lines, trace) = try mount.record(steps)
        let bytes = (0..<6).map { page in
          arrived.contains(page) ? "b" : changed.contains(page) && page > 3 ? "00" : "a"
        }
        var runs: [(byte: String, count: Int)] = []
        for byte in bytes {
          if runs.last?.byte == byte {
            runs[runs.count - 1].count += 4096
          } else {
            runs.append((byte, 4096))
          }
        }
        let text = runs.map { "\($0.byte)*\($0.count)" }.joined(separator: " ")
        #expect(lines.last == "read ok \(text)", place)
        #expect(trace.finalTree == (try mount.mount.tree().normalized()), place)
        for page in [0, 2, 3] {
          let expected = arrived.contains(page) ? lost : old
          #expect(try survivors(trace, .ext4Ordered, at: page * 4096) == [expected], place)
        }
      }
    }
  }

  @Test("a page that arrived and is changed again goes back to what arrived")
  func arrivedAndChanged() throws {
    let mount = try FaultMount(page)
    try mount.add(
      "[{on: sync, nth: 1, failSync: xfs, keep: last 1}, {on: setExtendedAttribute, "
        + "clearCache: after}]")
    let (lines, trace) = try mount.record([
      "open f w", "write 0 4096 b", "fsync", "write 0 100 c", "read 0 200", "setxattr f one",
      "read 0 200",
    ])
    #expect(lines[4] == "read ok c*100 b*100" && lines[6] == "read ok b*200")
    #expect(trace.finalTree == (try mount.mount.tree().normalized()))
  }

  @Test("a clean page that is written to is dirty as a whole: the next sync writes what was lost")
  func dirtyAgain() throws {
    for text in cleanFailures {
      let mount = try FaultMount(page)
      try mount.add(text)
      let (lines, trace) = try mount.record([
        "open f w", "write 0 4096 b", "fsync", "fsync", "write 100 10 c", "fsync", "fsync",
        "forget 0 0", "read 0 200",
      ])
      #expect(lines.last == "read ok b*100 c*10 b*90", "\(text)")
      #expect(try survivors(trace, .posix, at: 0) == [UInt8(ascii: "b")], "\(text)")
      #expect(trace.finalTree == (try mount.mount.tree().normalized()), "\(text)")
    }
  }

  @Test("a cleared cache takes what a failed sync lost, also after a later sync of the file")
  func clearedAfterFailure() throws {
    let mount = try FaultMount(["open f cw", "write 0 8192 a", "fsync"])
    try mount.add("[\(cleanFailures[3]), {on: setExtendedAttribute, clearCache: after}]")
    let (lines, trace) = try mount.record([
      "open f w", "write 0 4096 b", "fsync", "write 4096 4096 c", "fsync", "read 0 8192",
      "setxattr f one", "read 0 8192",
    ])
    #expect(lines[5] == "read ok b*4096 c*4096")
    #expect(lines[7] == "read ok a*4096 c*4096")
    #expect(try survivors(trace, .ext4Ordered, at: 0) == [UInt8(ascii: "a")])
  }

  @Test("what was written past the cache, for a rule on reads, is gone once that rule is")
  func withoutCache() throws {
    let mount = try FaultMount(page)
    try mount.add("[\(cleanFailures[3]), {on: read, nth: 99, error: EIO}]")
    let first = try mount.run(["open f w", "write 0 4096 b", "fsync", "read 0 4096"])
    #expect(answers(first) == ["fsync EIO", "read ok b*4096"])
    try mount.client.clearRules()
    #expect(try mount.run(["open f r", "read 0 4096"]).last == "read ok a*4096")
  }

  @Test("a truncated, punched or rewritten page is no longer what a failed sync left")
  func noLongerClean() throws {
    for (steps, read) in [
      (["ftruncate 100", "fsync", "forget 0 0", "read 0 200"], "read ok b*100"),
      (["write 0 4096 c", "fsync", "forget 0 0", "read 0 10"], "read ok c*10"),
      (["ftruncate 0", "ftruncate 4096", "fsync", "forget 0 0", "read 0 10"], "read ok 00*10"),
    ] {
      let mount = try FaultMount(page)
      try mount.add(cleanFailures[3])
      let (lines, trace) = try mount.record(["open f w", "write 0 4096 b", "fsync"] + steps)
      #expect(lines.last == read, "\(steps)")
      #expect(trace.finalTree == (try mount.mount.tree().normalized()), "\(steps)")
    }
  }

  @Test("a cleared rule takes back what it had not told yet")
  func cleared() throws {
    for isCleared in [true, false] {
      let mount = try FaultMount(page)
      let rules = try mount.add("[\(rule(.ext4Data)), {on: rename, error: EIO}]")
      let program = try mount.start(["open f w", "fsync", "sleep 400", "fsync"])
      try mount.waitForHits(1)
      // The other rule stays in force.
      if isCleared { try mount.client.removeRules([rules[0].id]) }
      #expect(program.wait().output.hasSuffix(isCleared ? "fsync ok 0\n" : "fsync EIO\n"))
    }
  }
}
