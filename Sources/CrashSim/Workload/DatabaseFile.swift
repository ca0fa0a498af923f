// DatabaseFile.swift: the file of the database under test, and its auxiliary files.

import Recording

/// The database file of a workload.
public enum DatabaseFile {
  /// Its name in the worker's directory.
  public static let name = "data.realm"

  /// Whether the name is that of a file used only for communication between engines.
  package static func isSharedMemory(_ name: FileName) -> Bool {
    let bytes = name.bytes.reversed()
    return [".realm.lock", ".realm.note"].contains { bytes.starts(with: $0.utf8.reversed()) }
  }
}
