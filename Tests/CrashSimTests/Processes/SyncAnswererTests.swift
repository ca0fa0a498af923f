// SyncAnswererTests.swift: sync(2) and syncfs(2), of which FUSE tells a file system nothing, are in
// the trace, behind all that the program had changed before.

import CSystem
import Glibc
import TestSupport
import Testing

@testable import Exploration
@testable import FaultFS
@testable import LabCore
@testable import Recording
@testable import Scenarios

@Suite(
  "syncs of everything",
  .requires(.fuse), .serialized)
struct SyncAnswererTests {
  /// What a workload did: words of its operations, closes left out, and `!` for its marks.
  private func words(of workload: String) throws -> [String] {
    let run = try RunDirectory()
    defer { run.remove() }
    let recorder = ProgramRecorder(run: run, timeoutSeconds: 120)
    let trace = try recorder.record(ProgramUnderTest(workload: workload, check: "true"))
    return trace.events.compactMap { event in
      guard case .operation(let operation) = event.body else { return "!" }
      if case .close = operation { return nil }
      if operation.isSyncOfAll { #expect(event.process > 0 && event.thread > 0) }
      return operation.word
    }
  }

  @Test("sync(1) without a file stands between what it covers and the acknowledgement")
  func sync() throws {
    #expect(
      try words(of: "echo 1 > a; sync; echo; echo 2 > b; sync; echo")
        == ["create", "write", "syncAll", "!", "create", "write", "syncAll", "!"])
  }

