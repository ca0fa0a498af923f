// Timeline.swift: a recorded run for reports: the operations of each actor in order, and the
// injected faults. Bounded: the size of a report is limited by `eventsMax`, not by the trace.
// Invariants: events are in the order of the trace and have their numbers there; equal runs give
// equal timelines, so process and thread numbers of the machine are not included.

import CrashStates
import LabCore
import Recording

/// One operation or mark on a timeline.
public struct TimelineEvent: Codable, Sendable, Hashable {
  /// The kind of event.
  public enum Kind: String, Codable, Sendable, CaseIterable {
    /// Output of the workload, or an acknowledgement.
    case mark
    /// Bytes of a file.
    case write
    /// Size or space of a file.
    case size
    /// Names: creation, link, removal, rename.
    case name
    /// Owner, permissions, extended attributes.
    case attribute
    /// A sync.
    case sync
    /// A close of a file that could be written.
    case close
  }

  /// Its number in the trace, from 0.
  public var number: Int
  /// Index of its actor among the timeline's actors.
  public var actor: Int
  /// Kind.
  public var kind: Kind
  /// The operation in words, cut to a reasonable length.
  public var text: String
  /// The injected fault, in words.
  public var fault: String?
}

/// A recorded run in reports.
public struct Timeline: Codable, Sendable, Hashable {
  /// Most events that a timeline shows.
  public static let eventsMax = 5_000
  /// Most actors that are shown separately.
  static let actorsMax = 24
  /// Longest text of an event, in characters.
  static let textMax = 200
  /// Events that are shown before and after each one that a finding refers to.
  static let surroundingEvents = 100

  /// The actors, in the order of first appearance.
  public var actors: [String]
  /// The events shown.
  public var events: [TimelineEvent]
  /// Number of events of the trace, shown or not.
  public var eventCount: Int

  /// Number of events that are not shown.
  public var omittedCount: Int { eventCount - events.count }

  /// Shows a trace.
  /// - Parameters:
  ///   - trace: The run.
  ///   - marks: The actor of each mark; nil if unknown.
  ///   - findings: The findings whose events must be shown if the trace is too long.
  package init(_ trace: Trace, marks: ActorMarks? = nil, findings: [Finding] = []) {
    self.init(trace, marks: marks, findings: findings, limit: Self.eventsMax)
  }

  /// Shows at most `limit` events.
  init(_ trace: Trace, marks: ActorMarks?, findings: [Finding] = [], limit: Int) {
    let shown = Self.shown(of: trace.events.count, findings, limit: limit)
    var crew = TimelineCrew(trace, marks: marks)
    let paths = PathIndex(trace)
    let faults = Self.faults(of: trace)
    events = shown.map { number in
      let event = trace.events[number]
      let text =
        switch event.body {
        case .mark(let mark): Self.line(mark.text)
        case .operation(let operation): operation.sentence(at: number, paths: paths)
        }
      return TimelineEvent(
        number: number, actor: crew.actor(of: event, at: number), kind: TimelineEvent.Kind(event),
        text: text.cut(to: Self.textMax), fault: faults[number])
    }
    actors = crew.names
    eventCount = trace.events.count
  }

  /// Selects the events again, now that the findings decide which are shown.
  package mutating func show(_ trace: Trace, marks: ActorMarks? = nil, findings: [Finding]) {
    if omittedCount > 0 && !findings.isEmpty {
      self = Timeline(trace, marks: marks, findings: findings)
    }
  }

  private static func shown(of count: Int, _ findings: [Finding], limit: Int) -> [Int] {
    guard count > limit else { return Array(0..<count) }
    var isShown = [Bool](repeating: false, count: count)
    var left = limit
    func show(_ number: Int) {
      guard left > 0, (0..<count).contains(number), !isShown[number] else { return }
      isShown[number] = true
      left -= 1
    }
    let evidence = findings.compactMap(\.evidence)
    for number in evidence.flatMap(\.events) { show(number) }
    for center in evidence.flatMap({ [$0.lost.first ?? $0.crashPoint, $0.crashPoint] }) {
      for number in center - surroundingEvents...center + surroundingEvents { show(number) }
    }
    for number in 0..<count { show(number) }
    return isShown.indices.filter { isShown[$0] }
  }

  /// A mark's text as one line.
  private static func line(_ text: String) -> String {
    text.split(whereSeparator: \.isNewline).joined(separator: " ⏎ ")
  }

