// HTMLTimeline.swift: a recorded run as a drawing: a strip over the whole run, actors by time, and
// a list of the operations with the crash points between them.
// Invariant: verdicts, lost and kept operations differ in shape as well as in color.

import Findings
import LabCore

/// A recorded run as a drawing.
struct HTMLTimeline {
  /// Most columns of the strip.
  private static let columnsMax = 240
  /// Height of an actor's row in the strip, and of the verdicts below.
  private static let laneHeight = 12
  private static let verdictHeight = 26
  /// Most actors with a separate lane in the list.
  private static let lanesMax = 8

  private let timeline: Timeline
  let events: ArraySlice<TimelineEvent>
  private let name: String
  private let points: [Int: Tally]
  private let findings: [Int: [Int]]

  /// The verdict on a crash point.
  private enum Verdict: String {
    case failing, held, unknown

    var shape: String {
      switch self {
      case .failing: "▲"
      case .held: "●"
      case .unknown: "○"
      }
    }
  }

  /// The states of one crash point, under all models.
  private struct Tally {
    let distinct: Int
    let checked: Int?
    let failing: Int

    static func + (a: Tally, b: Tally) -> Tally {
      Tally(
        distinct: a.distinct + b.distinct,
        checked: a.checked.flatMap { count in b.checked.map { count + $0 } },
        failing: a.failing + b.failing)
    }

    /// Their verdict: a shape, and its name in style sheet and legend.
    var verdict: Verdict {
      failing > 0 ? .failing : (checked ?? 0) > 0 ? .held : .unknown
    }

    var sentence: String {
      let all = Formatting.counted(distinct, "distinct state")
      let seen =
        checked.map { "\(Formatting.grouped($0)) of \(all) explored" }
        ?? "\(all), not counted how many were explored"
      return "\(seen), \(Formatting.grouped(failing)) failed"
    }
  }

  /// Draws the first events of a timeline with the results of its explorations.
  ///
  /// The name must be unique on the page.
  init(_ timeline: Timeline, of reports: [ExplorationReport], name: String, eventsMax: Int) {
    self.timeline = timeline
    self.name = name
    events = timeline.events.prefix(eventsMax)
    var points: [Int: Tally] = [:]
    for count in reports.flatMap({ $0.crashPoints ?? [] }) {
      let tally = Tally(
        distinct: count.distinct, checked: count.checked, failing: count.failing)
      points[count.crashPoint] = points[count.crashPoint].map { $0 + tally } ?? tally
    }
    self.points = points
    var findings: [Int: [Int]] = [:]
    for finding in reports.flatMap(\.findings).prefix(HTMLReport.findingsMax) {
      if let point = finding.evidence?.crashPoint {
        findings[point, default: []].append(finding.number)
      }
    }
    self.findings = findings
  }

  /// Texts of the events, for findings.
  var texts: [Int: String] {
    Dictionary(
      timeline.events.map { ($0.number, $0.text) }, uniquingKeysWith: { first, _ in first })
  }

  /// Writes the timeline, collapsed below a line that opens it; nothing if it has no events.
  func writeClosed(to markup: inout Markup) {
    guard !timeline.events.isEmpty else { return }
    markup.element("details", ["class": "quiet"]) { details in
      details.element(
        "summary", text: "Timeline, \(Formatting.counted(timeline.eventCount, "event"))")
      write(to: &details)
    }
  }

  func write(to markup: inout Markup) {
    markup.element("div", ["class": "timeline", "data-timeline": name]) { box in
      box.element("h3", text: "Timeline")
      writeLegend(&box)
      writeStrip(&box)
      let omitted = timeline.eventCount - events.count
      if omitted > 0 {
        box.element(
          "p", ["class": "cut"],
          text: "\(Formatting.grouped(events.count)) of "
            + "\(Formatting.counted(timeline.eventCount, "event")) shown; a page is bounded.")
      }
      box.element(
        "ol",
        [
          "class": "events", "tabindex": "0", "style": "--lanes:\(laneCount)",
          "aria-label": "Operations in the order of the trace",
        ]
      ) { writeRows(&$0) }
    }
  }

  private var laneCount: Int { min(max(1, timeline.actors.count), Self.lanesMax) }

  private func writeLegend(_ box: inout Markup) {
    box.element("ul", ["class": "legend"]) { legend in
      for (kind, shape, word) in [
        ("mark", "✓", "acknowledged"), ("write", "▪", "write"), ("name", "◇", "name"),
        ("sync", "◆", "sync"), ("fault", "ϟ", "fault"), ("failing", "▲", "failed/explored"),
        ("held", "●", "explored, all held"), ("unknown", "○", "not explored"),
      ] {
        legend.element("li") { entry in
          entry.element("span", ["class": "shape \(kind)", "aria-hidden": "true"], text: shape)
          entry.text(" " + word)
        }
      }
    }
  }

  // MARK: Strip

  /// The part of the run in a column of the strip.
  private struct Column {
    var kinds: [Set<TimelineEvent.Kind>]
    var isFaulty = false
    var tally: Tally?
  }

  private func column(of place: Int) -> Int {
    place * min(events.count, Self.columnsMax) / max(1, events.count)
  }

