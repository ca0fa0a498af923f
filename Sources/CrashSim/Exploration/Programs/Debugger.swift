// Debugger.swift: stops a worker at one of its file operations and hands it to gdb.
// The operation is made to wait by a rule of the faulty file system; gdb takes hold of every thread
// meanwhile; then the operation goes on, and its thread stands still as its call returns: in the
// very call, with the operation done.
// Invariants: the worker is let go however gdb ends; nothing is stopped when the operation never
// comes.

import FaultFS
import Foundation
import Glibc
import LabCore
import Synchronization

/// The worker that is asked now, for whoever has to know it.
package final class WorkerWatch: Sendable {
  /// A process, and the name of its thread that does what is asked.
  package struct Asked: Sendable {
    package var process: Int32
    package var actor: String

    package init(process: Int32, actor: String) {
      self.process = process
      self.actor = actor
    }
  }

  private let asked = Mutex<Asked?>(nil)

  /// Nobody is asked yet.
  package init() {}

  /// Who is asked; nil for nobody.
  package var current: Asked? {
    get { asked.withLock { $0 } }
    set { asked.withLock { $0 = newValue } }
  }
}

/// gdb, and what it is told.
package struct Debugger: Sendable {
  /// Longest time that a person may look at a stopped worker.
  package static let patienceSeconds = 86_400
  private static let name = "gdb"

  private let path: String
  private let commands: [String]

  /// Finds gdb.
  /// - Parameter commands: What it does, one after another, before it leaves; empty lets a person
  ///   type.
  /// - Throws: `LabError` with code `.usage` that says how to get it when it is not there.
  package init(commands: [String]) throws(LabError) {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    let found = folders.map { "\($0)/\(Self.name)" }.first { PathCalls.canAccess($0, X_OK) }
    guard let found else {
      throw .usage(
        "--gdb: no gdb in PATH; install it (Debian: apt-get install gdb), or walk through the "
          + "recording with --step, which needs nothing")
    }
    path = found
    self.commands = commands
  }

  /// Waits until a rule has hit, stops the worker there, and runs gdb on it.
  /// - Parameters:
  ///   - rule: A rule that makes one operation wait.
  ///   - mount: Where it is in force.
  ///   - watch: Knows the worker.
  ///   - isOver: Whether the run has ended, so that the operation cannot come any more.
  /// - Returns: What came of it, in words; nil when the operation never came.
  /// - Throws: `LabError` when gdb cannot be started, or the mount is gone.
  package func attend(
    rule: Int, on mount: FaultFSClient, _ watch: WorkerWatch, isOver: () -> Bool
  ) throws(LabError) -> String? {
    while try !hasHit(rule, mount) {
      if isOver() { return nil }
      Thread.sleep(forTimeInterval: 0.005)
    }
    guard let asked = watch.current else {
      throw .internalError("an operation waits and no worker was asked anything")
    }
    let ending = try Interruption.whileIgnored { () throws(LabError) in
      let gdb = try start(on: asked)
      awaitAttachment(of: gdb, to: asked.process)
      try mount.removeRules([rule])
      return gdb.wait(timeoutSeconds: Self.patienceSeconds)
    }
    return "gdb ended with \(ending)"
  }

  private func hasHit(_ rule: Int, _ mount: FaultFSClient) throws(LabError) -> Bool {
    try mount.rules().contains { $0.id == rule && $0.hits.hitCount > 0 }
  }

  /// Waits until gdb holds every thread, or has ended.
  private func awaitAttachment(of gdb: ChildProcess, to process: Int32) {
    let tasks = "/proc/\(process)/task"
    for _ in 0..<5_000 {
      let threads = (try? FileManager.default.contentsOfDirectory(atPath: tasks)) ?? []
      if threads.allSatisfy({ isTraced("\(tasks)/\($0)/status") }) || hasEnded(gdb.pid) { return }
      Thread.sleep(forTimeInterval: 0.005)
    }
  }

  /// Whether somebody traces a thread; nobody has to trace one that has ended meanwhile.
  private func isTraced(_ path: String) -> Bool {
    guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return true }
    return !text.contains("TracerPid:\t0\n")
  }

  /// Whether a child only waits to be reaped.
  private func hasEnded(_ pid: Int32) -> Bool {
    guard let text = try? String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8) else {
      return true
    }
    return text.contains("State:\tZ")
  }

  private func start(on asked: WorkerWatch.Asked) throws(LabError) -> ChildProcess {
    // A thread's name has at most 15 bytes; actors are named of letters that need no quoting.
    let name = String(decoding: asked.actor.utf8.prefix(15), as: UTF8.self)
    let select =
      "python [t.switch() for t in gdb.selected_inferior().threads() if t.name == '\(name)']"
    var arguments = [path, "-q", "-iex", "set complaints 0", "-iex", "set debuginfod enabled off"]
    arguments += ["-p", "\(asked.process)", "-ex", select]
    if !commands.isEmpty {
      arguments += ["-batch"] + commands.flatMap { ["-ex", $0] }
    }
    var launch = ChildProcess.Launch(arguments)
    launch.standardInput = STDIN_FILENO
    launch.standardOutput = STDOUT_FILENO
    launch.standardError = STDERR_FILENO
    // The terminal belongs to this group.
    launch.ownGroup = false
    return try ChildProcess(launch)
  }
}
