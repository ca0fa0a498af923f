// ObjectObserver.swift [U]: an observer of a query's results, which keeps the reported changes.
// Invariant: it is used only on the thread of its realm, on which it is called.

import Findings
import ObjectDatabase
import Oracles

/// An observer, as seen by the session.
protocol ObjectObserver: Sendable {
  /// The first promise that a call broke, or that a required call is missing after a refresh.
  func judge(isRefreshed: Bool) -> Violation?
}

/// An observer of results.
// Safety: see the invariant; the session calls it on the actor's thread.
final class ResultsObserver<Element: Object>: ObjectObserver, @unchecked Sendable {
  private let results: Results<Element>
  private let text: (Element) -> String
  private var token: NotificationToken?
  /// The content according to the calls; nil before the first.
  private var heard: [String]?
  private var violation: Violation?

  /// Starts to observe.
  /// - Parameters:
  ///   - results: The results to observe.
  ///   - text: An element in words; equal if and only if the elements are.
  init(_ results: Results<Element>, text: @escaping (Element) -> String) {
    self.results = results
    self.text = text
    token = results.observe { [unowned self] change in hear(change) }
  }

  private func hear(_ change: RealmCollectionChange<Results<Element>>) {
    switch change {
    case .initial(let collection): heard = collection.map(text)
    case .update(let collection, let deletions, let insertions, let modifications):
      let now = collection.map(text)
      let told = NotificationOracle.Change(
        deletions: deletions, insertions: insertions, modifications: modifications)
      violation = violation ?? NotificationOracle.judge(told, before: heard ?? [], now: now)
      heard = now
    case .error(let error):
      violation =
        violation
        ?? Violation(
          .notifications, promised: "changes are found", got: "an observer got the error: \(error)")
    }
  }

  func judge(isRefreshed: Bool) -> Violation? {
    if let violation { return violation }
    guard heard != nil || isRefreshed else { return nil }
    return NotificationOracle.judge(replayed: heard ?? ["nothing"], now: results.map(text))
  }
}
