// LifecycleTests.swift: a lab that is killed or interrupted leaves nothing behind: no mount, no
// process, no directory; an interrupted one still reports.

import Foundation
import Glibc
import LabCore
import TestSupport
import Testing

@Suite(
  "lifecycle",
  .requires(.fuse))
struct LifecycleTests {
  /// Starts the command and waits until a file of its directory is there.
  private func start(
    _ command: FaultlineCommand, _ arguments: [String], until file: String
  ) throws -> (RunningProgram, LiveRun) {
    let program = try command.start(arguments)
    let path = command.directory.file(file)
    let isThere = waitUntil(seconds: 30) { FileManager.default.fileExists(atPath: path) }
    try #require(isThere, "the command never came to \(file)")
    return (program, try #require(LiveRun(pid: program.process)))
  }

  /// The pids that a script wrote down, one in each line.
  private func pids(_ command: FaultlineCommand, _ file: String) throws -> [Int32] {
    try command.text(file).split(separator: "\n").compactMap { Int32($0) }
  }

  /// Kills the lab alone; nothing may be left soon afterwards, or after the next start.
  ///
  /// Whoever removes it may have to wait for other tests, and for programs that write as fast as
  /// they can.
  private func expectNothing(
    of run: LiveRun, _ program: RunningProgram, _ command: FaultlineCommand, pids: [Int32]
  ) throws {
    kill(program.process, SIGKILL)
    // Not reaped yet: the zombie must not look alive to whoever sweeps.
    let remains = run.remains(within: 20)
    #expect(remains == [], "right away")
    #expect(waitUntil(seconds: 20) { !pids.contains(where: isRunning) }, "\(pids)")
    #expect(program.wait().status == 128 + SIGKILL)
    _ = try command.explore(workload: "true", check: "true", ["--budget", "1"])
    #expect(run.remains == [], "after the next start")
  }

  /// A script that notes its pid, one of a child in its group, and one of a child that left it.
  private func linger(_ command: FaultlineCommand, clear: String = "") -> String {
    let file = command.directory.file("pids")
    return """
      echo $$ > '\(file).new'
      sleep 300 & echo $! >> '\(file).new'
      setsid sh -c 'echo $$ >> "\(file).new"; exec \(clear) sleep 300' &
      while [ $(wc -l < '\(file).new') -lt 3 ]; do sleep 0.05; done
      mv '\(file).new' '\(file)'
      sleep 300; true
      """
  }

  @Test("killed while recording", arguments: ["", "env -i"])
  func killedRecording(clear: String) throws {
    let command = try FaultlineCommand()
    let (program, run) = try start(
      command,
      FaultlineCommand.exploration(
        workload: "exec 5> held; \(linger(command, clear: clear))", check: "true"),
      until: "pids")
    #expect(run.mounts.count == 1)
    try expectNothing(of: run, program, command, pids: try pids(command, "pids"))
  }

  @Test("killed while checkers run", arguments: ["", "env -i"])
  func killedChecking(clear: String) throws {
    let command = try FaultlineCommand()
    let (program, run) = try start(
      command,
      FaultlineCommand.exploration(
        workload: "echo a > file; echo saved", check: linger(command, clear: clear)),
      until: "pids")
    try expectNothing(of: run, program, command, pids: try pids(command, "pids"))
  }

  @Test("killed while it runs a scenario")
  func killedRun() throws {
    let command = try FaultlineCommand()
    let path = "\(FaultlineCommand.repository)/scenarios/durability/commits.yaml"
    let program = try command.start(["run", path, "--model", "posix"])
    let run = try #require(LiveRun(pid: program.process))
    let job = "\(run.directory)/1/progress-posix-0"
    #expect(waitUntil(seconds: 30) { FileManager.default.fileExists(atPath: job) })
    try expectNothing(of: run, program, command, pids: run.processes)
  }

  /// Starts `faultline mount` on a new directory.
  private func startMount(
    _ command: FaultlineCommand
  ) throws -> (RunningProgram, LiveRun, path: String) {
    let path = command.directory.file("mnt")
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    let program = try command.start(["mount", path])
    return (program, try #require(LiveRun(pid: program.process)), path)
  }

  private func isMounted(_ path: String) -> Bool {
    MountTable.mounts().contains { $0.point == path }
  }

  @Test("a killed mount is gone, and so is its daemon")
  func killedMount() throws {
    let command = try FaultlineCommand()
    let (program, run, path) = try startMount(command)
    #expect(waitUntil(seconds: 20) { isMounted(path) })
    let user = try RunningProgram(["/bin/sh", "-c", "exec 5> held; sleep 300"], in: path)
    let held = "\(path)/held"
    #expect(waitUntil(seconds: 10) { FileManager.default.fileExists(atPath: held) })
    try expectNothing(of: run, program, command, pids: [])
    #expect(!isMounted(path))
    kill(-user.process, SIGKILL)
    _ = user.wait()
  }

  /// Its daemon may not have told the command yet.
  @Test("a mount that is killed as soon as it is there is gone", arguments: 1...3)
  func killedMounting(attempt: Int) throws {
    let command = try FaultlineCommand()
    let (program, run, path) = try startMount(command)
    let end = ContinuousClock.now + .seconds(20)
    while !isMounted(path), ContinuousClock.now < end {}
    try expectNothing(of: run, program, command, pids: [])
    #expect(!isMounted(path))
  }

  /// Its daemon has pages written nearly all the time, and must not wait for itself then.
  @Test("killed while mapped pages are written back", arguments: 1...(FullSize.isOn ? 3 : 1))
  func killedWritingBack(attempt: Int) throws {
    let program = FaultlineCommand.folder.appendingPathComponent("mapped-order").path
    let command = try FaultlineCommand()
    let (lab, run) = try start(
      command,
      FaultlineCommand.exploration(
        workload: """
          for i in 1 2 3 4; do
            head -c 4096 /dev/zero > data$i
            '\(program)' data$i log$i 100000000 &
          done
          sleep 0.2; echo > '\(command.directory.file("working"))'
          wait
          """, check: "true") + ["--write-back", "\(attempt):1"],
      until: "working")
    #expect(run.mounts.count == 1)
    Thread.sleep(forTimeInterval: 0.05 * Double(attempt))
    try expectNothing(of: run, lab, command, pids: run.processes)
  }

  @Test("interrupted while exploring: the findings so far, the reports, and exit code 130")
  func interrupted() throws {
    let command = try FaultlineCommand()
    let mark = command.directory.file("failed")
    let (program, run) = try start(
      command,
      FaultlineCommand.exploration(
        workload: "for i in 1 2 3 4 5 6 7 8; do echo $i > file$i; echo $i; done",
        check: """
          sleep 0.05
          for i in $(cat "$FAULTLINE_OUTPUT"); do
            [ "$(cat file$i)" = $i ] || { echo "lost: a file"; touch '\(mark)'; exit 1; }
          done
          """) + ["--json", "r.json", "--junit", "r.xml", "--jobs", "1", "--budget", "5000"],
      until: "failed")
    Thread.sleep(forTimeInterval: 0.3)
    let clock = ContinuousClock()
    let start = clock.now
    kill(program.process, SIGINT)
    let result = program.wait()
    #expect(start.duration(to: clock.now) < .seconds(2))
    #expect(result.status == 130, "\(result.output)")
    #expect(result.output.contains("FINDING 1: lost: a file"), "\(result.output)")
    #expect(result.output.contains("verdict: interrupted, 1 finding so far"), "\(result.output)")
    let report = try command.report("r.json")
    #expect(report.isInterrupted)
    let exploration = try #require(report.cases.first?.explorations.first)
    #expect(exploration.isInterrupted)
    #expect(exploration.exploredCount > 0)
    #expect(exploration.exploredCount < exploration.distinctCount)
    #expect(try command.text("r.xml").contains("<testcase"))
    #expect(run.remains == [])
    // What was found so far can be replayed.
    let line = result.output.split(separator: "\n").last.map(String.init) ?? ""
    #expect(line.hasPrefix("replay: faultline replay "))
  }

  @Test("images lie in the directory for large things, when one is named, and are gone behind it")
  func scratch() throws {
    let command = try FaultlineCommand()
    let directory = command.directory.file("large")
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    let check = "case $PWD in '\(directory)'/*) ;; *) exit 1;; esac"
    let arguments =
      FaultlineCommand.exploration(workload: "echo x > f", check: check) + ["--budget", "4"]
    let variables = [RunDirectory.scratchName: directory]
    let result = try command.run(arguments, environment: variables)
    #expect(result.status == 0, "\(result.output)")
    let left = try FileManager.default.subpathsOfDirectory(atPath: directory)
    #expect(left == ["faultline-\(getuid())"])
    #expect(try command.run(arguments).status != 0, "elsewhere without it")
  }

  @Test("interrupted while recording", arguments: [SIGINT, SIGTERM, SIGHUP])
  func interruptedRecording(signal: Int32) throws {
    let command = try FaultlineCommand()
    let (program, run) = try start(
      command,
      FaultlineCommand.exploration(workload: linger(command), check: "true")
        + ["--json", "r.json"], until: "pids")
    let clock = ContinuousClock()
    let start = clock.now
    kill(program.process, signal)
    let result = program.wait()
    #expect(start.duration(to: clock.now) < .seconds(2.5))
    #expect(result.status == 130, "\(result.output)")
    #expect(result.output.contains("verdict: interrupted, 0 findings so far"), "\(result.output)")
    #expect(try command.report("r.json").isInterrupted)
    let pids = try pids(command, "pids")
    #expect(waitUntil(seconds: 1) { !pids.contains(where: isRunning) })
    #expect(run.remains == [])
  }

  @Test("a run of scenarios that is interrupted reports those that are done")
  func interruptedRun() throws {
    let command = try FaultlineCommand()
    let folder = "\(FaultlineCommand.repository)/scenarios/durability"
    let program = try command.start(["run", folder, "--json", "r.json", "--junit", "r.xml"])
    let run = try #require(LiveRun(pid: program.process))
    let progress = "\(run.directory)/1/progress-posix-0"
    #expect(waitUntil(seconds: 60) { FileManager.default.fileExists(atPath: progress) })
    let clock = ContinuousClock()
    let start = clock.now
    kill(program.process, SIGINT)
    let result = program.wait()
    #expect(start.duration(to: clock.now) < .seconds(2.5))
    #expect(result.status == 130, "\(result.output)")
    #expect(result.output.contains("verdict: interrupted"))
    let report = try command.report("r.json")
    #expect(report.isInterrupted)
    #expect(report.cases.count >= 1)
    #expect(run.remains == [])
  }
}
