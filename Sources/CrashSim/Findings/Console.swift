// Console.swift: prints reports as lines of text, plain in CI, with color on a terminal.

import Foundation
import Glibc
import LabCore

/// Prints progress and reports.
public struct Console: Sendable {
  /// Whether a line can be replaced by another.
  private let isTerminal: Bool
  private let isColoured: Bool
  private let isGitHub: Bool
  private var isSilent = false
  /// The subject of progress lines, printed before them.
  var progressSubject = ""

  /// A console over standard output and standard error.
  public init() {
    let environment = ProcessInfo.processInfo.environment
    let isPlain = environment["CI"] != nil || environment["TERM"] == "dumb"
    isTerminal = isatty(STDERR_FILENO) == 1 && !isPlain
    // See no-color.org: any value except the empty one.
    let wantsNoColour = !(environment["NO_COLOR"] ?? "").isEmpty
    isColoured = isatty(STDOUT_FILENO) == 1 && !isPlain && !wantsNoColour
    isGitHub = environment["GITHUB_ACTIONS"] == "true"
  }

  /// A console that prints nothing, for runs that are steps of a search.
  public static var silent: Console {
    var console = Console()
    console.isSilent = true
    return console
  }

  /// Prints a line of the report.
  public func say(_ line: String) {
    guard !isSilent else { return }
    clearProgress()
    StandardStream.output.write(harmless(line) + "\n")
  }

  /// Prints a document for a program, as it is.
  package func say(document: String) {
    guard !isSilent else { return }
    clearProgress()
    StandardStream.output.write(document)
  }

  /// Prints a prompt; the user answers on the same line.
  package func prompt(_ text: String) {
    guard !isSilent else { return }
    StandardStream.output.write(harmless(text))
  }

  /// Prints an error.
  public func complain(_ line: String) {
    guard !isSilent else { return }
    clearProgress()
    StandardStream.errors.write(harmless(line) + "\n")
  }

  /// What is printed, in which nothing is obeyed but the colours of this console.
  private func harmless(_ text: String) -> String {
    guard isColoured else { return text.visibleLines }
    return Self.colours.reduce(text.visibleLines) { text, colour in
      text.replacing(colour.visibleLine, with: colour)
    }
  }

  private static let colours = ["\u{1B}[1m", "\u{1B}[31m", "\u{1B}[32m", "\u{1B}[0m"]

  /// Whether a progress line is shown, and replaced by the next one.
  package var replacesLines: Bool { isTerminal && !isSilent }

  /// Replaces the progress line on a terminal; prints nothing elsewhere.
  public func progress(_ line: String) {
    guard isTerminal, !isSilent else { return }
    StandardStream.errors.write("\r\u{1B}[2K\((progressSubject + line).visibleLine)")
  }

  /// The same console with a subject for its progress lines.
  package func about(_ subject: String) -> Console {
    var console = self
    console.progressSubject = subject + ": "
    return console
  }

  private func clearProgress() {
    guard isTerminal else { return }
    StandardStream.errors.write("\r\u{1B}[2K")
  }

  /// Text in bold on a terminal.
  public func bold(_ text: String) -> String { isColoured ? "\u{1B}[1m\(text)\u{1B}[0m" : text }
  /// Text in red on a terminal.
  public func red(_ text: String) -> String { isColoured ? "\u{1B}[31m\(text)\u{1B}[0m" : text }
  /// Text in green on a terminal.
  public func green(_ text: String) -> String { isColoured ? "\u{1B}[32m\(text)\u{1B}[0m" : text }

  /// Prints one case: the recording, the extent of the exploration, and the findings.
  /// - Parameters:
  ///   - item: The case.
  ///   - isShard: Whether other shards judge the rest of its states.
  public func show(_ item: CaseReport, isShard: Bool = false) {
    for line in item.histories?.lines ?? [] { say("  \(line)") }
    for exploration in item.explorations {
      say("  " + Self.line(of: exploration))
      if !isShard, !item.isNegative, let caution = exploration.caution { say("    \(caution)") }
      show(exploration.remarks ?? [])
    }
    for exploration in item.explorations where !item.isNegative {
      let annotation = Annotation(file: item.name, line: exploration.line ?? item.line)
      for finding in exploration.findings { show(finding, annotation) }
    }
    if item.isNegative, let finding = item.findings.first {
      say("  found as planted: \(finding.headline)")
      for line in finding.missingSync.prefix(2) { say("    \(line)") }
    }
    if item.pendingComplaint != nil {
      say("  the planted bug is not in this shard's states; faultline merge decides")
    }
    for complaint in item.complaints {
      say("  " + red(complaint))
      annotate(Annotation(file: item.name, line: item.line).error(complaint, title: item.title))
    }
    for part in item.skipped { say("  skipped: \(part)") }
  }

