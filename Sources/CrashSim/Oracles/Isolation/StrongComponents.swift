// StrongComponents.swift: the strongly connected components of a dependency graph (Tarjan, "Depth-
// First Search and Linear Graph Algorithms", 1972), without recursion.
// Invariant: two nodes have the same component exactly if each can be reached from the other by
// edges of the chosen kinds.

/// The components of a graph.
struct StrongComponents {
  /// The component of each node.
  let component: [Int32]
  /// The number of transactions in each component, without moments.
  let sizes: [Int]

  /// Finds the components by edges of some kinds.
  /// - Complexity: O(nodes and edges).
  init(_ graph: DependencyGraph, by kinds: DependencyKinds) {
    let count = graph.nodeCount
    var component = [Int32](repeating: -1, count: count)
    var sizes: [Int] = []
    var order = [Int32](repeating: -1, count: count)
    var low = [Int32](repeating: 0, count: count)
    var nextEdge = [Int](repeating: 0, count: count)
    var path: [Int] = []
    var open: [Int] = []
    var visited: Int32 = 0
    for root in 0..<count where order[root] < 0 {
      path.append(root)
      while let node = path.last {
        if order[node] < 0 {
          order[node] = visited
          low[node] = visited
          visited += 1
          nextEdge[node] = graph.starts[node]
          open.append(node)
        }
        var descended = false
        while nextEdge[node] < graph.starts[node + 1] {
          let edge = nextEdge[node]
          nextEdge[node] += 1
          guard kinds.contains(graph.edges[edge].kind) else { continue }
          let target = Int(graph.edges[edge].target)
          if order[target] < 0 {
            path.append(target)
            descended = true
            break
          }
          if component[target] < 0 { low[node] = min(low[node], order[target]) }
        }
        if descended { continue }
        path.removeLast()
        if let parent = path.last { low[parent] = min(low[parent], low[node]) }
        guard low[node] == order[node] else { continue }
        var size = 0
        while let member = open.popLast() {
          component[member] = Int32(sizes.count)
          if member < graph.transactionCount { size += 1 }
          if member == node { break }
        }
        sizes.append(size)
      }
    }
    self.component = component
    self.sizes = sizes
  }
}
