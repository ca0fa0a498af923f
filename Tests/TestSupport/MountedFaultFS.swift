// MountedFaultFS.swift: a real FaultFS mount for one test.

import FaultFS
import Foundation
import Recording
// Tests that mount declare it with `.requires(.fuse)`.
@_exported public import Requirements

/// A FaultFS mount in its own directory.
public final class MountedFaultFS {
  /// Place for files outside of the mount.
  public let outside: TemporaryDirectory
  /// The mount.
  public let client: FaultFSClient

  /// Mounts an empty tree.
  public init(_ options: FaultFSOptions = FaultFSOptions()) throws {
    outside = try TemporaryDirectory()
    let mountPoint = outside.file("mnt")
    try FileManager.default.createDirectory(
      atPath: mountPoint, withIntermediateDirectories: false)
    client = try FaultFSClient(mountPoint: mountPoint, options: options)
  }

  deinit { try? client.shutdown() }

  /// Absolute path of the mount's root.
  public var path: String { client.mountPoint }

  /// The path of a name on the mount.
  public func file(_ name: String) -> String { path + "/" + name }

  /// Runs a shell script in the mount's root, with the marks pipe as descriptor 3.
  public func shell(_ script: String) throws -> ProgramResult {
    try runShell(script, in: path, marksDescriptor: client.marksWriteDescriptor)
  }

  /// Ends the recording and returns the trace.
  public func endRecording() throws -> Trace {
    let file = outside.file("trace-\(UUID().uuidString).sqlite")
    try client.endRecording(savingTo: file)
    return try TraceFile.load(file)
  }

  /// The current tree.
  public func tree() throws -> TreeImage {
    let file = outside.file("tree-\(UUID().uuidString).sqlite")
    try client.saveTree(to: file)
    return try TraceFile.load(file).initial
  }

  /// The result and the recording of a script.
  public func record(_ script: String) throws -> (result: ProgramResult, trace: Trace) {
    try client.beginRecording()
    let result = try shell(script)
    return (result, try endRecording())
  }
}
