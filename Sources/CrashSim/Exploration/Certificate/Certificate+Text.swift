// Certificate+Text.swift: a certificate as lines for a terminal, and as Markdown for a document.
// Invariant: the Markdown contains no times, so that the same program gives the same document.

import Findings
import LabCore

extension Certificate {
  /// The certificate as lines for the console.
  public var lines: [String] {
    var lines = ["certificate of \(name)  \(title)"]
    lines += baseline.map { "  all syncs kept: " + Console.line(of: $0) }
    lines += (skipped ?? []).map { "  skipped: \($0)" }
    guard outcome != .broken else {
      lines += baseline.flatMap(\.findings).flatMap { Console.lines(of: $0) }
      return lines + ["  verdict: broken; a certificate needs a workload that holds"]
    }
    for site in sites { lines += Self.lines(of: site) }
    if let togetherText {
      lines.append("  \(togetherText)")
      lines += Self.lines(of: together?.proof)
    }
    return lines + ["  " + summary + " (\(Formatting.fixed(seconds, 1)) s)"]
  }

  private static func lines(of site: CertifiedSite) -> [String] {
    var lines = ["  site \(site.number): \(site.text)"]
    lines.append(
      "    \(site.countsText); all of them ignored: \(site.verdict.text)")
    lines += Self.lines(of: site.verdict?.proof)
    for sync in site.unneeded {
      lines.append("    #\(sync.event) \(sync.text): \(sync.verdict.text)")
    }
    return lines
  }

  private static func lines(of proof: Finding?) -> [String] {
    guard let proof else { return [] }
    return proof.lost.map { "      lost: \($0)" }
      + ["      crash: \(proof.crash)", "      replay: faultline replay \(proof.token)"]
  }

  /// The result of ignoring all syncs that are not needed alone; nil if that was not tried.
  private var togetherText: String? {
    together.map {
      "the \(unneeded.count) that are not needed alone, ignored together: \(Optional($0).text)"
    }
  }

  /// The result in one line.
  var summary: String {
    let needed = syncs.count { $0.verdict?.isNeeded == true }
    let open = syncs.count { $0.verdict == nil }
    let redundant = syncs.count - needed - open
    let counts =
      "\(Formatting.counted(syncs.count, "sync")) at \(Formatting.counted(sites.count, "site")): "
      + "\(needed) needed, \(redundant) not needed within the bound explored"
    switch outcome {
    case .complete where syncs.isEmpty: return "verdict: complete; the workload issues no sync"
    case .complete: return "verdict: complete; \(counts), none missing"
    case .redundant:
      let joint = together?.isNeeded == true ? "; not all of those can go" : ""
      return "verdict: redundant; \(counts)\(joint), none missing"
    case .broken: return "verdict: broken; with all syncs kept a promise breaks"
    case .interrupted: return "verdict: interrupted; \(counts), \(open) not looked at"
    }
  }

  /// The certificate as Markdown, starting at a heading of level 2.
  public var markdown: String {
    var lines = ["## \(title.asMarkdown)", "", "\(name.asCode), all syncs kept:", ""]
    lines += baseline.map { report in
      "- \(report.model.asCode): \(Formatting.grouped(report.exploredCount)) of "
        + "\(Formatting.grouped(report.distinctCount)) distinct states, "
        + Formatting.counted(report.findings.count, "finding")
    }
    lines += (skipped ?? []).map { "- skipped: \($0.asMarkdown)" }
    lines += [""] + Self.wrapped(Self.sentence(summary)) + [""]
    guard !sites.isEmpty else { return lines.joined(separator: "\n") }
    lines += ["| site | issued | needed | all of the site ignored |", "|---|---|---|---|"]
    for site in sites {
      let needed = site.syncs.count { $0.verdict?.isNeeded == true }
      lines.append(
        "| \(site.number) | \(site.syncs.count) | \(needed) | \(site.verdict.shortText) |")
    }
    lines.append("")
    for site in sites { lines += Self.paragraphs(of: site) }
    if let togetherText { lines += Self.wrapped(Self.sentence(togetherText.asMarkdown)) + [""] }
    return lines.joined(separator: "\n")
  }

