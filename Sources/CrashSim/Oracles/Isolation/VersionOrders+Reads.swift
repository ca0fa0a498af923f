// VersionOrders+Reads.swift: the two anomalies that users know by name: a lost update, and a read
// that misses what was acknowledged before it began.

extension VersionOrders {
  /// A transaction's view of a list before its own appends.
  private struct View {
    let list: Int
    let count: Int
  }

  /// A transaction's views that fit the list's order, one for each read.
  private func views(of index: Int) -> [View] {
    var own: [Int: Int] = [:]
    var views: [View] = []
    for operation in history.transactions[index].operations {
      switch operation {
      case .append(let list, _): own[list, default: 0] += 1
      case .read(let list, let values):
        let seen = values.dropLast(own[list] ?? 0)
        guard let place = places[list], seen.count <= lists[place].observed.count,
          seen.elementsEqual(lists[place].observed.prefix(seen.count))
        else { continue }
        views.append(View(list: place, count: seen.count))
      }
    }
    return views
  }

  /// Reports pairs of transactions that appended to the version of a list that both had read.
  /// - Returns: The transactions, as indices into the history.
  /// - Complexity: O(operations and values read).
  mutating func findLostUpdates() -> [Int] {
    var updaters: [[Int: Int]] = Array(repeating: [:], count: lists.count)
    var found: [Int] = []
    for index in history.transactions.indices where tookEffect[index] {
      for (place, count, value) in updates(of: index) {
        guard let other = updaters[place].updateValue(index, forKey: count), other != index
        else { continue }
        found += [other, index]
        let transactions = history.transactions
        let seen = Self.text(Array(lists[place].observed.prefix(count)))
        tell(
          .lostUpdate, [other, index],
          [
            "\(transactions[other].name) read list \(lists[place].name) as \(seen) and appended "
              + "to it",
            "\(transactions[index].name) read the same and appended \(value)",
            "whichever came first, the other one must have read its append",
          ])
      }
    }
    return found
  }

  /// The lists that a transaction appended to after it had read them: index, count, value.
  private func updates(of index: Int) -> [(place: Int, count: Int, value: Int)] {
    var read: [Int: Int] = [:]
    var done: Set<Int> = []
    var updates: [(place: Int, count: Int, value: Int)] = []
    for operation in history.transactions[index].operations {
      switch operation {
      case .read(let list, let values):
        guard let place = places[list], read[place] == nil, !done.contains(place),
          values.count <= lists[place].observed.count,
          values.elementsEqual(lists[place].observed.prefix(values.count))
        else { continue }
        read[place] = values.count
      case .append(let list, let value):
        guard let place = places[list], done.insert(place).inserted, let count = read[place]
        else { continue }
        updates.append((place, count, value))
      }
    }
    return updates
  }

  /// Reads that miss appends that had ended before their transaction began.
  /// - Returns: The transactions, as indices into the history.
  /// - Complexity: O(operations and values read).
  mutating func findStaleReads() -> [Int] {
    let firsts = lists.map { firstEnds($0) }
    var found: [Int] = []
    for index in history.transactions.indices where tookEffect[index] {
      let begin = history.transactions[index].begin
      for view in views(of: index) {
        let first = firsts[view.list][view.count]
        guard first.end < begin else { continue }
        found += [index, first.transaction]
        let transactions = history.transactions
        tell(
          .staleRead, [index, first.transaction],
          [
            "\(transactions[first.transaction].name) appended \(first.value) to list "
              + "\(lists[view.list].name) and was over in line \(first.end)",
            "\(transactions[index].name) began after that and read the list without it: "
              + Self.text(Array(lists[view.list].observed.prefix(view.count))),
          ])
      }
    }
    return found
  }

  /// For each number of values seen, the unseen append that ended first.
  private func firstEnds(_ list: List) -> [(end: Int, transaction: Int, value: Int)] {
    var first = (end: Int.max, transaction: -1, value: 0)
    func take(_ value: Int) {
      guard let writer = list.writers[value]?.transaction, tookEffect[writer],
        let end = history.transactions[writer].end, end < first.end
      else { return }
      first = (end, writer, value)
    }
    for value in list.unobserved { take(value) }
    var firsts = [first]
    for value in list.observed.reversed() {
      take(value)
      firsts.append(first)
    }
    return firsts.reversed()
  }
}
