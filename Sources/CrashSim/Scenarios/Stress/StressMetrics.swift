// StressMetrics.swift: the progress of a stress run: for a terminal, for a log, and as a file in
// the text format of Prometheus (docs/reference/stress.md lists the names), replaced as a whole
// each time.

import Foundation
import LabCore

/// The figures of a run.
struct StressMetrics {
  var counts: StressCounts
  var findings: Int
  var seconds: Double
  var footprints: [(role: String, footprint: ProcessFootprint)]

  private var rate: Double { Double(counts.cuts) / max(0.001, seconds) }

  /// One line.
  var line: String {
    let faults = counts.faults.keys.sorted().map { "\($0) \(counts.faults[$0] ?? 0)" }
    let perSecond = Double(counts.commits + counts.looks) / max(0.001, seconds)
    return [
      "\(Int(seconds)) s", Formatting.counted(counts.cuts, "power cut"),
      "\(Formatting.fixed(rate, 1)) cuts/s", "lives: \(Formatting.grouped(counts.lives))",
      Formatting.counted(counts.kills, "kill"),
      "\(Formatting.grouped(counts.commits)) commits, \(Formatting.grouped(counts.looks)) looks "
        + "(\(Formatting.fixed(perSecond, 0))/s)",
      "faults: " + (faults.isEmpty ? "none" : faults.joined(separator: ", ")),
      Formatting.counted(findings, "finding"),
    ].joined(separator: "; ")
  }

  /// The file's text.
  var text: String {
    var lines: [String] = []
    func add(_ name: String, kind: String, help: String, _ values: [(String, String)]) {
      lines.append("# HELP faultline_stress_\(name) \(help)")
      lines.append("# TYPE faultline_stress_\(name) \(kind)")
      for (labels, value) in values { lines.append("faultline_stress_\(name)\(labels) \(value)") }
    }
    func count(_ name: String, _ help: String, _ value: Int) {
      add(name, kind: "counter", help: help, [("", "\(value)")])
    }
    count("power_cuts_total", "Power cuts, each judged.", counts.cuts)
    count("unjudged_total", "Power cuts that reached a limit of the checker.", counts.unjudged)
    count("lives_total", "Lives begun: each has its own options.", counts.lives)
    count("kills_total", "Kills of all processes without a power cut.", counts.kills)
    count("whole_rounds_total", "Rounds that ran to the workload's own end.", counts.ownEnds)
    count("operations_total", "File operations recorded.", counts.operations)
    count("acknowledgements_total", "Lines of the workload that were recorded.", counts.marks)
    count("commits_total", "Acknowledged commits of the built-in load.", counts.commits)
    count("looks_total", "Read-only transactions of the built-in load.", counts.looks)
    count("findings_total", "Different findings.", findings)
    add(
      "faults_total", kind: "counter", help: "Faults injected, by kind.",
      counts.faults.keys.sorted().map { ("{kind=\"\($0)\"}", "\(counts.faults[$0] ?? 0)") })
    add(
      "seconds", kind: "gauge", help: "Seconds since the start.",
      [("", Formatting.fixed(seconds, 1))])
    let roles = footprints.map { (labels: "{role=\"\($0.role)\"}", footprint: $0.footprint) }
    add(
      "resident_bytes", kind: "gauge", help: "Memory of Faultline's processes.",
      roles.map { ($0.labels, "\($0.footprint.residentBytes)") })
    add(
      "descriptors", kind: "gauge", help: "Open descriptors of Faultline's processes.",
      roles.map { ($0.labels, "\($0.footprint.descriptors)") })
    return lines.joined(separator: "\n") + "\n"
  }

  /// Replaces the file.
  /// - Throws: `LabError` when it cannot be written.
  func write(to path: String) throws(LabError) {
    do {
      try Data(text.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
    } catch {
      throw .lab("--metrics \(path): cannot be written: \(error.localizedDescription)")
    }
  }
}
