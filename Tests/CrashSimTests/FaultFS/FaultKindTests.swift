// FaultKindTests.swift: every effect on every kind of operation that it can hit, through a mount: a
// client process sees it, the trace names it, and once it is cleared the same call works.

import FaultFS
import Foundation
import Glibc
import LabCore
import TestSupport
import Testing

/// A call of each kind, alone.
private struct KindCase: Sendable, CustomTestStringConvertible {
  let kind: OperationKind
  /// Opens what the call needs, not itself of this kind.
  var before: [String] = []
  let step: String
  /// More conditions of the rule: the shell that starts the client looks at folders, too.
  var condition = ""

  var testDescription: String { kind.rawValue }
}

private let file = ["open f cw", "write 0 8192 a", "setxattr f one", "symlink f s", "mkdir d"]

private let kindCases: [KindCase] = [
  KindCase(kind: .open, step: "open f rw"),
  KindCase(kind: .read, before: ["open f rw"], step: "read 0 4096"),
  KindCase(kind: .write, before: ["open f rw"], step: "write 0 100 b"),
  KindCase(kind: .truncate, step: "truncate f 100"),
  KindCase(kind: .allocate, before: ["open f rw"], step: "fallocate 0 16384"),
  KindCase(kind: .create, step: "mkdir e"),
  KindCase(kind: .link, step: "link f g"),
  KindCase(kind: .remove, step: "rmdir d"),
  KindCase(kind: .rename, step: "rename f g"),
  KindCase(kind: .setOwnership, step: "chmod f 600"),
  KindCase(kind: .setExtendedAttribute, step: "setxattr f two"),
  KindCase(kind: .sync, before: ["open f rw", "write 0 10 c"], step: "fsync"),
  KindCase(kind: .syncDirectory, step: "syncdir ."),
  KindCase(kind: .lookUp, step: "stat f"),
  KindCase(kind: .getAttributes, step: "stat f", condition: "file: f, "),
  KindCase(kind: .setTimes, step: "utimes f"),
  KindCase(kind: .readLink, step: "readlink s"),
  KindCase(kind: .readDirectory, step: "readdir ."),
  KindCase(kind: .getExtendedAttribute, step: "getxattr f"),
  KindCase(kind: .status, step: "statfs"),
  KindCase(kind: .seek, before: ["open f rw"], step: "seek 0"),
]

@Suite(
  "Fault kinds",
  .requires(.fuse), .serialized)
struct FaultKindTests {
  private func name(_ step: String) -> String { String(step.prefix { $0 != " " }) }

  @Test("every kind of operation is in the table of cases, but for the close")
  func complete() {
    #expect(Set(kindCases.map(\.kind)) == Set(OperationKind.allCases).subtracting([.close]))
  }

