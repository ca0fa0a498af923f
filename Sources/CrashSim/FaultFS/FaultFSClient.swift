// FaultFSClient.swift: a client's handle on one mount: starts the daemon, sends it requests, ends
// it.
// Invariant: after `shutdown` returns, no mount, process or descriptor of it is left.

import CSystem
import Foundation
import Glibc
import LabCore
import Recording
import Synchronization

/// One mount of FaultFS, served by a daemon of its own.
public final class FaultFSClient: Sendable {
  /// Where the file system is mounted.
  public let mountPoint: String
  /// Process of the daemon.
  public let daemonProcess: Int32
  /// Environment variables that make a program record its call stacks; empty without `callStacks`.
  package let programEnvironment: [String: String]
  private let recordingBytesMax: UInt64

  private struct State: ~Copyable {
    var control: Int32
    var marks: Int32
    var frames = ControlFrames()
    /// True once the daemon has reported that another process has unmounted the file system.
    var isUnmounted = false
  }

  private let state: Mutex<State>
  /// The device of the mount point's own directory, visible again once the mount is gone.
  private let deviceBelow: UInt64?
  private static let controlDescriptor: Int32 = 3

  /// Starts the daemon and waits until the mount can be used.
  /// - Parameters:
  ///   - mountPoint: An existing directory outside of any FaultFS mount.
  ///   - options: How the mount behaves.
  ///   - cpu: The CPU that the daemon is pinned to; clients run much faster on the same one.
  ///   - callStacks: Where programs on the mount record their call stacks, if requested.
  ///   - daemonPath: The `faultline-fs` program; nil is the one beside the running program.
  /// - Throws: `LabError` with the cause and the remedy.
  public init(
    mountPoint: String, options: FaultFSOptions = FaultFSOptions(), cpu: Int32? = nil,
    callStacks: CallStackDirectory? = nil, daemonPath: String? = nil
  ) throws(LabError) {
    programEnvironment = callStacks?.environment ?? [:]
    let program: String
    if let daemonPath { program = daemonPath } else { program = try Self.findDaemon() }
    try FaultFSDaemon.checkDevice()
    guard let resolved = PathCalls.resolve(mountPoint), PathCalls.isDirectory(resolved) else {
      throw .usage("mount point \(mountPoint) is not a directory; create it first")
    }
    self.mountPoint = resolved
    recordingBytesMax = try Self.recordingLimit(options)
    deviceBelow = PathCalls.device(of: resolved)
    var arguments = [
      program, resolved, "--control-fd", "\(Self.controlDescriptor)", "--marks-fd", "0",
      "--quota", "\(options.quotaBytes)", "--recording-limit", "\(recordingBytesMax)",
    ]
    if let cpu { arguments += ["--cpu", "\(cpu)"] }
    if options.isPageGranular { arguments.append("--page-granular") }
    if let writeBack = options.writeBack { arguments += ["--write-back", "\(writeBack)"] }
    if let alignment = options.directAlignment {
      arguments += ["--direct-alignment", "\(alignment)"]
    }
    if options.marks == .lines { arguments += ["--marks", options.marks.rawValue] }
    if options.allowsSetUser { arguments.append("--suid") }
    if options.allowsDevices { arguments.append("--dev") }
    if let path = options.controlPath { arguments += ["--control", path] }
    if let callStacks { arguments += ["--stacks", callStacks.path] }
    do {
      let (ours, theirs) = try Descriptors.makeSocketPair()
      let daemonEnd = OwnedDescriptor(theirs)
      let control = OwnedDescriptor(ours)
      let (marksOut, marksIn) =
        try options.marks == .lines
        ? Descriptors.makeOutputSocket() : Descriptors.makePacketPipe()
      let readEnd = OwnedDescriptor(marksOut)
      let writeEnd = OwnedDescriptor(marksIn)
      daemonProcess = try ProcessCalls.spawnDaemon(
        arguments, marks: readEnd.number, control: daemonEnd.number,
        controlAs: Self.controlDescriptor)
      state = Mutex(State(control: dup(control.number), marks: dup(writeEnd.number)))
    } catch {
      throw .lab("cannot start \(program): \(error)")
    }
    state.withLock { state in
      csystem_set_close_on_exec(state.control, 1)
      csystem_set_close_on_exec(state.marks, 1)
    }
    do throws(LabError) {
      _ = try awaitReply()
    } catch {
      try? shutdown()
      throw error
    }
  }

  deinit { try? shutdown() }

  package static func findDaemon() throws(LabError) -> String {
    let folder = PathCalls.executable().map { URL(fileURLWithPath: $0).deletingLastPathComponent() }
    guard let path = folder?.appendingPathComponent("faultline-fs").path,
      PathCalls.canAccess(path, X_OK)
    else {
      throw .lab(
        "no program faultline-fs in \(folder?.path ?? "?"); build it (swift build) beside this one")
    }
    return path
  }

  /// Where programs write marks: with `MarkUnit.writes` a pipe, and each write(2) of at most 4,096
  /// bytes to it is one mark; with `MarkUnit.lines` a socket, and each line of a process is one.
  ///
  /// Pass it to a workload as its standard output. Closed by `shutdown`.
  public var marksWriteDescriptor: Int32 { state.withLock { $0.marks } }

