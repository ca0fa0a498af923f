// ScenarioBackend.swift: a common interface to the two ways in which a workload accesses the faulty
// file tree. FUSE: a worker process makes real system calls on a mount. In-process: the engine's
// storage is the tree itself, and workers are threads of Faultline, so nothing can be killed.

import CSystem
import Engine
import FaultFS
import Foundation
import Glibc
import LabCore
import Recording
import Workers
import Workload

/// The result of a command.
enum WorkerReply: Sendable {
  case answer(WorkerAnswer)
  /// The worker's process ended instead.
  case ended(ProcessEnding)
}

/// Runs a plan's commands.
protocol ScenarioWorker {
  /// Its process number, if it is a separate process.
  var process: Int32? { get }
  /// Runs one command.
  func ask(_ command: WorkerCommand) throws(LabError) -> WorkerReply
  /// Runs one command, and waits for the answer until a condition holds, or for a limited time.
  /// - Returns: Nil when there was no answer by then; `answer()` gets it.
  func ask(
    _ command: WorkerCommand, timeoutMilliseconds: Int?,
    until isOver: () throws(LabError) -> Bool
  ) throws(LabError) -> WorkerReply?
  /// The real answer, after one that reported a stop.
  func answer() throws(LabError) -> WorkerReply
  /// Stops or continues the worker; returns when it is stopped.
  func signal(stops: Bool) throws(LabError)
  /// Ends the worker if it is still alive.
  func end()
}

/// A faulty file tree, its recorder, and workers that use it.
protocol ScenarioBackend {
  /// Starts with no rules and a new, empty tree.
  /// - Parameter writeBack: When mapped pages are written back from then on; nil is never.
  /// - Throws: `LabError` when the tree stays in use, or write-back is impossible.
  func empty(writeBack: PageWriteBack?) throws(LabError)
  func beginRecording() throws(LabError)
  func mark(_ bytes: [UInt8]) throws(LabError)
  func saveRecording(to path: String) throws(LabError)
  func addRules(_ rules: [FaultRule]) throws(LabError)
  func clearRules() throws(LabError)
  /// Removes the rule at this index of `ruleHits`; operations that hang because of it continue.
  func removeRule(at index: Int) throws(LabError)
  func ruleHits() throws(LabError) -> [RuleHits]
  /// Performs an event of a database file; a missing file remains missing.
  func perform(_ event: FileEvent, seed: Seed) throws(LabError)
  /// The phase that a process announced last; workers announce the steps of their commits.
  func phase(of process: Int32) throws(LabError) -> String?
  func startWorker(
    timeoutSeconds: Int, errorPath: String
  ) throws(LabError) -> any ScenarioWorker
  /// Releases everything that the backend holds; it cannot be used any more.
  func shutdown() throws(LabError)
}

// MARK: - FUSE

extension FaultFSClient: ScenarioBackend {
  /// Starts over; the files of the old tree are removed first, so that the kernel forgets them.
  ///
  /// The daemon is notified of that, and of the last close of a killed process's files, a little
  /// later, so a request that finds the tree in use is repeated.
  func empty(writeBack rule: PageWriteBack?) throws(LabError) {
    try clearRules()
    try writeBack(nil)
    try DirectoryCleaner(path: mountPoint).clear()
    try loadNothing()
    if let rule { try writeBack(rule) }
  }

  private func loadNothing() throws(LabError) {
    for _ in 0..<500 {
      if (try? load(nil)) != nil { return }
      Thread.sleep(forTimeInterval: 0.002)
    }
    try load(nil)
  }

  func saveRecording(to path: String) throws(LabError) { try endRecording(savingTo: path) }

  func removeRule(at index: Int) throws(LabError) {
    let rules = try rules()
    guard index < rules.count else { throw .internalError("there is no fault rule \(index)") }
    try removeRules([rules[index].id])
  }

  func perform(_ event: FileEvent, seed: Seed) throws(LabError) {
    try event.apply(in: mountPoint, seed: seed)
  }

