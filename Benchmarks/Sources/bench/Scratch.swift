// Scratch.swift: directories of a run, in memory or on a disk, and none of them left behind.

import Foundation

/// Directories of this run.
enum Scratch {
  private static let prefix = "faultline-bench-"

  /// On tmpfs where the system has one for everybody.
  private static var memory: URL {
    let shared = URL(filePath: "/dev/shm")
    return Processes.isTmpfs(shared) ? shared : FileManager.default.temporaryDirectory
  }

  /// On a file system that has a medium: what `TMPDIR` says, or where we stand.
  private static func disk() throws -> URL {
    let candidates = [
      FileManager.default.temporaryDirectory,
      URL(filePath: FileManager.default.currentDirectoryPath),
    ]
    guard let found = candidates.first(where: { !Processes.isTmpfs($0) }) else {
      throw BenchError("no disk here: set TMPDIR to a directory that is not on tmpfs")
    }
    return found
  }

  /// Removes what killed runs have left; their mounts went with them.
  static func sweep() throws {
    for parent in [memory, try disk()] {
      for name in try FileManager.default.contentsOfDirectory(atPath: parent.path)
      where name.hasPrefix(prefix) {
        let directory = parent.appending(path: name)
        let owner = name.dropFirst(prefix.count).prefix { $0.isNumber }
        let isAlive = FileManager.default.fileExists(atPath: "/proc/\(owner)")
        if isAlive || Processes.isMounted(directory) { continue }
        try? FileManager.default.removeItem(at: directory)
      }
    }
  }

  /// A new directory in memory.
  static func makeDirectory(_ name: String) throws -> URL {
    try makeDirectory(name, in: memory)
  }

  /// A new directory on a disk.
  static func makeDiskDirectory(_ name: String) throws -> URL {
    try makeDirectory(name, in: disk())
  }

  /// Hands a new directory on a disk to `body`, and removes it.
  static func withDisk<Result>(_ name: String, _ body: (URL) throws -> Result) throws -> Result {
    let directory = try makeDirectory(name, in: disk())
    defer { try? FileManager.default.removeItem(at: directory) }
    return try body(directory)
  }

  /// Hands a new directory in memory to `body`, and removes it.
  static func withMemory<Result>(_ name: String, _ body: (URL) throws -> Result) throws -> Result {
    let directory = try makeDirectory(name)
    defer { try? FileManager.default.removeItem(at: directory) }
    return try body(directory)
  }

  private static func makeDirectory(_ name: String, in parent: URL) throws -> URL {
    let own = "\(prefix)\(ProcessInfo.processInfo.processIdentifier)-\(name)"
    for number in 0... {
      let directory = parent.appending(path: "\(own)-\(number)")
      guard !FileManager.default.fileExists(atPath: directory.path) else { continue }
      try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
      return directory
    }
    throw BenchError("no free name in \(parent.path)")
  }
}