  /// A site with its proof, and its syncs that are not needed.
  private static func paragraphs(of site: CertifiedSite) -> [String] {
    var text =
      "**Site \(site.number)**: \(site.text.asMarkdown). \(sentence(site.verdict.text.asMarkdown))"
    if let proof = site.verdict?.proof {
      let lost = proof.lost.joined(separator: "; ")
      text += " Crash \(proof.crash.asMarkdown); lost: \(lost.asMarkdown)."
    }
    var lines = wrapped(text) + [""]
    if !site.unneeded.isEmpty {
      lines += site.unneeded.flatMap {
        wrapped(
          "- `#\($0.event)` \($0.text.asMarkdown): \($0.verdict.text.asMarkdown)", indent: "  ")
      }
      lines.append("")
    }
    return lines
  }

  /// Most columns of a line of Markdown.
  private static let columnsMax = 128

  /// The text wrapped into lines of maximum length.
  private static func wrapped(_ text: String, indent: String = "") -> [String] {
    var lines: [String] = []
    var line = ""
    for word in text.split(separator: " ") {
      if !line.isEmpty, line.count + 1 + word.count > columnsMax {
        lines.append(line)
        line = indent + escapedAtStart(word)
      } else {
        line += (line.isEmpty ? "" : " ") + word
      }
    }
    return lines + [line]
  }

  /// A word so that no heading, list or rule begins with it.
  private static func escapedAtStart(_ word: Substring) -> String {
    if let first = word.first, "#-+=_".contains(first) { return "\\" + word }
    guard let number = word.wholeMatch(of: #/([0-9]+)([.)])/#) else { return String(word) }
    return "\(number.1)\\\(number.2)"
  }

  private static func sentence(_ text: String) -> String {
    (text.first.map { $0.uppercased() } ?? "") + text.dropFirst() + "."
  }
}

extension CertifiedSite {
  /// The syncs to list individually: not needed, or not checked; none if the site has only one
  /// sync, because the site's own verdict covers it.
  fileprivate var unneeded: [CertifiedSync] {
    syncs.count > 1 ? syncs.filter { $0.verdict?.isNeeded != true } : []
  }

  /// How many syncs were issued, and how many are needed when ignored one at a time.
  fileprivate var countsText: String {
    let needed = syncs.count { $0.verdict?.isNeeded == true }
    let open = syncs.count { $0.verdict == nil }
    return "issued \(syncs.count), needed \(needed)" + (open > 0 ? ", not looked at \(open)" : "")
  }
}

extension SyncVerdict? {
  /// The verdict in a few words.
  fileprivate var shortText: String {
    guard let self else { return "not looked at" }
    return self.model.map { "needed under \($0.asCode)" } ?? "not needed within the bound"
  }

  /// The verdict in words.
  fileprivate var text: String {
    guard let self else { return "not looked at" }
    guard let proof = self.proof, let model = self.model else {
      return "not needed within the bound explored ("
        + "\(Formatting.grouped(self.exploredCount)) of \(Formatting.grouped(self.distinctCount)) "
        + "states)"
    }
    return "needed under \(model): \(proof.headline)"
  }
}

extension String {
  /// The text as one line of Markdown that no file name, program or checker can add markup to.
  var asMarkdown: String {
    var result = ""
    for character in visibleLine {
      if "\\`*[]<>|&~".contains(character) { result.append("\\") }
      result.append(character)
    }
    return result
  }

  /// The text as code in one line of Markdown; inside of it nothing can be escaped.
  fileprivate var asCode: String {
    "`" + visibleLine.replacing("`", with: "'").replacing("|", with: "/") + "`"
  }
}
