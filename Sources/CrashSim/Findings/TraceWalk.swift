// TraceWalk.swift: steps through a recording, one operation after another: its caller, its effect
// on the file, and what a power cut directly after it could lose.
// Invariant: the text depends only on the recording and the model; repeating a step gives the same
// text.

import CrashStates
import LabCore
import Recording

/// A position in a recording that moves forward, and back by starting over.
package final class TraceWalk {
  /// The place of the failure.
  package struct Failure {
    /// The power fails after this many events; the end if there is no power cut.
    var crashPoint: Int
    /// The losses at that point.
    var losses: [Explanation.Loss] = []
    /// A description of the failure.
    var text: String

    package init(crashPoint: Int, losses: [Explanation.Loss] = [], text: String) {
      self.crashPoint = crashPoint
      self.losses = losses
      self.text = text
    }
  }

  package let trace: Trace
  private let table: UnitTable
  private let timeline: Timeline
  package let paths: PathIndex
  private let sites: CallSites
  private let failure: Failure
  /// Number of the recorded recovery; 0 is the workload.
  private let recovery: Int
  private var builder: ImageBuilder
  private var live: TreeImage
  /// Number of events done so far.
  package private(set) var position = 0

  /// Starts before the first event.
  /// - Throws: `LabError` when the trace is invalid.
  package init(
    _ table: UnitTable, marks: ActorMarks?, failure: Failure, recovery: Int = 0
  ) throws(LabError) {
    self.table = table
    trace = table.trace
    timeline = Timeline(trace, marks: marks, limit: .max)
    paths = PathIndex(trace)
    sites = CallSites(trace)
    self.failure = failure
    self.recovery = recovery
    builder = try ImageBuilder(table: table)
    live = trace.initial
  }

  /// Number of events.
  package var count: Int { trace.events.count }
  /// Number of events before the failure.
  package var failurePosition: Int { failure.crashPoint }

  /// The introductory lines.
  package var introduction: [String] {
    [
      "\(Formatting.counted(count, "event")) recorded; durable is what model \(table.model.name) "
        + "promises; \(failure.text)"
    ]
  }

  /// Performs the next event.
  /// - Returns: False when there is none.
  /// - Throws: `LabError` when the trace is invalid.
  package func advance() throws(LabError) -> Bool {
    guard position < count else { return false }
    if case .operation(let operation) = trace.events[position].body { live.apply(operation) }
    position += 1
    try builder.advance(to: position)
    return true
  }

  /// Goes forward or back to where this many events are done.
  /// - Throws: `LabError` when the trace is invalid.
  package func go(to target: Int) throws(LabError) {
    let target = min(max(0, target), count)
    if target < position {
      builder = try ImageBuilder(table: table)
      live = trace.initial
      position = 0
    }
    while position < target, try advance() {}
  }

  // MARK: Words

  private func name(of event: Int) -> String {
    "#\(EventPlace(recovery: recovery, number: event))"
  }

  /// The last event and its effect; nothing before the first.
  /// - Throws: `LabError` when an image exceeds its limits.
  package func lines() throws(LabError) -> [String] {
    guard position > 0 else { return ["before the first event"] + crashPointLines }
    let number = position - 1
    let event = timeline.events[number]
    var lines = ["\(name(of: number))  \(timeline.actors[event.actor])  \(event.text)"]
    if event.kind == .mark { lines[0] += "  (acknowledged)" }
    func add(_ label: String, _ text: String) {
      lines.append("    " + label.padding(toLength: 9, withPad: " ", startingAt: 0) + text)
    }
    if let phase = trace.phase(at: number) { add("step", phase) }
    if let places = sites.places(of: number) { add("called", places) }
    if let fault = event.fault { add("fault", fault) }
    if case .operation(let operation) = trace.events[number].body {
      try builder.show(kept: [])
      add("file", fileText(operation.inode))
    }
    return lines + crashPointLines
  }

  /// Every file, as the program sees it and as the medium has it.
  /// - Throws: `LabError` when an image exceeds its limits.
  package func files() throws(LabError) -> [String] {
    try builder.show(kept: [])
    let numbers = live.inodes.keys.sorted().filter { !paths.paths(of: $0, at: position).isEmpty }
    return numbers.map { fileText($0) }
  }

  /// Longest list of ranges or of lost units that is shown.
  private static let shownMax = 8

  private var pending: [PendingUnit] {
    table.pendingUnits(at: position).map { table.units[$0] }
  }

  private func fileText(_ inode: InodeNumber) -> String {
    let name = "'\(paths.path(of: inode, at: position))'"
    let units = pending.filter { unit in unit.effects.contains { $0.touches(inode) } }
    let waiting = units.isEmpty ? "nothing pending" : "pending: " + text(of: units, about: inode)
    guard let image = live.inodes[inode], image.type == .regular else {
      return "\(name): \(waiting)"
    }
    let durable = builder.nodes[inode].map { "\(Formatting.grouped(Int($0.sizeBytes)))" } ?? "0"
    return "\(name): \(Formatting.grouped(Int(clamping: image.sizeBytes))) bytes, "
      + "\(durable) of size durable; \(waiting)"
  }

  private func text(of units: [PendingUnit], about inode: InodeNumber) -> String {
    var ranges: [Range<UInt64>] = []
    var words: [String] = []
    for effect in units.flatMap(\.effects) where effect.touches(inode) {
      switch effect {
      case .data(_, let offset, _, let slice): ranges.append(offset..<offset + UInt64(slice.count))
      case .zero(_, let offset, let count): ranges.append(offset..<offset + count)
      case .size(_, let size): words.append("size \(Formatting.grouped(Int(clamping: size)))")
      case .setEntry(_, let name, _): words.append("name '\(name)'")
      case .removeEntry(_, let name): words.append("removal of '\(name)'")
      case .ownership: words.append("owner")
      case .extendedAttribute(_, let name, _): words.append("attribute '\(name)'")
      case .modificationTime: words.append("modification time")
      }
    }
    let bytes = Self.joined(ranges).map { "bytes \($0.lowerBound)..\($0.upperBound - 1)" }
    var shown: [String] = []
    for word in bytes + words where !shown.contains(word) { shown.append(word) }
    let rest = shown.count - Self.shownMax
    return shown.prefix(Self.shownMax).joined(separator: ", ")
      + (rest > 0 ? " and \(rest) more" : "")
  }

  /// Ranges in order, joined where they touch.
  private static func joined(_ ranges: [Range<UInt64>]) -> [Range<UInt64>] {
    var result: [Range<UInt64>] = []
    for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) where !range.isEmpty {
      if let last = result.last, range.lowerBound <= last.upperBound {
        result[result.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
      } else {
        result.append(range)
      }
    }
    return result
  }

  // MARK: Crash points

  private var crashPointLines: [String] {
    var line =
      "    crash point \(position) of \(count)"
      + (recovery == 0 ? ": " : " of recovery \(recovery): ")
      + "\(Formatting.counted(pending.count, "unit")) may be lost"
    let ahead = failure.crashPoint - position
    guard ahead == 0 else {
      if ahead > 0 { line += "; the failure is \(Formatting.counted(ahead, "event")) ahead" }
      return [line]
    }
    var lines = [line, "    HERE: \(failure.text)"]
    for loss in failure.losses.prefix(Self.shownMax) {
      lines.append("    lost     \(name(of: loss.event)) \(loss.text)")
    }
    let rest = failure.losses.count - Self.shownMax
    if rest > 0 { lines.append("    lost     and \(Formatting.counted(rest, "event")) more") }
    return lines
  }
}

extension Effect {
  /// Whether the effect changes this file, or the names in this directory.
  fileprivate func touches(_ number: InodeNumber) -> Bool {
    switch self {
    case .data(let inode, _, _, _), .size(let inode, _), .zero(let inode, _, _),
      .ownership(let inode, _), .extendedAttribute(let inode, _, _),
      .modificationTime(let inode, _):
      inode == number
    case .setEntry(let parent, _, let inode): parent == number || inode == number
    case .removeEntry(let parent, _): parent == number
    }
  }
}
