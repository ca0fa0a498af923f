// StressBoard.swift: shows how far a stress run is: one line that is replaced on a terminal, a
// plain line now and then elsewhere, and the metrics file. What is shown decides nothing.

import Findings
import LabCore

/// Shows a run's figures.
struct StressBoard {
  private let console: Console
  /// Where the figures go, if anywhere.
  private let path: String?
  private var nextSeconds = 0.0
  /// A log gets a line so often.
  private static let plainSeconds = 30.0
  /// A file is not replaced more often.
  private static let fileSeconds = 1.0
  private var nextFileSeconds = 0.0

  init(console: Console, path: String?) {
    self.console = console
    self.path = path
    nextSeconds = Self.plainSeconds
  }

  /// Shows the figures of this moment.
  /// - Throws: `LabError` when the metrics file cannot be written.
  mutating func show(_ metrics: StressMetrics) throws(LabError) {
    if let path, metrics.seconds >= nextFileSeconds {
      try metrics.write(to: path)
      nextFileSeconds = metrics.seconds + Self.fileSeconds
    }
    if console.replacesLines {
      console.progress(metrics.line)
    } else if metrics.seconds >= nextSeconds {
      console.say("  " + metrics.line)
      nextSeconds = metrics.seconds + Self.plainSeconds
    }
  }

  /// Writes the last figures.
  /// - Throws: `LabError` when the metrics file cannot be written.
  func finish(_ metrics: StressMetrics) throws(LabError) {
    if let path { try metrics.write(to: path) }
  }
}
