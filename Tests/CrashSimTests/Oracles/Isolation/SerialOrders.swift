// SerialOrders.swift: the definition itself, as slow as it is: a history is serializable when some
// order of its transactions, one after the other, gives every read. All orders are tried.

@testable import Oracles

/// Tries all orders of a small history.
struct SerialOrders {
  private let history: [HistoryTransaction]
  private let mayFollow: (HistoryTransaction, HistoryTransaction) -> Bool

  /// Whether some order explains the history, for one of the three serializable levels.
  static func explain(_ history: History, level: IsolationLevel) -> Bool {
    let orders = SerialOrders(history: history.transactions) { first, second in
      // Whether `second` may stand behind `first` in the order.
      switch level {
      case .strictSerializable:
        if let end = second.end, end < first.begin { return false }
        return !isEarlier(second, first)
      case .strongSessionSerializable: return !isEarlier(second, first)
      default: return true
      }
    }
    let lists: [Int: [Int]] = [:]
    return orders.extend(lists, used: [], order: [])
  }

  /// Whether a session ran one before the other.
  private static func isEarlier(
    _ one: HistoryTransaction, _ other: HistoryTransaction
  ) -> Bool {
    one.session == other.session && one.begin < other.begin && one.outcome == .committed
      && other.outcome == .committed
  }

  private init(
    history: [HistoryTransaction],
    mayFollow: @escaping (HistoryTransaction, HistoryTransaction) -> Bool
  ) {
    self.history = history
    self.mayFollow = mayFollow
  }

  private func extend(_ lists: [Int: [Int]], used: Set<Int>, order: [Int]) -> Bool {
    let isWhole = history.indices.allSatisfy {
      used.contains($0) || history[$0].outcome != .committed
    }
    if isWhole { return true }
    for index in history.indices where !used.contains(index) {
      let transaction = history[index]
      guard transaction.outcome != .aborted,
        order.allSatisfy({ mayFollow(history[$0], transaction) }),
        let after = Self.run(transaction, on: lists)
      else { continue }
      if extend(after, used: used.union([index]), order: order + [index]) { return true }
    }
    return false
  }

  /// What the lists are after a transaction; nil when it would have read something else.
  private static func run(
    _ transaction: HistoryTransaction, on lists: [Int: [Int]]
  ) -> [Int: [Int]]? {
    var lists = lists
    for operation in transaction.operations {
      switch operation {
      case .append(let list, let value): lists[list, default: []].append(value)
      case .read(let list, let values): if lists[list] ?? [] != values { return nil }
      }
    }
    return lists
  }
}
