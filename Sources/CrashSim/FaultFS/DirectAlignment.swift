// DirectAlignment.swift: what a mount asks of reads and writes through O_DIRECT.

import LabCore

/// What offset and length of direct input and output must be a multiple of, as file systems on
/// disks ask for; other calls get `EINVAL`.
///
/// Where the caller's buffer lies the kernel tells no FUSE file system.
public struct DirectAlignment: Codable, Hashable, Sendable, CustomStringConvertible {
  /// A power of two from 512 to 4096.
  public let bytes: Int

  /// Reads a number of bytes.
  /// - Throws: `LabError` with code `.usage` for what is no such number.
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

  /// True for what a direct call may ask for.
  func allows(offset: UInt64, count: UInt64) -> Bool {
    (offset | count) & UInt64(bytes - 1) == 0
  }
}