  /// Warnings come with what replays them; notes are one line each.
  private func show(_ remarks: [JudgingRemark]) {
    for remark in remarks {
      say("  \(remark.line)")
      if remark.level == "warning" { say("    replay: faultline replay \(remark.token)") }
    }
  }

  /// Prints the verdict; the last line of a failure is the command that replays it.
  package func sayVerdict(of report: RunReport) {
    sayTimes(of: report)
    let explored = report.cases.flatMap(\.explorations).reduce(0) { $0 + $1.exploredCount }
    let distinct = report.cases.flatMap(\.explorations).reduce(0) { $0 + $1.distinctCount }
    let seconds = report.cases.flatMap(\.explorations).reduce(0) { $0 + $1.seconds }
    let rate = seconds > 0 ? Double(explored) / seconds : 0
    let positive = report.cases.filter { !$0.isNegative }
    let findings = positive.reduce(0) { $0 + $1.findings.count }
    let planted = report.cases.count { $0.isNegative }
    let found = report.cases.count {
      // A case that was skipped as a whole holds, without findings.
      $0.isNegative && $0.outcome == .held && $0.pendingComplaint == nil && !$0.findings.isEmpty
    }
    say(
      "checked \(Formatting.grouped(explored)) crash states of \(Formatting.grouped(distinct)) "
        + "distinct ones in \(Formatting.fixed(seconds, 1)) s "
        + "(\(Formatting.rate(rate)) states/s)"
    )
    let verdict = report.isInterrupted ? "interrupted" : report.outcome.rawValue
    var line = "verdict: \(verdict), \(Formatting.counted(findings, "finding"))"
    let broken = positive.count { $0.runToken != nil }
    if broken > 0 { line += ", \(Formatting.counted(broken, "scenario")) broken without any crash" }
    if report.isInterrupted { line += " so far" }
    if let shard = report.shard { line += " in shard \(shard)" }
    if planted > 0 { line += ", \(found) of \(planted) planted bugs found" }
    let skipped = report.cases.reduce(0) { $0 + $1.skipped.count }
    if skipped > 0 { line += ", \(Formatting.counted(skipped, "part")) skipped" }
    if skipped > 0, explored == 0 { line += ", and no crash state was looked at" }
    say(bold(report.outcome == .held ? green(line) : red(line)))
    let tokens = positive.flatMap(\.findings).map(\.token) + positive.compactMap(\.runToken)
    if let first = tokens.first { say("replay: faultline replay \(first)") }
  }

  package func show(_ finding: Finding, _ annotation: Annotation) {
    let lines = Self.lines(of: finding)
    say(red(lines[0]))
    for line in lines.dropFirst() { say(line) }
    annotate(annotation.error(of: finding))
  }

  /// Shows an error next to the file if GitHub displays the run.
  private func annotate(_ command: String) {
    guard isGitHub, !isSilent else { return }
    clearProgress()
    // One line, whatever it is about, and meant to be obeyed.
    StandardStream.output.write(command.visibleCommand + "\n")
  }

  /// The extent of an exploration, in one line.
  public static func line(of report: ExplorationReport) -> String {
    if let media = report.media { return line(of: report, media) }
    if let schedules = report.schedules { return line(of: report, schedules) }
    return "\(report.model): \(Formatting.counted(report.operationCount, "operation")), "
      + "\(Formatting.counted(report.markCount, "mark")); explored "
      + "\(Formatting.grouped(report.exploredCount)) of "
      + "\(Formatting.grouped(report.distinctCount)) distinct states at "
      + "\(report.crashPointText(named: true)), \(report.bound) possible without torn writes; "
      + "\(Formatting.rate(report.statesPerSecond)) states/s; "
      + Formatting.counted(report.findings.count, "finding")
      + (report.isOutOfTime == true ? "; the time budget ended first" : "")
  }

