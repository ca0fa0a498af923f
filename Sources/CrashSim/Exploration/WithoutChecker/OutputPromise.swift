// OutputPromise.swift: whether a line of output says that something is done.
// Programs print results, but announcements and progress, too. A line that only announces promises
// nothing; one with a word of completion promises; any other one does when a sync came before it,
// because "sync, then say so" is how durable programs are written.

/// What a line of output promises.
enum OutputPromise: Sendable, Comparable {
  /// Nothing: it announces what comes, or shows progress.
  case nothing
  /// Perhaps: only if the program had synced since it last spoke.
  case ifSynced
  /// That what came before is done.
  case done

  private static let doneWords: Set<String> = [
    "ack", "acked", "acknowledged", "added", "appended", "applied", "commit", "committed",
    "created", "deleted", "durable", "flushed", "imported", "inserted", "installed", "logged",
    "persisted", "published", "put", "recorded", "removed", "renamed", "replaced", "saved",
    "stored", "synced", "updated", "upgraded", "written", "wrote",
  ]
  private static let openWords: Set<String> = [
    "about", "accepted", "begin", "begins", "buffered", "bye", "debug", "enqueued", "goodbye",
    "hello", "info", "listen", "loaded", "opened", "pending", "queued", "read", "ready",
    "received", "scheduled", "staged", "start", "started", "starts", "trying", "usage", "waiting",
    "warning", "will",
  ]
  private static let futureWords: Set<String> = [
    "about", "be", "pending", "to", "trying", "until", "usage", "waiting", "when", "will",
  ]

  /// Reads the lines of one mark; the strongest line counts.
  init(_ text: String) {
    self =
      text.split(whereSeparator: \.isNewline).map { Self.of(line: $0.lowercased()) }.max()
      ?? .nothing
  }

  private static func of(line: String) -> OutputPromise {
    let words = line.split { !$0.isLetter }.map(String.init)
    if line.allSatisfy({ !$0.isLetter && !$0.isNumber }) || isNarrated(line) { return .nothing }
    // "not saved", "error: …": what failed was not promised.
    if words.contains(where: { ["not", "no", "error", "failed", "cannot"].contains($0) }) {
      return .nothing
    }
    if line.hasSuffix("...") || line.hasSuffix("…") || line.hasSuffix(":") { return .nothing }
    // "received and stored": the second one is the later.
    let isDoneThen = zip(words, words.dropFirst()).contains {
      $0 == "and" && doneWords.contains($1)
    }
    if isDoneThen, !words.contains(where: { futureWords.contains($0) }) { return .done }
    if isDoneThing(line) { return .done }
    let isAnnounced =
      words.contains { openWords.contains($0) }
      || words.prefix(3).contains { $0.count > 5 && $0.hasSuffix("ing") }
      || words.first == "to" || words.first == "unsaved"
    if isAnnounced { return .nothing }
    return words.contains { doneWords.contains($0) } ? .done : .ifSynced
  }

  /// Whether a line says that a thing is done whose name ends as a verb's form does: "booking 3
  /// recorded", "everything saved".
  private static func isDoneThing(_ line: String) -> Bool {
    guard
      let match = line.wholeMatch(
        of: #/(?<thing>[a-z]+ing)( #?[0-9]+)?:? (is |was |has been )?(?<done>[a-z]+)[.!]?/#)
    else { return false }
    return match.thing != "nothing" && doneWords.contains(String(match.done))
  }

  /// Whether a line names one call, as `mv -v` and its kind do: the sync may come later.
  private static func isNarrated(_ line: String) -> Bool {
    // "mkdir: created directory 'a'", "removed 'a'", "renamed 'a' -> 'b'", "'a' => 'b'".
    let text = line.replacing(#/^[a-z]+: /#, with: "")
    return text.contains(#/^(created|removed|renamed|copied)( directory)? ['‘].*['’]$/#)
      || text.contains(#/^['‘].*['’] [-=]> ['‘].*['’]$/#)
  }

  /// A line as far as lines of one kind are equal: its numbers do not count.
  static func shape(_ text: String) -> String {
    text.lowercased().replacing(#/[0-9]+/#, with: "#")
  }
}
