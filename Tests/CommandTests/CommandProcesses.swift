// CommandProcesses.swift: what a run of the command has on the machine: processes, mounts, files.

import Foundation
import Glibc
import LabCore

/// A run of the command, by the process that leads it.
struct LiveRun {
  /// `PID-STARTTIME-SPACE`, as the lab names it.
  let name: String

  init?(pid: Int32) {
    guard let stat = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8),
      let end = stat.lastIndex(of: ")")
    else { return nil }
    let fields = stat[stat.index(after: end)...].split(separator: " ")
    let space = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(pid)/ns/pid")
    guard fields.count > 19, let space else { return nil }
    name = "\(pid)-\(fields[19])-\(space.filter(\.isWholeNumber))"
  }

  var directory: String { "\(RunDirectory.root())/\(name)" }

  /// Processes that belong to the run, zombies aside.
  var processes: [Int32] {
    let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return all.compactMap { Int32($0) }.filter { pid in
      let bytes = FileManager.default.contents(atPath: "/proc/\(pid)/environ") ?? Data()
      let lines = bytes.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
      return lines.contains {
        $0 == "FAULTLINE_RUN=\(name)" || $0.hasPrefix("FAULTLINE_PROGRAM=\(name)/")
      }
    }
  }

  var mounts: [String] {
    let bytes = FileManager.default.contents(atPath: "/proc/self/mountinfo") ?? Data()
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n")
      .filter { $0.contains(name) }.map(String.init)
  }

  /// What is left of the run, in words; empty when nothing is.
  var remains: [String] {
    let directories = FileManager.default.fileExists(atPath: directory) ? [directory] : []
    return directories + mounts + processes.map { "process \($0)" }
  }

  /// Waits until nothing is left.
  /// - Returns: What is left after the time.
  func remains(within seconds: Double) -> [String] {
    for _ in 0..<Int(seconds * 20) {
      if remains.isEmpty { return [] }
      Thread.sleep(forTimeInterval: 0.05)
    }
    return remains
  }
}

/// True while a process runs; a zombie does not.
func isRunning(_ pid: Int32) -> Bool {
  guard let stat = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8),
    let end = stat.lastIndex(of: ")")
  else { return false }
  return !stat[stat.index(after: end)...].hasPrefix(" Z")
}

/// Waits until a condition holds.
/// - Returns: Whether it came to hold in time.
func waitUntil(seconds: Double, _ condition: () -> Bool) -> Bool {
  for _ in 0..<Int(seconds * 50) {
    if condition() { return true }
    Thread.sleep(forTimeInterval: 0.02)
  }
  return condition()
}
