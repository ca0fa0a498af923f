// FaultEffectTests.swift: each effect on content and syncs, as a client process sees it through a
// mount and as the trace has it. What the trace's operations lead to is the tree that is there.

import Foundation
import Glibc
import Recording
import TestSupport
import Testing

/// An effect with what a client does and what it must see.
private struct EffectCase: Sendable, CustomTestStringConvertible {
  let name: String
  var setup = ["open f cw", "write 0 8192 a", "fsync"]
  let rules: String
  let steps: [String]
  let lines: [String]
  let faults: [String]
  let operations: [String]

  var testDescription: String { name }
}

private let effectCases: [EffectCase] = [
  EffectCase(
    name: "short write", rules: "{on: write, nth: 1, short: 100}",
    steps: ["open f w", "write 0 300 b", "write 100 200 b", "read 0 400"],
    lines: ["open ok 0", "write ok 100", "write ok 200", "read ok b*300 a*100"],
    faults: ["write short*"], operations: ["write!", "write"]),
  EffectCase(
    name: "short read", rules: "{on: read, nth: 1, short: 100}",
    steps: ["open f r", "read 0 300", "read 100 200"],
    lines: ["open ok 0", "read ok a*100", "read ok a*200"],
    faults: ["read short"], operations: []),
  EffectCase(
    name: "EINTR", rules: "{on: [read, write], every: 2, error: EINTR}",
    steps: ["open f w", "write 0 10 b", "write 0 10 b", "read 0 10", "read 0 10"],
    lines: ["open ok 0", "write EINTR", "write ok 10", "read EINTR", "read ok b*10"],
    faults: ["write error EINTR", "read error EINTR"], operations: ["write"]),
  EffectCase(
    name: "ENOSPC after n bytes: a short write, then the error, and nothing comes back",
    rules: "{on: [write, allocate], file: f, noSpaceAfter: 250}",
    steps: [
      "open f w", "write 0 200 b", "write 200 200 b", "write 250 10 b", "fallocate 0 9000",
      "open g cw", "write 0 10 b",
    ],
    lines: [
      "open ok 0", "write ok 200", "write ok 50", "write ENOSPC", "fallocate ENOSPC", "open ok 1",
      "write ok 10",
    ],
    faults: [
      "write noSpaceAfter*", "write noSpaceAfter ENOSPC", "allocate noSpaceAfter ENOSPC",
    ],
    operations: ["write", "write!", "create", "write"]),
  EffectCase(
    name: "quota: new pages are refused beyond it, old ones not, and freed ones count",
    rules: "{on: [write, allocate], quota: 16384}",
    steps: [
      "open f w", "write 8192 8192 b", "write 0 100 b", "write 16384 1 b", "fallocate 0 20480",
      "ftruncate 4096", "write 4096 4096 c",
    ],
    lines: [
      "open ok 0", "write ok 8192", "write ok 100", "write EDQUOT", "fallocate EDQUOT",
      "ftruncate ok 0", "write ok 4096",
    ],
    faults: ["write quota EDQUOT", "allocate quota EDQUOT"],
    operations: ["write", "write", "truncate", "write"]),
  EffectCase(
    name: "an error that each open file is told once",
    rules: "{on: sync, error: EIO, oncePerOpenFile: true}",
    steps: ["open f w", "open f w", "fsync", "fsync", "use 0", "fdatasync", "fsync"],
    lines: [
      "open ok 0", "open ok 1", "fsync EIO", "fsync ok 0", "use ok 0", "fdatasync EIO",
      "fsync ok 0",
    ],
    faults: ["sync error EIO*", "sync error EIO*"],
    operations: ["sync!-failed", "sync", "datasync!-failed", "sync"]),
  EffectCase(
    name: "a sync that lies", rules: "{on: sync, nth: 1, ignore: true}",
    steps: ["open f w", "write 0 10 b", "fsync", "fsync"],
    lines: ["open ok 0", "write ok 10", "fsync ok 0", "fsync ok 0"],
    faults: ["sync ignore*"], operations: ["write", "sync!-ignored", "sync"]),
  EffectCase(
    name: "a folder's sync that lies", rules: "{on: syncDirectory, ignore: true}",
    steps: ["mkdir d", "syncdir ."], lines: ["mkdir ok 0", "syncdir ok 0"],
    faults: ["syncDirectory ignore*"], operations: ["create", "syncDirectory!-ignored"]),
  EffectCase(
    name: "lost write: the writer's cache has it, the file does not",
    rules: "{on: write, nth: 1, lose: true}",
    steps: ["open f w", "write 0 4096 b", "read 0 4096", "open f rd", "read 0 8192"],
    lines: ["open ok 0", "write ok 4096", "read ok b*4096", "open ok 1", "read ok a*8192"],
    faults: ["write lose"], operations: []),
  EffectCase(
    name: "lost write at the end: the size follows it", rules: "{on: write, lose: true}",
    steps: ["open f w", "write 8192 4096 b", "open f rd", "read 4096 8192", "stat f"],
    lines: [
      "open ok 0", "write ok 4096", "open ok 1", "read ok a*4096 00*4096", "stat ok 12288",
    ],
    faults: ["write lose*"], operations: ["truncate!"]),
  EffectCase(
    name: "torn write by sectors", rules: "{on: write, torn: {unit: sector, keep: [1, 3]}}",
    steps: ["open f w", "write 100 2000 b", "open f rd", "read 0 4096"],
    lines: [
      "open ok 0", "write ok 2000", "open ok 1",
      "read ok a*100 b*412 a*512 b*512 a*2560",
    ],
    faults: ["write torn*"], operations: ["write!", "write!"]),
  EffectCase(
    name: "torn write by pages, the first kept",
    rules: "{on: write, torn: {unit: page, keep: first 1}}",
    steps: ["open f w", "write 0 8192 b", "open f rd", "read 0 8192"],
    lines: ["open ok 0", "write ok 8192", "open ok 1", "read ok b*4096 a*4096"],
    faults: ["write torn*"], operations: ["write!"]),
  EffectCase(
    name: "torn write by bytes, the last kept",
    rules: "{on: write, torn: {bytes: 100, keep: last 1}}",
    steps: ["open f w", "write 0 250 b", "open f rd", "read 0 512"],
    lines: ["open ok 0", "write ok 250", "open ok 1", "read ok a*200 b*50 a*262"],
    faults: ["write torn*"], operations: ["write!"]),
  EffectCase(
    name: "torn write in three parts (LazyFS: parts=3, persist=[1,3])",
    rules: "{on: write, torn: {parts: 3, keep: [1, 3]}}",
    steps: ["open f w", "write 0 301 b", "open f rd", "read 0 512"],
    lines: ["open ok 0", "write ok 301", "open ok 1", "read ok b*100 a*100 b*101 a*211"],
    faults: ["write torn*"], operations: ["write!", "write!"]),
  EffectCase(
    name: "torn write in parts of given sizes (LazyFS: parts_bytes=[10,20], persist=[2,3])",
    rules: "{on: write, torn: {bytes: [10, 20], keep: [2, 3]}}",
    steps: ["open f w", "write 0 50 b", "open f rd", "read 0 512"],
    lines: ["open ok 0", "write ok 50", "open ok 1", "read ok a*10 b*40 a*462"],
    faults: ["write torn*"], operations: ["write!", "write!"]),
  EffectCase(
    name: "misdirected write", rules: "{on: write, nth: 1, misdirect: 4096}",
    steps: ["open f w", "write 0 512 b", "open f rd", "read 0 8192"],
    lines: ["open ok 0", "write ok 512", "open ok 1", "read ok a*4096 b*512 a*3584"],
    faults: ["write misdirect*"], operations: ["write!"]),
  EffectCase(
    name: "stale read: what was there at the last sync",
    rules: "{on: read, bytes: 0..4095, stale: true}",
    steps: [
      "open f w", "write 0 100 b", "read 0 200", "read 4096 10", "fsync", "read 0 200",
      "write 50 10 c", "read 0 100",
    ],
    lines: [
      "open ok 0", "write ok 100", "read ok a*200", "read ok a*10", "fsync ok 0",
      "read ok b*100 a*100", "write ok 10", "read ok b*100",
    ],
    faults: ["read stale", "read stale", "read stale"], operations: ["write", "sync", "write"]),
  EffectCase(
    name: "truncated tail at an open", rules: "{on: open, maximumHits: 1, cutTail: 100}",
    steps: ["stat f", "open f r", "stat f", "read 8000 4096"],
    lines: ["stat ok 8192", "open ok 0", "stat ok 8092", "read ok a*92"],
    faults: ["open cutTail*"], operations: ["truncate!"]),
  EffectCase(
    name: "truncated tail after a sync", rules: "{on: sync, maximumHits: 1, cutTail: 4096}",
    steps: ["open f w", "write 8192 4096 b", "fsync", "stat f", "read 8192 4096"],
    lines: ["open ok 0", "write ok 4096", "fsync ok 0", "stat ok 8192", "read ok"],
    faults: ["sync cutTail*"], operations: ["write", "sync", "truncate!"]),
  EffectCase(
    name: "a cleared cache: what no sync covers is gone, for who has the file open too",
    rules: "{on: setExtendedAttribute, maximumHits: 1, clearCache: after}",
    steps: [
      "open f w", "write 0 100 b", "write 8192 10 c", "read 0 200", "setxattr f one", "stat f",
      "read 0 200", "write 0 10 d", "read 0 20",
    ],
    lines: [
      "open ok 0", "write ok 100", "write ok 10", "read ok b*100 a*100", "setxattr ok 0",
      "stat ok 8192", "read ok a*200", "write ok 10", "read ok d*10 a*10",
    ],
    faults: ["setExtendedAttribute clearCache"],
    operations: [
      "write", "write", "setExtendedAttribute", "truncate!", "write!", "write",
    ]),
  EffectCase(
    name: "a cache cleared before a sync leaves it nothing to keep",
    rules: "{on: sync, maximumHits: 1, clearCache: before}",
    steps: ["open f w", "write 0 100 b", "fsync", "read 0 200"],
    lines: ["open ok 0", "write ok 100", "fsync ok 0", "read ok a*200"],
    faults: ["sync clearCache"], operations: ["write", "write!", "sync"]),
]

