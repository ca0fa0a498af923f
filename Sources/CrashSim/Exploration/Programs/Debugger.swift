// Debugger.swift: stops a worker at one of its file operations and attaches gdb.
// A rule of the faulty file system makes the operation wait; meanwhile gdb attaches to every
// thread; then the operation continues, and its thread stops as its call returns: still in that
// call, with the operation done.
// Invariants: the worker is released however gdb ends; nothing is stopped if the operation never
// happens.

import FaultFS
import Foundation
import Glibc
import LabCore
import Synchronization

/// Publishes the worker that is currently processing a command.
package final class WorkerWatch: Sendable {
  /// A process, and the name of its thread that runs the command.
  package struct Asked: Sendable {
    package var process: Int32
    package var actor: String

    package init(process: Int32, actor: String) {
      self.process = process
      self.actor = actor
    }
  }

  private let asked = Mutex<Asked?>(nil)

  /// No worker is active yet.
  package init() {}

  /// The active worker; nil if there is none.
  package var current: Asked? {
    get { asked.withLock { $0 } }
    set { asked.withLock { $0 = newValue } }
  }
}

/// gdb and its commands.
package struct Debugger: Sendable {
  /// Longest time that a user may inspect a stopped worker.
  package static let patienceSeconds = 86_400
  private static let name = "gdb"

  private let path: String
  private let commands: [String]

  /// Finds gdb.
  /// - Parameter commands: gdb commands to run before it exits; empty for an interactive session.
  /// - Throws: `LabError` with code `.usage`, with instructions for installing gdb if it is
  ///   missing.
  /// - Throws: `LabError` with code `.usage` that says how to get it when it is not there.
  package init(commands: [String]) throws(LabError) {
    guard let found = Self.path else {
      throw .usage(
        "--gdb: no gdb in PATH; install it (Debian: apt-get install gdb), or walk through the "
          + "recording with --step, which needs nothing; \(MountRight.pointer)")
    }
    path = found
    self.commands = commands
  }

  /// Where gdb is; nil when it is not in PATH.
  static var path: String? {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    return folders.map { "\($0)/\(name)" }.first { PathCalls.canAccess($0, X_OK) }
  }

  /// Waits until a rule has hit, stops the worker there, and runs gdb on it.
  /// - Parameters:
  ///   - rule: A rule that makes one operation wait.
  ///   - mount: The mount with the rule.
  ///   - watch: Provides the worker.
  ///   - isOver: Whether the run has ended, so that the operation can no longer happen.
  /// - Returns: The result in words; nil if the operation never happened.
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

  /// Waits until gdb has attached to every thread, or has ended.
  private func awaitAttachment(of gdb: ChildProcess, to process: Int32) {
    let tasks = "/proc/\(process)/task"
    for _ in 0..<5_000 {
      let threads = (try? FileManager.default.contentsOfDirectory(atPath: tasks)) ?? []
      if threads.allSatisfy({ isTraced("\(tasks)/\($0)/status") }) || hasEnded(gdb.pid) { return }
      Thread.sleep(forTimeInterval: 0.005)
    }
  }

  /// Whether a thread is traced; a thread that has ended need not be.
  private func isTraced(_ path: String) -> Bool {
    guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return true }
    return !text.contains("TracerPid:\t0\n")
  }

  /// Whether a child has ended but is not reaped yet.
  private func hasEnded(_ pid: Int32) -> Bool {
    guard let text = try? String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8) else {
      return true
    }
    return text.contains("State:\tZ")
  }

  private func start(on asked: WorkerWatch.Asked) throws(LabError) -> ChildProcess {
    // A thread's name has at most 15 bytes; actors' names consist of letters that need no quoting.
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
    // The terminal belongs to this process group.
    launch.ownGroup = false
    return try ChildProcess(launch)
  }
}
