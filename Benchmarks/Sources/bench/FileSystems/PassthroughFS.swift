// PassthroughFS.swift: the peer of the fs- rows: libfuse's own example `passthrough_ll` over tmpfs,
// compiled here from the source that Debian's libfuse3-dev installs.

import Foundation

/// The compiled example; `remove()` removes its files.
struct PassthroughFS {
  private let build: URL

  private var executable: URL { build.appending(path: "passthrough_ll") }

  /// Compiles the example.
  init() throws {
    let build = try Scratch.makeDirectory("build")
    do {
      for file in ["passthrough_ll.c", "passthrough_helpers.h"] {
        try PassthroughFS.source(file).write(to: build.appending(path: file))
      }
      // Some versions include libfuse's own config.h, which no package installs; the example needs
      // nothing of it.
      try Data().write(to: build.appending(path: "config.h"))
      let query = ["/usr/bin/env", "pkg-config", "--cflags", "--libs", "fuse3"]
      let flags = try Processes.output(of: query).split(whereSeparator: \.isWhitespace)
      let source = build.appending(path: "passthrough_ll.c").path
      let product = build.appending(path: "passthrough_ll").path
      let compile = ["/usr/bin/env", "cc", "-O2", "-w", "-I", build.path, "-o", product, source]
      _ = try Processes.output(of: compile + flags.map(String.init))
    } catch {
      try? FileManager.default.removeItem(at: build)
      throw error
    }
    self.build = build
  }

  /// Removes what was compiled.
  func remove() { try? FileManager.default.removeItem(at: build) }

  /// Mounts the example over an empty directory of tmpfs.
  ///
  /// One thread (`-s`): with the client on the same CPU it is the faster choice, and FaultFS orders
  /// its trace the same way. `cache=auto`: pages are cached while a file is open and writes go
  /// through, as in FaultFS.
  func start(mountPoint: URL) throws -> MountedFileSystem {
    let source = try Scratch.makeDirectory("source")
    guard Processes.isTmpfs(source) else {
      throw BenchError("\(source.path) is not on tmpfs: mount one on /dev/shm")
    }
    let log = build.appending(path: "daemon.log")
    let options = "source=\(source.path),cache=auto"
    let daemon = try BackgroundProcess(
      [executable.path, "-f", "-s", "-o", options, mountPoint.path], log: log)
    try MountedFileSystem.awaitMount(at: mountPoint, by: daemon, log: log)
    return MountedFileSystem(mountPoint: mountPoint) {
      defer { try? FileManager.default.removeItem(at: source) }
      try daemon.stop()
    }
  }

  private static func source(_ name: String) throws -> Data {
    let plain = URL(filePath: "/usr/share/doc/libfuse3-dev/examples/\(name)")
    if FileManager.default.fileExists(atPath: plain.path) { return try Data(contentsOf: plain) }
    guard FileManager.default.fileExists(atPath: plain.path + ".gz") else {
      throw BenchError("\(plain.path) is missing: apt install libfuse3-dev")
    }
    return Data(try Processes.output(of: ["/usr/bin/env", "gzip", "-dc", plain.path + ".gz"]).utf8)
  }
}
