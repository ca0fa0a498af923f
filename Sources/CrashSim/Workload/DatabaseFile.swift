// DatabaseFile.swift: the file of the database under test, and those beside it.

import Recording

/// The database file of a workload.
public enum DatabaseFile {
  /// Its name in the directory of the worker.
  public static let name = "data.realm"

  /// Whether the name is that of a file in which engines only talk to each other.
  package static func isSharedMemory(_ name: FileName) -> Bool {
    let bytes = name.bytes.reversed()
    return [".realm.lock", ".realm.note"].contains { bytes.starts(with: $0.utf8.reversed()) }
  }
}