@Suite(
  "Fault effects",
  .requires(.fuse), .serialized)
struct FaultEffectTests {
  @Test(
    "the client sees it, the trace has it, and its operations lead to the tree",
    arguments: effectCases)
  private func effect(_ item: EffectCase) throws {
    let mount = try FaultMount(item.setup)
    try mount.add(item.rules)
    let (lines, trace) = try mount.record(item.steps)
    #expect(lines == item.lines)
    #expect(trace.faultWords == item.faults)
    #expect(trace.operationWords == item.operations)
    let tree = try mount.mount.tree().normalized()
    #expect(trace.finalTree.firstDifference(from: tree) == nil)
    try mount.client.clearRules()
    let (_, clean) = try mount.record(item.steps)
    #expect(clean.faults.isEmpty && clean.events.allSatisfy { !$0.flags.contains(.injected) })
  }

  @Test("a cache cleared after the sync of one file takes the others' bytes, and keeps names")
  func clearedCache() throws {
    let mount = try FaultMount(["open f cw", "write 0 4096 a", "open g cw", "write 0 4096 a"])
    try mount.add("{on: sync, nth: 1, clearCache: after}")
    let lines = try mount.run([
      "open f w", "write 0 10 b", "open h cw", "write 0 10 c", "open g w", "write 0 10 b", "fsync",
      "read 0 20", "open f r", "read 0 20", "stat h",
    ])
    // What was never synced when the rule came counts as the file's content.
    #expect(lines.suffix(4) == ["read ok b*10 a*10", "open ok 3", "read ok a*20", "stat ok 0"])
  }

