// IsolationReport.swift: what is said of a history: in words, and as JSON
// (docs/reference/histories.md).

import FoundationEssentials
import LabCore

/// How often an anomaly was found.
package struct AnomalyCount: Sendable, Hashable, Codable {
  /// Its name.
  package var name: AnomalyName
  /// How often; of cycles, in how many strongly connected components.
  package var count: Int
}

/// What a history shows.
package struct IsolationReport: Sendable, Hashable, Codable, JSONReport {
  /// Version of the JSON form.
  package var version = 1
  /// All transactions.
  package var transactions: Int
  /// Acknowledged ones.
  package var committed: Int
  /// Those that were aborted.
  package var aborted: Int
  /// Those whose end nobody knows.
  package var unknown: Int
  /// Acknowledged ones, and those of unknown end that somebody saw.
  package var tookEffect = 0
  /// Dependencies between writers.
  package var writeDependencies = 0
  /// Dependencies from a writer to a reader.
  package var readDependencies = 0
  /// Dependencies from a reader to a writer.
  package var antiDependencies = 0
  /// What is wrong, weakest level first; at most eight of each name.
  package var anomalies: [HistoryAnomaly] = []
  /// How often each is there.
  package var counts: [AnomalyCount] = []
  /// Whether some cycles were not searched to the end: a shorter one may exist.
  package var isCutOff = false

  init(_ history: History) {
    transactions = history.transactions.count
    committed = history.transactions.count { $0.outcome == .committed }
    aborted = history.transactions.count { $0.outcome == .aborted }
    unknown = history.transactions.count { $0.outcome == .unknown }
  }

  /// The strongest level that the history keeps; nil when it keeps none.
  package var strongestLevel: IsolationLevel? {
    IsolationLevel.allCases.last { holds($0) }
  }

  /// Whether nothing in the history is forbidden by a level.
  package func holds(_ level: IsolationLevel) -> Bool {
    counts.allSatisfy { $0.name.level > level }
  }

  /// The anomalies that a level forbids.
  package func anomalies(forbiddenBy level: IsolationLevel) -> [HistoryAnomaly] {
    anomalies.filter { $0.level <= level }
  }

  /// The report for people, judged by a level.
  package func lines(judgedBy level: IsolationLevel) -> [String] {
    var lines = [
      "\(Formatting.counted(transactions, "transaction")): \(committed) committed, "
        + "\(aborted) aborted, \(unknown) of unknown end; \(tookEffect) took effect",
      "dependencies: \(writeDependencies) ww, \(readDependencies) wr, \(antiDependencies) rw",
    ]
    for anomaly in anomalies { lines.append(anomaly.description) }
    for count in counts where count.count > VersionOrders.toldMax {
      lines.append("\(count.name.rawValue): \(count.count) in all")
    }
    if isCutOff { lines.append("not all cycles were searched: there may be shorter ones") }
    let kept = strongestLevel.map { "the strongest level kept is \($0.rawValue)" }
    lines.append(
      (holds(level) ? "held" : "FAILED") + " \(level.rawValue): "
        + (kept ?? "no level is kept"))
    return lines
  }
}
