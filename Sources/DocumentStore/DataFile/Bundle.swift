// Bundle.swift: the folder of a data file, and its content.
//   db.sqlite3, db.sqlite3-wal, db.sqlite3-shm   the database
//   Attachments/                                 a file for each blob, made with the first

/// The paths of a data file.
struct Bundle: Sendable {
  /// The ending of a bundle's name.
  static let ending = ".cblite2"
  let path: String

  init(path: String) {
    var trimmed = Substring(path)
    while trimmed.count > 1, trimmed.hasSuffix("/") { trimmed = trimmed.dropLast() }
    self.path = String(trimmed)
  }

  var databasePath: String { path + "/db.sqlite3" }
  var blobsPath: String { path + "/Attachments" }

  /// The folder that contains the bundle.
  var parent: String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// Checks what exists, and creates the folder if allowed.
  /// - Returns: Whether the folder was created.
  func prepare(_ options: DataFile.Options) throws(DocumentStoreError) -> Bool {
    guard path.hasSuffix(Self.ending) else {
      throw DocumentStoreError(
        .invalidParameter, "\(quoted(path)) does not end in \(Self.ending); name a bundle")
    }
    switch try FileCalls.kind(path) {
    case .file, .other:
      throw DocumentStoreError(
        .notADatabaseFile,
        "\(quoted(path)) is not a folder; a data file is a folder with db.sqlite3")
    case .folder:
      guard try FileCalls.kind(databasePath) != .file else { return false }
      guard options.creates, !options.isReadOnly else { throw missing }
      return false
    case nil:
      guard options.creates, !options.isReadOnly else { throw missing }
      let isNew = try FileCalls.makeFolder(path)
      return isNew
    }
  }

  func removeIfEmpty() throws(DocumentStoreError) {
    guard try FileCalls.names(in: path).isEmpty else { return }
    try FileCalls.removeFolder(path)
  }

  private var missing: DocumentStoreError {
    DocumentStoreError(
      .notFound, "\(quoted(databasePath)) is not there; check the path, or open with `creates`")
  }
}
