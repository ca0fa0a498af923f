// FileJudge+Together.swift: the rules about several files of a crash state.

import Recording

extension FileJudge {
  /// Files written in place: whether all is as it was before the promise.
  func judgeTogether(_ files: [FileRecord]) -> Complaint? {
    guard let promise, !history.prints.paths.isEmpty,
      let managed = files.first(where: { $0.isManaged && !readFiles.contains($0.path) }),
      history.prints.wentBack(history.prints.number(of: tree), before: promise.crashPoint)
    else { return nil }
    return broken(
      managed, .wentBack,
      "'\(managed.path)' is as it was before \(promise.quoted) was printed")
  }

  /// Changes in place whose journal is not there when it is needed.
  func judgeJournaled(_ files: [FileRecord]) -> [Complaint] {
    let paths = Set(history.journaled.map(\.path)).subtracting(readFiles)
    return files.filter { paths.contains($0.path) }.compactMap { record in
      guard let bytes = tree.bytes(at: record.path) else { return nil }
      func others() -> [[UInt8]] {
        tree.regularFiles().filter { $0.path != record.path }.compactMap { $0.image.visibleBytes }
      }
      if let stale = staleJournal(of: record) { return stale }
      var torn: JournaledChange?
      for change in history.journaled where change.path == record.path {
        switch change.look(at: bytes, others) {
        case .elsewhere: continue
        case .whole: return nil
        case .torn: torn = torn ?? change
        }
      }
      return torn.map { change in
        let what = change.isUndo ? "old" : "new"
        return Complaint(
          level: history.syncsAnywhere ? .error : .warning, rule: .halfWritten, path: record.path,
          text: "'\(record.path)' is changed in part, and its journal '\(change.journal)' has not "
            + "the \(what) bytes")
      }
    }
  }

  /// A journal of old bytes that was removed before a promise, and is there again.
  private func staleJournal(of record: FileRecord) -> Complaint? {
    guard let promise else { return nil }
    let ended = history.journaled.last { change in
      change.path == record.path && change.removedSince.map { $0 <= promise.crashPoint } ?? false
    }
    // A later change may have made a new one, of the same name.
    guard let ended, let since = ended.removedSince,
      history.files[ended.journal].map({ $0.entries[$0.index(at: since)...].allSatisfy(\.isAbsent) }
      )
        ?? false, let journal = tree.bytes(at: ended.journal), ended.undoes(journal)
    else { return nil }
    return broken(
      record, .wentBack,
      "the journal '\(ended.journal)' is there again, which undoes what '\(record.path)' had when "
        + "\(promise.quoted) was printed")
  }

  /// Names in files that lead nowhere.
  func judgePointers(_ files: [FileRecord]) -> [Complaint] {
    history.pointers.compactMap { pointer in
      guard let record = files.first(where: { $0.path == pointer.path }),
        let lost = pointer.lost(in: tree), !options.ignores(lost)
      else { return nil }
      return Complaint(
        level: isSynced(record) ? .error : .warning, rule: .dangling, path: pointer.path,
        text: "'\(pointer.path)' leads to '\(pointer.targets[0])', where '\(lost)' is missing")
    }
  }

  /// A log that was emptied because another file had its data, which is not there.
  func judgeEmptied(_ record: FileRecord) -> Complaint? {
    guard let promise, let inode = tree.inode(at: record.path),
      let bytes = tree.inodes[inode]?.visibleBytes
    else { return nil }
    let promised = record.index(at: promise.crashPoint)
    guard case .stream(let number, let count, _) = record.entries[promised].content, count > 0,
      history.streams[number].syncedBytes > 0,
      let index = record.entries.indices.dropFirst(promised + 1).first(where: {
        record.entries[$0].arrival == .truncated
      }), record.entries[index - 1].stream == number
    else { return nil }
    // Its own next content makes up for it; a log's next entries do not.
    if !bytes.isEmpty, !isLog(record), accepts(bytes, record, from: index) { return nil }
    let content = Array(history.streams[number].bytes.prefix(count))
    guard !bytes.starts(with: content), !tree.holds(content) else { return nil }
    let successors = history.counted(options).filter { other in
      other.path != record.path && !other.isManaged
        && other.entries.contains { isSuccessor($0, of: record, index) }
    }
    let areOld = successors.allSatisfy { other in
      guard let place = other.entries.firstIndex(where: { isSuccessor($0, of: record, index) }),
        let number = tree.inode(at: other.path), let found = tree.inodes[number]?.visibleBytes
      else { return true }
      return !accepts(found, other, from: place)
    }
    guard let first = successors.first, areOld else { return nil }
    return Complaint(
      level: .error, rule: .wentBack, path: record.path,
      text: "'\(record.path)' was emptied, and '\(first.path)', written before that, is not there, "
        + "although \(promise.quoted) was printed")
  }

  /// Whether an entry of another file came between the last write of a file and its emptying.
  private func isSuccessor(_ entry: FileEntry, of record: FileRecord, _ index: Int) -> Bool {
    guard case .stream(_, let count, true) = entry.content, count > 0 else { return false }
    let written = record.entries[..<index].last { $0.arrival == .written }?.since ?? 0
    return written < entry.since && entry.since <= record.entries[index].since
  }

  /// Mapped pages that no sync asked for: what was stored in them before the promise, no recording
  /// shows.
  func judgeMapped(_ files: [FileRecord]) -> Complaint? {
    guard let promise else { return nil }
    for (path, since) in history.lateMapped where since > promise.crashPoint {
      guard let record = files.first(where: { $0.path == path }), !readFiles.contains(path),
        !history.marks.contains(where: {
          $0.crashPoint > promise.crashPoint && $0.crashPoint < since
        }),
        let bytes = tree.bytes(at: path), bytes != history.final.bytes(at: path)
      else { continue }
      return Complaint(
        level: .warning, rule: .wentBack, path: record.path,
        text: "mapped pages of '\(path)' are written only after \(promise.quoted) was printed, and "
          + "not by a sync: what was stored in them before may be lost")
    }
    return nil
  }

  /// Files that change once each, all between the same two marks, and are partly old: a note.
  func judgeMixed(_ files: [FileRecord]) -> Complaint? {
    var old: [Int: String] = [:]
    var new: [Int: String] = [:]
    for record in files where !record.isManaged && record.existedBefore {
      guard case .stream(let first, let before, true)? = record.entries.first?.content,
        case .stream(let last, let after, true)? = record.entries.last?.content,
        Set(record.entries.compactMap(\.stream)) == [first, last], first != last,
        let change = record.entries.first(where: { $0.stream == last }),
        let bytes = tree.bytes(at: record.path)
      else { continue }
      let interval = history.marks.count { $0.crashPoint <= change.since }
      if bytes.elementsEqual(history.streams[first].bytes.prefix(before)) {
        old[interval] = old[interval] ?? record.path
      } else if bytes.elementsEqual(history.streams[last].bytes.prefix(after)) {
        new[interval] = new[interval] ?? record.path
      }
    }
    for interval in new.keys.sorted() {
      guard let changed = new[interval], let unchanged = old[interval] else { continue }
      return Complaint(
        level: .note, rule: .mixed, path: changed,
        text: "'\(changed)' is new and '\(unchanged)' is old")
    }
    return nil
  }
}
