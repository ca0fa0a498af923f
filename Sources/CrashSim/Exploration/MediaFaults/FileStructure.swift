// FileStructure.swift: the parts of a database file that a scenario can name.

/// A part of a database file.
public enum FileStructure: String, Sendable, Hashable, Codable, CaseIterable {
  /// The first sector.
  case header
  /// The two root slots.
  case slots
  /// Nodes that the newest version wrote, its group and free list among them.
  case newest
  /// The other nodes that the newest version reaches; in an encrypted file all that is not newest.
  case nodes
  /// Free and pending sectors, and what lies behind the logical end.
  case free
}
