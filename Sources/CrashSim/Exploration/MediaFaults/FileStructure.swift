// FileStructure.swift: the parts of a database file that a scenario can name.

/// A part of a database file.
public enum FileStructure: String, Sendable, Hashable, Codable, CaseIterable {
  /// The first sector.
  case header
  /// The two root slots.
  case slots
  /// Nodes that the newest version wrote, including its group and free list.
  case newest
  /// The other nodes that the newest version reaches; in an encrypted file everything not newest.
  case nodes
  /// Free and pending sectors, and everything after the logical end.
  case free
}
