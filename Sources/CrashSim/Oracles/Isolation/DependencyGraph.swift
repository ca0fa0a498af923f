// DependencyGraph.swift: which transactions must precede which: write, read and anti-dependencies,
// the order of sessions, and the order of time.
// Invariants: nodes 0..<transactionCount are the transactions that took effect, in the order of
// their begins; the rest are moments, one after each acknowledged end, in a chain. So the order of
// time costs O(transactions) edges, however many ran concurrently.

/// Why one transaction precedes another.
struct DependencyKinds: OptionSet, Hashable {
  let rawValue: UInt8

  /// It appended the value directly before that of the other.
  static let write = DependencyKinds(rawValue: 1)
  /// The other read its value as the last one of a list.
  static let read = DependencyKinds(rawValue: 2)
  /// The other appended a value that it did not see yet.
  static let anti = DependencyKinds(rawValue: 4)
  /// The other is later in its session.
  static let session = DependencyKinds(rawValue: 8)
  /// It had ended before the other began.
  static let time = DependencyKinds(rawValue: 16)
}

/// One dependency.
struct Dependency {
  let source: Int32
  let target: Int32
  let kind: DependencyKinds
  /// The list, for a dependency through a list.
  var list = 0
  /// The source's value; for an anti-dependency, the number of values that the source saw.
  var sourceValue = 0
  /// The target's value.
  var targetValue = 0
}

/// The dependencies of a history.
struct DependencyGraph {
  /// Indices, in the history, of the transactions that took effect.
  let transactions: [Int]
  let nodeCount: Int
  /// Sorted by source.
  let edges: [Dependency]
  /// Edges of node `n` are `edges[starts[n]..<starts[n + 1]]`.
  let starts: [Int]

  var transactionCount: Int { transactions.count }

  /// Builds the graph.
  /// - Complexity: O(operations, values in the lists, and transactions × log).
  init(_ orders: VersionOrders) {
    var builder = Builder(orders)
    builder.addLists()
    builder.addSessions()
    builder.addTimes()
    transactions = builder.transactions
    nodeCount = builder.nodeCount
    let count = builder.nodeCount
    var starts = [Int](repeating: 0, count: count + 1)
    for edge in builder.edges { starts[Int(edge.source) + 1] += 1 }
    for node in 0..<count { starts[node + 1] += starts[node] }
    var next = starts
    var order = [Int](repeating: 0, count: builder.edges.count)
    for (index, edge) in builder.edges.enumerated() {
      order[next[Int(edge.source)]] = index
      next[Int(edge.source)] += 1
    }
    edges = order.map { builder.edges[$0] }
    self.starts = starts
  }

  /// The node of a transaction of the history; nil when it had no effect.
  func node(of index: Int) -> Int? {
    let node = transactions.partitioningIndex { $0 >= index }
    return node < transactions.count && transactions[node] == index ? node : nil
  }

  /// Number of dependencies of a kind.
  func count(_ kind: DependencyKinds) -> Int { edges.count { $0.kind == kind } }
}

extension DependencyGraph {
  /// Collects the edges.
  private struct Builder {
    let orders: VersionOrders
    let transactions: [Int]
    var nodeCount: Int
    var edges: [Dependency] = []
    /// The node of each transaction of the history, or -1.
    private var nodes: [Int32]

    init(_ orders: VersionOrders) {
      self.orders = orders
      transactions = orders.tookEffect.indices.filter { orders.tookEffect[$0] }
      nodes = [Int32](repeating: -1, count: orders.tookEffect.count)
      for (node, index) in transactions.enumerated() { nodes[index] = Int32(node) }
      nodeCount = transactions.count
    }

    private mutating func add(
      _ source: Int32, _ target: Int32, _ kind: DependencyKinds, list: Int = 0,
      _ sourceValue: Int = 0, _ targetValue: Int = 0
    ) {
      guard source != target, source >= 0, target >= 0 else { return }
      edges.append(
        Dependency(
          source: source, target: target, kind: kind, list: list, sourceValue: sourceValue,
          targetValue: targetValue))
    }

    /// The node of the transaction that appended a value; -1 if none that took effect did.
    private func writer(of value: Int, _ list: VersionOrders.List) -> Int32 {
      list.writers[value].map { nodes[$0.transaction] } ?? -1
    }

    mutating func addLists() {
      // For each list, the transactions that appended the values that were read.
      let writers = orders.lists.map { list in list.observed.map { writer(of: $0, list) } }
      for (place, list) in orders.lists.enumerated() {
        var last: (node: Int32, value: Int)?
        for (value, node) in zip(list.observed, writers[place]) where node >= 0 {
          if let last { add(last.node, node, .write, list: list.name, last.value, value) }
          last = (node, value)
        }
        guard let last else { continue }
        for value in list.unobserved {
          add(last.node, writer(of: value, list), .write, list: list.name, last.value, value)
        }
      }
      for index in transactions {
        var own: [Int: Int] = [:]
        for operation in orders.history.transactions[index].operations {
          switch operation {
          case .append(let list, _): own[list, default: 0] += 1
          case .read(let list, let values):
            addRead(
              of: list, seeing: values.dropLast(own[list] ?? 0), by: nodes[index], writers)
          }
        }
      }
    }

    /// Adds the transactions before and after a reader.
    private mutating func addRead(
      of name: Int, seeing values: ArraySlice<Int>, by reader: Int32, _ writers: [[Int32]]
    ) {
      guard let place = orders.places[name] else { return }
      let list = orders.lists[place]
      let count = values.count
      // An incompatible read is reported separately and has no place in the order.
      guard count <= list.observed.count, values.elementsEqual(list.observed.prefix(count))
      else { return }
      if let last = (0..<count).last(where: { writers[place][$0] >= 0 }) {
        add(writers[place][last], reader, .read, list: name, list.observed[last], 0)
      }
      let next = (count..<list.observed.count).first { writers[place][$0] >= 0 }
      if let next {
        add(reader, writers[place][next], .anti, list: name, count, list.observed[next])
      } else {
        for value in list.unobserved {
          add(reader, writer(of: value, list), .anti, list: name, count, value)
        }
      }
    }

    mutating func addSessions() {
      var last: [Int: Int32] = [:]
      for (node, index) in transactions.enumerated() {
        let transaction = orders.history.transactions[index]
        // If its client does not know the end, it may take effect after the session's next one.
        guard transaction.outcome == .committed else { continue }
        if let before = last[transaction.session] { add(before, Int32(node), .session) }
        last[transaction.session] = Int32(node)
      }
    }

    mutating func addTimes() {
      let history = orders.history.transactions
      let ended = transactions.indices.filter { history[transactions[$0]].end != nil }
        .map { (end: history[transactions[$0]].end ?? 0, node: $0) }
        .sorted { ($0.end, $0.node) < ($1.end, $1.node) }
      let first = Int32(nodeCount)
      nodeCount += ended.count
      for (index, moment) in ended.enumerated() {
        add(Int32(moment.node), first + Int32(index), .time)
        if index > 0 { add(first + Int32(index) - 1, first + Int32(index), .time) }
      }
      var passed = 0
      for (node, index) in transactions.enumerated() {
        while passed < ended.count, ended[passed].end < history[index].begin { passed += 1 }
        if passed > 0 { add(first + Int32(passed) - 1, Int32(node), .time) }
      }
    }
  }
}

extension [Int] {
  /// The first index that fulfils a monotonic condition: if an index fulfils it, all later ones do.
  fileprivate func partitioningIndex(where holds: (Int) -> Bool) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = low + (high - low) / 2
      if holds(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
