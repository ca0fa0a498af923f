// Announcements.swift: lines of output that look like results, and only say what comes next.

extension FileHistory {
  /// Takes the promise from lines that announce: each file's name before the file is written, each
  /// step's number before the step.
  /// - Parameter firstChange: Index of the first event that changes something.
  mutating func findAnnouncements(before firstChange: Int) {
    let early = Set(
      marks.filter { $0.crashPoint <= firstChange }.map { OutputPromise.shape($0.text) })
    for index in marks.indices where marks[index].promise == .ifSynced {
      let isLikeEarly = early.contains(OutputPromise.shape(marks[index].text))
      if isLikeEarly || namesLaterFile(marks[index]) { marks[index].promise = .nothing }
    }
  }

  /// Whether a line is the name of a file that changes later, and did not before.
  private func namesLaterFile(_ mark: HistoryMark) -> Bool {
    let line = mark.text.split(whereSeparator: \.isNewline).last.map(String.init) ?? ""
    guard !line.isEmpty else { return false }
    let named = files[line] ?? files.values.first { $0.path.hasSuffix("/" + line) }
    guard let change = named?.entries.dropFirst().first else { return false }
    return change.since > mark.crashPoint
  }
}