  /// Number of bits in which two texts of bytes differ.
  private func turned(_ a: [UInt8], _ b: [UInt8]) -> Int {
    zip(a, b).reduce(0) { $0 + ($1.0 ^ $1.1).nonzeroBitCount }
  }

  private func content(_ mount: FaultMount, _ name: String = "f") throws -> [UInt8] {
    let tree = try mount.mount.tree()
    let number = try #require(tree.inodes[.root]?.entries[FileName(name)])
    let inode = try #require(tree.inodes[number])
    var bytes = [UInt8](repeating: 0, count: Int(inode.sizeBytes))
    for extent in inode.extents {
      let start = Int(extent.offsetBytes)
      bytes.replaceSubrange(start..<start + extent.bytes.count, with: extent.bytes)
    }
    return bytes
  }

  private let page = ["open f cw", "write 0 4096 a", "fsync"]

  @Test(
    "bits flip on the way to the file: the client is told nothing; the same seed, the same bits")
  func flippedWrite() throws {
    var seen: [[UInt8]] = []
    for seed in [5, 5, 6] {
      let mount = try FaultMount()
      try mount.add("{on: write, bytes: 1024..2047, flip: 3, seed: \(seed)}")
      let (lines, trace) = try mount.record(["open f cw", "write 0 4096 b"])
      #expect(lines == ["open ok 0", "write ok 4096"])
      #expect(trace.faultWords == ["write flip*"])
      let bytes = try content(mount)
      let clean = [UInt8](repeating: UInt8(ascii: "b"), count: 4096)
      #expect(turned(bytes, clean) == 3)
      #expect(turned(Array(bytes[1024..<2048]), Array(clean[1024..<2048])) == 3)
      #expect(trace.finalTree == (try mount.mount.tree().normalized()))
      seen.append(bytes)
    }
    #expect(seen[0] == seen[1] && seen[0] != seen[2])
  }

