// FaultFSHost.swift: our side of the fs- rows: FaultFS with tracing on, in a process of its own.

import FaultFS
import Foundation

/// Mounts FaultFS, empty and recording.
///
/// Its daemon serves on the CPU that we are pinned to, as the lab's daemons do on that of their
/// programs. Memory for payloads it makes ahead on another one, if there is one.
func startFaultFS(mountPoint: URL) throws -> MountedFileSystem {
  let client = try Processes.unpinned { cpu in
    try FaultFSClient(mountPoint: mountPoint.path, cpu: cpu)
  }
  do {
    try client.beginRecording()
  } catch {
    try? client.shutdown()
    throw error
  }
  return MountedFileSystem(mountPoint: mountPoint) {
    let recorded = try client.statistics()
    try client.shutdown()
    guard recorded.isRecording, recorded.eventCount > 0 else {
      throw BenchError("FaultFS did not record: the row would compare something else")
    }
  }
}