  /// The injected faults, by the event that they affected or preceded.
  private static func faults(of trace: Trace) -> [Int: String] {
    var result: [Int: String] = [:]
    func add(_ text: String, _ number: Int) {
      result[number] = (result[number].map { $0 + "; " } ?? "") + text
    }
    for fault in trace.faults where !trace.events.isEmpty {
      var text = "\(fault.kind) \(fault.effect)"
      if fault.errno != 0 { text += ": \(ErrorNumber(fault.errno))" }
      if !fault.isOfEvent { text += " before this" + (fault.path.isEmpty ? "" : ": \(fault.path)") }
      add(text.cut(to: textMax), min(fault.position, trace.events.count - 1))
    }
    for (number, event) in trace.events.enumerated() where result[number] == nil {
      if event.flags.contains(.ignored) { add("acknowledged and ignored", number) }
      if event.flags.contains(.failed) { add("failed", number) }
      if event.flags.contains(.reordered) { add("held back", number) }
    }
    return result
  }
}

/// Finds the actors of events and numbers them.
private struct TimelineCrew {
  /// A thread of a process of the machine.
  private struct Thread: Hashable {
    let process: Int32
    let thread: Int32
  }

  private(set) var names: [String] = []
  private var places: [String: Int] = [:]
  private var namesOfThreads: [Thread: String] = [:]
  private var actorsOfMarks: [Int: String] = [:]

  init(_ trace: Trace, marks: ActorMarks?) {
    if let marks { nameByMarks(trace, marks) }
    var processes: [Int32: Int] = [:]
    var threads: [Int32: Int] = [:]
    for event in trace.events where event.process != 0 {
      let thread = Thread(process: event.process, thread: event.thread)
      guard namesOfThreads[thread] == nil else { continue }
      let process = processes[event.process] ?? processes.count + 1
      processes[event.process] = process
      let number = (threads[event.process] ?? 0) + 1
      threads[event.process] = number
      namesOfThreads[thread] =
        number == 1 ? "process \(process)" : "process \(process) thread \(number)"
    }
  }

  /// A thread that worked between the begin and the end of an actor's transaction is that actor's.
  private mutating func nameByMarks(_ trace: Trace, _ marks: ActorMarks) {
    var current: String?
    for (number, event) in trace.events.enumerated() {
      switch event.body {
      case .operation:
        guard let current, event.process != 0 else { continue }
        let thread = Thread(process: event.process, thread: event.thread)
        if namesOfThreads[thread] == nil { namesOfThreads[thread] = current }
      case .mark:
        guard let mark = marks[number] else { continue }
        actorsOfMarks[number] = mark.actor
        switch mark.role {
        case .begin: current = mark.actor
        case .end: current = nil
        case .other: break
        }
      }
    }
  }

  mutating func actor(of event: TraceEvent, at number: Int) -> Int {
    let name: String
    switch event.body {
    case .mark: name = actorsOfMarks[number] ?? "output"
    case .operation:
      let thread = Thread(process: event.process, thread: event.thread)
      name = event.process == 0 ? "kernel" : namesOfThreads[thread] ?? "unknown"
    }
    if let place = places[name] { return place }
    if names.count == Timeline.actorsMax {
      names.append("others")
      places["others"] = Timeline.actorsMax
    }
    if names.count > Timeline.actorsMax { return Timeline.actorsMax }
    places[name] = names.count
    names.append(name)
    return names.count - 1
  }
}

extension TimelineEvent.Kind {
  fileprivate init(_ event: TraceEvent) {
    guard case .operation(let operation) = event.body else {
      self = .mark
      return
    }
    switch operation {
    case .write: self = .write
    case .truncate, .allocate: self = .size
    case .create, .createNameless, .link, .remove, .rename, .renameWithWhiteout, .exchange:
      self = .name
    case .setOwnership, .setExtendedAttribute, .setTimes: self = .attribute
    case .sync, .syncDirectory, .syncAll: self = .sync
    case .close: self = .close
    }
  }
}

extension String {
  /// The text, or its start with an ellipsis if it is longer.
  package func cut(to count: Int) -> String {
    // Counting scalars also bounds the bytes: a character may have any number of marks.
    guard unicodeScalars.count > count else { return self }
    return String(String.UnicodeScalarView(unicodeScalars.prefix(count - 1))) + "…"
  }
}
