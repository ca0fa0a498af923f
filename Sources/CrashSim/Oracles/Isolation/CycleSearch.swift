// CycleSearch.swift: finds the shortest cycle of each kind in each strongly connected component.
// Classes are searched from the weakest level to the strongest, so that the reported cycle of a
// component violates the weakest level; a component with a reported cycle is not searched again.
// Invariant: work is bounded: a component whose search for a class exceeds the budget gives the
// shortest cycle found so far, and sets `isCutOff`.

/// Finds cycles in a graph.
struct CycleSearch {
  /// A kind of cycle.
  struct CycleClass {
    let name: AnomalyName
    /// The kinds of the first edge.
    let first: DependencyKinds
    /// The kinds of all other edges.
    let others: DependencyKinds
    /// True: no two anti-dependencies are adjacent.
    var isNonadjacent = false
  }

  /// A cycle, as indices of edges; the first one starts at the first transaction.
  struct Cycle {
    let name: AnomalyName
    let edges: [Int]
  }

  private let graph: DependencyGraph
  private(set) var cycles: [Cycle] = []
  private(set) var isCutOff = false
  private var explained: [Bool]
  // State of one search; a stamp tells which search an entry belongs to.
  private var stamps: [Int32]
  private var parents: [Int32]
  private var stamp: Int32 = 0
  private var budget = 0

  /// Most edges visited for one class in one component.
  static let budgetPerComponent = 4_000_000

  init(_ graph: DependencyGraph) {
    self.graph = graph
    explained = [Bool](repeating: false, count: graph.nodeCount)
    stamps = [Int32](repeating: 0, count: 2 * graph.nodeCount)
    parents = [Int32](repeating: -1, count: 2 * graph.nodeCount)
  }

  private static func classes(
    _ names: [AnomalyName], with order: DependencyKinds
  ) -> [CycleClass] {
    let flow: DependencyKinds = [.write, .read]
    let all = flow.union(.anti).union(order)
    return [
      CycleClass(name: names[0], first: .write, others: order.union(.write)),
      CycleClass(name: names[1], first: .read, others: order.union(flow)),
      CycleClass(name: names[2], first: .anti, others: order.union(flow)),
      CycleClass(name: names[3], first: .anti, others: all, isNonadjacent: true),
      CycleClass(name: names[4], first: .anti, others: all),
    ]
  }

  private static let plain = classes(
    [
      .writeCycle, .circularFlow, .singleAntiDependency, .nonadjacentAntiDependencies,
      .antiDependencyCycle,
    ], with: [])
  private static let process = classes(
    [
      .writeCycleProcess, .circularFlowProcess, .singleAntiDependencyProcess,
      .nonadjacentAntiDependenciesProcess, .antiDependencyCycleProcess,
    ], with: .session)
  private static let realtime = classes(
    [
      .writeCycleRealtime, .circularFlowRealtime, .singleAntiDependencyRealtime,
      .nonadjacentAntiDependenciesRealtime, .antiDependencyCycleRealtime,
    ], with: [.session, .time])

  /// Searches all classes.
  /// - Parameters:
  ///   - lost: Transactions in lost updates, whose cycles need not be reported as well.
  ///   - stale: Transactions in stale reads.
  /// - Complexity: O(nodes and edges) for each class while there is no cycle.
  mutating func search(lost: [Int], stale: [Int]) {
    for classes in [Self.plain, Self.process, Self.realtime] {
      if classes[0].name == .writeCycleRealtime { explain(stale) }
      // One pass finds whether there is any cycle.
      guard hasCycle(by: classes[4].first.union(classes[4].others)) else { continue }
      for kind in classes {
        if kind.name == .singleAntiDependency { explain(lost) }
        search(kind)
      }
    }
  }

  private mutating func explain(_ transactions: [Int]) {
    for index in transactions {
      if let node = graph.node(of: index) { explained[node] = true }
    }
  }

