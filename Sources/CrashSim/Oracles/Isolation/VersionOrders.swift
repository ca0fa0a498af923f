// VersionOrders.swift: for each list the order in which its values were appended, as far as reads
// show it; and reads that no order can explain: garbage, duplicate, incompatible, dirty and
// intermediate reads.
// Invariants: `observed` of a list is its longest read by a transaction that took effect; values
// that such a transaction appended and none read come after all that were read. A transaction of
// unknown outcome took effect if one that took effect read a value of it.

import LabCore

/// The orders of lists inferred from reads.
struct VersionOrders {
  /// The transaction that appended a value.
  struct Writer {
    let transaction: Int
    /// Whether the transaction appends to the list again.
    let isIntermediate: Bool
  }

  /// One list.
  struct List {
    let name: Int
    var writers: [Int: Writer] = [:]
    /// Values in the order of their appends.
    var observed: [Int] = []
    /// The transaction with the longest read, for messages.
    var reader = -1
    /// Values appended with effect but never read, in the order of the file.
    var unobserved: [Int] = []
  }

  let history: History
  private(set) var lists: [List] = []
  private(set) var places: [Int: Int] = [:]
  /// Whether a transaction took effect.
  private(set) var tookEffect: [Bool]
  private(set) var anomalies: [HistoryAnomaly] = []

  /// Most anomalies of one name that are reported.
  static let toldMax = 8
  private var told: [AnomalyName: Int] = [:]

  /// Infers the orders of a history.
  /// - Throws: `LabError` with code `.usage` when a value is appended to a list twice.
  /// - Complexity: O(operations and values read).
  init(_ history: History) throws(LabError) {
    self.history = history
    tookEffect = history.transactions.map { $0.outcome == .committed }
    try collectWriters()
    spreadEffects()
    for index in history.transactions.indices where tookEffect[index] { judgeReads(of: index) }
    collectUnobserved()
  }

  private mutating func place(of list: Int) -> Int {
    if let place = places[list] { return place }
    places[list] = lists.count
    lists.append(List(name: list))
    return lists.count - 1
  }

  private mutating func collectWriters() throws(LabError) {
    for (index, transaction) in history.transactions.enumerated() {
      var last: [Int: Int] = [:]
      for case .append(let list, let value) in transaction.operations { last[list] = value }
      for operation in transaction.operations {
        switch operation {
        case .read(let list, _): _ = place(of: list)
        case .append(let list, let value):
          let place = place(of: list)
          if let other = lists[place].writers[value] {
            throw .usage(
              "transactions \(history.transactions[other.transaction].number) and "
                + "\(transaction.number) both append \(value) to list \(list): values of a list "
                + "must differ, else reads do not show which came first")
          }
          lists[place].writers[value] = Writer(
            transaction: index, isIntermediate: last[list] != value)
        }
      }
    }
  }

  /// Finds the transactions of unknown outcome that took effect.
  private mutating func spreadEffects() {
    var waiting = history.transactions.indices.filter { tookEffect[$0] }
    while let index = waiting.popLast() {
      for case .read(let list, let values) in history.transactions[index].operations {
        guard let place = places[list] else { continue }
        for value in values {
          guard let writer = lists[place].writers[value]?.transaction, !tookEffect[writer],
            history.transactions[writer].outcome == .unknown
          else { continue }
          tookEffect[writer] = true
          waiting.append(writer)
        }
      }
    }
  }

  // MARK: - Reads

  private func name(_ index: Int) -> String { history.transactions[index].name }

  mutating func tell(_ name: AnomalyName, _ transactions: [Int], _ lines: [String]) {
    told[name, default: 0] += 1
    guard told[name, default: 0] <= Self.toldMax else { return }
    anomalies.append(
      HistoryAnomaly(
        name: name, transactions: transactions.map { history.transactions[$0].number },
        lines: lines))
  }

  /// The count of anomalies of each name, reported or not.
  var counts: [AnomalyName: Int] { told }

  private mutating func judgeReads(of index: Int) {
    var seen: [Int: [Int]] = [:]
    var appended: [Int: [Int]] = [:]
    for operation in history.transactions[index].operations {
      switch operation {
      case .append(let list, let value):
        appended[list, default: []].append(value)
        seen[list]?.append(value)
      case .read(let list, let values):
        judge(values, of: list, by: index)
        let own = appended[list] ?? []
        if let expected = seen[list] {
          if expected != values {
            tell(
              .internalRead, [index],
              [
                "\(name(index)) read list \(list) as \(Self.text(values)), where by its own "
                  + "reads and appends it is \(Self.text(expected))"
              ])
          }
        } else if !values.suffix(own.count).elementsEqual(own) {
          tell(
            .internalRead, [index],
            [
              "\(name(index)) appended \(Self.text(own)) to list \(list) and then read it as "
                + Self.text(values)
            ])
        }
        seen[list] = values
      }
    }
  }

