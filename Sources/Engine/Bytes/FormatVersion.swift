// FormatVersion.swift: the number of the file's layout, and which of them this engine reads.

/// The number of a file layout; not to be confused with the version of the content.
public struct FormatVersion: RawRepresentable, Hashable, Comparable, Sendable {
  /// The number as stored in the file header.
  public let rawValue: UInt32

  /// Makes a format version from its number.
  public init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  /// The layout of files that this engine makes.
  public static let current = FormatVersion(rawValue: 4)

  /// The oldest layout that this engine reads; it continues to write a file in the layout that its
  /// header names.
  public static let oldestRead = FormatVersion(rawValue: 2)

  /// Whether leaves may have patches.
  var hasPatches: Bool { rawValue >= 3 }

  /// Whether root slots may carry edits of nodes.
  var hasSlotEdits: Bool { rawValue >= 4 }
  /// Whether groups may have a memo.
  var hasMemo: Bool { rawValue >= 4 }

  /// Older before newer.
  public static func < (left: FormatVersion, right: FormatVersion) -> Bool {
    left.rawValue < right.rawValue
  }
}
