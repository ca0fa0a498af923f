// FileHistory+Slots.swift: two files that a program writes in turn, so that one of them is whole
// at every moment. Names alone do not say it: `a` and `b` may be two files that both matter.

import Recording

extension FileHistory {
  /// Whether two files are slots: by their names, and by how they were written.
  func areSlots(_ path: String, _ other: String) -> Bool {
    guard haveNamesOfSlots(path, other) else { return false }
    let changes = (rewritings(of: path) + rewritings(of: other)).sorted { $0.since < $1.since }
    // Who writes one slot twice in a row writes over the only copy of what it wrote first.
    return !zip(changes, changes.dropFirst()).contains { $0.path == $1.path }
      && !areSavedTogether(changes)
  }

  private func haveNamesOfSlots(_ path: String, _ other: String) -> Bool {
    let directory = FileHistoryBuilder.directory(of: path)
    guard path != other, directory == FileHistoryBuilder.directory(of: other) else { return false }
    func neighbours() -> Set<String> {
      let all = paths + initial.regularFiles().map(\.path)
      return Set(
        all.filter { FileHistoryBuilder.directory(of: $0) == directory }.map {
          ($0.split(separator: "/").last ?? "").lowercased()
        })
    }
    switch FileNames.slotNames(path, other) {
    case .other: return false
    case .slots(nil): return true
    case .slots(let third?): return !neighbours().contains(third)
    // The directory has to say what they are.
    case .bare: return !directory.isEmpty && neighbours().count == 2
    }
  }

  /// One time that a file was emptied, and written anew.
  private struct Rewriting {
    let path: String
    let since: Int
    let stream: Int
    /// How many lines had been printed.
    let interval: Int
  }

  private func rewritings(of path: String) -> [Rewriting] {
    guard let record = files[path] else { return [] }
    return zip(record.entries, record.entries.dropFirst()).compactMap { before, entry in
      guard entry.arrival == .truncated, !before.isEmpty, !before.isAbsent,
        let stream = entry.stream
      else { return nil }
      let interval = marks.count { $0.crashPoint <= entry.since }
      return Rewriting(path: path, since: entry.since, stream: stream, interval: interval)
    }
  }

  /// Whether a program always writes both between the same two lines, and not the same to both: a
  /// line tells of two files then.
  private func areSavedTogether(_ changes: [Rewriting]) -> Bool {
    let intervals = Dictionary(grouping: changes, by: \.interval).values
    return !changes.isEmpty
      && intervals.allSatisfy { pair in
        pair.count == 2 && pair[0].path != pair[1].path
          && streams[pair[0].stream].bytes != streams[pair[1].stream].bytes
      }
  }
}
