// RunDirectory.swift: [U] where one run of the lab keeps its mounts and crash images, and how a
// later run sweeps up after one that was killed.
// Layout: ROOT/faultline-UID/PID-STARTTIME/{mount-N, image-N, …}. A run is dead when no process PID
// with that start time (field 22 of /proc/PID/stat, clock ticks since boot) exists: pids are
// reused, pairs not.
// Invariant: nothing is removed below a path that is still mounted, and nothing of a living run.
// Safety: paths are passed to one system call and not kept.

import CSystem
import Foundation
import Glibc

/// The private directory of one run, below shared memory when there is room, else the temporary
/// directory.
public struct RunDirectory: Sendable {
  /// Variable that marks every process of a run, so that a later run can find the ones left behind.
  public static let environmentName = "FAULTLINE_RUN"

  /// Absolute path.
  public let path: String
  /// Name of the run: process and start time.
  public let name: String

  /// Sweeps what dead runs left, then makes this run's directory.
  /// - Throws: `LabError` when no directory can be made.
  public init() throws(LabError) {
    let root = Self.root()
    Self.sweep(root: root)
    name = "\(getpid())-\(Self.startTime(of: getpid()) ?? "0")"
    path = "\(root)/\(name)"
    try Self.makeDirectory(path)
    // Inherited by every process that the run starts.
    _ = unsafe setenv(Self.environmentName, name, 1)
  }

  /// Makes a subdirectory.
  public func subdirectory(_ name: String) throws(LabError) -> String {
    let full = "\(path)/\(name)"
    try Self.makeDirectory(full)
    return full
  }

  /// Removes the run's directory; mounts inside must be gone.
  public func remove() {
    try? FileManager.default.removeItem(atPath: path)
  }

  /// Unmounts, kills and removes what runs that are no longer alive left behind.
  /// - Complexity: one pass over `/proc` when there is a dead run, else O(runs).
  public static func sweep(root: String = Self.root()) {
    let runs = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
    for run in runs.sorted() where !isAlive(run: run) {
      let path = "\(root)/\(run)"
      killProcesses(ofRun: run)
      for mount in mounts(below: path) { _ = unsafe csystem_detach_mount(mount) }
      guard mounts(below: path).isEmpty else { continue }
      try? FileManager.default.removeItem(atPath: path)
    }
  }

  /// `ROOT/faultline-UID`.
  public static func root() -> String {
    let sharedMemory = "/dev/shm"
    let temporary = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
    let base = hasRoom(sharedMemory) ? sharedMemory : temporary
    return "\(base)/faultline-\(getuid())"
  }

  /// Mount points at or below a path, deepest first, from /proc/self/mountinfo (proc(5)).
  static func mounts(below path: String) -> [String] {
    let table = (try? String(contentsOfFile: "/proc/self/mountinfo", encoding: .utf8)) ?? ""
    return table.split(separator: "\n").compactMap { line in
      let fields = line.split(separator: " ")
      guard fields.count > 4 else { return nil }
      let mount = String(fields[4])
      return mount == path || mount.hasPrefix(path + "/") ? mount : nil
    }.sorted { $0.count > $1.count }
  }

  private static func hasRoom(_ path: String) -> Bool {
    let attributes = try? FileManager.default.attributesOfFileSystem(forPath: path)
    let freeBytes = (attributes?[.systemFreeSize] as? NSNumber)?.uint64Value ?? 0
    return FileManager.default.isWritableFile(atPath: path) && freeBytes >= 512 << 20
  }

  private static func makeDirectory(_ path: String) throws(LabError) {
    do {
      try FileManager.default.createDirectory(
        atPath: path, withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700])
    } catch {
      throw .lab("cannot make \(path): \(error.localizedDescription)")
    }
  }

  private static func isAlive(run: String) -> Bool {
    let parts = run.split(separator: "-")
    // A name that no run of ours has is not ours to remove.
    guard parts.count == 2, let pid = Int32(parts[0]), UInt64(parts[1]) != nil else { return true }
    return startTime(of: pid) == String(parts[1])
  }

  /// Field 22 of /proc/PID/stat; the name in field 2 may hold spaces and parentheses.
  static func startTime(of pid: Int32) -> String? {
    guard let text = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8),
      let end = text.lastIndex(of: ")")
    else { return nil }
    let fields = text[text.index(after: end)...].split(separator: " ")
    return fields.count > 19 ? String(fields[19]) : nil
  }

  private static func killProcesses(ofRun run: String) {
    let wanted = Array("\(environmentName)=\(run)".utf8)
    let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    for entry in processes {
      guard let pid = Int32(entry), pid != getpid(),
        let environment = FileManager.default.contents(atPath: "/proc/\(pid)/environ")
      else { continue }
      if environment.split(separator: 0).contains(where: { $0.elementsEqual(wanted) }) {
        kill(pid, SIGKILL)
      }
    }
  }
}