  /// The same for schedules.
  private static func line(of report: ExplorationReport, _ schedules: ScheduleCounts) -> String {
    let rate = report.seconds > 0 ? Double(schedules.runCount) / report.seconds : 0
    return "\(report.model): \(Formatting.counted(schedules.runCount, "schedule")) of "
      + "\(Formatting.counted(schedules.actorCount, "actor"))"
      + (schedules.isComplete ? ", all of them" : "")
      + ", up to \(Formatting.counted(schedules.decisionsMax, "decision")), "
      + "\(Formatting.counted(schedules.recordingCount, "recording")) "
      + "(\(Formatting.grouped(schedules.exploredRecordingCount)) crashed), "
      + "\(Formatting.grouped(schedules.repeatedCount)) run twice; "
      + "\(Formatting.rate(rate)) schedules/s; "
      + Formatting.counted(report.findings.count, "finding")
  }

  /// The same for faults of the medium at rest.
  private static func line(of report: ExplorationReport, _ media: MediaOutcome) -> String {
    "\(report.model): \(Formatting.counted(report.operationCount, "operation")), "
      + "\(Formatting.counted(report.markCount, "mark")); explored "
      + "\(Formatting.grouped(report.exploredCount)) of "
      + "\(Formatting.grouped(report.distinctCount)) chosen states at "
      + "\(Formatting.counted(report.crashPointCount, "moment")) of rest, "
      + "\(report.bound) single faults possible; "
      + "\(Formatting.grouped(media.detectedCount)) detected, "
      + "\(Formatting.grouped(media.unharmedCount)) harmless, "
      + "\(Formatting.grouped(media.wentBackCount)) one or more versions back; "
      + "\(Formatting.rate(report.statesPerSecond)) states/s; "
      + Formatting.counted(report.findings.count, "finding")
      + (report.isOutOfTime == true ? "; the time budget ended first" : "")
  }

  /// A finding in words.
  public static func lines(of finding: Finding) -> [String] {
    var lines = ["FINDING \(finding.number): \(finding.headline)"]
    func add(_ label: String, _ texts: [String]) {
      for (index, text) in texts.enumerated() {
        let name = index == 0 ? label : ""
        lines.append("  " + name.padding(toLength: 11, withPad: " ", startingAt: 0) + text)
      }
    }
    add("promised", [finding.promised])
    add("came back", finding.got + ["(\(finding.ending))"])
    let last = finding.lastAcknowledged.map { ", the last: \($0)" } ?? ""
    add("crash", ["\(finding.crash); \(finding.acknowledgedCount) acknowledged\(last)"])
    add("injected", finding.injected ?? [])
    add("lost", finding.lost)
    add("called", finding.callSites?.map(\.text) ?? [])
    add(finding.namesSync ? "missing" : "why", finding.missingSync)
    if let fileSystem = finding.fileSystem {
      add("possible", ["on the kernel's \(fileSystem): recovered from its own blocks, no model"])
    } else {
      add("possible", ["under \(finding.models.joined(separator: ", "))"])
    }
    if let others = finding.alsoSeen { add("also", ["found: \(others.joined(separator: ", "))"]) }
    if finding.isExplainedInPart == true {
      add("explained", ["in part, until --explain-time ended: less may have to be lost"])
    }
    add("seen in", [seen(finding)])
    add("also seen", others(finding.alsoSeenAs ?? []))
    add("replay", ["faultline replay \(finding.token)"])
    return lines.map(\.visibleLine)
  }

  /// Other classes that a console shows of one finding; reports have all.
  private static let othersMax = 12

  private static func others(_ findings: [Finding]) -> [String] {
    let shown = findings.count > othersMax ? othersMax - 1 : findings.count
    let rest = findings.dropFirst(shown)
    let states = Formatting.counted(rest.reduce(0) { $0 + $1.stateCount }, "crash state")
    return findings.prefix(shown).map {
      "as '\($0.headline)' in \(Formatting.counted($0.stateCount, "crash state"))"
    } + (rest.isEmpty ? [] : ["and \(rest.count) other ways in \(states); --json has them all"])
  }

  private static func seen(_ finding: Finding) -> String {
    let own = Formatting.counted(finding.stateCount, "crash state")
    guard finding.alsoSeenAs != nil else { return own }
    return own + " of \(Formatting.grouped(finding.rootCauseStateCount)) with this root cause"
  }
}
