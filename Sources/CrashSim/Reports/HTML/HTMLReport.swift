// HTMLReport.swift: a run as one self-contained page that can be opened from a disk: no network, no
// fonts, no script but its own. It is also well-formed XML, so that tests can parse it.
// Invariants: equal reports give equal pages, except for measured seconds, which are in elements of
// class `measured`; the content of a page is bounded, and omissions are stated.

import Findings
import LabCore

/// Writes a run as a page.
package struct HTMLReport {
  /// Most findings that a page shows completely.
  static let findingsMax = 200
  /// Most operations and marks in all timelines of a page together.
  static let eventsMax = 10_000

  private let report: RunReport
  private let command: String

  /// A page over a run.
  /// - Parameters:
  ///   - report: The run.
  ///   - arguments: The command's arguments, for running it again.
  package init(_ report: RunReport, arguments: [String]) {
    self.report = report
    command = (["faultline"] + arguments.map(Self.quoted)).joined(separator: " ")
  }

  /// An argument quoted for a shell.
  private static func quoted(_ argument: String) -> String {
    let isPlain = argument.unicodeScalars.allSatisfy {
      $0.isASCII
        && ($0.properties.isAlphabetic || "0123456789-_./=,:@%+".unicodeScalars.contains($0))
    }
    if isPlain && !argument.isEmpty { return argument }
    return "'" + argument.replacing("'", with: "'\\''") + "'"
  }

  /// The page.
  package var text: String {
    var page = Markup()
    page.verbatim("<!DOCTYPE html>\n")
    page.element("html", ["xmlns": "http://www.w3.org/1999/xhtml", "lang": "en"]) { html in
      html.element("head") { writeHead(&$0) }
      html.element("body") { writeBody(&$0) }
    }
    return page.source + "\n"
  }

  private func writeHead(_ head: inout Markup) {
    head.empty("meta", ["charset": "utf-8"])
    head.empty("meta", ["name": "viewport", "content": "width=device-width, initial-scale=1"])
    head.empty(
      "meta",
      [
        "http-equiv": "Content-Security-Policy",
        "content": "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'",
      ])
    head.empty("meta", ["name": "color-scheme", "content": "light dark"])
    head.element("title", text: "\(verdict): \(headline) · faultline")
    head.element("style") { $0.section(.style) }
  }

  private func writeBody(_ body: inout Markup) {
    body.element("header", ["class": "page"]) { writeHeader(&$0) }
    body.element("main") { main in
      if report.cases.count > 1 { writeContents(&main) }
      let eventLimits = self.eventLimits
      let firstBroken = report.cases.firstIndex { !$0.isNegative && !$0.findings.isEmpty }
      var findingsLeft = Self.findingsMax
      for (index, item) in report.cases.enumerated() {
        HTMLCase(
          item, of: report, number: index + 1, opensFirst: index == firstBroken,
          eventsMax: eventLimits[index], findingsMax: findingsLeft
        ).write(to: &main)
        findingsLeft = max(0, findingsLeft - item.findings.count)
      }
      HTMLCoverage(report)?.write(to: &main)
    }
    body.element("footer") {
      $0.text(
        "Written by faultline \(report.version ?? LabVersion.full). "
          + "What was not explored is unknown.")
    }
    body.element("script") { $0.section(.script) }
  }

  /// Number of events that each case may show; cases with findings get theirs first.
  private var eventLimits: [Int] {
    var left = Self.eventsMax
    var limits = [Int](repeating: 0, count: report.cases.count)
    let eventful = report.cases.indices.filter { !report.cases[$0].findings.isEmpty }
    let others = report.cases.indices.filter { report.cases[$0].findings.isEmpty }
    for index in eventful + others {
      limits[index] = min(left, report.cases[index].timelines.reduce(0) { $0 + $1.events.count })
      left -= limits[index]
    }
    return limits
  }

  // MARK: Header

  private var verdict: String { report.isInterrupted ? "interrupted" : report.outcome.rawValue }

  private var headline: String {
    let positive = report.cases.filter { !$0.isNegative }
    let findings = positive.reduce(0) { $0 + $1.findings.count }
    var text = Formatting.counted(findings, "finding")
    let planted = report.cases.count - positive.count
    if planted > 0 {
      let found = report.cases.count {
        $0.isNegative && $0.outcome == .held && $0.pendingComplaint == nil
      }
      text += ", \(found) of \(planted) planted bugs found"
    }
    return text
  }

  private func writeHeader(_ header: inout Markup) {
    let explorations = report.cases.flatMap(\.explorations)
    let explored = explorations.reduce(0) { $0 + $1.exploredCount }
    let distinct = explorations.reduce(0) { $0 + $1.distinctCount }
    let seconds = explorations.reduce(0) { $0 + $1.seconds }
    var models: [String] = []
    for model in explorations.map(\.model) where !models.contains(model) { models.append(model) }
    header.element("p", ["class": "brand"], text: "faultline")
    header.element("h1") { title in
      HTMLVerdict(report.isInterrupted ? .interrupted : report.outcome).write(to: &title)
      title.text(" " + headline)
    }
    header.element("dl", ["class": "facts"]) { facts in
      func fact(_ name: String, _ value: String, kind: String = "") {
        facts.element("div") { pair in
          pair.element("dt", text: name)
          pair.element("dd", ["class": kind], text: value)
        }
      }
      fact("seed", String(report.seed))
      if let shard = report.shard { fact("shard", shard.description) }
      fact(models.count == 1 ? "model" : "models", models.joined(separator: ", "))
      fact("states explored", Formatting.grouped(explored))
      fact("distinct states", Formatting.grouped(distinct))
      fact("checking time", Formatting.fixed(seconds, 1) + " s", kind: "measured")
    }
    HTMLCommand(label: "command", command).write(to: &header)
  }

  private func writeContents(_ main: inout Markup) {
    main.element("nav", ["aria-label": "Contents"]) { nav in
      nav.element("ul", ["class": "contents"]) { list in
        for (index, item) in report.cases.enumerated() {
          list.element("li") { entry in
            HTMLVerdict(item.outcome).write(to: &entry)
            entry.element("a", ["href": "#case-\(index + 1)"], text: item.title)
            entry.element("span", ["class": "path"], text: item.name)
            let count = item.findings.count
            let text =
              item.isNegative
              ? "planted bug" : count > 0 ? Formatting.counted(count, "finding") : ""
            entry.element("span", ["class": "note"], text: text)
          }
        }
      }
    }
  }
}

/// A verdict as a shape, a word and a color.
struct HTMLVerdict {
  private let outcome: CaseReport.Outcome

  init(_ outcome: CaseReport.Outcome) { self.outcome = outcome }

  func write(to markup: inout Markup) {
    let (shape, word, kind) =
      switch outcome {
      case .held: ("●", "held", "held")
      case .broken: ("▲", "broken", "broken")
      case .labFailed: ("■", "lab failed", "lab")
      case .interrupted: ("◌", "interrupted", "lab")
      }
    markup.element("span", ["class": "verdict \(kind)"]) { pill in
      pill.element("span", ["aria-hidden": "true"], text: shape)
      pill.text(" " + word)
    }
  }
}

/// A command with a button that copies it.
struct HTMLCommand {
  private let label: String
  private let command: String

  init(label: String, _ command: String) {
    self.label = label
    self.command = command
  }

  func write(to markup: inout Markup) {
    markup.element("div", ["class": "command"]) { box in
      box.element("span", ["class": "label"], text: label)
      box.element("code", ["tabindex": "0"]) { $0.wholeText(command) }
      box.element("button", ["type": "button", "class": "copy"], text: "copy")
    }
  }
}