  // MARK: Commands

  /// Replaces the tree by the initial tree of a trace file, or by an empty one.
  /// - Throws: `LabError` when files of the mount are open.
  public func load(_ path: String?) throws(LabError) {
    try ask(.load(path: path.map(Self.absolute)))
  }

  /// Makes the current tree the trace's initial one, all of it durable, and starts recording.
  public func beginRecording() throws(LabError) { try ask(.beginRecording) }

  /// Has dirty mapped pages written back at a rule's moments, counted from now, or never.
  public func writeBack(_ rule: PageWriteBack?) throws(LabError) { try ask(.writeBack(rule)) }

  /// Has the marks in the trace that were written so far; a process that has ended ends its line.
  ///
  /// Lines that somebody has begun and not ended are forgotten with the recording.
  package func settleMarks() throws(LabError) { try ask(.settleMarks) }

  /// Appends a mark; it is in the trace when this returns.
  public func mark(_ bytes: [UInt8]) throws(LabError) { try ask(.mark(bytes: Data(bytes))) }

  /// Stops recording and saves the trace to a file.
  /// - Returns: Counts of the recording.
  /// - Parameters:
  ///   - path: The file.
  ///   - mayBeUnmounted: Whether a recording that ended by another process's unmount is valid.
  /// - Throws: `LabError` also when the recording ended early, because it reached its size limit or
  ///   another process unmounted the file system. The file holds everything recorded before that.
  @discardableResult
  public func endRecording(
    savingTo path: String, mayBeUnmounted: Bool = false
  ) throws(LabError) -> FaultFSStatistics {
    let statistics = try counts(ask(.endRecording(path: Self.absolute(path))))
    if statistics.isRecordingFull { throw .lab(fullText(statistics)) }
    if statistics.isUnmounted, !mayBeUnmounted {
      throw .lab(
        "\(mountPoint) was unmounted by another process after \(statistics.eventCount) events; the "
          + "recording ends there, so the program was not judged")
    }
    return statistics
  }

  private func counts(_ reply: ControlReply) throws(LabError) -> FaultFSStatistics {
    guard let statistics = reply.statistics else {
      throw .internalError("the FaultFS daemon answered without counts")
    }
    if statistics.isUnmounted { state.withLock { $0.isUnmounted = true } }
    return statistics
  }

  /// The message for a recording that ended early.
  public func fullText(_ statistics: FaultFSStatistics) -> String {
    "the recording ended after \(statistics.eventCount) events: it holds at most "
      + "\(ByteAmount(recordingBytesMax)) (bytes of writes, and 256 for each operation); allow "
      + "more with \(Self.recordingLimitName)=\(ByteAmount(recordingBytesMax * 4))"
  }

  /// Environment variable with the size limit of a recording.
  private static let recordingLimitName = "FAULTLINE_RECORDING_LIMIT"

  /// A limit in the options overrides the one in the environment.
  private static func recordingLimit(_ options: FaultFSOptions) throws(LabError) -> UInt64 {
    guard options.recordingBytesMax == FaultFSOptions.recordingBytesMaxByDefault,
      let text = ProcessInfo.processInfo.environment[recordingLimitName]
    else { return options.recordingBytesMax }
    return try ByteAmount(parsing: text, for: recordingLimitName).bytes
  }

  /// Saves the current tree as a trace file without events.
  public func saveTree(to path: String) throws(LabError) {
    try ask(.saveTree(path: Self.absolute(path)))
  }

  /// Has the daemon kill the registered groups at a given moment, with or without a power cut.
  ///
  /// A power cut freezes the trace: later writes are acknowledged but discarded. After a kill
  /// without a power cut, recording continues.
  public func stop(_ point: StopPoint) throws(LabError) { try ask(.stop(point)) }

  /// Has the daemon kill a process group when this process ends unexpectedly.
  public func registerGroup(_ group: Int32) throws(LabError) { try ask(.registerGroup(group)) }

  /// Removes a process group that has ended from those that the daemon would kill.
  public func unregisterGroup(_ group: Int32) throws(LabError) {
    try ask(.unregisterGroup(group))
  }

  /// Adds fault rules after those in force; their counts start at 0.
  public func addRules(_ rules: [FaultRule]) throws(LabError) { try ask(.addRules(rules)) }

  /// The rules in force.
  public func rules() throws(LabError) -> [RuleStatus] { try ask(.listRules).rules ?? [] }

  /// Removes fault rules by their numbers and lets the operations waiting for them begin.
  public func removeRules(_ ids: [Int]) throws(LabError) { try ask(.removeRules(ids)) }

  /// Removes all fault rules; writes that they held are recorded.
  public func clearRules() throws(LabError) { try ask(.clearRules) }

  /// How often each rule has matched and hit, in the order in which the rules were added.
  public func ruleHits() throws(LabError) -> [RuleHits] { try ask(.ruleHits).hits ?? [] }

