// DataFile+Settings.swift: the settings of SQLite.

extension DataFile {
  /// A setting of SQLite on the connection that writes; for tests and for reports.
  /// - Parameter name: The name of a pragma without argument.
  /// - Returns: Its number; nil when it has none.
  /// - Throws: `DocumentStoreError`.
  package func setting(_ name: String) throws(DocumentStoreError) -> Int64? {
    try checkOpen()
    return try writer.run { () throws(DocumentStoreError) in
      try writer.number("PRAGMA \(name)")
    }
  }
}
