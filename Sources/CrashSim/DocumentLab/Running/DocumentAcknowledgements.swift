// DocumentAcknowledgements.swift: the lines by which a workload says what is done, for the worker
// that writes them and for the judge that reads them.

import Workload

/// What a workload has acknowledged.
package struct DocumentAcknowledgements: Sendable, Hashable {
  /// The last commit whose transaction returned.
  package var commit = 0
  /// The last commit before a checkpoint or close that returned.
  package var durable = 0
  /// Promises that the run itself found broken.
  package var violations: [String] = []

  package init() {}

  /// Reads lines; what is no line of a workload is left out.
  package init(reading bytes: [UInt8]) {
    for line in bytes.split(separator: UInt8(ascii: "\n")) {
      let text = String(decoding: line, as: UTF8.self)
      let words = text.split(separator: " ", maxSplits: 1)
      guard words.count == 2 else { continue }
      switch words[0] {
      case "commit": commit = max(commit, Int(words[1]) ?? commit)
      case "durable": durable = Int(words[1]) ?? durable
      case "broken": violations.append(String(words[1]))
      default: break
      }
    }
  }

  static func commit(_ number: Int) -> String { "commit \(number)" }
  static func durable(_ number: Int) -> String { "durable \(number)" }
  static func broken(_ promise: DocumentPromise, _ text: String) -> String {
    "broken \(promise.name): \(text.replacing("\n", with: " "))"
  }
}
