// MountTable.swift: reads the mount table without accessing the file systems, which may hang.

import Foundation

/// The mounts of this process's mount namespace, from /proc/self/mountinfo (proc(5)).
package enum MountTable {
  /// One mount.
  package struct Mount: Sendable {
    /// The device's major and minor number, as in `0:40`; reused immediately.
    let device: String
    /// Where it is mounted.
    package let point: String
    /// The kind of file system, as in `ext4` or `fuse.faultfs`.
    package let type: String
    /// What is mounted; for the faulty file system, the path of its control socket.
    package let source: String
  }

  /// All mounts, in their order in the table; none when there is no /proc.
  package static func mounts() -> [Mount] {
    let bytes = FileManager.default.contents(atPath: "/proc/self/mountinfo") ?? Data()
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").compactMap { line in
      let fields = line.split(separator: " ")
      guard let dash = fields.firstIndex(of: "-"), dash > 4, fields.count > dash + 2 else {
        return nil
      }
      return Mount(
        device: String(fields[2]), point: unescaped(fields[4]), type: String(fields[dash + 1]),
        source: unescaped(fields[dash + 2]))
    }
  }

  /// The mount points at or below a path without symbolic links, deepest first.
  static func points(below path: String) -> [String] {
    mounts().map(\.point).filter { $0 == path || $0.hasPrefix(path + "/") }
      .sorted { $0.count > $1.count }
  }

  /// Identifies the mount visible at a path without symbolic links, by its device, type and source.
  ///
  /// Device and mount numbers are reused immediately.
  /// - Returns: Nil when nothing is mounted there, or there is no /proc.
  package static func mount(at path: String) -> String? {
    // The last mount covers earlier ones.
    mounts().last { $0.point == path }.map { "\($0.device) \($0.type) \($0.source)" }
  }

  /// The kernel writes space, tab, line feed and backslash as three octal digits.
  static func unescaped(_ field: Substring) -> String {
    [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")].reduce(String(field)) {
      $0.replacing($1.0, with: $1.1)
    }
  }
}
