// DirectAlignment.swift: the alignment that a mount requires of reads and writes with O_DIRECT.

import LabCore

/// The unit of which offset and length of direct reads and writes must be multiples, as on disk
/// file systems; other calls get `EINVAL`.
///
/// The kernel does not pass the address of the caller's buffer to a FUSE file system.
public struct DirectAlignment: Codable, Hashable, Sendable, CustomStringConvertible {
  /// A power of two from 512 to 4096.
  public let bytes: Int

  /// Reads a number of bytes.
  /// - Throws: `LabError` with code `.usage` for any other text.
  public init(parsing text: String) throws(LabError) {
    guard let bytes = Int(text), Self.known.contains(bytes) else {
      throw .usage(
        "--direct-alignment \(text.prefix(60)): write 512, as disks of 512-byte sectors ask for, "
          + "1024, 2048 or 4096")
    }
    self.bytes = bytes
  }

  private static let known = [512, 1024, 2048, 4096]

  /// The number.
  public var description: String { "\(bytes)" }

  /// True if a direct call may use this offset and length.
  func allows(offset: UInt64, count: UInt64) -> Bool {
    (offset | count) & UInt64(bytes - 1) == 0
  }
}
