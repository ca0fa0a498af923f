// InnerBuilder.swift: the inner nodes of a tree whose leaves are added in key order, built
// bottom-up. Invariants: every node but the last two of a level is full, and those two differ by
// one child at most; at most two nodes' worth of children per level are held.

/// Builds inner nodes over leaves that are added in order of their first keys.
struct InnerBuilder<Key> {
  private struct Child {
    let firstKey: Key
    let link: NodeLink
  }

  /// Children of the nodes of level i + 1.
  private var waiting: [[Child]] = []
  private let childCountMax: Int

  /// Adds an inner node to the file.
  typealias Sink = (_ level: Int, _ separators: [Key], _ links: [NodeLink]) throws(EngineError)
    -> NodeLink

  init(childCountMax: Int) {
    precondition(childCountMax > 1, "a tree branches")
    self.childCountMax = childCountMax
  }

  /// Adds the next leaf.
  mutating func add(
    _ leaf: NodeLink, firstKey: Key, _ sink: Sink
  ) throws(EngineError) {
    try add(Child(firstKey: firstKey, link: leaf), below: 0, sink)
  }

  private mutating func add(
    _ child: Child, below index: Int, _ sink: Sink
  ) throws(EngineError) {
    var child = child
    var index = index
    while true {
      precondition(index <= Layout.levelMax, "leaves of a file never need more levels")
      if index == waiting.count { waiting.append([]) }
      waiting[index].append(child)
      guard waiting[index].count == 2 * childCountMax else { return }
      child = try node(of: childCountMax, at: index, sink)
      index += 1
    }
  }

  private mutating func node(
    of count: Int, at index: Int, _ sink: Sink
  ) throws(EngineError) -> Child {
    let children = waiting[index].prefix(count)
    let link = try sink(index + 1, children.dropFirst().map(\.firstKey), children.map(\.link))
    let made = Child(firstKey: children[0].firstKey, link: link)
    waiting[index].removeFirst(count)
    return made
  }

  /// Makes the rest.
  /// - Returns: The root and its level, or none without leaves.
  mutating func finish(_ sink: Sink) throws(EngineError) -> (root: NodeLink, level: Int) {
    var index = 0
    while index < waiting.count {
      let count = waiting[index].count
      if count == 1, index == waiting.count - 1 { return (waiting[index][0].link, index) }
      if count > childCountMax {
        try add(node(of: (count + 1) / 2, at: index, sink), below: index + 1, sink)
      }
      try add(
        node(of: waiting[index].count, at: index, sink), below: index + 1, sink)
      index += 1
    }
    return (.none, 0)
  }
}
