// FaultFSTraceTests.swift: what a mount records, in which order, and that it is all.

import FaultFS
import Foundation
import LabCore
import Recording
import Scenarios
import TestSupport
import Testing

@Suite(
  "FaultFS trace",
  .requires(.fuse), .serialized)
struct FaultFSTraceTests {
  @Test("a file written by a shell is in the trace, and its output is a mark")
  func simpleTrace() throws {
    let mount = try MountedFaultFS()
    let (result, trace) = try mount.record("echo hello > a; echo done >&3; cat a; sync a")
    #expect(result.output == "hello\n")
    // The kernel does not wait for the answer to a close, so it may come after the mark.
    #expect(trace.words.filter { $0 != "close" } == ["create", "write", "mark done\n", "sync"])
    #expect(trace.words.count == 5)
    try mount.client.shutdown()
  }

  @Test(
    "a write through O_SYNC or O_DSYNC is one write and one sync",
    arguments: ["dsync", "sync", "direct-dsync"])
  func openFlagSync(_ what: String) throws {
    let mount = try MountedFaultFS()
    _ = try mount.shell("head -c 65536 /dev/zero > f")
    let trace = try mount.recordSyncs(what).withoutCloses
    #expect(
      trace.words.prefix(4)
        == (what == "sync"
          ? ["write", "sync", "write", "sync"] : ["write", "datasync", "write", "datasync"]))
    let syncs = trace.events.filter { $0.word.hasSuffix("sync") }
    #expect(syncs.count == 2 && syncs.allSatisfy { $0.flags == .openFlagSync })
    #expect(syncs.allSatisfy { $0.process > 0 })
  }

  private static let waysToSync = ["dsync", "sync", "rwf-dsync", "rwf-sync"]

  @Test(
    "a direct write that a queue takes, or that asks for its own sync, is one write and one sync",
    arguments: waysToSync.map { "aio-\($0)" } + ["rwf-dsync", "rwf-sync"])
  func askedSync(_ what: String) throws { try expectOneSyncs(what) }

  @Test(
    "a direct write that a ring takes is one write and one sync", .requires(.ring),
    arguments: waysToSync.map { "uring-\($0)" })
  func ringSync(_ what: String) throws { try expectOneSyncs(what) }

  private func expectOneSyncs(_ what: String) throws {
    let mount = try MountedFaultFS()
    try expectOneSync(what, mount)
    // Files that a rule on reads is about have no cache, and the kernel sends no fsync for them.
    try mount.client.addRules(
      try FaultFile.parse("{on: read, nth: 1000000, error: EIO}", file: "test"))
    try expectOneSync(what, mount)
    try mount.client.shutdown()
  }

  private func expectOneSync(_ what: String, _ mount: MountedFaultFS) throws {
    _ = try mount.shell("head -c 65536 /dev/zero > f")
    let trace = try mount.recordSyncs(what).withoutCloses
    let sync = what.hasSuffix("dsync") ? "datasync" : "sync"
    #expect(trace.words == ["write", sync])
    #expect(trace.events.last?.flags == .openFlagSync)
    #expect(trace.events.allSatisfy { $0.process > 0 })
  }

  @Test("an unaligned O_DSYNC write has one sync, and a later fsync is its own")
  func unalignedSync() throws {
    let mount = try MountedFaultFS()
    _ = try mount.shell("head -c 65536 /dev/zero > f")
    let trace = try mount.recordSyncs("dsync-unaligned")
    // Whether the kernel splits the write at the page depends on what it has cached.
    #expect(trace.words.filter { $0 != "close" }.suffix(3) == ["write", "datasync", "sync"])
    let syncs = trace.events.filter { $0.word.hasSuffix("sync") }
    #expect(syncs.map(\.flags) == [.openFlagSync, []])
  }

  @Test("msync is the kernel's write and the caller's sync; pwritev2 with RWF_DSYNC is both")
  func mappedSync() throws {
    let mount = try MountedFaultFS()
    _ = try mount.shell(": > f")
    let trace = try mount.recordSyncs("msync").withoutCloses
    #expect(trace.words.prefix(3) == ["truncate", "write", "datasync"])
    #expect(trace.events[1].flags == .writeBack && trace.events[1].process == 0)
    #expect(trace.events[2].process > 0)
    let other = try mount.recordSyncs("rwf-dsync").withoutCloses
    #expect(other.words.prefix(2) == ["write", "datasync"])
    #expect(other.events[1].flags == .openFlagSync)
  }

  @Test("marks and operations of one program keep their order")
  func marksInOrder() throws {
    let mount = try MountedFaultFS()
    _ = try mount.shell(": > f")
    let trace = try mount.recordSyncs("alternate")
    var position = 0
    for event in trace.events {
      switch event.body {
      case .mark(let mark):
        #expect(mark.text == "mark \(position / 2)" && position % 2 == 0)
        position += 1
      case .operation(.write(inode: _, offsetBytes: let offset, let payload)):
        #expect(position % 2 == 1 && offset == UInt64(position / 2) * 16)
        #expect(payload.bytes == Array("mark \(position / 2)".utf8))
        position += 1
      default: break
      }
    }
    #expect(position == 1000)
  }

  @Test("a program that only writes marks is never blocked")
  func marksOnly() throws {
    let mount = try MountedFaultFS()
    let trace = try mount.recordSyncs("marks-only")
    #expect(trace.words == [String](repeating: "mark m", count: 5000))
    try mount.client.mark(Array("ignored".utf8))
    try mount.client.beginRecording()
    try mount.client.mark(Array("kept".utf8))
    #expect(try mount.endRecording().words == ["mark kept"])
  }

  @Test("the clock's times, reads and failed calls leave no events")
  func quietCalls() throws {
    let mount = try MountedFaultFS()
    _ = try mount.shell("echo x > f; mkdir d")
    let (_, trace) = try mount.record(
      "cat f; ls -l; touch f; touch -a f; rmdir f; mkdir d; rm none; mv f d/none/x; true")
    #expect(trace.words.filter { $0 != "close" } == [])
  }

  @Test("a rename that leaves a whiteout is one operation, with the owner of the device")
  func whiteout() throws {
    let mount = try FaultMount(["open a cw", "write 0 3 x", "open b c", "mkdir d"])
    _ = try mount.mount.shell("chmod 2755 . && chgrp 4321 .")
    let (lines, trace) = try mount.record(["whiteout a b", "whiteout d e"])
    #expect(lines == ["whiteout ok 0", "whiteout ok 0"])
    #expect(trace.operationWords == ["renameWithWhiteout", "renameWithWhiteout"])
    let tree = trace.finalTree
    for name in ["a", "d"] {
      let number = try #require(tree.inodes[.root]?.entries[FileName(name)])
      let device = try #require(tree.inodes[number])
      #expect(device.type == .characterDevice && device.device == 0)
      #expect(device.ownership == Ownership(mode: 0, user: geteuid(), group: 4321))
    }
    // The tree of the mount itself, without the trace between.
    try mount.client.beginRecording()
    #expect(tree.firstDifference(from: try mount.mount.endRecording().finalTree) == nil)
    // Without room for the device nothing is renamed.
    try mount.add("{on: rename, file: b, error: ENOSPC}")
    #expect(try mount.run(["whiteout b c", "stat b"]) == ["whiteout ENOSPC", "stat ok 3"])
    try mount.client.shutdown()
  }

  @Test("an access list and its mode are one change, and a list that is inherited is part of it")
  func accessLists() throws {
    let mount = try MountedFaultFS()
    _ = try mount.shell("echo x > f; mkdir d; setfacl -d -m u:4321:rw d")
    let (result, trace) = try mount.record(
      """
      setfacl -m u:4321:r f && chmod 640 f && echo y > d/g && mkdir d/e && setfacl -b f &&
      getfacl -cp d/g
      """)
    #expect(result.output.contains("user:4321:rw-"))
    #expect(
      trace.withoutCloses.events.map { ($0.flags == .joined ? "+" : "") + $0.word } == [
        "setExtendedAttribute", "setOwnership", "+setExtendedAttribute", "create",
        "+setExtendedAttribute", "write", "create", "+setExtendedAttribute",
        "+setExtendedAttribute", "removeExtendedAttribute",
      ])
    try mount.client.beginRecording()
    #expect(trace.finalTree.firstDifference(from: try mount.endRecording().finalTree) == nil)
    // Rules on attributes are not about what the kernel asks for itself.
    let rule = try FaultFile.parse("{on: getExtendedAttribute, error: EIO}", file: "test")
    try mount.client.addRules(rule)
    #expect(try mount.shell("getfacl -cp d/g").output.contains("user:4321:rw-"))
    try mount.client.shutdown()
  }

  @Test("a file without a name is in the trace, and one that was there before from its link on")
  func temporaryFile() throws {
    let mount = try FaultMount()
    let (lines, trace) = try mount.record([
      "nameless", "write 0 5000 a", "fsync", "name f", "nameless", "write 0 3 b",
    ])
    #expect(lines.allSatisfy { $0.contains(" ok") }, "\(lines)")
    #expect(
      trace.operationWords
        == ["createNameless", "write", "sync", "link", "createNameless", "write"])
    let tree = trace.finalTree
    #expect(tree.inodes.count == 2 && tree.inodes[.root]?.entries.count == 1)
    // One that is made before the recording and named in it.
    let program = try mount.start([
      "nameless", "write 4096 5000 c", "ftruncate 20000", "sleep 1500", "name g",
    ])
    usleep(500_000)
    try mount.client.beginRecording()
    _ = program.wait()
    let late = try mount.mount.endRecording()
    #expect(late.operationWords == ["createNameless", "write", "truncate", "link"])
    #expect(late.events.prefix(3).allSatisfy { $0.flags == .onMedium })
    try mount.client.beginRecording()
    #expect(late.finalTree.firstDifference(from: try mount.mount.endRecording().finalTree) == nil)
    // Rules see it as a creation.
    try mount.add("{on: create, error: ENOSPC}")
    #expect(try mount.run(["nameless"]) == ["nameless ENOSPC"])
    try mount.client.shutdown()
  }

  @Test("of a file that lost its last name before the recording nothing is in the trace")
  func namelessFile() throws {
    let mount = try MountedFaultFS()
    _ = try mount.shell("echo before > held")
    let held = try #require(FileHandle(forUpdatingAtPath: "\(mount.path)/held"))
    _ = try mount.shell("rm held")
    try mount.client.beginRecording()
    try held.truncate(atOffset: 2)
    try held.write(contentsOf: Data("after".utf8))
    try held.synchronize()
    try held.close()
    _ = try mount.shell("echo new > named; sync named")
    let trace = try mount.endRecording()
    #expect(trace.words.filter { $0 != "close" } == ["create", "write", "sync"])
    #expect(trace.finalTree.inodes.count == 2)
  }

  private static let overwrites =
    "for i in $(seq 9); do dd if=/dev/zero of=f bs=1M count=1 conv=notrunc status=none; done"

  @Test("a recording may hold more than all files together")
  func muchWritten() throws {
    let mount = try MountedFaultFS(FaultFSOptions(quotaBytes: 8 << 20))
    let (result, trace) = try mount.record(Self.overwrites)
    #expect(result.status == 0 && result.output.isEmpty, "\(result.output)")
    #expect(trace.words.count { $0 == "write" } == 9)
    try mount.client.shutdown()
  }

  @Test("a recording that holds as much as it may ends, with words, and the program goes on")
  func fullRecording() throws {
    var options = FaultFSOptions()
    options.recordingBytesMax = 4 << 20
    let mount = try MountedFaultFS(options)
    try mount.client.beginRecording()
    let result = try mount.shell(Self.overwrites + "; touch g")
    #expect(result.status == 0 && result.output.isEmpty, "\(result.output)")
    #expect(try mount.client.statistics().isRecordingFull)
    let file = mount.outside.file("part.sqlite")
    let error = #expect(throws: LabError.self) {
      try mount.client.endRecording(savingTo: file)
    }
    #expect(error?.message.contains("it holds at most 4M") == true)
    #expect(error?.message.contains("FAULTLINE_RECORDING_LIMIT=16M") == true)
    #expect(try TraceFile.load(file).words.count { $0 == "write" } == 4)
    // Many small operations are bounded as well, and the next recording begins with nothing.
    let (_, next) = try mount.record("echo a > h")
    #expect(next.words.filter { $0 != "close" } == ["create", "write"])
    try mount.client.beginRecording()
    _ = try mount.shell("for i in $(seq 9000); do echo a > h; done")
    #expect(try mount.client.statistics().isRecordingFull)
    try mount.client.shutdown()
  }

  /// Requests of every sort that is answered without libfuse, their errors among them.
  private static let plainRequests = """
    umask 027; echo hello > a; cat a; set -C; echo again > a; set +C
    stat -c '%n %i %s %b %h %f %u %g %t %B' a .; ln a b; stat -c '%h' a
    mkdir -m 2775 d; chgrp 5 d; echo x > d/f; stat -c '%g %f' d/f
    cat none; rm none; unlink d; head -c 10000 /dev/zero > e; truncate -s 3 e; od -c e
    n=$(printf 'n%.0s' $(seq 256)); touch $n; stat -c %n $n; rm $n; touch 'it is ä'; ls
    echo y >> e; sync e; rm a; cat b; rm b e d/f; exec 5> held; rm held; echo z >&5; ls
    """

  @Test("what is answered without libfuse is answered and recorded as libfuse has it")
  func directly() throws {
    func outcome(_ rule: String?) throws -> (output: String, trace: Trace) {
      let mount = try FaultMount()
      if let rule { try mount.add(rule) }
      let (result, trace) = try mount.mount.record("{ \(Self.plainRequests); } 2>&1")
      try mount.client.shutdown()
      return (result.output, trace)
    }
    let plain = try outcome(nil)
    let ruled = try outcome("{on: write, file: never, error: EIO}")
    #expect(plain.output.contains("hello") && plain.output.contains("File name too long"))
    #expect(plain.output == ruled.output)
    #expect(plain.trace.operationWords == ruled.trace.operationWords)
    #expect(plain.trace.operationWords.count > 20)
    #expect(plain.trace.finalTree.firstDifference(from: ruled.trace.finalTree) == nil)
  }

  @Test("operations on a file without a name when the recording began are left out")
  func untracedInodes() throws {
    let mount = try MountedFaultFS()
    let (_, trace) = try {
      let program = try RunningProgram(
        [
          "/bin/bash", "-c",
          "exec 5>f; rm f; echo a >&5; while [ ! -e go ]; do sleep 0.01; done; echo b >&5",
        ],
        in: mount.path)
      while try mount.shell("ls -A").output != "" || mount.client.statistics().memoryBytes < 1000 {
        usleep(1000)
      }
      try mount.client.beginRecording()
      _ = try mount.shell("touch go")
      let result = program.wait()
      return (result, try mount.endRecording())
    }()
    #expect(trace.words == ["create"])
  }
}
