// FaultFSFaultTests.swift: each effect of a rule on a real program, and its place in the trace.
// The program is `commits` of syncs.c: four times data at 8,192 and above, datasync, 64 bytes of a
// root below 8,192, datasync, mark.

import FaultFS
import Foundation
import Glibc
import LabCore
import Recording
import TestSupport
import Testing

@Suite(
  "FaultFS faults",
  .requires(.fuse), .serialized)
struct FaultFSFaultTests {
  private typealias Match = FaultRule.Match

  private func mounted() throws -> MountedFaultFS {
    let mount = try MountedFaultFS()
    #expect(try mount.shell("truncate -s 64K f; truncate -s 64K g").status == 0)
    return mount
  }

  /// `w` a write below 8,192, `W` one above, `s` a sync, each with its flags, then the marks.
  private func shape(_ trace: Trace) -> [String] {
    trace.events.compactMap { event in
      let flags = [
        (OperationFlags.ignored, "-ignored"), (.reordered, "-reordered"), (.failed, "-failed"),
      ].filter { event.flags.contains($0.0) }.map(\.1).joined()
      switch event.body {
      case .operation(.write(inode: _, offsetBytes: let offset, payload: _)):
        return (offset < 8192 ? "w" : "W") + flags
      case .operation(.sync): return "s" + flags
      case .mark(let mark): return mark.text
      default: return nil
      }
    }
  }

  private func commits(_ rules: [FaultRule]) throws -> (shape: [String], hits: [RuleHits]) {
    let mount = try mounted()
    try mount.client.addRules(rules)
    let trace = try mount.recordSyncs("commits")
    let hits = try mount.client.ruleHits()
    try mount.client.shutdown()
    return (shape(trace), hits)
  }

  private func commit(_ number: Int, _ first: String = "s", _ second: String = "s") -> [String] {
    ["W", first, "w", second, "commit \(number)"]
  }

  @Test("without rules the program is as described")
  func baseline() throws {
    #expect(try commits([]).shape == (0..<4).flatMap { commit($0) })
  }

  @Test("ignoreSync on the first sync of every commit")
  func ignoredSync() throws {
    let rule = FaultRule(
      when: Match([.sync], path: "f", everyKth: 2, offset: 0), what: .ignoreSync)
    let (shape, hits) = try commits([rule])
    #expect(shape == (0..<4).flatMap { commit($0, "s-ignored", "s") })
    #expect(hits == [RuleHits(matchCount: 8, hitCount: 4)])
  }

  @Test("ignoreSync on the second sync, and on another file's not at all")
  func ignoredSecondSync() throws {
    let rules = [
      FaultRule(when: Match([.sync], path: "g"), what: .ignoreSync),
      FaultRule(when: Match([.sync], everyKth: 2, offset: 1), what: .ignoreSync),
    ]
    let (shape, hits) = try commits(rules)
    #expect(shape == (0..<4).flatMap { commit($0, "s", "s-ignored") })
    #expect(hits[0] == RuleHits(matchCount: 0, hitCount: 0))
  }

  @Test("an offset beyond 'every' leaves out the first operations, and hits from there on")
  func fromThirdOn() throws {
    let rule = FaultRule(when: Match([.sync], everyKth: 1, offset: 3), what: .ignoreSync)
    let (shape, hits) = try commits([rule])
    let ignored = (2..<4).flatMap { commit($0, "s-ignored", "s-ignored") }
    #expect(shape == commit(0) + commit(1, "s", "s-ignored") + ignored)
    #expect(hits == [RuleHits(matchCount: 8, hitCount: 5)])
  }

