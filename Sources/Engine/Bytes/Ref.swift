// Ref.swift: the strong types for positions and versions, so that they cannot be mixed up.

/// Byte position of a node in the file; 0 means "no node", since the file header is there.
struct Ref: Hashable, Sendable, CustomStringConvertible {
  let offsetBytes: UInt64

  static let none = Ref(offsetBytes: 0)

  init(offsetBytes: UInt64) {
    self.offsetBytes = offsetBytes
  }

  init(sector: UInt64) {
    offsetBytes = sector * UInt64(Layout.sectorSizeBytes)
  }

  var sector: UInt64 { offsetBytes / UInt64(Layout.sectorSizeBytes) }
  var description: String { "ref \(offsetBytes)" }
}

/// A ref with the checksum that the node there must have, so that a stale node cannot pass.
struct NodeLink: Hashable, Sendable {
  var ref: Ref
  var checksum: UInt64

  static let none = NodeLink(ref: .none, checksum: 0)
  var isNone: Bool { ref == .none }
}

/// Number of a commit.
///
/// The empty database is version 1, and each commit adds 1.
public struct Version: RawRepresentable, Hashable, Comparable, Sendable, CustomStringConvertible {
  /// The number.
  public let rawValue: UInt64

  /// Makes a version from its number.
  public init(rawValue: UInt64) {
    self.rawValue = rawValue
  }

  /// The version of a new, empty database.
  public static let first = Version(rawValue: 1)

  /// The version that the next commit makes.
  public var next: Version { Version(rawValue: rawValue + 1) }

  /// The number in decimal.
  public var description: String { String(rawValue) }

  /// Older before newer.
  public static func < (left: Version, right: Version) -> Bool {
    left.rawValue < right.rawValue
  }
}
