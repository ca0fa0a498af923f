// IsolationReport.swift: the report on a history, as text and as JSON
// (docs/reference/histories.md).

import FoundationEssentials
import LabCore

/// How often an anomaly was found.
package struct AnomalyCount: Sendable, Hashable, Codable {
  /// Its name.
  package var name: AnomalyName
  /// Its count; for cycles, the number of strongly connected components.
  package var count: Int
}

/// The result for a history.
package struct IsolationReport: Sendable, Hashable, Codable, JSONReport {
  /// Version of the JSON form.
  package var version = 1
  /// All transactions.
  package var transactions: Int
  /// Acknowledged ones.
  package var committed: Int
  /// Aborted ones.
  package var aborted: Int
  /// Those with an unknown outcome.
  package var unknown: Int
  /// Acknowledged ones, and those of unknown outcome whose effect was read.
  package var tookEffect = 0
  /// Dependencies between writers.
  package var writeDependencies = 0
  /// Dependencies from a writer to a reader.
  package var readDependencies = 0
  /// Dependencies from a reader to a writer.
  package var antiDependencies = 0
  /// The anomalies, weakest level first; at most eight of each name.
  package var anomalies: [HistoryAnomaly] = []
  /// The count of each anomaly.
  package var counts: [AnomalyCount] = []
  /// Whether some cycle searches were cut off: a shorter cycle may exist.
  package var isCutOff = false

  init(_ history: History) {
    transactions = history.transactions.count
    committed = history.transactions.count { $0.outcome == .committed }
    aborted = history.transactions.count { $0.outcome == .aborted }
    unknown = history.transactions.count { $0.outcome == .unknown }
  }

  /// The strongest level that the history satisfies; nil if none.
  package var strongestLevel: IsolationLevel? {
    IsolationLevel.allCases.last { holds($0) }
  }

  /// Whether the history has no anomaly that a level forbids.
  package func holds(_ level: IsolationLevel) -> Bool {
    counts.allSatisfy { $0.name.level > level }
  }

  /// The anomalies that a level forbids.
  package func anomalies(forbiddenBy level: IsolationLevel) -> [HistoryAnomaly] {
    anomalies.filter { $0.level <= level }
  }

  /// The report as text, judged by a level.
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
