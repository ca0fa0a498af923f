// SimulatedFileSystem.swift [U]: FaultFS without a mount: the same tree, fault rules and trace, in
// the process that uses it. Needs no privileges, no /dev/fuse and no kernel.
// Invariants: the file system is used under `lock` only; a tree with open files is not replaced.

import Foundation
import Glibc
import LabCore
import Recording
import Synchronization

/// The in-process backend of the faulty file system.
///
/// Its calls are those of `FaultFSClient`, without a daemon that could exit.
// @unchecked: the file system and its inodes are only used under `lock`.
@safe package final class SimulatedFileSystem: @unchecked Sendable {
  /// In the trace every caller is one process; 0 would be the kernel.
  package static let caller = Caller(process: getpid(), thread: getpid())

  private let fileSystem: FaultFileSystem
  private let quotaBytes: UInt64
  private let lock = Mutex<Void>(())

  /// Makes an empty file system.
  /// - Throws: `LabError` when an empty tree does not fit in the quota.
  package convenience init(quotaBytes: UInt64 = FaultFSOptions().quotaBytes) throws(LabError) {
    try self.init(TreeImage(), quotaBytes: quotaBytes)
  }

  /// Makes a file system with a tree.
  /// - Throws: `LabError` when the tree does not fit in the quota, or is none.
  package init(
    _ image: TreeImage, quotaBytes: UInt64 = FaultFSOptions().quotaBytes
  ) throws(LabError) {
    self.quotaBytes = quotaBytes
    let recorder = TraceRecorder(
      limitBytes: FaultFSOptions.recordingBytesMaxByDefault, clockNanoseconds: monotonicNanoseconds)
    fileSystem = FaultFileSystem(
      tree: try Self.tree(image, quotaBytes), recorder: recorder)
  }

  private static func tree(_ image: TreeImage, _ quotaBytes: UInt64) throws(LabError) -> FileTree {
    do throws(ErrorNumber) {
      return try FileTree(image: image, quotaBytes: quotaBytes, now: wallClock)
    } catch {
      throw .lab("the tree does not fit in quota_bytes=\(quotaBytes), or is none: \(error)")
    }
  }

  /// Runs `body` with exclusive access to the file system.
  package func withFileSystem<Result: Sendable, Failure: Error>(
    _ body: (FaultFileSystem) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try lock.withLock { _ throws(Failure) in try body(fileSystem) }
  }

  // MARK: Commands

  /// Replaces the tree by the initial tree of a trace file, or by an empty one.
  /// - Throws: `LabError` when files are open.
  package func load(_ path: String?) throws(LabError) {
    let image = try path.map { (path) throws(LabError) in try TraceFile.load(path).initial }
    try withFileSystem { fileSystem throws(LabError) in
      guard fileSystem.tree.inodes.values.allSatisfy({ $0.openCount == 0 }) else {
        throw .usage("\(path ?? "/"): a tree cannot be loaded while files are in use")
      }
      fileSystem.replaceTree(try Self.tree(image ?? TreeImage(), quotaBytes))
    }
  }

  /// Makes the current tree the trace's initial one, all of it durable, and starts recording.
  package func beginRecording() { withFileSystem { $0.beginRecording() } }

  /// Appends a mark.
  package func mark(_ bytes: [UInt8]) { withFileSystem { $0.record(Mark(bytes: bytes)) } }

  /// The events recorded so far.
  package var eventCount: Int { withFileSystem { $0.recorder.eventCount } }

  /// Lets every operation fail once so many events are recorded: the power is gone then.
  package func endPower(atEvent event: Int) { withFileSystem { $0.powerEndsAt = event } }

  /// The present tree, durable or not.
  package var image: TreeImage { withFileSystem { $0.tree.image() } }

  /// Stops recording.
  package func endRecording() -> Trace { withFileSystem { $0.endRecording() } }

  /// Stops recording and saves the trace to a file.
  package func endRecording(savingTo path: String) throws(LabError) {
    try TraceFile.save(endRecording(), to: path)
  }

  /// Adds fault rules after those in force; their counts start at 0.
  /// - Throws: `LabError` with code `.usage` for a rule that only a mount can follow: there are no
  ///   processes here, no observable reads, and no callers that could wait.
  package func addRules(_ rules: [FaultRule]) throws(LabError) {
    for rule in rules {
      let key: String?
      switch rule.what {
      case .kill, .killOther, .killFileSystem, .delay, .hang: key = rule.what.word
      default:
        if rule.when.process != nil || rule.when.command != nil || rule.when.actor != nil {
          key = "process, command or actor"
        } else {
          key = rule.when.kinds.contains(.read) ? "on: read" : nil
        }
      }
      if let key {
        throw .usage(
          "fault rule: \(key) needs a FUSE mount; these files are in memory")
      }
    }
    _ = try withFileSystem { fileSystem throws(LabError) in try fileSystem.addRules(rules) }
  }

  /// The current phase of the process, which is this one.
  package func phase(of process: Int32) -> String? {
    withFileSystem { $0.phases.phase(of: process) }
  }

  /// Announces phases, as programs on a mount do.
  package func makeAnnouncer() -> PhaseAnnouncer {
    PhaseAnnouncer { [self] name in
      withFileSystem { $0.notePhase(name, by: Self.caller) }
    }
  }

  /// Removes all fault rules; writes that they held are recorded.
  package func clearRules() { withFileSystem { $0.clearRules() } }

  /// How often each rule has matched and hit, in the order in which the rules were added.
  package func ruleHits() -> [RuleHits] { withFileSystem { $0.plan.hits } }
}
