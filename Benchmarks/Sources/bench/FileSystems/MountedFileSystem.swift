// MountedFileSystem.swift: a file system that is mounted for one measurement, and gone after it.

import Foundation

/// A mounted file system and the way to take it away again.
struct MountedFileSystem {
  /// Where clients see it.
  let mountPoint: URL
  /// Ends its daemon and unmounts it.
  let stop: () throws -> Void
}

extension MountedFileSystem {
  /// Mounts a file system in a scratch directory, hands it to `body`, and leaves nothing behind.
  static func with<Result>(
    _ start: (_ mountPoint: URL) throws -> MountedFileSystem,
    do body: (MountedFileSystem) throws -> Result
  ) throws -> Result {
    let mountPoint = try Scratch.makeDirectory("mount")
    defer { try? FileManager.default.removeItem(at: mountPoint) }
    let mounted = try start(mountPoint)
    let result: Result
    do { result = try body(mounted) } catch {
      try? mounted.stop()
      throw error
    }
    try mounted.stop()
    guard !Processes.isMounted(mountPoint) else {
      throw BenchError("still mounted: \(mountPoint.path); fusermount3 -u \(mountPoint.path)")
    }
    return result
  }

  /// Waits until a daemon has mounted.
  static func awaitMount(at mountPoint: URL, by daemon: BackgroundProcess, log: URL) throws {
    for _ in 0..<5000 {
      if Processes.isMounted(mountPoint) { return }
      if daemon.hasEnded {
        let said = (try? String(contentsOf: log, encoding: .utf8)) ?? ""
        throw BenchError("the daemon ended before it mounted \(mountPoint.path):\n\(said)")
      }
      Thread.sleep(forTimeInterval: 0.001)
    }
    try? daemon.stop()
    throw BenchError("\(mountPoint.path) was not mounted within 5 s")
  }
}
