// MountTable.swift: reads the mount table without accessing the file systems, which may hang.

import Foundation

/// The mounts of this process's mount namespace, from /proc/self/mountinfo (proc(5)).
package enum MountTable {
  /// Identifies the mount visible at a path without symbolic links, by its device, type and source.
  ///
  /// Device and mount numbers are reused immediately.
  /// - Returns: Nil when nothing is mounted there, or there is no /proc.
  package static func mount(at path: String) -> String? {
    let bytes = FileManager.default.contents(atPath: "/proc/self/mountinfo") ?? Data()
    var mount: String?
    // The last mount covers earlier ones.
    for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
      let fields = line.split(separator: " ")
      guard fields.count > 4, RunDirectory.unescaped(fields[4]) == path,
        let dash = fields.firstIndex(of: "-")
      else { continue }
      mount = fields[2] + " " + fields[dash...].dropFirst().prefix(2).joined(separator: " ")
    }
    return mount
  }
}
