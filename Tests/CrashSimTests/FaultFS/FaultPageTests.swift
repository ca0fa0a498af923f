// FaultPageTests.swift: faults where the kernel moves pages between its cache and the mount, for
// nobody's buffer: it fills a short page up with zeros, and does not look at how much of a page
// that it writes back was taken.

import FaultFS
import Foundation
import Recording
import TestSupport
import Testing

@Suite("Faults of pages", .requires(.fuse), .serialized)
struct FaultPageTests {
  @Test("short reads hit what reads into a buffer; pages come whole")
  func shortReads() throws {
    let mount = try FaultMount(["open f cw", "write 0 20000 a", "fsync"])
    let opened = try #require(FileHandle(forReadingAtPath: mount.mount.file("f")))
    try mount.add("{on: read, file: f, short: 4000}")
    let lines = try mount.run([
      "open f r", "mapread 0 20000", "sendfile copy 20000", "read 0 20000", "open f rd",
      "read 0 8192", "open copy r", "read 0 20000",
    ])
    #expect(
      lines == [
        "open ok 0", "mapread ok a*20000", "sendfile ok 20000", "read ok a*4000", "open ok 1",
        "read ok a*4000", "open ok 2", "read ok a*20000",
      ])
    // What was open before the rule reads by the kernel's pages.
    _ = try mount.run(["open f rd", "forget 0 0"])
    #expect(try opened.readToEnd() == Data(repeating: UInt8(ascii: "a"), count: 20000))
    let copied = try mount.mount.shell("cp f g && cmp f g && cmp f copy && stat -c %s f g copy")
    #expect(copied.output == "20000\n20000\n20000\n")
    #expect(copied.status == 0, "\(copied.output)")
    try opened.close()
    try mount.client.shutdown()
  }

  @Test("an error on reads hits pages too")
  func failedPages() throws {
    let mount = try FaultMount(["open f cw", "write 0 20000 a", "fsync"])
    try mount.add("{on: read, file: f, error: EIO}")
    let copied = try mount.mount.shell("cp f g")
    #expect(copied.status == 1)
    #expect(try mount.run(["open f r", "sendfile copy 20000"]) == ["open ok 0", "sendfile EIO"])
    try mount.client.shutdown()
  }

  @Test(
    "a full disk under mapped pages takes what fits, and the sync says that there was more",
    arguments: ["no-space-after: 65536", "short: 65536"])
  func fullDiskUnderMapping(_ effect: String) throws {
    let mount = try FaultMount(["open f cw", "ftruncate 131072"])
    try mount.add("{on: write, file: f, write-back: true, \(effect)}")
    let (lines, trace) = try mount.record([
      "open f w", "mapwrite 0 131072 b", "forget 0 0", "read 0 131072",
    ])
    #expect(
      lines == [
        "open ok 0", "mapwrite ENOSPC", "forget ok 0", "read ok b*65536 00*65536",
      ])
    #expect(trace.operationWords == ["write!"])
    let word = try #require(effect.split(separator: ":").first)
    #expect(trace.faultWords == ["write \(word) ENOSPC*"])
    #expect(trace.finalTree.firstDifference(from: try mount.mount.tree()) == nil)
    try mount.client.shutdown()
  }

  @Test("what a mapping lost to a full disk is told once, by its file's sync and by no other")
  func fullDiskAtFsync() throws {
    let mount = try FaultMount(["open f cw", "ftruncate 131072", "open g cw", "write 0 10 a"])
    try mount.add("{on: write, file: f, write-back: true, no-space-after: 4096}")
    let lines = try mount.run([
      "open f w", "open g w", "use 0", "mapstore 0 8192 b", "use 1", "fsync", "use 0", "fsync",
      "fsync",
    ])
    #expect(
      lines.suffix(5) == ["use ok 0", "fsync ok 0", "use ok 0", "fsync ENOSPC", "fsync ok 0"])
    try mount.client.shutdown()
  }
}
