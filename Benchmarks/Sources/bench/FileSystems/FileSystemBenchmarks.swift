// FileSystemBenchmarks.swift: the rows fs-write, fs-write-fsync, fs-create and fs-read: operations
// per second of one client, 4 KiB each, on FaultFS with tracing on and on libfuse's passthrough_ll.

import Foundation

extension Benchmark {
  static let fileSystems: [Benchmark] = [
    // FaultFS keeps the bytes of every write: the counts bound its memory to a few hundred MB.
    fileSystem("fs-write", kind: "write", count: 40_000),
    fileSystem("fs-write-fsync", kind: "write-fsync", count: 20_000),
    fileSystem("fs-create", kind: "create", count: 10_000),
    fileSystem("fs-read", kind: "read", count: 40_000),
  ]

  private static func fileSystem(_ name: String, kind: String, count: Int) -> Benchmark {
    Benchmark(name: name) { settings in
      let passthrough = try PassthroughFS()
      defer { passthrough.remove() }
      let startOurs = settings.peerOnBothSides ? passthrough.start : startFaultFS
      let measured = try alternating(rounds: settings.rounds) {
        try measure(startOurs, kind: kind, count: count)
      } peer: {
        try measure(passthrough.start, kind: kind, count: count)
      }
      return .rate(
        name, ours: measured.ours, peer: measured.peer,
        peerName: "passthrough_ll over tmpfs", unit: "operations/s")
    }
  }

  private static func measure(
    _ start: (_ mountPoint: URL) throws -> MountedFileSystem, kind: String, count: Int
  ) throws -> Double {
    try MountedFileSystem.with(start) { mounted in
      try Client.operationsPerSecond(kind: kind, directory: mounted.mountPoint, count: count)
    }
  }
}
