// FaultConditionTests.swift: when a rule hits: each condition, and several together, on a mount.

import Foundation
import Glibc
import LabCore
import TestSupport
import Testing

@Suite(
  "Fault conditions",
  .requires(.fuse), .serialized)
struct FaultConditionTests {
  private let setup = ["open f cw", "write 0 8192 a", "mkdir d", "open d/g cw"]
  /// Eight writes to f; which of them failed is told by their numbers.
  private let writes = ["open f w"] + (0..<8).map { "write \($0 * 1024) 100 b" }

  private func failed(_ rule: String, _ steps: [String]? = nil) throws -> [Int] {
    let mount = try FaultMount(setup)
    try mount.add(rule)
    let (lines, trace) = try mount.record(steps ?? writes)
    let failed = lines.filter { $0.hasPrefix("write") }.enumerated().filter {
      $0.element == "write EIO"
    }.map { $0.offset + 1 }
    #expect(trace.faults.count == failed.count)
    #expect(try mount.client.rules()[0].hits.hitCount == failed.count)
    return failed
  }

  @Test("count, range, glob and number of hits, alone and together")
  func counts() throws {
    #expect(try failed("{on: write, error: EIO}") == Array(1...8))
    #expect(try failed("{on: write, nth: 3, error: EIO}") == [3])
    #expect(try failed("{on: write, every: 3, error: EIO}") == [1, 4, 7])
    #expect(try failed("{on: write, every: 3, skip: 1, error: EIO}") == [2, 5, 8])
    #expect(try failed("{on: write, maximumHits: 2, error: EIO}") == [1, 2])
    #expect(try failed("{on: write, bytes: 2048..4095, error: EIO}") == [3, 4])
    #expect(
      try failed("{on: write, bytes: 2048.., every: 2, maximumHits: 2, error: EIO}") == [3, 5])
    #expect(try failed("{on: write, file: \"d/*\", error: EIO}") == [])
    #expect(
      try failed(
        "{on: [write, sync], file: g, error: EIO}",
        ["open f w", "write 0 1 b", "open d/g w", "write 0 1 b"]) == [2])
  }

  @Test("a chance is drawn from the seed: the same one gives the same hits")
  func chance() throws {
    let first = try failed("{on: write, chance: 1 in 2, seed: 3, error: EIO}")
    #expect(try failed("{on: write, chance: 1 in 2, seed: 3, error: EIO}") == first)
    #expect(!first.isEmpty && first.count < 8)
    let others = try (4..<8).map {
      try failed("{on: write, chance: 1 in 2, seed: \($0), error: EIO}")
    }
    #expect(others.contains { $0 != first })
    #expect(try failed("{on: write, chance: 1 in 1, error: EIO}") == Array(1...8))
  }

  @Test("random errors are ones that the call may return, and the seed decides which")
  func randomErrors() throws {
    func answers(_ seed: Int) throws -> [String] {
      let mount = try FaultMount(setup)
      try mount.add("{on: write, error: random, seed: \(seed)}")
      let (lines, trace) = try mount.record(writes)
      let allowed = ErrnoTable.errors(of: .write).map { "write \(ErrnoTable.name(of: $0))" }
      #expect(lines.dropFirst().allSatisfy { allowed.contains($0) }, "\(lines)")
      #expect(trace.faults.count == 8 && trace.operationWords.isEmpty)
      return lines
    }
    let first = try answers(1)
    #expect(try answers(1) == first && Set(first).count > 2)
    #expect(try answers(2) != first)
  }

  @Test("process, command name and thread name")
  func actors() throws {
    #expect(try failed("{on: write, command: posix-cases, nth: 1, error: EIO}") == [1])
    #expect(
      try failed("{on: write, command: \"posix*\", actor: posix-cases, error: EIO}").count == 8)
    #expect(try failed("{on: write, command: dd, error: EIO}") == [])
    #expect(try failed("{on: write, actor: ui, error: EIO}") == [])
    let mount = try FaultMount(setup)
    let program = try mount.start(["open f w", "sleep 300", "write 0 1 b"])
    try mount.add("{on: write, pid: \(program.process), error: EIO}")
    #expect(try mount.run(["open f w", "write 0 1 b"])[1] == "write ok 1")
    #expect(program.wait().output.hasSuffix("write EIO\n"))
  }

  @Test("after a mark, until another, and counted anew from each")
  func marks() throws {
    let steps =
      ["open f w", "write 0 1 b", "mark begin"] + ["write 0 1 b", "write 0 1 b", "mark end"]
      + ["write 0 1 b", "mark begin", "write 0 1 b", "write 0 1 b"]
    #expect(try failed("{on: write, after: begin, until: end, error: EIO}", steps) == [2, 3, 5, 6])
    #expect(try failed("{on: write, after: begin, nth: 2, error: EIO}", steps) == [3, 6])
  }

  @Test("write-back that the kernel chose counts only when asked for")
  func writeBack() throws {
    for (text, answer) in [("", "mapwrite ok 0"), (", includeWriteBack: true", "mapwrite EIO")] {
      let mount = try FaultMount(setup)
      try mount.add("{on: write, nth: 1\(text), error: EIO}")
      #expect(try mount.run(["open f w", "mapwrite 0 4096 m"])[1] == answer)
    }
  }

  @Test("one operation gets one outcome, one wait and one kill, from the first rules that hit")
  func together() throws {
    let mount = try FaultMount(setup)
    try mount.add(
      """
      faults:
        - {on: write, delay: 60}
        - {on: write, torn: {unit: page, keep: first 1}}
        - {on: write, error: EIO}
        - {on: write, killCaller: after}
      """)
    try mount.client.beginRecording()
    let start = ContinuousClock.now
    let result = try mount.start(["open f w", "write 0 8192 b"]).wait()
    #expect(result.status == 128 + SIGKILL && ContinuousClock.now - start >= .milliseconds(60))
    let trace = try mount.mount.endRecording()
    #expect(trace.faultWords == ["write delay", "write torn*", "write killCaller"])
    #expect(trace.operationWords == ["write!"])
    #expect(try mount.client.rules().map(\.hits.hitCount) == [1, 1, 0, 1])
  }

  @Test("a hanging call can be killed, and a signal ends it with EINTR")
  func interrupted() throws {
    let mount = try FaultMount(setup)
    try mount.add("{on: write, hang: true}")
    #expect(try mount.run(["open f w", "alarm 1", "write 0 1 b", "stat f"])[2] == "write EINTR")
    let program = try mount.start(["open f w", "write 0 1 b"])
    try mount.waitForHits(2)
    kill(program.process, SIGKILL)
    #expect(program.wait().status == 128 + SIGKILL)
    // And one that still hangs does not keep the mount from going.
    let last = try mount.start(["open f w", "write 0 1 b"])
    try mount.waitForHits(3)
    try mount.client.shutdown()
    #expect(last.wait().output.contains("write EINTR"))
  }

  /// Everything that the kinds of operations do, once.
  private let battery = [
    "open b cw", "write 0 10000 x", "fsync", "write 4096 4096 y", "fdatasync", "read 0 10000",
    "fallocate 0 20000", "ftruncate 9000", "open b r", "read 0 10000", "seek 0", "stat b",
    "setxattr b v", "getxattr b", "link b c", "rename c e", "symlink b s", "readlink s",
    "chmod b 600",
    "utimes b", "mkdir k", "readdir .", "syncdir .", "rmdir k", "unlink e", "statfs",
    "open b wd", "write 0 4096 z", "read 0 4096", "use 0", "mapwrite 0 4096 m", "read 0 100",
    "unlink b", "unlink s",
  ]

  @Test("cleared rules leave no trace: the same calls give the same answers and the same trace")
  func clearLeavesNothing() throws {
    let clean = try FaultMount(setup)
    let wanted = try clean.record(battery)
    #expect(wanted.lines.allSatisfy { $0.contains(" ok") }, "\(wanted.lines)")
    let mount = try FaultMount(setup)
    try mount.add(
      """
      - {on: [lookUp, getAttributes, readLink, status, seek, readDirectory], every: 3, error: EIO}
      - {on: read, every: 2, flip: 5}
      - {on: read, every: 2, short: 1}
      - {on: read, every: 3, stale: true}
      - {on: write, every: 3, skip: 1, short: 7}
      - {on: write, every: 5, skip: 1, error: EINTR}
      - {on: sync, every: 2, failSync: ext4-data}
      - {on: sync, every: 3, failSync: btrfs}
      - {on: [create, link, rename, allocate, truncate], every: 2, error: EIO}
      - {on: write, noSpaceAfter: 30000}
      - {on: any, every: 4, delay: 2}
      - {on: setTimes, makeReadOnly: true}
      """)
    for _ in 0..<3 { try mount.run(battery) }
    #expect(try mount.client.rules().contains { $0.hits.hitCount > 0 })
    try mount.client.clearRules()
    try mount.run(["unlink b", "unlink c", "unlink e", "unlink s", "rmdir k"])
    #expect(try mount.client.rules().isEmpty)
    let again = try mount.record(battery)
    #expect(again.lines == wanted.lines)
    #expect(again.trace.operationWords == wanted.trace.operationWords)
    #expect(again.trace.faults.isEmpty)
    #expect(try mount.run(["open f r", "read 0 8192"]) == clean.run(["open f r", "read 0 8192"]))
  }
}
