// FileJudge.swift: the rules about single files of a crash state, as a function of the history.
// Invariant: a state that a reader could have met while the program ran, and that keeps what was
// promised, has no error but for the moments in which the program itself had destroyed its data.

import Findings
import Recording

/// Judges the files of one crash state.
struct FileJudge {
  let history: FileHistory
  let options: JudgingOptions
  let tree: TreeImage
  /// Files whose rows are compared, so that their bytes need not be.
  var readFiles: Set<String> = []
  /// The last mark before the crash that promised something.
  let promise: HistoryMark?
  /// The same of a program that syncs nothing, whose words are no promise.
  let hope: HistoryMark?

  /// - Parameters:
  ///   - history: What the files were in the run.
  ///   - options: What the user says.
  ///   - tree: The crash state.
  ///   - outputBytes: Bytes of output that had been printed.
  init(
    _ history: FileHistory, _ options: JudgingOptions, tree: TreeImage, outputBytes: Int
  ) {
    self.history = history
    self.options = options
    self.tree = tree
    promise = history.lastPromise(before: outputBytes, isDurable: options.isDurable)
    let isSilent = history.syncsAnywhere || options.isDurable
    hope =
      isSilent
      ? nil : history.marks.last { $0.outputBytes <= outputBytes && $0.promise == .done }
  }

  /// What is wrong, in the order of the paths.
  func complaints() -> [Complaint] {
    let files = history.counted(options)
    return files.compactMap { judge($0) ?? judgeHope($0) }
      + [judgeTogether(files), judgeMixed(files), judgeMapped(files)].compactMap { $0 }
      + judgeJournaled(files) + judgePointers(files) + files.compactMap(judgeEmptied)
  }

  // MARK: One file

  func judge(_ record: FileRecord) -> Complaint? {
    guard let inode = tree.inode(at: record.path), let image = tree.inodes[inode] else {
      return judgeAbsent(record)
    }
    guard image.type == .regular || image.type == .symbolicLink, !record.isManaged,
      let bytes = image.visibleBytes
    else { return nil }
    let start = promise.map { record.index(at: $0.crashPoint) }
    if accepts(bytes, record, from: start ?? 0) { return nil }
    if hasDamagedTail(bytes, record, from: start ?? 0) {
      return Complaint(
        level: isSynced(record) ? .note : .warning, rule: .halfWritten, path: record.path,
        text: "'\(record.path)' ends in zeros or other bytes, behind what has to be there")
    }
    if accepts(bytes, record, from: 0) {
      guard let promise else { return nil }
      // What was removed, and is there again, is only in the way, also of a file made anew since.
      if let start, record.entries[start].isAbsent, !promise.isOfRemoval { return nil }
      // It may have been as empty before; what matters is what it was emptied for.
      let emptied = record.entries.indices.dropFirst((start ?? 0) + 1).first {
        record.entries[$0].arrival == .truncated
      }
      if bytes.isEmpty, let emptied, let excused = excused(record, at: emptied, from: start) {
        return excused
      }
      return broken(
        record, .wentBack,
        "'\(record.path)' went back to an older content, although "
          + "\(promise.quoted) was printed after it was written")
    }
    return judgeTorn(record, bytes, from: start)
  }

  /// A program that syncs nothing, and says that something is done.
  func judgeHope(_ record: FileRecord) -> Complaint? {
    guard let hope, !record.isManaged, !FileNames.isDiagnostic(record.path) else { return nil }
    let start = record.index(at: hope.crashPoint)
    guard record.entries[start].stream != nil else { return nil }
    if let inode = tree.inode(at: record.path), let image = tree.inodes[inode] {
      guard let bytes = image.visibleBytes,
        !accepts(bytes, record, from: start, isPromised: true)
      else { return nil }
    } else if record.entries[start...].contains(where: \.isAbsent) {
      return nil
    }
    return Complaint(
      level: .warning, rule: .wentBack, path: record.path,
      text: "'\(record.path)' may go back after \(hope.quoted) was printed: the program syncs "
        + "nothing")
  }

  /// Whether a content is one that the file had at an entry or later, or may be any length between
  /// two that it had.
  func accepts(
    _ bytes: [UInt8], _ record: FileRecord, from start: Int, isPromised: Bool = false
  ) -> Bool {
    fits(bytes, record, from: start, isPromised: isPromised) { stream, _ in
      stream.bytes.starts(with: bytes)
    }
  }

  /// Whether a file that grows is as it had to be up to what it had to hold, and only what was
  /// under way behind that is damaged.
  func hasDamagedTail(_ bytes: [UInt8], _ record: FileRecord, from start: Int) -> Bool {
    fits(bytes, record, from: start, isPromised: false) { stream, least in
      (least > 0 || stream.isSyncedEmpty) && bytes.count <= stream.bytes.count
        && stream.bytes.prefix(least) == bytes.prefix(least)
    }
  }

  /// Whether some content from an entry on fits, which has to hold so many bytes at least.
  func fits(
    _ bytes: [UInt8], _ record: FileRecord, from start: Int, isPromised: Bool,
    _ condition: (FileStream, Int) -> Bool
  ) -> Bool {
    let isPromised = isPromised || promise != nil
    var seen: Set<Int> = []
    for (index, entry) in record.entries.enumerated().dropFirst(start) {
      guard case .stream(let number, let count, let isComplete) = entry.content else {
        if entry.content == .managed || entry.content == .other { return true }
        continue
      }
      guard seen.insert(number).inserted else { continue }
      let stream = history.streams[number]
      guard stream.isSequential || isComplete || index > start else { return true }
      guard
        let least = index == start && (isPromised || isComplete)
          ? promised(count, record, at: index) : leastComplete(number, record, from: index)
      else { continue }
      if bytes.count >= least, condition(stream, least) { return true }
    }
    return false
  }

