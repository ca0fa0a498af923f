// IsolationOracle.swift: judges a history of transactions over lists: describes its anomalies in
// Adya's terms, and finds the levels of isolation that it satisfies.
// Lists that are only appended to show readers the order of writes (Kingsbury, Alvaro: "Elle:
// Inferring Isolation Anomalies from Experimental Observations", 2020), so the graph of
// dependencies is found from the reads alone, and a cycle in it is a proof.

import LabCore

/// Judges histories.
package enum IsolationOracle {
  /// Judges a history.
  /// - Parameter history: The history.
  /// - Returns: Its anomalies, and the levels that it satisfies.
  /// - Throws: `LabError` with code `.usage` when a value is appended to a list twice.
  /// - Complexity: O(operations, values read, and transactions × log) without anomalies.
  package static func check(_ history: History) throws(LabError) -> IsolationReport {
    var orders = try VersionOrders(history)
    let lost = orders.findLostUpdates()
    let stale = orders.findStaleReads()
    let graph = DependencyGraph(orders)
    var search = CycleSearch(graph)
    search.search(lost: lost, stale: stale)
    for cycle in search.cycles {
      let words = CycleWords(cycle, graph, history)
      orders.tell(cycle.name, words.transactions, words.lines)
    }
    var report = IsolationReport(history)
    report.tookEffect = graph.transactionCount
    report.writeDependencies = graph.count(.write)
    report.readDependencies = graph.count(.read)
    report.antiDependencies = graph.count(.anti)
    report.isCutOff = search.isCutOff
    let counts = orders.counts
    report.counts = AnomalyName.allCases.compactMap { name in
      counts[name].map { AnomalyCount(name: name, count: $0) }
    }
    // Stable: anomalies of one level remain in the order in which they were found.
    report.anomalies = IsolationLevel.allCases.flatMap { level in
      orders.anomalies.filter { $0.level == level }
    }
    return report
  }
}

/// Describes a cycle in words.
private struct CycleWords {
  private(set) var transactions: [Int] = []
  private(set) var lines: [String] = []

  init(_ cycle: CycleSearch.Cycle, _ graph: DependencyGraph, _ history: History) {
    var steps: [(source: Int, edge: Dependency)] = []
    for index in cycle.edges {
      let edge = graph.edges[index]
      if Int(edge.source) < graph.transactionCount { steps.append((Int(edge.source), edge)) }
    }
    transactions = steps.map { graph.transactions[$0.source] }
    for (place, step) in steps.enumerated() {
      let next = steps[(place + 1) % steps.count].source
      let source = history.transactions[graph.transactions[step.source]]
      let target = history.transactions[graph.transactions[next]]
      lines.append(
        "\(source.name) comes before transaction \(target.number): "
          + Self.reason(step.edge, source, target))
    }
    lines.append("so each of these transactions comes before itself")
  }

  private static func reason(
    _ edge: Dependency, _ source: HistoryTransaction, _ target: HistoryTransaction
  ) -> String {
    switch edge.kind {
    case .write:
      "it appended \(edge.sourceValue) to list \(edge.list), and \(target.number) appended "
        + "\(edge.targetValue) after that (ww)"
    case .read:
      "it appended \(edge.sourceValue) to list \(edge.list), which \(target.number) read (wr)"
    case .anti:
      "it read list \(edge.list) with \(edge.sourceValue) values, and \(target.number) appended "
        + "\(edge.targetValue), which it did not see (rw)"
    case .session: "both ran in session \(source.session), in this order (session)"
    default:
      "it was over in line \(source.end ?? 0), and \(target.number) began in line "
        + "\(target.begin) (real time)"
    }
  }
}
