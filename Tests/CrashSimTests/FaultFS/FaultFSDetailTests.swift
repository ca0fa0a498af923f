// FaultFSDetailTests.swift: [U] cases of the faulty file system that whole runs hardly meet: what a
// rule must leave alone, pages at the end of a file, requests that wait, and who comes first.

import Foundation
import Glibc
import LabCore
import Recording
import Scenarios
import TestSupport
import Testing

@testable import FaultFS

@Suite("Details of the faulty file system")
struct FaultFSDetailTests {
  private static let caller = Caller(process: 4711, thread: 4711)

  private func fileSystem(_ files: [String: String]) throws -> FaultFileSystem {
    let tree = try FileTree(
      image: CrashSimTests.Recording(files: files).trace.initial, quotaBytes: 1 << 30,
      now: { Timestamp(seconds: 0, nanoseconds: 0) })
    return FaultFileSystem(
      tree: tree, recorder: TraceRecorder(limitBytes: 1 << 30, clockNanoseconds: { 0 }))
  }

  private func inode(_ name: String, of fileSystem: FaultFileSystem) throws -> Inode {
    try #require(fileSystem.tree.root.entries[FileName(name)]?.inode)
  }

  private func add(_ yaml: String, to fileSystem: FaultFileSystem) throws {
    _ = try fileSystem.addRules(try FaultFile.parse(yaml, file: "test"))
  }

  // MARK: in process

  @Test("statfs follows rules on all files, and none that is about some of them or some calls")
  func spaceLimits() throws {
    typealias Match = FaultRule.Match
    func limits(_ match: Match) throws -> [UInt64?] {
      let plan = FaultPlan(occupiedBytes: { 1000 })
      try plan.add([FaultRule(when: match, what: .quota(limitBytes: 4096))])
      return [plan.spaceLimits().total, plan.spaceLimits().free]
    }
    #expect(try limits(Match([.write])) == [4096, 3096])
    var some = [
      Match([.write], path: "d/*"), Match([.write], fromByte: 1), Match([.write], toByte: 1),
      Match([.write], process: 1), Match([.write], nth: 1), Match([.write], everyKth: 2),
    ]
    for change in [
      { $0.command = "c" }, { $0.actor = "a" }, { $0.chance = FaultRule.Chance(1, in: 2) },
      { $0.phase = "p" },
    ] as [(inout Match) -> Void] {
      var match = Match([.write])
      change(&match)
      some.append(match)
    }
    for match in some { #expect(try limits(match) == [nil, nil], "\(match)") }
  }

  @Test("write-back comes every few requests, every time where each request is meant")
  func harvestClock() {
    var each = HarvestClock(PageWriteBack(seed: 7, rate: 1))
    #expect((0..<20).allSatisfy { _ in each.ticks() })
    var some = HarvestClock(PageWriteBack(seed: 7, rate: 4))
    let count = (0..<4000).count { _ in some.ticks() }
    #expect((700...1400).contains(count), "\(count)")
  }

  @Test("the kernel has a page that ends with the file when it read it, not when it wrote it")
  func cachedPages() throws {
    let fileSystem = try fileSystem(["f": String(repeating: "o", count: 5000)])
    try add("{on: sync, nth: 1, error: EIO}", to: fileSystem)
    let inode = try inode("f", of: fileSystem)
    func cached(_ range: Range<UInt64>, isRead: Bool) -> Set<UInt64> {
      inode.cachedPages = []
      fileSystem.noteCached(inode, range, isRead: isRead)
      return inode.cachedPages
    }
    #expect(cached(0..<5000, isRead: true) == [0, 1])
    #expect(cached(0..<5000, isRead: false) == [0])
    #expect(cached(0..<4500, isRead: true) == [0])
    #expect(cached(1..<5000, isRead: true) == [1])
  }

  @Test("of a page that the file ends in, what the medium has up to that end comes back")
  func evictedTail() throws {
    let fileSystem = try fileSystem(["f": String(repeating: "o", count: 5000)])
    try add("{on: sync, nth: 1, error: EIO}", to: fileSystem)
    let inode = try inode("f", of: fileSystem)
    let new = [UInt8](repeating: UInt8(ascii: "n"), count: 5000)
    try unsafe fileSystem.write(new.span.bytes, at: 0, to: inode, by: Self.caller)
    #expect(throws: ErrorNumber.self) {
      try fileSystem.sync(inode, dataOnly: false, by: Self.caller)
    }
    let restored = fileSystem.evict(inode, 4096..<8192, isCached: false)
    #expect(restored.map(\.offsetBytes) == [4096])
    #expect(restored.first?.bytes == [UInt8](repeating: UInt8(ascii: "o"), count: 904))
    #expect(inode.sizeBytes == 5000)
  }

  @Test("what was decided for a request that waited is nothing to the next request")
  func decisionsEnd() throws {
    let fileSystem = try fileSystem(["f": "o"])
    try add("{on: write, error: EIO}", to: fileSystem)
    let inode = try inode("f", of: fileSystem)
    let subject = FaultSubject(kind: .write, inode: inode, caller: Self.caller)
    fileSystem.beginRequest(resuming: [(.write, nil)])
    #expect(try fileSystem.decide(subject)?.outcome == nil)
    fileSystem.beginRequest(resuming: [(.write, nil)])
    fileSystem.beginRequest()
    #expect(try fileSystem.decide(subject)?.outcome != nil)
  }

