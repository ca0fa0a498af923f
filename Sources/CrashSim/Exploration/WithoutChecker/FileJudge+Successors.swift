// FileJudge+Successors.swift: files whose content a program gives up because another file has what
// is needed in its place: the other one of two slots, a snapshot in place of its log, a journal of
// what comes, in whatever form.
// Invariant: the other file had been synced before, and the state has it whole.

import Recording

extension FileJudge {
  /// The file that makes up for one whose content was emptied; nil for none.
  /// - Parameters:
  ///   - record: The file.
  ///   - index: Its entry that began by emptying it.
  /// - Returns: The other file's path.
  func successor(of record: FileRecord, at index: Int) -> String? {
    let emptied = record.entries[index]
    guard emptied.arrival == .truncated, index > 0 else { return nil }
    return otherSlot(of: record, at: emptied.since)
      ?? history.paths.first { path in
        guard path != record.path, let other = history.files[path], !other.isManaged,
          !FileNames.isLock(path), let place = syncedEntry(of: other, at: emptied.since)
        else { return false }
        let isNeeded =
          isJournal(other, place, of: record, index) || isSnapshot(other, place, of: record, index)
        return isNeeded && isThere(other, from: place)
      }
  }

  /// The other one of two slots, which is whole.
  private func otherSlot(of record: FileRecord, at point: Int) -> String? {
    for path in history.paths + history.initial.regularFiles().map(\.path)
    where history.areSlots(path, record.path) {
      if let other = history.files[path] {
        if let place = syncedEntry(of: other, at: point), isThere(other, from: place) {
          return path
        }
      } else if let bytes = tree.bytes(at: path), !bytes.isEmpty,
        bytes == history.initial.bytes(at: path)
      {
        return path
      }
    }
    return nil
  }

  /// A file that was begun after a log's last entry, and was whole before the log was emptied.
  private func isSnapshot(
    _ other: FileRecord, _ place: Int, of record: FileRecord, _ index: Int
  ) -> Bool {
    guard isLog(record), let number = other.entries[place].stream else { return false }
    let begun = other.entries.first { $0.stream == number }?.since ?? 0
    let written = record.entries[..<index].last { $0.arrival == .written }?.since ?? 0
    return written < begun
  }

  /// A file that was made before another one was emptied, and given up when that was durable.
  private func isJournal(
    _ other: FileRecord, _ place: Int, of record: FileRecord, _ index: Int
  ) -> Bool {
    guard let number = other.entries[place].stream, !history.streams[number].isInitial,
      let next = record.entries[index].stream,
      let end = other.entries[place...].first(where: { $0.stream != number }),
      isGivenUp(end)
    else { return false }
    let isDone = record.entries[index...].contains { entry in
      guard case .stream(next, let count, true) = entry.content else { return false }
      return entry.since < end.since && history.streams[next].syncedBytes >= count
    }
    return isDone
  }

  /// Whether a file is removed, or emptied to stay so for a while, at the beginning of an entry.
  private func isGivenUp(_ entry: FileEntry) -> Bool {
    if entry.arrival == .truncated, let next = entry.stream {
      return history.streams[next].isSyncedEmpty
    }
    return entry.arrival == .removed
  }

  /// The whole and synced content that a file has at a crash point, as the index of its entry.
  private func syncedEntry(of record: FileRecord, at point: Int) -> Int? {
    let index = record.index(at: point)
    guard case .stream(let number, let count, true) = record.entries[index].content, count > 0,
      history.streams[number].isInitial || history.streams[number].syncedBytes >= count
    else { return nil }
    return index
  }

  /// Whether a state has a content that a file had at an entry or later.
  private func isThere(_ record: FileRecord, from place: Int) -> Bool {
    guard let bytes = tree.bytes(at: record.path) else { return false }
    return accepts(bytes, record, from: place)
  }

  /// Whether a file grew by entries, each of them whole.
  func isLog(_ record: FileRecord) -> Bool {
    var counts: [Int: Set<Int>] = [:]
    for case .stream(let number, let count, true) in record.entries.map(\.content) where count > 0 {
      counts[number, default: []].insert(count)
    }
    return counts.values.contains { $0.count > 1 }
  }
}
