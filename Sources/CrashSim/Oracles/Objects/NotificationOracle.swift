// NotificationOracle.swift: applying the changes reported to an observer to the previous content of
// the collection gives its current content.

import Findings

package enum NotificationOracle {
  /// The changes of one call, positions ascending.
  package struct Change: Sendable, Hashable {
    var deletions: [Int]
    var insertions: [Int]
    var modifications: [Int]

    package init(deletions: [Int], insertions: [Int], modifications: [Int]) {
      self.deletions = deletions
      self.insertions = insertions
      self.modifications = modifications
    }
  }

  /// `before` and `now` are the collection's elements as texts.
  package static func judge(_ change: Change, before: [String], now: [String]) -> Violation? {
    var replayed = before
    for position in change.deletions.reversed() {
      guard replayed.indices.contains(position) else {
        return broken("deletion \(position) of \(replayed.count) elements", change)
      }
      replayed.remove(at: position)
    }
    for position in change.insertions {
      guard position >= 0, position <= replayed.count, now.indices.contains(position) else {
        return broken("insertion \(position) among \(replayed.count) elements", change)
      }
      replayed.insert(now[position], at: position)
    }
    for position in change.modifications {
      guard replayed.indices.contains(position), now.indices.contains(position) else {
        return broken("modification \(position) of \(replayed.count) elements", change)
      }
      replayed[position] = now[position]
    }
    return judge(replayed: replayed, now: now, change)
  }

  /// Replaying all changes reported so far must give the collection's content.
  package static func judge(replayed: [String], now: [String], _ change: Change? = nil)
    -> Violation?
  {
    guard replayed != now else { return nil }
    let place = zip(replayed, now).enumerated().first { $0.element.0 != $0.element.1 }
    let what = place.map { "element \($0.offset) is '\($0.element.1)', not '\($0.element.0)'" }
    return broken(what ?? "it has \(now.count) elements, not \(replayed.count)", change)
  }

  private static func broken(_ what: String, _ change: Change?) -> Violation {
    let told = change.map {
      " (reported: deleted \($0.deletions), inserted \($0.insertions), "
        + "modified \($0.modifications))"
    }
    return Violation(
      .notifications, promised: "reported changes lead from the old contents to the new ones",
      got: what + (told ?? ""))
  }
}
