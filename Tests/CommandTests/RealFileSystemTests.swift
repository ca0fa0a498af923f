// RealFileSystemTests.swift: `explore --on`: programs on the kernel's own ext4, XFS and Btrfs, each
// crash state recovered by the kernel itself.

import Exploration
import Foundation
import TestSupport
import Testing

@Suite("explore on real file systems", .serialized)
struct RealFileSystemTests {
  private static let systems = ["ext4:noauto_da_alloc", "xfs", "btrfs"]

  private static let setup = "echo old > file; sync file; sync ."
  private static let check = """
    content=$(cat file)
    if grep -q saved "$FAULTLINE_OUTPUT" && [ "$content" != new ]; then
      echo 'lost: the saved content'; exit 1
    fi
    [ "$content" = new ] || [ "$content" = old ] || { echo 'torn: neither old nor new'; exit 1; }
    """

  /// Replaces a file's content; forgets to sync the new file unless told not to.
  private func replacement(_ systems: [String], syncing: Bool) -> [String] {
    FaultlineCommand.exploration(
      setup: Self.setup,
      workload: "echo new > t; \(syncing ? "sync t; " : "")mv t file; sync .; echo saved",
      check: Self.check) + ["--budget", "60"] + systems.flatMap { ["--on", $0] }
  }

  /// Runs the command; says what it left: mounts and devices of its own run directory.
  private func runAndLookBehind(
    _ command: FaultlineCommand, _ arguments: [String]
  ) throws -> (result: CommandResult, leftovers: String) {
    let running = try command.start(arguments)
    let result = running.wait()
    return (
      CommandResult(status: result.status, output: result.output), try leftovers(of: running)
    )
  }

  private func leftovers(of program: RunningProgram) throws -> String {
    let run = "/faultline-\(getuid())/\(program.process)-"
    let mounts = try String(contentsOfFile: "/proc/self/mountinfo", encoding: .utf8)
    let devices = try runShell("losetup --list --noheadings --output BACK-FILE", in: "/").output
    return (mounts + devices).split(separator: "\n").filter { $0.contains(run) }
      .joined(separator: "\n")
  }

  @Test(
    "a rename over without a sync of the new file leaves an empty file",
    .requires(.ext4, .xfs, .btrfs), arguments: systems)
  func forgottenSync(system: String) throws {
    let command = try FaultlineCommand()
    let result = try command.run(
      replacement([system], syncing: false) + ["--json", "report", "--trace", "trace"])
    #expect(result.status == 1, "\(result.output)")
    #expect(result.output.contains("torn: neither old nor new"), "\(result.output)")
    #expect(result.output.contains("on the kernel's \(system)"), "\(result.output)")
    let report = try command.report("report")
    #expect(report.cases.flatMap(\.findings).allSatisfy { $0.fileSystem == system })
    let token = try #require(result.replayToken)
    var replay = try command.run(["replay", token, "--keep", "kept"])
    if replay.status == 4 {
      // On a busy machine the kernel may write its blocks in another order each time.
      #expect(replay.output.contains("replay --trace FILE judges it"), "\(replay.output)")
      replay = try command.run(["replay", token, "--keep", "kept", "--trace", "trace"])
    }
    #expect(replay.status == 1, "\(replay.output)")
    #expect(replay.output.contains("verdict: broken, reproduced"))
    #expect(FileManager.default.fileExists(atPath: command.directory.file("kept/device")))
  }

  @Test(
    "options of mkfs: blocks of 1 KiB, clusters, fast commits, beside mount options",
    .requires(.ext4),
    arguments: [
      "ext4:mkfs=-b 1024", "ext4:mkfs=-O bigalloc", "ext4:noauto_da_alloc,mkfs=-O fast_commit",
    ])
  func makeOptions(system: String) throws {
    let command = try FaultlineCommand()
    let complete = try command.run(replacement([system], syncing: true) + ["--fsck"])
    if system.contains("fast_commit"), complete.status == 2 {
      // This kernel, or this mkfs, does not know it, and says so.
      #expect(complete.output.contains("mkfs="), "\(complete.output)")
      return
    }
    #expect(complete.status == 0, "\(complete.output)")
    #expect(complete.output.contains("on \(system)"), "\(complete.output)")
    let kept = try command.run(
      FaultlineCommand.exploration(
        setup: Self.setup, workload: "echo new > file; echo saved", check: Self.check)
        + ["--budget", "60", "--on", system, "--json", "report", "--trace", "trace"])
    #expect(kept.status == 1, "\(kept.output)")
    let report = try command.report("report")
    #expect(report.cases.flatMap(\.findings).allSatisfy { $0.fileSystem == system })
    let token = try #require(kept.replayToken, "\(kept.output)")
    let replay = try command.run(
      ["replay", token, "--keep", "kept", "--trace", "trace"])
    #expect(replay.status == 1, "\(replay.output)")
    let image = command.directory.file("kept/device")
    let superblock = try runShell("dumpe2fs -h '\(image)' 2>&1", in: "/").output
    let words =
      system.contains("1024") ? "1024" : system.contains("bigalloc") ? "bigalloc" : "fast_commit"
    #expect(superblock.contains(words), "\(superblock)")
  }