  /// Checks one read and adds it.
  private mutating func judge(_ values: [Int], of list: Int, by index: Int) {
    guard let place = places[list] else { return }
    var known: Set<Int> = []
    for value in values {
      if !known.insert(value).inserted {
        tell(
          .duplicateRead, [index],
          ["\(name(index)) read list \(list) with \(value) in it twice: \(Self.text(values))"])
      }
      guard let writer = lists[place].writers[value] else {
        tell(
          .garbageRead, [index],
          ["\(name(index)) read \(value) in list \(list), which no transaction appended to it"])
        continue
      }
      if history.transactions[writer.transaction].outcome == .aborted, writer.transaction != index {
        tell(
          .abortedRead, [index, writer.transaction],
          [
            "\(name(index)) read \(value) in list \(list), which \(name(writer.transaction)) "
              + "appended, and that was aborted"
          ])
      }
    }
    if let last = values.last, let writer = lists[place].writers[last], writer.isIntermediate,
      writer.transaction != index
    {
      tell(
        .intermediateRead, [index, writer.transaction],
        [
          "\(name(index)) read list \(list) up to \(last), which \(name(writer.transaction)) "
            + "appended before it appended more to the list"
        ])
    }
    compare(values, at: place, by: index)
  }

  /// Lists only grow, so of two reads one must be a prefix of the other.
  private mutating func compare(_ values: [Int], at place: Int, by index: Int) {
    let known = lists[place].observed
    let common = min(values.count, known.count)
    if let differing = (0..<common).first(where: { values[$0] != known[$0] }) {
      tell(
        .incompatibleReads, [lists[place].reader, index],
        [
          "\(name(lists[place].reader)) read list \(lists[place].name) as \(Self.text(known))",
          "\(name(index)) read it as \(Self.text(values))",
          "a list only grows, but they differ at place \(differing + 1)",
        ])
    } else if values.count > known.count {
      lists[place].observed = values
      lists[place].reader = index
    }
  }

  /// Most values in a message.
  private static let valuesMax = 24

  /// A list as text, abbreviated in the middle when it is long.
  static func text(_ values: [Int]) -> String {
    guard values.count > valuesMax else {
      return "[\(values.map { "\($0)" }.joined(separator: ", "))]"
    }
    let first = values.prefix(valuesMax / 2).map { "\($0)" }.joined(separator: ", ")
    let last = values.suffix(valuesMax / 2).map { "\($0)" }.joined(separator: ", ")
    return "[\(first), … \(values.count - valuesMax / 2 * 2) more …, \(last)]"
  }

  private mutating func collectUnobserved() {
    var observed = lists.map { Set($0.observed) }
    for (index, transaction) in history.transactions.enumerated() where tookEffect[index] {
      for case .append(let list, let value) in transaction.operations {
        guard let place = places[list], observed[place].insert(value).inserted else { continue }
        lists[place].unobserved.append(value)
      }
    }
    judgeOwnOrders()
  }

  /// A transaction's appends to a list take effect in its order, and those that were never read
  /// follow those that were.
  private mutating func judgeOwnOrders() {
    let positions = lists.map { list in
      Dictionary(
        zip(list.observed, list.observed.indices), uniquingKeysWith: { first, _ in first })
    }
    for (index, transaction) in history.transactions.enumerated() where tookEffect[index] {
      var last: [Int: (value: Int, position: Int)] = [:]
      for case .append(let list, let value) in transaction.operations {
        guard let place = places[list] else { continue }
        let position = positions[place][value] ?? Int.max
        if let before = last[place], position < before.position {
          tell(
            .reorderedAppends, [index],
            [
              "\(transaction.name) appended \(before.value) and then \(value) to list \(list)",
              "the list was read as \(Self.text(lists[place].observed))",
            ])
        }
        last[place] = (value, position)
      }
    }
  }
}

extension HistoryTransaction {
  /// Name for messages.
  var name: String { "transaction \(number) (line \(begin))" }
}