  func startWorker(
    timeoutSeconds: Int, errorPath: String
  ) throws(LabError) -> any ScenarioWorker {
    try MountWorker(self, timeoutSeconds: timeoutSeconds, errorPath: errorPath)
  }
}

extension FileEvent {
  /// Performs the event on the files in a directory.
  func apply(in directory: String, seed: Seed) throws(LabError) {
    switch self {
    case .remove(let part): PathCalls.removeFile("\(directory)/\(part.fileName)")
    case .overwrite(let part, let filling):
      let path = "\(directory)/\(part.fileName)"
      let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
      try PathCalls.overwrite(path, with: filling.bytes(count: size ?? 4096, seed: seed))
    case .cut(let part, let bytes):
      try PathCalls.cut("\(directory)/\(part.fileName)", toBytes: bytes)
    }
  }
}

/// A worker process in a directory.
struct MountWorker: ScenarioWorker {
  /// The mount on which the process is registered, if it is Faultline's own.
  private let fileSystem: FaultFSClient?
  private let child: LineProcess
  private let timeoutSeconds: Int
  var process: Int32? { child.pid }

  /// Works in a directory of another process, which also ends it.
  init(_ directory: String, timeoutSeconds: Int) throws(LabError) {
    fileSystem = nil
    self.timeoutSeconds = timeoutSeconds
    child = try LineProcess(WorkerProgram(directory: directory), cpu: csystem_first_allowed_cpu())
  }

  init(_ fileSystem: FaultFSClient, timeoutSeconds: Int, errorPath: String) throws(LabError) {
    self.fileSystem = fileSystem
    self.timeoutSeconds = timeoutSeconds
    child = try LineProcess(
      WorkerProgram(directory: fileSystem.mountPoint), cpu: csystem_first_allowed_cpu(),
      errorPath: errorPath, environment: fileSystem.programEnvironment)
    do throws(LabError) {
      try fileSystem.registerGroup(child.pid)
    } catch {
      child.end()
      throw error
    }
  }

  func ask(_ command: WorkerCommand) throws(LabError) -> WorkerReply {
    try reply(try child.ask(try JSONLine.encode(command), timeoutSeconds: timeoutSeconds))
  }

  func ask(
    _ command: WorkerCommand, timeoutMilliseconds: Int?,
    until isOver: () throws(LabError) -> Bool
  ) throws(LabError) -> WorkerReply? {
    if let ending = child.send(try JSONLine.encode(command)) { return .ended(ending) }
    let limit = timeoutMilliseconds ?? timeoutSeconds * 1000
    for _ in 0..<max(1, limit / Self.sliceMilliseconds) {
      if let line = try child.poll(milliseconds: Self.sliceMilliseconds) { return try reply(line) }
      if try isOver() { return nil }
    }
    return timeoutMilliseconds == nil ? try answer() : nil
  }

  /// Interval of checks on a worker that may not answer.
  private static let sliceMilliseconds = 2

  func answer() throws(LabError) -> WorkerReply {
    try reply(try child.read(timeoutSeconds: timeoutSeconds))
  }

  private func reply(_ line: LineAnswer) throws(LabError) -> WorkerReply {
    switch line {
    case .ended(let ending): .ended(ending)
    case .line(let line): .answer(try WorkerWire.answer(line))
    }
  }

  func signal(stops: Bool) throws(LabError) {
    guard kill(child.pid, stops ? SIGSTOP : SIGCONT) == 0 else {
      throw .lab("cannot signal worker \(child.pid): \(describe(errno: errno))")
    }
    guard !stops || csystem_wait_until_stopped(child.pid) == 1 else {
      throw .lab("worker \(child.pid) ended when it should stop; see its output")
    }
  }

  func end() {
    try? fileSystem?.unregisterGroup(child.pid)
    child.end()
  }
}

// MARK: - In-process