  @Test("bits flip on the way from the file: one read is wrong, the file is whole")
  func flippedRead() throws {
    let mount = try FaultMount(page)
    try mount.add("{on: read, nth: 2, flip: 1}")
    let (lines, trace) = try mount.record(["open f r", "read 0 4096", "read 0 4096", "read 0 4096"])
    #expect(lines[1] == "read ok a*4096" && lines[3] == "read ok a*4096")
    #expect(lines[2] != lines[1] && lines[2].split(separator: " ").count >= 4)
    #expect(trace.faultWords == ["read flip"] && trace.operationWords.isEmpty)
    #expect(try content(mount) == [UInt8](repeating: UInt8(ascii: "a"), count: 4096))
  }

  @Test("bits rot at rest: from an open on, everybody reads them, and so does the trace")
  func rotten() throws {
    for kind in ["open", "sync", "close"] {
      let mount = try FaultMount(page)
      // Recorded from the first: the close of the file's maker may come late, too, and be the hit.
      try mount.client.beginRecording()
      try mount.add("{on: \(kind), file: f, bytes: 512..1023, maximumHits: 1, rot: 2}")
      var lines = try mount.run(["open f w", "fsync", "close"])
      // Nobody waits for the kernel's word of a close; on a busy machine it came behind the end of
      // the recording, though more was asked after it.
      try mount.waitForHits(1)
      lines += try mount.run(["open f r"])
      let trace = try mount.mount.endRecording()
      #expect(lines.allSatisfy { $0.contains(" ok") })
      #expect(trace.faultWords == ["\(kind) rot*"])
      let bytes = try content(mount)
      #expect(turned(bytes, [UInt8](repeating: UInt8(ascii: "a"), count: 4096)) == 2)
      #expect(bytes[..<512].allSatisfy { $0 == UInt8(ascii: "a") })
      #expect(trace.finalTree == (try mount.mount.tree().normalized()))
      let read = try mount.run(["open f r", "read 0 4096"])[1]
      #expect(read != "read ok a*4096")
    }
  }

  @Test("a held write, a torn mapped page, and a failed one of the kernel's own")
  func mappedPages() throws {
    let mount = try FaultMount(page)
    try mount.add("{on: write, includeWriteBack: true, torn: {unit: sector, keep: first 2}}")
    let (lines, trace) = try mount.record(
      ["open f w", "mapwrite 0 4096 m", "open f rd", "read 0 4096"])
    #expect(lines == ["open ok 0", "mapwrite ok 0", "open ok 1", "read ok m*1024 a*3072"])
    #expect(trace.faultWords == ["write torn*"])
    #expect(trace.operationWords == ["write!", "write!", "datasync"])
    #expect(trace.faults.first?.process == 0)
  }

  @Test("with a rule on reads in force a file can still be mapped and synced through O_DSYNC")
  func directFiles() throws {
    let mount = try FaultMount(page)
    try mount.add("{on: read, bytes: 100000.., error: EIO}")
    let (lines, trace) = try mount.record([
      "open f ws", "write 0 100 b", "mapwrite 100 100 c", "read 0 300",
    ])
    #expect(
      lines == ["open ok 0", "write ok 100", "mapwrite ok 0", "read ok b*100 c*100 a*100"])
    #expect(trace.operationWords.first == "write" && trace.operationWords.contains("datasync"))
    #expect(trace.events.contains { $0.flags.contains(.openFlagSync) })
  }
}
