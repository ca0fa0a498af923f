// RefusedCalls.swift: what a run reports when the kernel refused a program a call because its files
// were on a FUSE mount: the file system is never asked, so the trace has nothing of it, and the
// recorded run took a path that it might not take on a disk.

/// Calls that no FUSE file system can serve.
enum RefusedCalls {
  /// Modes of fallocate(2), by their bits, and which file systems of the kernel have them.
  private static let modes: [(bit: Int32, name: String, served: String)] = [
    (0x08, "FALLOC_FL_COLLAPSE_RANGE", "ext4 and XFS serve it"),
    (0x20, "FALLOC_FL_INSERT_RANGE", "ext4 and XFS serve it"),
    (0x40, "FALLOC_FL_UNSHARE_RANGE", "XFS serves it"),
    (0x80, "FALLOC_FL_WRITE_ZEROES", "ext4 and XFS serve it on some disks"),
  ]

  /// One message for each mode.
  static func texts(ofModes refused: Int32) -> [String] {
    modes.filter { refused & $0.bit != 0 }.map { mode in
      "fallocate with \(mode.name): the workload asked for it and got EOPNOTSUPP, since FUSE "
        + "cannot serve it; \(mode.served), and --on runs the workload there"
    }
  }
}
