// FaultFSLifeTests.swift: mounts come and go without leaving anything, whoever dies first.

import FaultFS
import Foundation
import Glibc
import LabCore
import TestSupport
import Testing

@Suite(
  "FaultFS life",
  .requires(.fuse), .serialized)
struct FaultFSLifeTests {
  private func isMounted(_ path: String) throws -> Bool {
    try runShell("grep -qF ' \(path) ' /proc/self/mountinfo", in: "/").status == 0
  }

  private func waitUntil(_ seconds: Double = 5, _ condition: () throws -> Bool) rethrows -> Bool {
    let end = Date().addingTimeInterval(seconds)
    while Date() < end {
      if try condition() { return true }
      usleep(5000)
    }
    return try condition()
  }

  private func isAlive(_ process: Int32) -> Bool {
    guard let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8) else {
      return false
    }
    return !text.contains(") Z ")
  }

  @Test(
    "set-uid programs and devices count where the mount allows it, and only there",
    .requires(.root))
  func privileges() throws {
    func results(_ options: FaultFSOptions) throws -> [String] {
      let mount = try MountedFaultFS(options)
      defer { try? mount.client.shutdown() }
      let result = try mount.shell(
        """
        cp /usr/bin/id id; chown 4321 id; chmod 4755 id; ./id -u; mknod null c 1 3
        if echo x > null; then echo opened; else echo refused; fi
        findmnt -no OPTIONS --target . | tr , '\\n' | grep -cE '^(nosuid|nodev)$'
        """)
      return result.output.split(separator: "\n").map(String.init)
    }
    #expect(try results(FaultFSOptions()).filter { $0.count < 9 } == ["0", "refused", "2"])
    var options = FaultFSOptions()
    options.allowsSetUser = true
    #expect(try results(options).filter { $0.count < 9 } == ["4321", "refused", "1"])
    options.allowsDevices = true
    #expect(try results(options).filter { $0.count < 9 } == ["4321", "opened", "0"])
  }

  @Test("direct calls that are not aligned are refused, where the mount asks for it")
  func directAlignment() throws {
    let steps = [
      "open f cwd", "direct 0 4096 x", "direct 512 512 x", "direct 100 512 x", "direct 512 100 x",
      "direct 512 512 -", "direct 512 100 -", "direct 1 512 -", "direct 4096 512 -",
      "open f w", "write 1 3 y", "stat f", "truncate f 1000", "use 0", "direct 512 512 -",
      "mapwrite 0 10 z", "mapread 0 1",
    ]
    func results(_ options: FaultFSOptions) throws -> [String] {
      let mount = try FaultMount(options: options)
      defer { try? mount.client.shutdown() }
      return try mount.run(steps).enumerated().map { "\($0) " + $1 }
    }
    let free = try results(FaultFSOptions())
    #expect(free.allSatisfy { $0.contains(" ok") }, "\(free)")
    var options = FaultFSOptions()
    options.directAlignment = try DirectAlignment(parsing: "512")
    #expect(
      try results(options).filter { !$0.contains(" ok") } == [
        "3 direct EINVAL", "4 direct EINVAL", "6 direct EINVAL", "7 direct EINVAL",
      ])
    // At the end of the file the kernel answers a read itself (8).
    options.directAlignment = try DirectAlignment(parsing: "4096")
    #expect(
      try results(options).filter { !$0.contains(" ok") } == [
        "2 direct EINVAL", "3 direct EINVAL", "4 direct EINVAL", "5 direct EINVAL",
        "6 direct EINVAL", "7 direct EINVAL", "14 direct EINVAL",
      ])
    for text in ["0", "513", "8192", "-512", "4k", ""] {
      let error = #expect(throws: LabError.self) { try DirectAlignment(parsing: text) }
      #expect(error?.code == .usage)
    }
  }

  @Test("shutdown unmounts, can be repeated, and later calls are errors")
  func shutdown() throws {
    let mount = try MountedFaultFS()
    #expect(try isMounted(mount.path))
    try mount.client.shutdown()
    #expect(try !isMounted(mount.path) && !isAlive(mount.client.daemonProcess))
    try mount.client.shutdown()
    #expect(throws: LabError.self) { try mount.client.statistics() }
    #expect(mount.client.marksWriteDescriptor == -1)
  }

  @Test("signals and a lost control socket unmount", arguments: [SIGTERM, SIGINT, SIGHUP])
  func signals(_ signal: Int32) throws {
    let mount = try MountedFaultFS()
    kill(mount.client.daemonProcess, signal)
    #expect(try waitUntil { try !isMounted(mount.path) })
    try mount.client.shutdown()
  }

  @Test("a killed daemon: shutdown takes the dead mount away")
  func killedDaemon() throws {
    let mount = try MountedFaultFS()
    _ = try mount.shell("echo x > f")
    kill(mount.client.daemonProcess, SIGKILL)
    try mount.client.shutdown()
    #expect(try !isMounted(mount.path))
  }

  @Test("a stopped daemon is killed and its mount detached")
  func stoppedDaemon() throws {
    let mount = try MountedFaultFS()
    kill(mount.client.daemonProcess, SIGSTOP)
    try mount.client.shutdown()
    #expect(try !isMounted(mount.path) && !isAlive(mount.client.daemonProcess))
  }

  @Test("a client that keeps the mount busy cannot keep it for ever")
  func busyMount() throws {
    let mount = try MountedFaultFS()
    let program = try RunningProgram(["/bin/bash", "-c", "exec 5>f; sleep 60"], in: mount.path)
    #expect(waitUntil { FileManager.default.fileExists(atPath: mount.file("f")) })
    try mount.client.registerGroup(program.process)
    let start = Date()
    try mount.client.shutdown()
    // The program would hold the mount for a minute.
    #expect(Date().timeIntervalSince(start) < 30)
    #expect(try !isMounted(mount.path))
    #expect(program.wait().status == 128 + SIGKILL)
  }

  @Test("a client killed with dirty mapped pages: they are in the trace as write-back")
  func killedMapper() throws {
    let mount = try MountedFaultFS()
    try mount.client.beginRecording()
    let program = try RunningProgram(
      [posixCasesProgram, "--syncs", "hang-with-dirty-map", mount.path], in: "/",
      marksDescriptor: mount.client.marksWriteDescriptor)
    #expect(try waitUntil { try mount.client.statistics().eventCount >= 3 })
    kill(program.process, SIGKILL)
    #expect(program.wait().status == 128 + SIGKILL)
    let trace = try mount.endRecording()
    let written = trace.events.compactMap { event in
      if case .operation(.write(inode: _, offsetBytes: _, let payload)) = event.body,
        event.flags == .writeBack, event.process == 0
      {
        return payload.countBytes
      }
      return nil
    }
    #expect(written.reduce(0, +) == 65536)
    try mount.client.shutdown()
  }

  /// The parent is another process of ours: a shell that starts the daemon and then dies.
  @Test("when the parent is killed, its clients die, and the mount goes")
  func killedParent() throws {
    let directory = try TemporaryDirectory()
    let mountPoint = directory.file("mnt")
    try FileManager.default.createDirectory(atPath: mountPoint, withIntermediateDirectories: false)
    let parent = try RunningProgram(
      [posixCasesProgram, "--parent", Self.daemonPath, mountPoint, directory.file("pids")],
      in: "/")
    var pids: [Int32] = []
    #expect(
      try waitUntil {
        let text = try? String(contentsOfFile: directory.file("pids"), encoding: .utf8)
        pids = (text ?? "").split(separator: " ").compactMap { Int32($0) }
        return try pids.count == 2 && isMounted(mountPoint)
      })
    #expect(FileManager.default.fileExists(atPath: mountPoint + "/held"))
    kill(parent.process, SIGKILL)
    #expect(parent.wait().status == 128 + SIGKILL)
    #expect(try waitUntil { try !isMounted(mountPoint) })
    #expect(waitUntil { pids.allSatisfy { !isAlive($0) } })
  }

  private static var daemonPath: String {
    URL(fileURLWithPath: posixCasesProgram).deletingLastPathComponent()
      .appendingPathComponent("faultline-fs").path
  }

  @Test("200 mounts leave no mount, no zombie, no descriptor")
  func manyMounts() throws {
    func descriptors() throws -> Int {
      try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
    }
    try MountedFaultFS().client.shutdown()
    let before = try descriptors()
    var places: [String] = []
    for _ in 0..<200 {
      let mount = try MountedFaultFS()
      places.append(mount.path)
      try "x".write(toFile: mount.file("f"), atomically: false, encoding: .utf8)
      try mount.client.shutdown()
      #expect(!FileManager.default.fileExists(atPath: "/proc/\(mount.client.daemonProcess)"))
    }
    // Other suites run beside this one, so some more may be open now; a leak would be 200.
    #expect(try descriptors() < before + 100)
    let mounts = try String(contentsOfFile: "/proc/self/mountinfo", encoding: .utf8)
    #expect(!places.contains { mounts.contains(" \($0) ") })
  }

  @Test("errors of starting name the cause and the remedy")
  func startErrors() throws {
    let missing = #expect(throws: LabError.self) { try FaultFSClient(mountPoint: "/none/such") }
    #expect(missing?.code == .usage && missing?.message.contains("create it first") == true)
    let noProgram = #expect(throws: LabError.self) {
      try FaultFSClient(mountPoint: "/tmp", daemonPath: "/none/such")
    }
    #expect(noProgram?.message.contains("cannot start /none/such") == true)
  }

  @Test("load is refused while files are in use; broken and hostile files are errors")
  func loading() throws {
    let mount = try MountedFaultFS()
    let file = mount.outside.file("tree")
    try Data("no database".utf8).write(to: URL(fileURLWithPath: file))
    #expect(throws: LabError.self) { try mount.client.load(file) }
    #expect(throws: LabError.self) { try mount.client.load(mount.outside.file("none")) }
    let program = try RunningProgram(["/bin/bash", "-c", "exec 5>f; sleep 60"], in: mount.path)
    #expect(waitUntil { FileManager.default.fileExists(atPath: mount.file("f")) })
    let error = #expect(throws: LabError.self) { try mount.client.load(nil) }
    #expect(error?.message.contains("in use") == true)
    kill(program.process, SIGKILL)
    _ = program.wait()
    let onMount = #expect(throws: LabError.self) { try mount.client.saveTree(to: mount.file("t")) }
    #expect(onMount?.message.contains("lies on the mount itself") == true)
    try mount.client.shutdown()
  }
}
