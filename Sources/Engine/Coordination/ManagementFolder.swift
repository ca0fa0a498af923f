// ManagementFolder.swift: `path.management`, a folder for temporary files (compaction, upgrade).
// Invariant: no file in it is needed after the process that made it: an opener that is alone
// removes all files there. So only open handles create files in it, and only files that no other
// process needs.

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

  /// Removes the files in it; a file that cannot be removed stays and does no harm.
  static func sweep(for database: String) {
    Syscalls.removeFiles(in: path(for: database))
  }
}
