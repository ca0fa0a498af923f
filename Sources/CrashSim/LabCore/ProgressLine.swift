// ProgressLine.swift: the progress of checking states, in a line that a terminal overwrites.

/// The progress of checking states.
package struct ProgressLine {
  /// The subject of the exploration: a model, or a real file system.
  let subject: String
  let done: Int
  let total: Int
  let failures: Int
  let seconds: Double

  package init(subject: String, done: Int, total: Int, failures: Int, seconds: Double) {
    self.subject = subject
    self.done = done
    self.total = total
    self.failures = failures
    self.seconds = seconds
  }

  /// The line, with the remaining time at the rate so far.
  package var text: String {
    let line =
      "\(subject): \(Formatting.grouped(done)) of \(Formatting.grouped(total)) states, "
      + "\(Formatting.grouped(failures)) failing"
    let rate = Double(done) / max(0.001, seconds)
    guard rate > 0 else { return line }
    let left = Int(Double(max(0, total - done)) / rate)
    return line + ", \(Formatting.rate(rate)) states/s, \(left) s left"
  }
}
