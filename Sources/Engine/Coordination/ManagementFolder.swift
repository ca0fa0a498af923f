// ManagementFolder.swift: `path.management`, a folder for temporary files (compaction, upgrade).
// Invariant: nothing in it outlives the process that made it: an opener who is alone removes all
// files there. So only handles that are open, and whose files nobody else needs, put files into it.

enum ManagementFolder {
  /// The folder of a database.
  static func path(for database: String) -> String { database + ".management" }

  /// Makes the folder when it is missing, and returns its path.
  static func make(for database: String) throws(EngineError) -> String {
    let folder = path(for: database)
    if let failure = Syscalls.makeFolder(folder) {
      throw .syscall("mkdir", folder, errno: failure.number)
    }
    return folder
  }

  /// Removes the files in it; what cannot be removed stays, it is in nobody's way.
  static func sweep(for database: String) {
    Syscalls.removeFiles(in: path(for: database))
  }
}
