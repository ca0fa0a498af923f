// FaultFSHost.swift: our side of the fs- rows: FaultFS with tracing on, in a process of its own.

import Foundation

/// Mounts FaultFS, empty and recording.
func startFaultFS(mountPoint: URL) throws -> MountedFileSystem {
  throw BenchError(
    "this build has no FaultFS to mount on \(mountPoint.path); see --peer-on-both-sides")
}
