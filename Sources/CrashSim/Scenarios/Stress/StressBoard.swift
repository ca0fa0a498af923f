// StressBoard.swift: shows the progress of a stress run: one line that is overwritten on a
// terminal, a plain line now and then elsewhere, and the metrics file. No decision depends on it.

import Findings
import LabCore

/// Shows a run's figures.
struct StressBoard {
  private let console: Console
  /// The metrics file, if any.
  private let path: String?
  private var nextSeconds = 0.0
  /// Interval of lines in a log.
  private static let plainSeconds = 30.0
  /// Minimum interval between two versions of the file.
  private static let fileSeconds = 1.0
  private var nextFileSeconds = 0.0

  init(console: Console, path: String?) {
    self.console = console
    self.path = path
    nextSeconds = Self.plainSeconds
  }

  /// Shows the current figures.
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