  private func hasCycle(by kinds: DependencyKinds) -> Bool {
    StrongComponents(graph, by: kinds).sizes.contains { $0 > 1 }
  }

  private mutating func search(_ kind: CycleClass) {
    let components = StrongComponents(graph, by: kind.first.union(kind.others))
    var isExplained = [Bool](repeating: false, count: components.sizes.count)
    for node in 0..<graph.nodeCount where explained[node] {
      isExplained[Int(components.component[node])] = true
    }
    var starts: [[Int]] = Array(repeating: [], count: components.sizes.count)
    for (index, edge) in graph.edges.enumerated() where edge.kind == kind.first {
      let component = Int(components.component[Int(edge.source)])
      guard components.sizes[component] > 1, !isExplained[component],
        component == Int(components.component[Int(edge.target)])
      else { continue }
      starts[component].append(index)
    }
    var found = [Bool](repeating: false, count: components.sizes.count)
    for (component, edges) in starts.enumerated() where !edges.isEmpty {
      budget = Self.budgetPerComponent
      var best: [Int]?
      for edge in edges {
        if budget <= 0 { isCutOff = true }
        if budget <= 0 || best?.count == 2 { break }
        let limit = best.map { stepCount($0) } ?? Int.max
        if let path = shortest(closing: edge, kind, in: components, below: limit) { best = path }
      }
      guard let best else { continue }
      cycles.append(Cycle(name: kind.name, edges: best))
      found[component] = true
    }
    for node in 0..<graph.nodeCount where found[Int(components.component[node])] {
      explained[node] = true
    }
  }

  /// The shortest path from an edge's end to its start, and the edge before it.
  ///
  /// Edges between moments cost nothing, nor does leaving one: a step in time counts once. A state
  /// is a node and whether an anti-dependency led to it, where that matters.
  private mutating func shortest(
    closing first: Int, _ kind: CycleClass, in components: StrongComponents, below limit: Int
  ) -> [Int]? {
    stamp += 1
    let goal = Int(graph.edges[first].source)
    let root = Int(graph.edges[first].target)
    let component = components.component[root]
    let rootState = kind.isNonadjacent ? 2 * root + 1 : 2 * root
    var level = [rootState]
    var next: [Int] = []
    stamps[rootState] = stamp
    parents[rootState] = -1
    var steps = 1
    while !level.isEmpty, steps + 1 < limit {
      while let state = level.popLast() {
        let node = state / 2
        for index in graph.starts[node]..<graph.starts[node + 1] {
          budget -= 1
          let edge = graph.edges[index]
          let target = Int(edge.target)
          guard kind.others.contains(edge.kind), components.component[target] == component
          else { continue }
          let isAnti = kind.isNonadjacent && edge.kind == .anti
          if isAnti, state % 2 == 1 || target == goal { continue }
          let reached = 2 * target + (isAnti ? 1 : 0)
          guard stamps[reached] != stamp else { continue }
          stamps[reached] = stamp
          parents[reached] = Int32(index) << 1 | Int32(state % 2)
          if target == goal { return way(to: reached, from: rootState, first) }
          if node >= graph.transactionCount { level.append(reached) } else { next.append(reached) }
        }
      }
      swap(&level, &next)
      steps += 1
      if budget <= 0 { return nil }
    }
    return nil
  }

  /// Number of steps between transactions; a step through moments counts once.
  private func stepCount(_ edges: [Int]) -> Int {
    edges.count { Int(graph.edges[$0].source) < graph.transactionCount }
  }

  private func way(to end: Int, from root: Int, _ first: Int) -> [Int] {
    var edges: [Int] = []
    var state = end
    while state != root {
      let parent = Int(parents[state])
      edges.append(parent >> 1)
      state = 2 * Int(graph.edges[parent >> 1].source) + (parent & 1)
    }
    edges.append(first)
    return edges.reversed()
  }
}