  @Test("error: the call fails, nothing changes, the trace has it", arguments: kindCases)
  private func error(_ item: KindCase) throws {
    let mount = try FaultMount(file)
    try mount.add("{on: \(item.kind.rawValue), \(item.condition)error: EIO}")
    let tree = try mount.mount.tree()
    let (lines, trace) = try mount.record(item.before + [item.step])
    #expect(lines.last == "\(name(item.step)) EIO", "\(lines)")
    let wanted = "\(item.kind.rawValue) error EIO"
    #expect(trace.faultWords.contains { $0.hasPrefix(wanted) }, "\(trace.faultWords)")
    if item.kind != .sync { #expect(try mount.mount.tree() == tree) }
    try mount.client.clearRules()
    let (again, clean) = try mount.record(item.before + [item.step])
    #expect(again.last?.hasPrefix("\(name(item.step)) ok") == true, "\(again)")
    #expect(clean.faults.isEmpty)
  }

  @Test("kill before: SIGKILL, and the call has not happened", arguments: kindCases)
  private func killBefore(_ item: KindCase) throws {
    try kill(item, .before)
  }

  @Test("kill after: SIGKILL, and the call has happened", arguments: kindCases)
  private func killAfter(_ item: KindCase) throws {
    try kill(item, .after)
  }

  private func kill(_ item: KindCase, _ moment: FaultRule.Moment) throws {
    let mount = try FaultMount(file)
    let quiet = try FaultMount(file).record(item.before).trace.operationWords
    let whole = try FaultMount(file).record(item.before + [item.step]).trace.operationWords
    try mount.add(
      "{on: \(item.kind.rawValue), \(item.condition)maximumHits: 1, "
        + "killCaller: \(moment.rawValue)}")
    try mount.client.beginRecording()
    let result = try mount.start(item.before + [item.step]).wait()
    #expect(result.status == 128 + SIGKILL)
    let trace = try mount.mount.endRecording()
    #expect(trace.faultWords == ["\(item.kind.rawValue) killCaller"])
    #expect(trace.operationWords == (moment == .before ? quiet : whole))
  }

  @Test("killOther: who fits is killed, who asks is not", arguments: kindCases)
  private func killOther(_ item: KindCase) throws {
    let mount = try FaultMount(file)
    try mount.add("{on: write, file: v, delay: 0}")
    let victim = try mount.start(["open v cw", "write 0 10 b", "sleep 60000"])
    try mount.waitForHits(1)
    let other = "killOther: \"posix-ca*\""
    try mount.add("{on: \(item.kind.rawValue), \(item.condition)maximumHits: 1, \(other)}")
    let (lines, trace) = try mount.record(item.before + [item.step])
    #expect(lines.last?.hasPrefix("\(name(item.step)) ok") == true, "\(lines)")
    #expect(trace.faultWords == ["\(item.kind.rawValue) killOther"])
    #expect(victim.wait().status == 128 + SIGKILL)
  }

  @Test("delay: the call takes longer, and does what it does", arguments: kindCases)
  private func delay(_ item: KindCase) throws {
    let mount = try FaultMount(file)
    let whole = try FaultMount(file).record(item.before + [item.step])
    try mount.add("{on: \(item.kind.rawValue), \(item.condition)maximumHits: 1, delay: 120}")
    let start = ContinuousClock.now
    let (lines, trace) = try mount.record(item.before + [item.step])
    #expect(ContinuousClock.now - start >= .milliseconds(120))
    #expect(lines == whole.lines)
    #expect(trace.operationWords == whole.trace.operationWords)
    #expect(trace.faultWords == ["\(item.kind.rawValue) delay"])
  }

  @Test("hang: the call waits until the rule is cleared, others go on", arguments: kindCases)
  private func hang(_ item: KindCase) throws {
    let mount = try FaultMount(file)
    let whole = try FaultMount(file).record(item.before + [item.step])
    try mount.add("{on: \(item.kind.rawValue), \(item.condition)maximumHits: 1, hang: true}")
    try mount.client.beginRecording()
    let program = try mount.start(item.before + [item.step])
    try mount.waitForHits(1)
    // Another client is served meanwhile (the kernel itself keeps it from what the first one has
    // locked), and the first one still waits after it.
    #expect(try mount.run(["statfs"]) == ["statfs ok 0"])
    #expect(waitpid(program.process, nil, WNOHANG) == 0)
    try mount.client.clearRules()
    let lines = program.wait().output.split(separator: "\n").map(String.init)
    #expect(lines == whole.lines)
    let trace = try mount.mount.endRecording()
    #expect(trace.faultWords == ["\(item.kind.rawValue) hang"])
    #expect(trace.operationWords == whole.trace.operationWords)
  }

  @Test("answers and notices that several threads send at a time reach the kernel whole")
  func answersBesideNotices() throws {
    let links = (0..<12).map { "s\($0)" }
    let mount = try FaultMount(links.map { "symlink target \($0)" })
    for round in 0..<60 {
      let link = links[round % links.count]
      try mount.add("{on: readLink, maximumHits: 1, hang: true}")
      let program = try mount.start(["readlink \(link)"])
      try mount.waitForHits(1)
      // One thread answers the call that waited, another has the kernel forget all links.
      try mount.client.clearRules()
      let result = program.wait(limitSeconds: 10)
      try #require(result.output == "readlink ok 6\n")
    }
  }

  @Test("killFileSystem: the file system dies before or after the call", arguments: kindCases)
  private func stop(_ item: KindCase) throws {
    for moment in FaultRule.Moment.allCases {
      let mount = try FaultMount(file)
      let quiet = try FaultMount(file).record(item.before).trace.operationWords
      let whole = try FaultMount(file).record(item.before + [item.step]).trace.operationWords
      try mount.add(
        "{on: \(item.kind.rawValue), \(item.condition)killFileSystem: \(moment.rawValue)}")
      try mount.client.beginRecording()
      let lines = try mount.run(item.before + [item.step, "mkdir later"])
      #expect(lines.last == "mkdir ENOTCONN", "\(lines)")
      let trace = try mount.mount.endRecording()
      #expect(trace.faultWords == ["\(item.kind.rawValue) killFileSystem"])
      #expect(trace.operationWords == (moment == .before ? quiet : whole))
      try mount.client.shutdown()
    }
  }

  @Test(
    "makeReadOnly: what changes something gets EROFS, also without a match", arguments: kindCases)
  private func readOnly(_ item: KindCase) throws {
    let mount = try FaultMount(file)
    try mount.add("{on: setTimes, maximumHits: 1, makeReadOnly: true}")
    #expect(try mount.run(["utimes f"]) == ["utimes EROFS"])
    let isRefused: Bool
    switch item.kind {
    case .open: isRefused = true
    case .read, .lookUp, .getAttributes, .readLink, .readDirectory, .getExtendedAttribute, .status,
      .seek:
      isRefused = false
    default: isRefused = true
    }
    let opens = item.before.map { $0.replacing("open f rw", with: "open f r") }.filter {
      $0.hasPrefix("open")
    }
    let (lines, trace) = try mount.record(opens + [item.step])
    let answer = lines.last ?? ""
    // A descriptor that cannot write is refused by the kernel before we are asked.
    let refusals = ["EROFS", "EBADF", "EINVAL"].map { "\(name(item.step)) \($0)" }
    #expect(refusals.contains(answer) == isRefused, "\(lines)")
    if answer.hasSuffix("EROFS") {
      #expect(trace.faultWords.last?.contains("makeReadOnly") == true)
    }
    try mount.client.clearRules()
    #expect(try mount.run(item.before + [item.step]).last?.contains(" ok") == true)
  }

  @Test("random error: one that the call may return, and nothing changes", arguments: kindCases)
  private func randomError(_ item: KindCase) throws {
    let mount = try FaultMount(file)
    try mount.add("{on: \(item.kind.rawValue), \(item.condition)error: random, seed: 3}")
    let tree = try mount.mount.tree()
    let (lines, trace) = try mount.record(item.before + [item.step])
    let allowed = ErrnoTable.errors(of: item.kind).map { ErrnoTable.name(of: $0) }
    var answer = lines.last?.split(separator: " ").last.map(String.init) ?? ""
    // glibc takes ENOENT for the end of a folder.
    if item.kind == .readDirectory, answer == "0" { answer = "ENOENT" }
    #expect(allowed.contains(answer), "\(lines)")
    let wanted = "\(item.kind.rawValue) error \(answer)"
    #expect(trace.faultWords.contains { $0.hasPrefix(wanted) }, "\(trace.faultWords)")
    if item.kind != .sync { #expect(try mount.mount.tree() == tree) }
  }

  @Test(
    "error once per open file: told once, then the call works",
    arguments: kindCases.filter {
      [.read, .write, .allocate, .sync, .syncDirectory, .readDirectory, .seek].contains($0.kind)
    })
  private func errorOnce(_ item: KindCase) throws {
    let mount = try FaultMount(file)
    let rule = "{on: \(item.kind.rawValue), error: EIO, oncePerOpenFile: true}"
    try mount.add(rule)
    let (lines, trace) = try mount.record(item.before + [item.step, item.step])
    let answers = lines.suffix(2).map { $0.hasSuffix(" EIO") }
    // Without a descriptor that stays open each call has an open file of its own.
    #expect(answers == [true, item.before.isEmpty], "\(lines)")
    let told = trace.faultWords.filter { $0.hasPrefix("\(item.kind.rawValue) error EIO") }
    #expect(told.count == (item.before.isEmpty ? 2 : 1), "\(trace.faultWords)")
  }

  @Test(
    "clearCache: what was not synced is gone, before or after the call",
    arguments: kindCases.filter {
      [.sync, .syncDirectory, .remove, .rename, .setExtendedAttribute].contains($0.kind)
    })
  private func clearCache(_ item: KindCase) throws {
    for moment in FaultRule.Moment.allCases {
      let mount = try FaultMount(["open g cw", "write 0 100 a"] + file)
      let rule = "maximumHits: 1, clearCache: \(moment.rawValue)}"
      try mount.add("{on: \(item.kind.rawValue), \(rule)")
      // A rename over g would take the file that is looked at.
      let step = item.kind == .rename ? "rename f h" : item.step
      let (lines, trace) = try mount.record(
        item.before + ["open g rw", "write 0 100 b", step, "read 0 100"])
      let isSynced = item.kind == .sync && moment == .after
      #expect(lines.last == (isSynced ? "read ok b*100" : "read ok a*100"), "\(lines)")
      #expect(trace.faultWords == ["\(item.kind.rawValue) clearCache"])
      let restored = trace.events.contains { $0.flags.contains(.onMedium) }
      #expect(restored || isSynced, "\(trace.operationWords)")
    }
  }

  @Test("a tail is cut after the last close")
  func cutAtClose() throws {
    let mount = try FaultMount(file)
    // Of another file than those before: the kernel tells of a close a little later.
    try mount.add("{on: close, file: new, maximumHits: 1, cutTail: 100}")
    try mount.client.beginRecording()
    try mount.run(["open new cw", "write 0 4096 b", "close"])
    try mount.waitForHits(1)
    #expect(try mount.run(["stat new"]) == ["stat ok 3996"])
    let trace = try mount.mount.endRecording()
    #expect(trace.faultWords == ["close cutTail*"])
    #expect(trace.operationWords == ["create", "write", "truncate!"])
  }
}