  private var columns: [Column] {
    let empty = Column(kinds: [Set](repeating: [], count: timeline.actors.count))
    var columns = [Column](repeating: empty, count: min(events.count, Self.columnsMax))
    for (place, event) in events.enumerated() {
      let at = column(of: place)
      columns[at].kinds[event.actor].insert(event.kind)
      if event.fault != nil { columns[at].isFaulty = true }
      guard let tally = points[event.number + 1] else { continue }
      columns[at].tally = columns[at].tally.map { $0 + tally } ?? tally
    }
    return columns
  }

  private func writeStrip(_ box: inout Markup) {
    let columns = self.columns
    let height = timeline.actors.count * Self.laneHeight + Self.verdictHeight
    box.element("div", ["class": "strip"]) { strip in
      strip.element("ul", ["class": "actors"]) { names in
        for actor in timeline.actors { names.element("li", text: actor) }
        names.element("li", ["class": "verdicts"], text: "crash points")
      }
      strip.element(
        "svg",
        [
          "xmlns": "http://www.w3.org/2000/svg", "role": "img",
          "viewBox": "0 0 \(max(1, columns.count) * 10) \(height)", "preserveAspectRatio": "none",
          "style": "height:\(height)px",
          "aria-label": "Actors by time, and the verdicts of the crash points",
        ]
      ) { svg in
        svg.element("g", ["class": "chosen"]) { _ in }
        for (place, column) in columns.enumerated() { draw(column, at: place, height, &svg) }
      }
    }
  }

  private func draw(_ column: Column, at place: Int, _ height: Int, _ svg: inout Markup) {
    func bar(_ kind: String, y: Int, height: Int, inset: Int = 1) {
      svg.empty(
        "rect",
        [
          "class": kind, "x": "\(place * 10 + inset)", "y": "\(y)", "width": "\(10 - 2 * inset)",
          "height": "\(height)",
        ])
    }
    for (actor, kinds) in column.kinds.enumerated() where !kinds.isEmpty {
      let top = actor * Self.laneHeight
      // A sync fills its lane, a mark its upper half, everything else a band in the middle.
      if kinds.contains(.sync) {
        bar("sync", y: top + 1, height: Self.laneHeight - 2, inset: 3)
      } else if kinds.contains(.mark) {
        bar("mark", y: top + 1, height: Self.laneHeight / 2)
      } else {
        bar("operation", y: top + 4, height: Self.laneHeight - 8)
      }
    }
    let base = height - 2
    if column.isFaulty { bar("fault", y: base - Self.verdictHeight + 4, height: 3) }
    switch column.tally?.verdict {
    case .failing: bar("failing", y: base - 18, height: 18)
    case .held: bar("held", y: base - 6, height: 6)
    case .unknown: bar("unknown", y: base - 2, height: 2)
    case nil: break
    }
  }

  // MARK: Rows

  private func writeRows(_ list: inout Markup) {
    if let tally = points[0] {
      list.element("li", ["class": "start", "id": "c\(name)e-1"]) { row in
        row.element("span", ["class": "number"], text: "")
        row.element("span", ["class": "lane"], text: "")
        row.element("span", ["class": "what"], text: "before the first operation")
        write(tally, at: 0, to: &row)
      }
    }
    var next = 0
    for (place, event) in events.enumerated() {
      if event.number > next { writeGap(event.number - next, to: &list) }
      next = event.number + 1
      write(event, at: place, to: &list)
    }
    if timeline.eventCount > next { writeGap(timeline.eventCount - next, to: &list) }
  }

  private func writeGap(_ count: Int, to list: inout Markup) {
    list.element(
      "li", ["class": "gap"], text: "… \(Formatting.counted(count, "event")) not shown …")
  }

  private func write(_ event: TimelineEvent, at place: Int, to list: inout Markup) {
    let shape =
      switch event.kind {
      case .mark: "✓"
      case .write, .size: "▪"
      case .name, .attribute: "◇"
      case .sync: "◆"
      case .close: "·"
      }
    list.element(
      "li",
      [
        "class": event.kind.rawValue, "id": "c\(name)e\(event.number)",
        "data-column": "\(column(of: place))",
      ]
    ) { row in
      row.element("span", ["class": "number"], text: "#\(event.number)")
      let actor = timeline.actors[event.actor]
      let lane = min(event.actor, Self.lanesMax - 1)
      row.element("span", ["class": "lane", "style": "--lane:\(lane)", "title": actor]) { cell in
        cell.element("span", ["class": "shape \(event.kind.rawValue)"], text: shape)
      }
      row.element("span", ["class": "what"]) { what in
        if timeline.actors.count > 1 {
          what.element("span", ["class": "actor"], text: actor)
          what.text(" ")
        }
        what.text(event.text)
        if let fault = event.fault {
          what.element("span", ["class": "injected"], text: "ϟ " + fault)
        }
      }
      if let tally = points[event.number + 1] { write(tally, at: event.number + 1, to: &row) }
    }
  }

  private func write(_ tally: Tally, at point: Int, to row: inout Markup) {
    let verdict = tally.verdict
    row.element(
      "span", ["class": "point \(verdict.rawValue)", "title": tally.sentence]
    ) { cell in
      for number in findings[point] ?? [] {
        cell.element(
          "a", ["class": "reference", "href": "#f\(name)-\(number)"], text: "F\(number)")
        cell.text(" ")
      }
      let checked = tally.checked.map(Formatting.grouped)
      let numbers =
        switch verdict {
        case .failing: Formatting.grouped(tally.failing) + (checked.map { "/\($0)" } ?? "")
        case .held: checked ?? ""
        case .unknown: ""
        }
      cell.text("\(verdict.shape) \(numbers)")
    }
  }
}