extension SimulatedFileSystem: ScenarioBackend {
  func empty(writeBack: PageWriteBack?) throws(LabError) {
    guard writeBack == nil else { throw .internalError("writeBack without a mount") }
    clearRules()
    try load(nil)
  }

  func saveRecording(to path: String) throws(LabError) { try endRecording(savingTo: path) }

  func removeRule(at index: Int) throws(LabError) {
    throw .internalError("a hanging process without a mount")
  }

  func perform(_ event: FileEvent, seed: Seed) throws(LabError) {
    throw .internalError("a file event without a mount")
  }

  func startWorker(
    timeoutSeconds: Int, errorPath: String
  ) throws(LabError) -> any ScenarioWorker {
    ThreadWorker(self, timeoutSeconds: timeoutSeconds)
  }

  func shutdown() throws(LabError) {}
}

/// A worker on threads of this process.
private struct ThreadWorker: ScenarioWorker {
  let process: Int32? = nil
  private let crew: WorkerCrew
  private let timeoutSeconds: Int

  init(_ fileSystem: SimulatedFileSystem, timeoutSeconds: Int) {
    self.timeoutSeconds = timeoutSeconds
    let phases = fileSystem.makeAnnouncer()
    crew = WorkerCrew(
      WorkerSession(
        open: { (declaration) throws(EngineError) -> Database in
          try fileSystem.openDatabase(DatabaseFile.name, declaration, announcing: phases)
        }, announcing: phases))
  }

  func ask(_ command: WorkerCommand) throws(LabError) -> WorkerReply {
    try Interruption.check()
    return .answer(try crew.answer(command, timeoutSeconds: timeoutSeconds))
  }

  func ask(
    _ command: WorkerCommand, timeoutMilliseconds: Int?,
    until isOver: () throws(LabError) -> Bool
  ) throws(LabError) -> WorkerReply? { throw Self.needsProcess }

  func answer() throws(LabError) -> WorkerReply { throw Self.needsProcess }

  func signal(stops: Bool) throws(LabError) { throw Self.needsProcess }

  private static let needsProcess = LabError.internalError("a step stops a thread of this process")

  func end() { crew.end() }
}

// MARK: - Choosing

/// A backend, and how it was selected.
struct OpenedBackend {
  let backend: any ScenarioBackend
  /// The backend when it is a mount.
  var mount: FaultFSClient? { backend as? FaultFSClient }
  /// Its description.
  let name: String

  /// Opens the selected backend; by default a mount, or otherwise the tree in this process.
  /// - Parameters:
  ///   - choice: The backend.
  ///   - mountPoint: The mount's path.
  ///   - callStacks: Where workers record their call stacks, if requested; this requires a mount.
  /// - Throws: `LabError` when the backend cannot be opened.
  init(
    _ choice: BackendChoice?, mountPoint: String, callStacks: CallStackDirectory? = nil
  ) throws(LabError) {
    // A missing daemon is an incomplete installation, not a reason to use another backend.
    if choice != .inProcess { _ = try FaultFSClient.findDaemon() }
    switch callStacks == nil ? choice : choice ?? .fuse {
    case .fuse:
      backend = try Self.makeMount(mountPoint, callStacks)
      name = "FUSE mount"
    case .inProcess:
      guard callStacks == nil else {
        throw .usage(
          "--stacks needs workers in processes of their own; leave --backend in-process out")
      }
      backend = try SimulatedFileSystem()
      name = BackendChoice.inProcess.rawValue
    case nil:
      do throws(LabError) {
        backend = try Self.makeMount(mountPoint, nil)
        name = "FUSE mount"
      } catch {
        backend = try SimulatedFileSystem()
        name = "\(BackendChoice.inProcess.rawValue) (no /dev/fuse: \(error.message))"
      }
    }
  }

  private static func makeMount(
    _ path: String, _ callStacks: CallStackDirectory?
  ) throws(LabError) -> FaultFSClient {
    try FaultFSClient(
      mountPoint: path, cpu: csystem_first_allowed_cpu(), callStacks: callStacks)
  }
}
