// OperationKind.swift: the kinds of file operations that a fault rule can name, with the properties
// that decide which effects fit them.

/// Kind of a file operation, as named in a rule.
public enum OperationKind: String, Codable, CaseIterable, Sendable, Hashable, Comparable {
  case open, read, write, truncate, allocate, create, link, remove, rename, setOwnership
  case setExtendedAttribute, sync, syncDirectory, close
  case lookUp, getAttributes, setTimes, readLink, readDirectory, getExtendedAttribute, status, seek

  /// Orders by name, for messages.
  public static func < (a: OperationKind, b: OperationKind) -> Bool { a.rawValue < b.rawValue }

  /// Kinds that a read-only mount rejects.
  package static let changing: Set<OperationKind> = [
    .write, .truncate, .allocate, .create, .link, .remove, .rename, .setOwnership, .setTimes,
    .setExtendedAttribute, .sync, .syncDirectory,
  ]
  /// Kinds that use an open file, so that an error can be returned once per open file.
  package static let ofOpenFiles: Set<OperationKind> = [
    .read, .write, .allocate, .sync, .syncDirectory, .readDirectory, .seek,
  ]
  /// Kinds at whose end the content of a file can change on the medium: the kernel then holds no
  /// lock on the file's pages, so that they can be dropped.
  package static let ofRest: Set<OperationKind> = [.open, .sync, .close]
  /// Kinds whose caller waits for the answer, which it does not for a close.
  package static let answered = Set(allCases).subtracting([.close])
}
