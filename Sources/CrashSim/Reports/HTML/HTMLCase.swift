// HTMLCase.swift: one scenario, or one explored program, as a section of the page.

import Findings
import LabCore

/// One scenario, or one explored program.
struct HTMLCase {
  private let item: CaseReport
  private let number: Int
  private let opensFirst: Bool
  private let eventsMax: Int
  private let findingsMax: Int
  /// The warning for each exploration that needs one.
  private let cautions: [String?]

  init(
    _ item: CaseReport, of report: RunReport, number: Int, opensFirst: Bool, eventsMax: Int,
    findingsMax: Int
  ) {
    self.item = item
    cautions = item.explorations.map { report.caution(about: $0, of: item) }
    self.number = number
    self.opensFirst = opensFirst
    self.eventsMax = eventsMax
    self.findingsMax = findingsMax
  }

  func write(to main: inout Markup) {
    main.element("section", ["class": "case", "id": "case-\(number)"]) { section in
      section.element("h2") { title in
        HTMLVerdict(item.outcome).write(to: &title)
        title.text(" " + item.title)
      }
      section.element("p", ["class": "path"], text: item.name)
      if item.isNegative {
        section.element(
          "p", ["class": "note"],
          text: "This scenario plants a bug: it holds when the bug is found.")
      }
      writeWords(&section)
      writeRules(&section)
      if !item.explorations.isEmpty { writeExplorations(&section) }
      HTMLMessageChart(item.messages)?.write(to: &section)
      writeRecordings(&section)
    }
  }

  private func writeWords(_ section: inout Markup) {
    for complaint in item.complaints + [item.pendingComplaint].compactMap({ $0 }) {
      section.element("p", ["class": "complaint"], text: "▲ " + complaint)
    }
    for part in item.skipped {
      section.element("p", ["class": "note"], text: "◌ skipped: " + part)
    }
  }

  /// The fault rules during the recording of a program, as on the console.
  private func writeRules(_ section: inout Markup) {
    guard let rules = item.rules else { return }
    section.element("ul", ["class": "rules"]) { list in
      for line in RuleOutcome.lines(of: rules) { list.element("li", text: line) }
    }
  }

  private func writeExplorations(_ section: inout Markup) {
    section.element("div", ["class": "scroll", "tabindex": "0"]) { box in
      box.element("table", ["class": "explorations"]) { table in
        table.element("thead") { head in
          head.element("tr") { row in
            for name in [
              "model", "operations", "crash points", "explored", "distinct",
              "possible", "states/s", "findings",
            ] {
              row.element("th", ["scope": "col"], text: name)
            }
          }
        }
        table.element("tbody") { body in
          for report in item.explorations { write(report, to: &body) }
        }
      }
    }
    for (report, caution) in zip(item.explorations, cautions) {
      guard let caution else { continue }
      section.element("p", ["class": "caution"], text: "\(report.model): \(caution)")
    }
    writeRemarks(&section)
  }

  /// Most remarks of a case that a page shows.
  private static let remarksMax = 100

  /// The warnings and notes of a judgement without a checker; warnings with what replays them.
  private func writeRemarks(_ section: inout Markup) {
    let remarks = item.explorations.flatMap { report in
      (report.remarks ?? []).map { (model: report.model, remark: $0) }
    }
    if remarks.isEmpty { return }
    section.element("details", ["class": "remarks"]) { box in
      box.element("summary", text: Formatting.counted(remarks.count, "remark"))
      box.element("ul") { list in
        for (model, remark) in remarks.prefix(Self.remarksMax) {
          list.element("li") { entry in
            entry.element("span", ["class": "path"], text: model)
            entry.text(" \(remark.line)")
            guard remark.level == "warning" else { return }
            HTMLCommand(label: "replay", "faultline replay \(remark.token)").write(to: &entry)
          }
        }
      }
      let omitted = remarks.count - Self.remarksMax
      if omitted > 0 {
        box.element(
          "p", ["class": "cut"],
          text: "\(Formatting.counted(omitted, "more remark")): the JSON report has them all.")
      }
    }
  }

  private func write(_ report: ExplorationReport, to body: inout Markup) {
    body.element("tr") { row in
      row.element("th", ["scope": "row"]) { name in
        name.text(report.model)
        if report.isOutOfTime == true { name.text(" (the time budget ended first)") }
        if report.isInterrupted { name.text(" (interrupted)") }
      }
      row.element("td", text: Formatting.grouped(report.operationCount))
      row.element("td", text: report.crashPointText(named: false))
      row.element("td", text: Formatting.grouped(report.exploredCount))
      row.element("td", text: Formatting.grouped(report.distinctCount))
      row.element("td", text: report.bound)
      row.element(
        "td", ["class": "measured"], text: Formatting.grouped(Int(report.statesPerSecond)))
      row.element("td", text: Formatting.grouped(report.findings.count))
    }
  }

  // MARK: Findings beside the timeline

  /// Each recording with its findings, then the findings without a recording.
  private func writeRecordings(_ section: inout Markup) {
    var eventsLeft = eventsMax
    var findingsLeft = findingsMax
    for place in 0...item.timelines.count {
      let isRecorded = place < item.timelines.count
      let reports = item.explorations.filter { $0.recording == (isRecorded ? place : nil) }
      let findings = reports.flatMap { report in
        report.findings.map { (finding: $0, model: report.model) }
      }
      let name = place == 0 ? "\(number)" : "\(number)r\(place)"
      let timeline =
        isRecorded
        ? HTMLTimeline(item.timelines[place], of: reports, name: name, eventsMax: eventsLeft) : nil
      eventsLeft -= timeline?.events.count ?? 0
      if !findings.isEmpty {
        let isFirst = findingsLeft == findingsMax
        writeWork(
          findings, timeline, name, findingsMax: findingsLeft, opensFirst: opensFirst && isFirst,
          &section)
        findingsLeft = max(0, findingsLeft - findings.count)
      } else if let timeline {
        timeline.writeClosed(to: &section)
      }
    }
  }

  private func writeWork(
    _ findings: [(finding: Finding, model: String)], _ timeline: HTMLTimeline?, _ name: String,
    findingsMax: Int, opensFirst: Bool, _ section: inout Markup
  ) {
    section.element("div", ["class": timeline == nil ? "work alone" : "work"]) { work in
      work.element("div", ["class": "findings"]) { list in
        let texts = timeline?.texts ?? [:]
        for (place, entry) in findings.prefix(findingsMax).enumerated() {
          HTMLFinding(
            entry.finding, under: entry.model, timelineName: name, texts: texts,
            isOpen: opensFirst && place == 0
          ).write(to: &list)
        }
        let omitted = findings.count - findingsMax
        if omitted > 0 {
          list.element(
            "p", ["class": "cut"],
            text: "\(Formatting.counted(omitted, "more finding")): this page shows "
              + "\(HTMLReport.findingsMax); the JSON report has them all.")
        }
      }
      timeline?.write(to: &work)
    }
  }
}
