// FileNames.swift: what a file's name says about whether its content matters after a crash.

/// Names that programs give to files that they do not need after a crash.
enum FileNames {
  /// Whether a file is there for a while only, or is a part of another one.
  static func isPassing(_ path: String) -> Bool {
    isTemporary(path) || isLock(path) || isJournal(path)
  }

  /// Locks, process numbers, editors' swap files, and messages that are being edited.
  static func isLock(_ path: String) -> Bool {
    let name = lastName(path)
    let ends = [".lock", "-lock", ".lck", ".pid", ".swp", ".swo", ".swx", "-shm", ".sock"]
    return ends.contains { name.hasSuffix($0) } || name.hasPrefix(".#")
      || ["lock", "lock.mdb", "commit_editmsg"].contains(name)
  }

  /// Journals that SQLite keeps beside its file, which is judged with them.
  static func isJournal(_ path: String) -> Bool {
    let name = lastName(path)
    return name.hasSuffix("-wal") || name.hasSuffix("-journal")
  }

  /// What programs call files until they are whole.
  static func isTemporary(_ path: String) -> Bool {
    let name = lastName(path)
    return [".tmp", ".temp", ".part", ".partial"].contains { name.hasSuffix($0) }
      || name.contains(".tmp.") || name.hasPrefix("tmp") || name.hasPrefix(".tmp")
  }

  private static func lastName(_ path: String) -> String {
    path.split(separator: "/").last.map { $0.lowercased() } ?? ""
  }

  /// Logs for people and caches: lost, they are written anew.
  static func isDiagnostic(_ path: String) -> Bool {
    let lower = path.lowercased()
    let name = lastName(path)
    return lower.contains("cache") || name.hasSuffix(".log") || name.hasSuffix(".out")
      || name.hasPrefix("log.") || name.hasSuffix("~")
  }
}
