// HTMLFinding.swift: one finding: the promise, the actual result, the losses, their effect on the
// files, and the command that reproduces it.

import Findings
import LabCore

/// One finding.
struct HTMLFinding {
  /// Most other classes of states with the same root cause that are listed.
  private static let alsoSeenMax = 20

  private let finding: Finding
  private let model: String
  private let timelineName: String
  private let texts: [Int: String]
  private let isOpen: Bool

  /// A finding under a model, or on a real file system; `texts` are those of its timeline.
  init(
    _ finding: Finding, under model: String, timelineName: String, texts: [Int: String],
    isOpen: Bool
  ) {
    self.finding = finding
    self.model = model
    self.timelineName = timelineName
    self.texts = texts
    self.isOpen = isOpen
  }

  func write(to list: inout Markup) {
    let evidence = finding.evidence
    func numbers(_ events: [Int]?) -> String {
      (events ?? []).map(String.init).joined(separator: " ")
    }
    let missing = evidence?.missingAfter.map { "\($0) \(evidence?.missingBefore ?? $0)" } ?? ""
    let identity = "f\(timelineName)-\(finding.number)"
    let data: KeyValuePairs<StaticString, String> = [
      "class": "finding", "id": identity, "data-timeline": timelineName,
      "data-lost": numbers(evidence?.lost), "data-kept": numbers(evidence?.keptAfter),
      "data-partly": numbers(evidence?.partlyLost),
      "data-point": evidence.map { "\($0.crashPoint)" } ?? "", "data-missing": missing,
    ]
    list.element("article", data) { article in
      article.element("details", isOpen ? ["open": "open"] : [:]) { details in
        details.element("summary") { summary in
          summary.element("span", ["class": "ordinal"], text: "▲ F\(finding.number)")
          summary.element("span", ["class": "headline"], text: finding.headline)
          summary.element(
            "span", ["class": "count"],
            text: "\(model) · \(Formatting.counted(finding.rootCauseStateCount, "state"))")
        }
        writeBody(&details)
      }
    }
  }

  private func writeBody(_ body: inout Markup) {
    body.element("div", ["class": "body"]) { body in
      body.element("dl", ["class": "promise"]) { list in
        list.element("dt", text: "promised")
        list.element("dd", text: finding.promised)
        list.element("dt", text: "came back")
        list.element("dd") { got in
          got.element("pre", ["tabindex": "0"], text: finding.got.joined(separator: "\n"))
          got.element("span", ["class": "note"], text: finding.ending)
        }
        list.element("dt", text: "crash")
        list.element("dd", text: crash)
      }
      writeEvents(&body)
      if let evidence = finding.evidence {
        for file in evidence.files { HTMLFileChange(file).write(to: &body) }
        if evidence.omittedFileCount > 0 {
          body.element(
            "p", ["class": "cut"],
            text: "\(Formatting.counted(evidence.omittedFileCount, "more file")) with pending "
              + "changes not shown.")
        }
      }
      writeWhere(&body)
      HTMLCommand(label: "replay", "faultline replay \(finding.token)").write(to: &body)
    }
  }

  private var crash: String {
    let last = finding.lastAcknowledged.map { ", the last: \($0)" } ?? ""
    return "\(finding.crash); \(finding.acknowledgedCount) acknowledged\(last)"
  }

  // MARK: Events

  private func writeEvents(_ body: inout Markup) {
    body.element("h3", text: "Lost")
    body.element("ul", ["class": "losses"]) { list in
      for text in finding.lost {
        list.element("li") { entry in
          entry.element("span", ["class": "badge lost"], text: "✗ lost")
          entry.text(" " + text)
        }
      }
    }
    if let sites = finding.callSites {
      body.element("h3", text: "Called in the program")
      body.element("ul", ["class": "losses"]) { list in
        for site in sites { list.element("li") { $0.element("code", text: site.text) } }
      }
    }
    if !finding.missingSync.isEmpty {
      body.element("div", ["class": "missing"]) { box in
        box.element("strong", text: finding.namesSync ? "⊘ missing sync" : "why")
        for sentence in finding.missingSync { box.element("p", text: sentence) }
      }
    }
    guard let evidence = finding.evidence, evidence.keptAfterCount > 0 else { return }
    body.element("h3", text: "Survived although issued later")
    body.element("ul", ["class": "losses"]) { list in
      let shown = evidence.keptAfter.prefix(8)
      for event in shown {
        list.element("li") { entry in
          entry.element("span", ["class": "badge kept"], text: "✓ kept")
          entry.text(" #\(event) " + (texts[event] ?? ""))
        }
      }
      let more = evidence.keptAfterCount - shown.count
      if more > 0 { list.element("li", ["class": "cut"], text: "… and \(more) more") }
    }
  }

  // MARK: Where it was seen

  private func writeWhere(_ body: inout Markup) {
    body.element("h3", text: "Possible under")
    if let fileSystem = finding.fileSystem {
      body.element(
        "p", text: "The kernel's \(fileSystem): recovered from its own blocks, no model.")
    }
    body.element("ul", ["class": "models"]) { list in
      for model in finding.models { list.element("li", text: model) }
    }
    if let others = finding.alsoSeen {
      body.element("p", text: "Also found: \(others.joined(separator: ", ")).")
    }
    let own = Formatting.counted(finding.stateCount, "crash state")
    let all = Formatting.grouped(finding.rootCauseStateCount)
    let also = finding.alsoSeenAs ?? []
    body.element(
      "p", text: "Seen in \(own)" + (also.isEmpty ? "." : " of \(all) with this root cause."))
    guard !also.isEmpty else { return }
    body.element("h3", text: "Also seen as")
    body.element("ul", ["class": "also"]) { list in
      for other in also.prefix(Self.alsoSeenMax) {
        list.element(
          "li",
          text: "\(other.headline) (\(Formatting.counted(other.stateCount, "crash state")))")
      }
      if also.count > Self.alsoSeenMax {
        list.element(
          "li", ["class": "cut"], text: "… and \(also.count - Self.alsoSeenMax) more")
      }
    }
  }
}
