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
