// OperationKind.swift: the kinds of file operations that a fault rule can name, and what of each
// kind decides which effects fit it.

/// Kind of a file operation, as a rule names it.
public enum OperationKind: String, Codable, CaseIterable, Sendable, Hashable, Comparable {
  case open, read, write, truncate, allocate, create, link, remove, rename, setOwnership
  case setExtendedAttribute, sync, syncDirectory, close
  case lookUp, getAttributes, setTimes, readLink, readDirectory, getExtendedAttribute, status, seek

  /// Orders by name, for messages.
  public static func < (a: OperationKind, b: OperationKind) -> Bool { a.rawValue < b.rawValue }

  /// Kinds that a file system that is mounted read-only refuses.
  package static let changing: Set<OperationKind> = [
    .write, .truncate, .allocate, .create, .link, .remove, .rename, .setOwnership, .setTimes,
    .setExtendedAttribute, .sync, .syncDirectory,
  ]
  /// Kinds that come through an open file, so that an error can be told once per open file.
  package static let ofOpenFiles: Set<OperationKind> = [
    .read, .write, .allocate, .sync, .syncDirectory, .readDirectory, .seek,
  ]
  /// Kinds at whose end the content of a file can change on the medium: the kernel then holds no
  /// lock on the file's pages, so that they can be dropped.
  package static let ofRest: Set<OperationKind> = [.open, .sync, .close]
  /// Kinds whose caller waits for the answer: nobody waits for that to a close.
  package static let answered = Set(allCases).subtracting([.close])
}
