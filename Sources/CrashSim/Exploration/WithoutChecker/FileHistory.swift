// FileHistory.swift: every content that the files of a run completely had, and when.
// Invariants: `entries` of a file are in order of time, the first is what it was before the run;
// each content is the beginning of a stream, and a stream never changes but by growing.

import Recording

/// The bytes of a file from one beginning (its creation, or a truncation to nothing) on, as long
/// as it only grew.
struct FileStream: Sendable {
  /// All bytes that it came to.
  var bytes: [UInt8] = []
  /// Whether the file was there, whole, before the run.
  var isInitial = false
  /// Shortest length at which its writer had closed, synced or renamed it; nil for never.
  var firstCompleteBytes: Int?
  /// Most bytes that the program had synced.
  var syncedBytes = -1
  /// Whether it was synced while it was empty: a log that begins anew.
  var isSyncedEmpty = false
  /// Whether it began by emptying a file.
  var isTruncation = false
  /// Whether it was written over the content before, from the beginning on.
  var isRewritten = false
  /// Whether its writer went from front to end.
  var isSequential = true
}

/// What was at a path for a while.
struct FileEntry: Sendable, Hashable {
  enum Content: Sendable, Hashable {
    case absent
    /// So many first bytes of a stream; complete when its writer had ended.
    case stream(Int, count: Int, isComplete: Bool)
    /// A file that is written in place.
    case managed
    /// A directory or a special file.
    case other
  }

  /// How the content came to the path.
  enum Arrival: Sendable { case initial, created, renamed, written, truncated, removed, moved }

  /// Crash point from which it was there.
  let since: Int
  let content: Content
  let arrival: Arrival

  var isAbsent: Bool { content == .absent }
  /// Whether nothing has been written yet.
  var isEmpty: Bool { if case .stream(_, 0, _) = content { true } else { false } }
  var stream: Int? { if case .stream(let number, _, _) = content { number } else { nil } }
}

/// All that one path was in a run.
struct FileRecord: Sendable {
  let path: String
  var entries: [FileEntry] = []
  /// Whether the program called a sync on it or on the directory that holds it.
  var isSynced = false
  /// Whether a sync was for this file: its own, or one of the directory when its name was the last
  /// that had been given there, or one of several that files were created under.
  var isSyncedItself = false
  /// Whether something was renamed or linked to the path.
  var isRenameTarget = false
  /// Whether it was ever written in place.
  var isManaged = false

  var existedBefore: Bool { entries.first.map { !$0.isAbsent } ?? false }
  var existsAtEnd: Bool { entries.last.map { !$0.isAbsent } ?? false }

  /// Index of the entry at a crash point.
  func index(at crashPoint: Int) -> Int {
    var low = 0
    var high = entries.count
    while low + 1 < high {
      let middle = (low + high) / 2
      if entries[middle].since <= crashPoint { low = middle } else { high = middle }
    }
    return low
  }
}

/// A mark, as far as judging needs it.
struct HistoryMark: Sendable {
  /// Crash point right after it.
  let crashPoint: Int
  /// Bytes of output up to its end.
  let outputBytes: Int
  let text: String
  /// What it promises on its own, and whether the program had synced since the mark before.
  var promise: OutputPromise
  let isAfterSync: Bool
  /// Files that others were ahead in: so many of their bytes were synced, and what followed was
  /// of another thread, which waited for a sync of its own.
  var synced: [String: Int] = [:]
}

/// Every content that the files of a run completely had.
struct FileHistory: Sendable {
  var streams: [FileStream] = []
  /// Files that the run touched, by path.
  var files: [String: FileRecord] = [:]
  var marks: [HistoryMark] = []
  /// Contents that name other files, which were there.
  var pointers: [FilePointer] = []
  /// Changes in place that a journal protects.
  var journaled: [JournaledChange] = []
  /// Writes of mapped pages that came when the program did nothing any more but print and close.
  var lateMapped: [(path: String, since: Int)] = []
  /// Whether the program syncs anything anywhere.
  var syncsAnywhere = false
  /// Trees before the run and after it.
  var initial = TreeImage()
  var final = TreeImage()
  /// All files at the marks, if some are written in place.
  var prints = Fingerprints()

  /// Paths in a fixed order.
  var paths: [String] { files.keys.sorted() }
}

extension InodeImage {
  /// Files beyond this are not judged.
  static let judgedBytesMax: UInt64 = 64 << 20

  /// What readers of the name see: a regular file's bytes, or where a symbolic link leads; nil for
  /// other types, and for files that are too large.
  var visibleBytes: [UInt8]? {
    if type == .symbolicLink { return target }
    guard type == .regular, sizeBytes <= Self.judgedBytesMax else { return nil }
    var bytes = [UInt8](repeating: 0, count: Int(sizeBytes))
    for extent in extents {
      let start = Int(extent.offsetBytes)
      bytes.replaceSubrange(start..<start + extent.countBytes, with: extent.bytes)
    }
    return bytes
  }
}
