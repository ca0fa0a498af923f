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

  /// Names of two files that a program writes in turn, so that one of them is always whole.
  private static let slots: [Set<String>] = [
    ["a", "b"], ["0", "1"], ["even", "odd"], ["left", "right"], ["ping", "pong"],
    ["primary", "secondary"], ["primary", "backup"],
  ]

  /// What two names in one directory say about their being slots.
  enum SlotNames: Equatable {
    /// They differ in nothing but which slot they are: `boot.a` and `boot.b`. Where the third name
    /// of the row is used, too, they are parts of a row.
    case slots(third: String?)
    /// The same, but the names are nothing but a letter or a digit.
    case bare
    case other
  }

  /// What two names say about their being slots.
  static func slotNames(_ a: String, _ b: String) -> SlotNames {
    let (left, right) = (words(lastName(a)), words(lastName(b)))
    guard left.count == right.count else { return .other }
    let places = left.indices.filter { left[$0] != right[$0] }
    guard places.count == 1, let place = places.first else { return .other }
    let (one, other) = (left[place], right[place])
    func third(_ word: String) -> String {
      (left[..<place] + [word] + left[(place + 1)...]).joined()
    }
    if slots.contains([one, other]) {
      guard one.count == 1 else { return .slots(third: nil) }
      let isNamed = left.enumerated().contains { $0 != place && $1.first?.isLetter == true }
      let next = third(one.first?.isNumber == true ? "2" : "c")
      return isNamed ? .slots(third: next) : .bare
    }
    // `slota` and `slotb`.
    let stem = one.dropLast()
    guard one.count == other.count, !stem.isEmpty, stem == other.dropLast(),
      Set([one.suffix(1), other.suffix(1)]) == ["a", "b"]
    else { return .other }
    return .slots(third: third(stem + "c"))
  }

  /// A name's words and numbers.
  private static func words(_ name: String) -> [String] {
    name.matches(of: #/[a-z]+|[0-9]+|[^a-z0-9]+/#).map { String($0.output) }
  }
}
