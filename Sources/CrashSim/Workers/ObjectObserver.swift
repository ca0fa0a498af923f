// ObjectObserver.swift [U]: an observer of a query's results, which keeps what it has heard.
// Invariant: it is used on the thread of its realm only, which is where it is called.

import Findings
import ObjectDatabase
import Oracles

/// An observer, as the session sees it.
protocol ObjectObserver: Sendable {
  /// The first promise that a call has broken, or that no call came where one is due: at a refresh.
  func judge(isRefreshed: Bool) -> Violation?
}

/// An observer of results.
// Safety: see the invariant; the session calls it on the actor's thread.
final class ResultsObserver<Element: Object>: ObjectObserver, @unchecked Sendable {
  private let results: Results<Element>
  private let text: (Element) -> String
  private var token: NotificationToken?
  /// What the calls came to; nil before the first.
  private var heard: [String]?
  private var violation: Violation?

  /// Starts to observe.
  /// - Parameters:
  ///   - results: What.
  ///   - text: An element in words; equal when the element is.
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