  /// The phase that a process, possibly dead, announced last.
  public func phase(of process: Int32) throws(LabError) -> String? {
    try ask(.phase(process: process)).phase
  }

  /// Records that a thread synced everything, after the kernel has written dirty mapped pages.
  package func syncAll(by thread: Int32) throws(LabError) { try ask(.syncAll(thread: thread)) }

  /// Has the daemon remember from now on what each file held at its last sync; what is there now
  /// counts as synced.
  public func watchUnsynced() throws(LabError) { try ask(.watchUnsynced) }

  /// Takes each file back to its last sync since `watchUnsynced`.
  ///
  /// Names stay.
  public func clearCache() throws(LabError) { try ask(.clearCache) }

  /// Counts as synced what has been written so far; the trace has no sync.
  public func checkpoint() throws(LabError) { try ask(.checkpoint) }

  /// Brings some pages of files to the medium, as of `watchUnsynced`; the trace has no sync.
  /// - Throws: `LabError` with code `.usage` when no file has such a path.
  package func syncPages(_ pages: PageSync) throws(LabError) { try ask(.syncPages(pages)) }

  /// The files whose content, or size, is another one than at their last sync, by path.
  public func unsyncedFiles() throws(LabError) -> [UnsyncedFile] {
    try ask(.unsynced).unsynced ?? []
  }

  /// Adds writes of which a part reaches the medium before the file system dies.
  ///
  /// Needs `watchUnsynced` before.
  package func addTears(_ tears: [WriteTear]) throws(LabError) { try ask(.addTears(tears)) }

  /// What the daemon has done so far.
  public func statistics() throws(LabError) -> FaultFSStatistics {
    try counts(ask(.statistics))
  }

  private static func absolute(_ path: String) -> String { URL(fileURLWithPath: path).path }

  @discardableResult
  private func ask(_ request: ControlRequest) throws(LabError) -> ControlReply {
    let bytes = try ControlFrames.encode(request)
    return try state.withLock { state throws(LabError) in
      guard state.control >= 0 else { throw .usage("this FaultFS mount has been shut down") }
      do throws(ErrorNumber) {
        try Descriptors.send(bytes, to: state.control)
      } catch {
        throw .lab("the FaultFS daemon of \(mountPoint) is gone: \(error)")
      }
      return try state.frames.awaitReply(from: state.control, of: mountPoint)
    }
  }

  private func awaitReply() throws(LabError) -> ControlReply {
    try state.withLock { state throws(LabError) in
      try state.frames.awaitReply(from: state.control, of: mountPoint)
    }
  }

  // MARK: The end

  /// Unmounts and ends the daemon; a second call has no effect.
  ///
  /// First asks the daemon, then sends SIGTERM, then aborts the mount and sends SIGKILL.
  /// - Throws: `LabError` when the mount still exists afterwards.
  public func shutdown() throws(LabError) {
    guard let control = takeControl() else { return }
    defer { Glibc.close(control) }
    if let bytes = try? ControlFrames.encode(ControlRequest.shutdown),
      (try? Descriptors.send(bytes, to: control)) != nil
    {
      // The daemon waits two seconds for a busy mount to become idle; one second in reserve.
      Self.awaitEnd(of: control, timeoutMilliseconds: 3000)
    }
    if ProcessCalls.reap(daemonProcess, timeoutMilliseconds: 500) { return try verifyUnmounted() }
    Glibc.kill(daemonProcess, SIGTERM)
    if ProcessCalls.reap(daemonProcess, timeoutMilliseconds: 3000) {
      return try verifyUnmounted()
    }
    if !state.withLock({ $0.isUnmounted }) { try? PathCalls.abortMount(mountPoint) }
    Glibc.kill(daemonProcess, SIGKILL)
    _ = ProcessCalls.reap(daemonProcess, timeoutMilliseconds: 3000)
    try verifyUnmounted()
  }

  private func takeControl() -> Int32? {
    state.withLock { state in
      guard state.control >= 0 else { return nil }
      let control = state.control
      Glibc.close(state.marks)
      state.control = -1
      state.marks = -1
      return control
    }
  }

  private static func awaitEnd(of control: Int32, timeoutMilliseconds: Int) {
    let end = monotonicNanoseconds() + UInt64(timeoutMilliseconds) * 1_000_000
    while monotonicNanoseconds() < end {
      let ready = Descriptors.wait([control], timeoutMilliseconds: timeoutMilliseconds)
      if ready.isEmpty { return }
      guard let bytes = try? Descriptors.read(control, limitBytes: 65536), !bytes.isEmpty
      else { return }
    }
  }

  private func verifyUnmounted() throws(LabError) {
    // Whatever is mounted there now may belong to another process.
    if state.withLock({ $0.isUnmounted }) { return }
    for isLastTry in [false, true] {
      if let device = PathCalls.device(of: mountPoint) {
        if device == deviceBelow { return }
      } else if errno == ENOENT {
        return
      }
      if !isLastTry { try? PathCalls.abortMount(mountPoint) }
    }
    throw .lab("\(mountPoint) is still mounted; unmount it with: umount -l \(mountPoint)")
  }
}