  @Test(
    "the complete replacement has no bad state on any of them", .requires(.ext4, .xfs, .btrfs))
  func completeReplacement() throws {
    let command = try FaultlineCommand()
    let (result, leftovers) = try runAndLookBehind(
      command, replacement(Self.systems + ["ext4"], syncing: true) + ["--fsck"])
    #expect(result.status == 0, "\(result.output)")
    #expect(result.lines.count { $0.contains("0 findings") } >= Self.systems.count)
    #expect(leftovers == "")
  }

  @Test(
    "a model and a real file system that find the same say so, and the kept trace replays",
    .requires(.ext4))
  func beside() throws {
    let command = try FaultlineCommand()
    let both = try command.run(
      FaultlineCommand.exploration(
        setup: Self.setup, workload: "echo new > file; echo saved", check: Self.check)
        + ["--budget", "60", "--on", "ext4", "--model", "ext4-ordered"])
    #expect(both.status == 1, "\(both.output)")
    #expect(both.output.contains("also       found: on ext4"), "\(both.output)")
    #expect(both.output.contains("also       found: ext4-ordered"), "\(both.output)")
    let kept = try command.run(
      replacement(["ext4:noauto_da_alloc"], syncing: false) + ["--trace", "kept.sqlite"])
    let token = try #require(kept.replayToken, "\(kept.output)")
    let replay = try command.run(["replay", token, "--trace", "kept.sqlite"])
    #expect(replay.status == 1, "\(replay.output)")
  }

  @Test(
    "a changed workload is nondeterminism after several recordings",
    .requires(.xfs))
  func changed() throws {
    let command = try FaultlineCommand()
    let script = try command.write("echo new > t; mv t file; sync .\n", to: "work.sh")
    let first = try command.run(
      FaultlineCommand.exploration(
        setup: Self.setup, workload: "sh '\(script)'", check: Self.check) + ["--on", "xfs"])
    let token = try #require(first.replayToken, "\(first.output)")
    _ = try command.write("echo new > t; sync t; mv t file; sync .\n", to: "work.sh")
    let replay = try command.run(["replay", token])
    #expect(replay.status == 4, "\(replay.output)")
    #expect(replay.output.contains("--trace FILE"), "\(replay.output)")
  }

  @Test(
    "an image that does not mount is the file system's fault",
    .requires(.ext4))
  func brokenFileSystem() throws {
    // The program destroys the superblock of its own device: what no crash would do. The kernel
    // writes its copy back at the end, so that the last state mounts.
    let command = try FaultlineCommand()
    let (result, leftovers) = try runAndLookBehind(
      command,
      FaultlineCommand.exploration(
        workload: """
          echo 1
          dd if=/dev/zero of=../../mount/device bs=4096 count=1 conv=notrunc,fsync status=none
          echo 2
          """,
        check: "true") + ["--on", "ext4", "--budget", "100"])
    #expect(result.status == 1, "\(result.output)")
    #expect(result.output.contains("file system broken: ext4: it does not mount"))
    #expect(result.output.contains("not of the program"), "\(result.output)")
    #expect(leftovers == "")
  }

  @Test(
    "killed and interrupted, it leaves no mount and no device", .requires(.ext4),
    arguments: [SIGKILL, SIGINT])
  func killed(signal: Int32) throws {
    let command = try FaultlineCommand()
    let running = try command.start(
      FaultlineCommand.exploration(workload: "echo new > file; sync file", check: "sleep 0.2")
        + ["--on", "ext4"])
    // Some state is mounted then, for a moment.
    var isMounted = false
    for _ in 0..<600 where !isMounted {
      isMounted = try leftovers(of: running).contains("/checker-")
      if !isMounted { usleep(50_000) }
    }
    #expect(isMounted)
    kill(running.process, signal)
    _ = running.wait()
    for _ in 0..<100 where try leftovers(of: running) != "" { usleep(100_000) }
    #expect(try leftovers(of: running) == "")
  }

  @Test(
    "what cannot be named is refused with what can",
    arguments: [
      (["--on", "zfs"], "ext4, xfs, btrfs"), (["--on", "ext4:"], "after the colon"),
      (["--on", "ext4", "--on", "ext4"], "given twice"), (["--fsck"], "add --on"),
      (["--on", "ext4:no_such_option"], "mount options"),
      (["--on", "ext4:mkfs="], "an option of mkfs must come first"),
      (["--on", "ext4:mkfs=1024"], "ext4:mkfs=-b 1024"),
      (["--on", "ext4:mkfs=-b 1024 /dev/sda"], "'/dev/sda' is a path"),
      (["--on", "ext4:mkfs=-b 1000"], "change the options after mkfs="),
      (["--on", "xfs:mkfs=-O none"], "xfs:mkfs=-O none"),
      (["--on", "ext4", "--on", "xfs", "--trace", "t"], "one recording"),
    ])
  func refused(arguments: [String], words: String) throws {
    let command = try FaultlineCommand()
    let result = try command.explore(workload: "true", check: "true", arguments)
    #expect(result.status == 2, "\(result.output)")
    #expect(result.output.contains(words), "\(result.output)")
  }
}
