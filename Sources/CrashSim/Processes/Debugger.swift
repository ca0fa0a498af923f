// Debugger.swift: stops a worker at one of its file operations and hands it to gdb.
// The operation is made to wait by a rule of the faulty file system; the worker gets SIGSTOP while
// it waits, and then the operation goes on: so the worker stands still in the very call, with the
// operation done, when gdb comes.
// Invariants: the worker is let go however gdb ends; nothing is stopped when the operation never
// comes.

import Foundation
import Glibc
import Synchronization

/// The worker that is asked now, for whoever has to know it.
final class WorkerWatch: Sendable {
  /// A process, and the name of its thread that does what is asked.
  struct Asked: Sendable {
    var process: Int32
    var actor: String
  }

  private let asked = Mutex<Asked?>(nil)

  /// Who is asked; nil for nobody.
  var current: Asked? {
    get { asked.withLock { $0 } }
    set { asked.withLock { $0 = newValue } }
  }
}

/// gdb, and what it is told.
public struct Debugger: Sendable {
  /// Longest time that a person may look at a stopped worker.
  static let patienceSeconds = 86_400
  private static let name = "gdb"

  private let path: String
  private let commands: [String]

  /// Finds gdb.
  /// - Parameter commands: What it does, one after another, before it leaves; empty lets a person
  ///   type.
  /// - Throws: `LabError` with code `.usage` that says how to get it when it is not there.
  public init(commands: [String]) throws(LabError) {
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
  /// - Throws: `LabError` when the worker does not stop, or gdb cannot be started.
  func attend(
    rule: Int, on mount: FaultFSClient, _ watch: WorkerWatch, isOver: () -> Bool
  ) throws(LabError) -> String? {
    while try !hasHit(rule, mount) {
      if isOver() { return nil }
      Thread.sleep(forTimeInterval: 0.005)
    }
    guard let asked = watch.current else {
      throw .lab("an operation waits and no worker was asked anything")
    }
    let process = asked.process
    Glibc.kill(process, SIGSTOP)
    try mount.removeRules([rule])
    defer { Glibc.kill(process, SIGCONT) }
    try awaitStop(of: process)
    let ending = try Interruption.whileIgnored { () throws(LabError) in try run(on: asked) }
    return "gdb ended with \(ending)"
  }

  private func hasHit(_ rule: Int, _ mount: FaultFSClient) throws(LabError) -> Bool {
    try mount.rules().contains { $0.id == rule && $0.hits.hitCount > 0 }
  }

  /// The signal takes effect when the call returns.
  private func awaitStop(of process: Int32) throws(LabError) {
    for _ in 0..<2_000 {
      guard let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
        let end = text.lastIndex(of: ")")
      else { throw .lab("process \(process) ended before gdb came") }
      let state = text[text.index(after: end)...].drop { $0 == " " }.first
      if state == "T" || state == "t" { return }
      Thread.sleep(forTimeInterval: 0.005)
    }
    throw .lab("process \(process) does not stop")
  }

  private func run(on asked: WorkerWatch.Asked) throws(LabError) -> ProcessEnding {
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
    return try ChildProcess(launch).wait(timeoutSeconds: Self.patienceSeconds)
  }
}
