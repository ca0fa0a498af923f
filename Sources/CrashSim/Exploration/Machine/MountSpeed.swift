// MountSpeed.swift: how fast a mount is made and used here; the last proof that it can be.

import FaultFS
import Foundation
import LabCore

/// One mount with some writes and syncs, timed.
enum MountSpeed {
  private static let name = "speed of a mount"
  private static let writeCount = 2000
  private static let syncCount = 200

  /// Makes a mount in a run directory, uses it and takes it away.
  static func measured() -> MachineCapability {
    do throws(LabError) {
      let run = try RunDirectory()
      defer { run.remove() }
      let start = monotonicNanoseconds()
      let fileSystem = try FaultFSClient(mountPoint: try run.subdirectory("mount"))
      let mounted = monotonicNanoseconds()
      let rates = try rates(in: fileSystem.mountPoint)
      try fileSystem.shutdown()
      return .ok(
        name,
        found: "made in \((mounted - start) / 1_000_000) ms; \(rates.writes) writes of 4 KiB and "
          + "\(rates.syncs) syncs in a second")
    } catch {
      return .missing(
        name,
        found: "none could be made: "
          + error.message.replacing("; \(MountRight.pointer)", with: ""),
        lost: "explore, certify, stress and mount; run keeps files in memory",
        mend: "see the lines above")
    }
  }

  private static func rates(in folder: String) throws(LabError) -> (writes: Int, syncs: Int) {
    let path = "\(folder)/file"
    do {
      try Data().write(to: URL(fileURLWithPath: path))
      let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
      defer { try? file.close() }
      let page = Data(count: 4096)
      let start = monotonicNanoseconds()
      for _ in 0..<writeCount { try file.write(contentsOf: page) }
      let written = monotonicNanoseconds()
      for _ in 0..<syncCount { try file.synchronize() }
      let synced = monotonicNanoseconds()
      return (perSecond(writeCount, written - start), perSecond(syncCount, synced - written))
    } catch {
      throw .lab("the mount cannot be written: \(error.localizedDescription)")
    }
  }

  private static func perSecond(_ count: Int, _ nanoseconds: UInt64) -> Int {
    Int(UInt64(count) * 1_000_000_000 / max(1, nanoseconds))
  }
}