  @Test("a torn write of which nothing arrived, in a file that does not grow, is not an operation")
  func tornToNothing() throws {
    for (keep, isOfEvent) in [("[]", false), ("[1]", true)] {
      let fileSystem = try fileSystem(["f": String(repeating: "o", count: 8192)])
      let keeps: FaultRule.Tearing.Keep = isOfEvent ? .these([1]) : .these([3])
      try fileSystem.addRules([
        FaultRule(
          when: FaultRule.Match([.write]),
          what: .tear(FaultRule.Tearing(.writeUnits(bytes: 4096), keep: keeps)))
      ])
      let inode = try inode("f", of: fileSystem)
      fileSystem.beginRecording()
      let new = [UInt8](repeating: UInt8(ascii: "n"), count: 8192)
      try unsafe fileSystem.write(new.span.bytes, at: 0, to: inode, by: Self.caller)
      let trace = fileSystem.endRecording()
      #expect(trace.faults.map(\.isOfEvent) == [isOfEvent], "keeps \(keep)")
      #expect(trace.events.count == (isOfEvent ? 1 : 0))
    }
  }

  @Test("an open file counts among the writers until it is closed")
  func writers() throws {
    let fileSystem = try fileSystem(["f": "o"])
    let inode = try inode("f", of: fileSystem)
    for flags in [O_RDONLY, O_WRONLY, O_RDWR] {
      let file = try fileSystem.open(inode, flags: flags, by: Self.caller)
      #expect(inode.writerCount == (flags == O_RDONLY ? 0 : 1))
      fileSystem.close(file, by: Self.caller)
      #expect(inode.writerCount == 0)
    }
  }
}

@Suite("Details of a faulty mount", .requires(.fuse), .serialized)
struct FaultMountDetailTests {
  @Test("a mark in the pipe comes before one that the lab asked for later")
  func markOrder() throws {
    let mount = try MountedFaultFS()
    try mount.client.beginRecording()
    let daemon = mount.client.daemonProcess
    // Both are there when the daemon looks.
    #expect(kill(daemon, SIGSTOP) == 0)
    let text = Array("first\n".utf8)
    unsafe #expect(write(mount.client.marksWriteDescriptor, text, text.count) == text.count)
    let thread = Thread {
      usleep(100_000)
      kill(daemon, SIGCONT)
    }
    thread.start()
    try mount.client.mark(Array("second".utf8))
    let words = try mount.endRecording().words.filter { $0.hasPrefix("mark") }
    #expect(words == ["mark first\n", "mark second"])
    try mount.client.shutdown()
  }

  @Test(
    "a write to a file without a cache that asks for a sync, which waits, has that sync",
    arguments: ["dsync", "sync"])
  func delayedSync(_ what: String) throws {
    let mount = try MountedFaultFS()
    _ = try mount.shell("head -c 65536 /dev/zero > f")
    try mount.client.addRules(
      try FaultFile.parse(
        "[{on: read, nth: 1000000, error: EIO}, {on: sync, delay: 20}]", file: "test"))
    let sync = what == "sync" ? "sync" : "datasync"
    #expect(
      try mount.recordSyncs(what).withoutCloses.words.prefix(4) == ["write", sync, "write", sync])
    try mount.client.shutdown()
  }

  private func status(_ path: String) throws -> stat {
    var status = stat()
    try unsafe #require(lstat(path, &status) == 0)
    return status
  }

  private func nanoseconds(_ time: timespec) -> Int { time.tv_sec * 1_000_000_000 + time.tv_nsec }

  @Test("setting a file's times changes the time of its last change")
  func changeTime() throws {
    let mount = try MountedFaultFS()
    _ = try mount.shell(": > f")
    let path = mount.path + "/f"
    let before = nanoseconds(try status(path).st_ctim)
    usleep(20_000)
    let times = [timespec(tv_sec: 1, tv_nsec: 0), timespec(tv_sec: 2, tv_nsec: 0)]
    unsafe #expect(utimensat(AT_FDCWD, path, times, 0) == 0)
    let after = try status(path)
    #expect(nanoseconds(after.st_ctim) > before)
    #expect(after.st_atim.tv_sec == 1 && after.st_mtim.tv_sec == 2)
    try mount.client.shutdown()
  }

  @Test("a link whose text could not be read was not read")
  func failedReadLink() throws {
    let mount = try MountedFaultFS()
    _ = try mount.shell("ln -s f s")
    let path = mount.path + "/s"
    let times = [timespec(tv_sec: 1, tv_nsec: 0), timespec(tv_sec: 2, tv_nsec: 0)]
    unsafe #expect(utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW) == 0)
    try mount.client.addRules(
      try FaultFile.parse("{on: readLink, nth: 1, error: EIO}", file: "test"))
    var text = [CChar](repeating: 0, count: 64)
    unsafe #expect(readlink(path, &text, 64) == -1)
    #expect(try status(path).st_atim.tv_sec == 1)
    unsafe #expect(readlink(path, &text, 64) == 1)
    #expect(try status(path).st_atim.tv_sec > 1)
    try mount.client.shutdown()
  }

  @Test("the daemon gets the options that its mount was asked for, and no others")
  func options() throws {
    func arguments(_ options: FaultFSOptions) throws -> [String] {
      let mount = try MountedFaultFS(options)
      let path = "/proc/\(mount.client.daemonProcess)/cmdline"
      let words = try Data(contentsOf: URL(filePath: path)).split(separator: 0)
      try mount.client.shutdown()
      return words.map { String(decoding: $0, as: UTF8.self) }
    }
    let plain = try arguments(FaultFSOptions())
    for word in ["--write-back", "--page-granular"] {
      #expect(!plain.contains(word))
    }
    var options = FaultFSOptions()
    options.writeBack = PageWriteBack(seed: 7, rate: 16)
    options.isPageGranular = true
    let words = try arguments(options)
    let place = try #require(words.firstIndex(of: "--write-back"))
    #expect(words[place + 1] == "7:16" && words.contains("--page-granular"))
  }
}