  @Test("syncfs counts on the mount, and goes to the kernel elsewhere")
  func syncOfFileSystem() throws {
    #expect(
      try words(of: "echo 1 > a; sync -f a; sync -f /proc/self/stat; sync -f /tmp; echo")
        == ["create", "write", "syncAll", "!"])
  }

  @Test("syncfs of what is not an open file is EBADF, as the kernel has it, and syncs nothing")
  func syncOfNoFile() throws {
    let call = """
      import ctypes, errno, os
      libc = ctypes.CDLL(None, use_errno=True)
      os.close(os.open("a", os.O_CREAT | os.O_WRONLY))
      for f in (-1, 999, os.open("a", os.O_PATH)):
        assert libc.syncfs(f) == -1 and ctypes.get_errno() == errno.EBADF, f
      """
    #expect(try words(of: "python3 -c '\(call)'") == ["create"])
  }

  @Test("what the kernel refuses FUSE without asking is noted, of files on the mount only")
  func refusedCalls() throws {
    let run = try RunDirectory()
    defer { run.remove() }
    let recorder = ProgramRecorder(run: run, timeoutSeconds: 120)
    func refused(_ commands: String) throws -> Int32 {
      let workload = "head -c 8192 /dev/zero > a; \(commands); true"
      let program = ProgramUnderTest(workload: workload, check: "true")
      let (trace, notes) = try recorder.record(program, under: [])
      let words = trace.withoutCloses.words
      #expect(words.first == "create" && !words.contains("allocate"), "\(words)")
      return notes.refusedModes
    }
    #expect(try refused("fallocate -c -l 4096 a") == 0x08)
    #expect(try refused("fallocate -i -l 4096 a; fallocate -c -l 4096 a") == 0x28)
    let elsewhere = "f=/dev/shm/faultline-$$; cp a $f; fallocate -c -l 4096 $f; rm $f"
    #expect(try refused("fallocate -p -l 4096 a; \(elsewhere)") == 0)
    let texts = RefusedCalls.texts(ofModes: 0x28)
    #expect(texts.count == 2)
    #expect(texts.first?.contains("FALLOC_FL_COLLAPSE_RANGE: the workload asked for it") == true)
    #expect(RefusedCalls.texts(ofModes: 0).isEmpty)
  }

  @Test("what is stored in a mapped page is written before the sync of everything")
  func mappedPages() throws {
    let store = """
      import mmap, os
      f = os.open("m", os.O_CREAT | os.O_RDWR)
      os.ftruncate(f, 4096)
      m = mmap.mmap(f, 4096)
      for byte in (1, 2):
        m[0] = byte
        os.sync()
        os.write(1, b"!\\n")
      """
    #expect(
      try words(of: "python3 -c '\(store)'")
        == ["create", "truncate", "write", "syncAll", "!", "write", "syncAll", "!"])
  }

  @Test("a mapped file that is renamed while sync(2) waits is written all the same")
  func renamedMeanwhile() throws {
    let store = """
      import mmap, os, threading
      files, turn = [], threading.Barrier(2)
      for number in range(20):
        f = os.open("a%d" % number, os.O_CREAT | os.O_RDWR)
        os.ftruncate(f, 4096)
        files.append(mmap.mmap(f, 4096))
      def rename():
        for number in range(20):
          turn.wait()
          os.rename("a%d" % number, "r%d" % number)
          turn.wait()
      thread = threading.Thread(target=rename)
      thread.start()
      for number in range(20):
        files[number][0] = 1
        turn.wait()
        os.sync()
        turn.wait()
        os.write(1, b"!\\n")
      thread.join()
      """
    let words = try words(of: "python3 -c '\(store)'").filter { $0 != "rename" }
    let begun = words.firstIndex(of: "write") ?? 0
    let round = ["write", "syncAll", "!"]
    #expect(Array(words[begun...]) == Array(repeatElement(round, count: 20).joined()))
  }

  @Test("what another thread does while sync(2) waits is not covered by it")
  func lateChange() throws {
    let run = try RunDirectory()
    defer { run.remove() }
    let fileSystem = try FaultFSClient(mountPoint: try run.subdirectory("mount-of-late"))
    defer { try? fileSystem.shutdown() }
    try fileSystem.addRules(
      try FaultFile.parse(
        commandLine: "{on: write, file: m, includeWriteBack: true, delay: 1500}", file: "",
        allowsAnyErrno: false))
    try fileSystem.beginRecording()
    let store = """
      import mmap, os, threading, time
      f = os.open("m", os.O_CREAT | os.O_RDWR)
      os.ftruncate(f, 4096)
      m = mmap.mmap(f, 4096)
      m[0] = 1
      def late():
        time.sleep(0.5)
        os.close(os.open("late", os.O_CREAT | os.O_WRONLY))
      thread = threading.Thread(target=late)
      thread.start()
      os.sync()
      os.write(1, b"!\\n")
      thread.join()
      """
    let stage = ProgramStage(run: run, timeoutSeconds: 120)
    #expect(
      try stage.execute("python3 -c '\(store)'", on: fileSystem, acknowledges: true)
        == .exited(0))
    let path = "\(run.path)/late.trace"
    try fileSystem.endRecording(savingTo: path)
    let operations = try TraceFile.load(path).events.compactMap { event in
      if case .operation(let operation) = event.body { operation } else { nil }
    }.filter { $0.word != "close" }
    #expect(
      operations.map(\.word) == ["create", "truncate", "create", "write", "syncAll"],
      "\(operations)")
    guard case .syncAll(let late)? = operations.last else { return }
    #expect(late >= 2)
  }

  @Test("grandchildren that changed their user and their group are seen, too")
  func grandchildren() throws {
    try #require(getuid() == 0, "only root can become somebody else")
    #expect(
      try words(of: "chmod 777 .; setsid setpriv --reuid 65534 sh -c 'echo 1 > a; sync'; echo")
        == ["setOwnership", "create", "write", "syncAll", "!"])
  }

  @Test("a program that is killed in the middle of its syncs ends, and so does the answerer")
  func killed() throws {
    let run = try RunDirectory()
    defer { run.remove() }
    let fileSystem = try FaultFSClient(mountPoint: try run.subdirectory("mount-of-syncs"))
    defer { try? fileSystem.shutdown() }
    try fileSystem.beginRecording()
    try fileSystem.stop(StopPoint(after: 200, isPowerCut: true))
    let stage = ProgramStage(run: run, timeoutSeconds: 120)
    let loop = "while true; do echo x >> log; sync; done"
    #expect(try stage.execute(loop, on: fileSystem, acknowledges: false) == .signalled(SIGKILL))
  }
}