  @Test("a failed sync is reported once and recorded as failed")
  func failedSync() throws {
    let rule = FaultRule(when: Match([.sync], nth: 3), what: .error(EIO))
    let shape = try commits([rule]).shape
    #expect(
      shape == commit(0) + ["W", "s-failed", "data sync failed: \(EIO)", "w", "s", "commit 1"]
        + commit(2) + commit(3))
  }

  @Test("data writes are recorded behind the root write that follows them")
  func reordered() throws {
    let rule = FaultRule(
      when: Match([.write], path: "f", fromByte: 8192),
      what: .reorder(before: Match([.write], path: "f", toByte: 8192)))
    let (shape, hits) = try commits([rule])
    #expect(
      shape == (0..<4).flatMap { ["s", "w", "W-reordered", "s", "commit \($0)"] })
    #expect(hits == [RuleHits(matchCount: 4, hitCount: 4)])
  }

  @Test("a held write is visible at once, and recorded at the end of the recording at the latest")
  func heldUntilTheEnd() throws {
    let mount = try mounted()
    try mount.client.addRules([
      FaultRule(
        when: Match([.write], path: "f"), what: .reorder(before: Match([.write], path: "none")))
    ])
    let (result, trace) = try mount.record(
      "printf held | dd of=f conv=notrunc status=none; printf other > h; head -c 4 f")
    #expect(result.output == "held")
    #expect(trace.withoutCloses.words == ["create", "write", "write"])
    #expect(trace.withoutCloses.events.last?.flags == .reordered)
  }

  @Test("a held write is recorded before its file is cut, and cannot bring the bytes back")
  func heldUntilTheCut() throws {
    let mount = try mounted()
    try mount.client.addRules([
      FaultRule(
        when: Match([.write], path: "f"), what: .reorder(before: Match([.write], path: "none")))
    ])
    let (result, trace) = try mount.record(
      "printf held | dd of=f conv=notrunc status=none; truncate -s 2 f; cat f")
    #expect(result.output == "he")
    #expect(trace.withoutCloses.words == ["write", "truncate"])
    let cut = try #require(trace.finalTree.inodes.values.first { $0.sizeBytes == 2 })
    #expect(cut.extents.flatMap(\.bytes) == Array("he".utf8))
  }

  @Test("a refused write changes nothing and is not recorded")
  func failedWrite() throws {
    let mount = try mounted()
    try mount.client.addRules([
      FaultRule(when: Match([.write], path: "f", nth: 2), what: .error(ENOSPC))
    ])
    let (result, trace) = try mount.record(
      "for i in 1 2 3; do printf $i | dd of=f bs=1 seek=$i conv=notrunc status=none; done; "
        + "head -c 5 f | od -An -c")
    #expect(result.output.contains("No space left on device"))
    #expect(result.output.contains("\\0   1  \\0   3  \\0"))
    #expect(trace.withoutCloses.words == ["write", "write"])
    #expect(try mount.client.ruleHits() == [RuleHits(matchCount: 3, hitCount: 1)])
  }

  @Test(
    "any operation can fail with an injected error",
    arguments: [
      (OperationKind.create, "echo x > new"), (.open, "cat f"), (.read, "cat f"),
      (.truncate, "truncate -s 1 f"), (.allocate, "fallocate -l 99999 f"), (.link, "ln f l"),
      (.remove, "rm f"), (.rename, "mv f moved"), (.setOwnership, "chmod 600 f"),
      (.syncDirectory, "sync ."), (.sync, "sync f"), (.write, "echo x >> f"),
    ])
  func failures(_ kind: OperationKind, _ script: String) throws {
    let mount = try mounted()
    let before = try mount.tree()
    try mount.client.addRules([FaultRule(when: Match([kind]), what: .error(EIO))])
    let (result, trace) = try mount.record(script)
    #expect(result.status != 0 && result.output.contains("Input/output error"))
    #expect(trace.withoutCloses.events.allSatisfy { $0.flags.contains(.failed) })
    let difference = try mount.tree().firstDifference(from: before)
    #expect(difference == nil, "\(difference ?? "")")
    try mount.client.clearRules()
    #expect(try mount.shell(script).status == 0)
  }

  @Test("kill before: the operation does not happen; after: it does", arguments: [false, true])
  func killed(_ isAfter: Bool) throws {
    let mount = try mounted()
    try mount.client.addRules([
      FaultRule(
        when: Match([.write], path: "f", fromByte: 0, toByte: 8192, nth: 2),
        what: .kill(isAfter ? .after : .before))
    ])
    try mount.client.beginRecording()
    let result = try RunningProgram(
      [posixCasesProgram, "--syncs", "commits", mount.path], in: "/",
      marksDescriptor: mount.client.marksWriteDescriptor
    ).wait()
    #expect(result.status == 128 + SIGKILL)
    #expect(try shape(mount.endRecording()) == commit(0) + ["W", "s"] + (isAfter ? ["w"] : []))
    // The lab itself is out of reach: this process wrote through the same rule and lives.
    #expect(try mount.client.statistics().isRecording == false)
    try mount.client.shutdown()
  }

  @Test("write-back does not count towards the n-th write unless the rule says so")
  func writeBack() throws {
    for includesWriteBack in [false, true] {
      let mount = try mounted()
      try mount.client.addRules([
        FaultRule(
          when: Match([.write], path: "f", nth: 1, includesWriteBack: includesWriteBack),
          what: .error(EIO))
      ])
      try mount.client.beginRecording()
      let result = try RunningProgram(
        [posixCasesProgram, "--syncs", "msync", mount.path], in: "/"
      ).wait()
      #expect(result.status == (includesWriteBack ? 1 : 0), "\(result.output)")
      #expect(
        try mount.client.ruleHits()[0].matchCount == (includesWriteBack ? 1 : 0))
      try mount.client.shutdown()
    }
  }

  @Test("rules that cannot do what they say are refused, with the field named")
  func validation() throws {
    let mount = try mounted()
    let wrong: [(FaultRule, String)] = [
      (FaultRule(when: Match([]), what: .error(EIO)), "kinds"),
      (FaultRule(when: Match([.write]), what: .error(EROFS)), "EROFS: write cannot return it"),
      (FaultRule(when: Match([.close]), what: .error(EIO)), "error cannot hit close"),
      (FaultRule(when: Match([.write], nth: 0), what: .error(EIO)), "nth=0"),
      (FaultRule(when: Match([.write], offset: 2), what: .error(EIO)), "skip=2"),
      (FaultRule(when: Match([.write]), what: .error(0)), "errno 0"),
      (FaultRule(when: Match([.write]), what: .ignoreSync), "ignore cannot hit write"),
      (
        FaultRule(when: Match([.sync]), what: .reorder(before: Match([.write]))),
        "holdBehind cannot hit"
      ),
      (FaultRule(when: Match([.write], fromByte: 5, toByte: 5), what: .error(EIO)), "fromByte=5"),
    ]
    for (rule, field) in wrong {
      let error = #expect(throws: LabError.self) { try mount.client.addRules([rule]) }
      #expect(error?.code == .usage && error?.message.contains(field) == true)
    }
    #expect(try mount.client.ruleHits() == [])
  }
}
