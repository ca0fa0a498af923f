// FaultControl.swift: changes fault rules of a mount that another process made, over its control
// socket.
// The socket's path is the mount's source in /proc/self/mountinfo, so finding it needs no request
// to a file system that may hang.

import Foundation
import Glibc
import LabCore
import Synchronization

/// A connection to the control socket of a mount.
public final class FaultControl: Sendable {
  /// The mount's name in messages.
  private let name: String
  private let frames = Mutex(ControlFrames())
  private let descriptor: Int32

  /// Connects to the mount at a directory.
  /// - Throws: `LabError` when no FaultFS is mounted there, or its daemon no longer serves it.
  public convenience init(mountPoint: String) throws(LabError) {
    try self.init(socket: try Self.socket(ofMount: mountPoint), name: mountPoint)
  }

  /// Connects to a socket.
  public init(socket: String, name: String) throws(LabError) {
    self.name = name
    descriptor = try PathSocket.connect(to: socket)
  }

  deinit { Glibc.close(descriptor) }

  /// The control socket of the mount at a directory.
  static func socket(ofMount mountPoint: String) throws(LabError) -> String {
    let url = URL(fileURLWithPath: mountPoint).standardizedFileURL
    // The mount itself may hang, so only its parent folder is resolved.
    let parent = PathCalls.resolve(url.deletingLastPathComponent().path) ?? ""
    let path = (parent == "/" ? "" : parent) + "/" + url.lastPathComponent
    let source = MountTable.mounts().last { $0.point == path && $0.type == "fuse.faultfs" }?.source
    guard let source else {
      throw .usage("no faulty file system is mounted on \(path); see 'faultline mount'")
    }
    guard source.hasPrefix("/") else {
      throw .usage("the mount on \(path) has no control socket; it belongs to another command")
    }
    return source
  }

  private func ask(_ request: ControlRequest) throws(LabError) -> ControlReply {
    let bytes = try ControlFrames.encode(request)
    return try frames.withLock { frames throws(LabError) in
      // A daemon that refuses the connection sends the reason before it closes it.
      try? Descriptors.send(bytes, to: descriptor)
      return try frames.awaitReply(from: descriptor, of: name)
    }
  }

  /// Adds rules; they are in force on return.
  /// - Returns: The rules with their numbers.
  /// - Throws: `LabError` with code `.usage` when a rule can never take effect; then none is added.
  public func add(_ rules: [FaultRule]) throws(LabError) -> [RuleStatus] {
    try ask(.addRules(rules)).rules ?? []
  }

  /// The rules in force, in the order in which they were added.
  public func list() throws(LabError) -> [RuleStatus] { try ask(.listRules).rules ?? [] }

  /// Removes rules, or all of them when no number is given.
  /// - Returns: The removed rules with their counts.
  /// - Throws: `LabError` with code `.usage` for an unknown number; then none is removed.
  public func clear(_ ids: [Int] = []) throws(LabError) -> [RuleStatus] {
    try ask(ids.isEmpty ? .clearRules : .removeRules(ids)).rules ?? []
  }

  /// Counts of what the mount has done so far.
  public func statistics() throws(LabError) -> FaultFSStatistics {
    guard let statistics = try ask(.statistics).statistics else {
      throw .internalError("the FaultFS daemon answered without counts")
    }
    return statistics
  }

  /// Appends a mark to the recording, for rules that begin after one.
  public func mark(_ text: String) throws(LabError) {
    _ = try ask(.mark(bytes: Data(text.utf8)))
  }
}