  /// How many bytes of an entry count when it is what was promised.
  private func promised(_ count: Int, _ record: FileRecord, at index: Int) -> Int {
    guard let promise, let synced = promise.synced[record.path],
      index == record.index(at: promise.crashPoint)
    else { return count }
    return min(count, synced)
  }

  /// The shortest whole content that a stream had at a path.
  func leastComplete(_ number: Int, _ record: FileRecord, from start: Int) -> Int? {
    for entry in record.entries.dropFirst(start) {
      if case .stream(number, let count, true) = entry.content { return count }
    }
    return nil
  }

  func judgeAbsent(_ record: FileRecord) -> Complaint? {
    let path = record.path
    if let promise {
      let start = record.index(at: promise.crashPoint)
      let later = record.entries[start...]
      if !later.contains(where: \.isAbsent), record.entries[start].content != .other {
        return broken(
          record, .wentBack,
          "'\(path)' is missing, although \(promise.quoted) was printed after it was written")
      }
    }
    guard record.existedBefore, record.entries[0].content != .other else { return nil }
    if record.existsAtEnd {
      guard !isRescued(record) else { return nil }
      // No sync makes a rename to a new name whole: that only a file system can do.
      let isLax =
        record.entries.contains { $0.arrival == .moved } || isHalfRenamed(record)
        || (!history.syncsAnywhere && record.entries.contains(where: \.isAbsent))
      return Complaint(
        level: isLax ? .warning : .error, rule: .neither, path: path,
        text: "'\(path)' is gone: the old one was removed, and the new one is not there")
    }
    return judgeSource(record)
  }

  /// Whether a file that was there before the run was renamed to a name, and has neither now.
  private func isHalfRenamed(_ record: FileRecord) -> Bool {
    record.entries.contains { entry in
      guard entry.arrival == .renamed, let number = entry.stream,
        history.streams[number].isInitial
      else { return false }
      return history.files.values.contains { source in
        tree.inode(at: source.path) == nil
          && source.entries.contains { $0.arrival == .moved && $0.since == entry.since }
      }
    }
  }

  /// Whether the program syncs a file anywhere, under this name or one before.
  func isSynced(_ record: FileRecord) -> Bool {
    record.isSynced
      || record.entries.contains { entry in
        entry.stream.map { history.streams[$0].syncedBytes >= 0 } ?? false
      }
  }

  /// Whether a file is called a log or a cache, and the program never syncs it: not when it syncs
  /// the directory for another file.
  func isSpared(_ record: FileRecord) -> Bool {
    FileNames.isDiagnostic(record.path) && !record.isSyncedItself
      && record.entries.allSatisfy { entry in
        entry.stream.map { history.streams[$0].syncedBytes < 0 } ?? true
      }
  }

  /// A broken promise; of a file that the program never syncs, and that is called a log or a cache,
  /// none.
  func broken(_ record: FileRecord, _ rule: JudgingRule, _ text: String) -> Complaint? {
    if isSpared(record), !options.isDurable { return nil }
    if isSynced(record) || options.isDurable {
      return Complaint(level: .error, rule: rule, path: record.path, text: text)
    }
    return Complaint(
      level: promise?.promise == .done ? .error : .warning, rule: rule, path: record.path,
      text: text)
  }
}

extension HistoryMark {
  /// Whether it says that something is gone.
  var isOfRemoval: Bool {
    let words = text.lowercased().split { !$0.isLetter }
    return words.contains { ["deleted", "dropped", "erased", "removed"].contains($0) }
  }

  /// The last line that was printed, in quotes.
  var quoted: String {
    let line = text.split(whereSeparator: \.isNewline).last.map(String.init) ?? ""
    return "'\(line.prefix(60))'"
  }
}

extension FileHistory {
  /// The last mark of so many bytes of output that promised something.
  func lastPromise(before outputBytes: Int, isDurable: Bool) -> HistoryMark? {
    guard syncsAnywhere || isDurable else { return nil }
    return marks.last { mark in
      guard mark.outputBytes <= outputBytes else { return false }
      if isDurable { return mark.promise != .nothing || mark.isAfterSync }
      return mark.promise == .done || (mark.promise == .ifSynced && mark.isAfterSync)
    }
  }

  /// A temporary file that nobody has removed, and that the program never syncs.
  private func isLeftOver(_ record: FileRecord) -> Bool {
    FileNames.isTemporary(record.path) && !record.existedBefore && !record.isRenameTarget
      && !record.entries.contains { entry in
        entry.stream.map { streams[$0].syncedBytes >= 0 } ?? false
      }
  }

  /// A temporary file that another run had left, and that this one begins anew and renames away.
  private func isStaleTemporary(_ record: FileRecord) -> Bool {
    guard record.existedBefore, !record.existsAtEnd, record.entries.last?.arrival == .moved,
      let change = record.entries.dropFirst().first
    else { return false }
    return change.arrival == .truncated || change.arrival == .removed
  }

  /// The files that count: those that were there before the run or are at its end, or that
  /// something was renamed to; no temporary files, no locks.
  func counted(_ options: JudgingOptions) -> [FileRecord] {
    paths.compactMap { files[$0] }.filter { record in
      (record.existedBefore || record.existsAtEnd || record.isRenameTarget)
        && !FileNames.isLock(record.path) && !FileNames.isJournal(record.path)
        && !options.ignores(record.path) && !isLeftOver(record) && !isStaleTemporary(record)
    }
  }
}
