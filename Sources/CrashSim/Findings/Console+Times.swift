// Console+Times.swift: the slowest scenarios, to show where a CI job's time goes. Times are printed
// and reported, and no decision depends on them.

import LabCore

extension Console {
  /// Number of scenarios that are listed.
  private static let slowestShown = 10

  /// Prints the slowest scenarios first; nothing for a single one.
  func sayTimes(of report: RunReport) {
    for line in Self.times(of: report) { say(line) }
  }

  /// The lines of `sayTimes(of:)`.
  static func times(of report: RunReport) -> [String] {
    let timed = report.cases.enumerated().compactMap { place, item in
      item.seconds.map { (place: place, name: item.name, seconds: $0) }
    }
    guard timed.count > 1 else { return [] }
    let sorted = timed.sorted { ($1.seconds, $0.place) < ($0.seconds, $1.place) }
    let total = timed.reduce(0) { $0 + $1.seconds }
    func line(_ seconds: Double, _ text: String) -> String {
      let number = Formatting.fixed(seconds, 1)
      return "  " + String(repeating: " ", count: max(0, 7 - number.count)) + "\(number) s  \(text)"
    }
    var lines = [
      "time by scenario, slowest first: \(Formatting.fixed(total, 1)) s for \(timed.count)"
    ]
    lines += sorted.prefix(slowestShown).map { line($0.seconds, $0.name) }
    let rest = sorted.dropFirst(slowestShown)
    if !rest.isEmpty {
      lines.append(line(rest.reduce(0) { $0 + $1.seconds }, "\(rest.count) more"))
    }
    return lines
  }
}
