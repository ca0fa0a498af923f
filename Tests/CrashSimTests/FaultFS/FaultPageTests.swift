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
    arguments: ["noSpaceAfter: 65536", "short: 65536"])
  func fullDiskUnderMapping(_ effect: String) throws {
    let mount = try FaultMount(["open f cw", "ftruncate 131072"])
    try mount.add("{on: write, file: f, includeWriteBack: true, \(effect)}")
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

  @Test("a write that meets the end of space is short, then an error, and reserves nothing")
  func fullDisk() throws {
    // One page is left, then another that somebody else lets go of.
    let mount = try FaultMount([], options: FaultFSOptions(quotaBytes: 1 << 20))
    let full = try mount.mount.shell(
      """
      dd if=/dev/zero of=f bs=64k count=14 status=none
      dd if=/dev/zero of=g bs=1M count=1 2>&1 | grep -c 'No space'; stat -c %s g > size
      df --output=avail . | tail -1; fallocate -l 4M h 2>&1 | grep -c 'No space'
      df --output=avail . | tail -1; rm -f g h size f; df --output=used . | tail -1
      """)
    #expect(full.status == 0, "\(full.output)")
    let (lines, trace) = try mount.record([
      "open f cw", "write 0 983040 a", "write 983040 65536 b", "write 1040384 4096 c", "stat f",
    ])
    let size = try #require(lines.last.flatMap { Int($0.split(separator: " ").last ?? "") })
    #expect(lines[2].hasPrefix("write ok ") && lines[3] == "write ENOSPC", "\(lines)")
    #expect(lines[2] != "write ok 65536" && size % 4096 == 0 && size > 983040)
    #expect(trace.operationWords == ["create", "write", "write"])
    #expect(trace.finalTree.firstDifference(from: try mount.mount.tree()) == nil)
    let used = try mount.run(["unlink f", "open h cw", "fallocate 0 4194304", "statfs"])
    #expect(used[2] == "fallocate ENOSPC")
    try mount.client.shutdown()
  }

  @Test("what a mapping lost to a full disk is told once, by its file's sync and by no other")
  func fullDiskAtFsync() throws {
    let mount = try FaultMount(["open f cw", "ftruncate 131072", "open g cw", "write 0 10 a"])
    try mount.add("{on: write, file: f, includeWriteBack: true, noSpaceAfter: 4096}")
    let lines = try mount.run([
      "open f w", "open g w", "use 0", "mapstore 0 8192 b", "use 1", "fsync", "use 0", "fsync",
      "fsync",
    ])
    #expect(
      lines.suffix(5) == ["use ok 0", "fsync ok 0", "use ok 0", "fsync ENOSPC", "fsync ok 0"])
    try mount.client.shutdown()
  }
}
