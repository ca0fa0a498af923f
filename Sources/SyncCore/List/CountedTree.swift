// CountedTree.swift: a sequence of items in which the n-th element of any lane is found, and the
// number of elements before an item, in O(log items). Items are never removed. Invariants: a node's
// counts are the sums of those below it; all leaves have the same depth; a leaf holds items, an
// inner node numbers of nodes.

/// A B+ tree over items; it holds their numbers, and the caller holds the items.
struct CountedTree {
  /// How many items or nodes a node holds.
  private static let slotsMax = 16

  private struct Node {
    /// -1 at the root.
    var parent: Int32 = -1
    var count = 0
    var isLeaf: Bool
    var sums = SIMD16<Int32>()
    var slots = SIMD16<Int32>()
  }

  private var nodes = [Node(isLeaf: true)]
  private var root: Int32 = 0

  /// All elements of a lane (0 to 7), or all places that it knows (8 to 15).
  func total(_ lane: Int) -> Int { Int(nodes[Int(root)].sums[lane]) }

  /// Adds to the counts of a leaf and of all nodes above it.
  mutating func add(_ weight: SIMD16<Int32>, to leaf: Int32) {
    var node = leaf
    while node >= 0 {
      nodes[Int(node)].sums &+= weight
      node = nodes[Int(node)].parent
    }
  }

  /// Inserts an item before or after another one; at the end when there is no other.
  mutating func insert(
    _ item: Int32, beside other: Int32?, isBehind: Bool, items: inout [ListItem]
  ) {
    var leaf = root
    var slot = 0
    if let other {
      leaf = items[Int(other)].leaf
      slot = position(of: other, in: leaf) + (isBehind ? 1 : 0)
    } else {
      while !nodes[Int(leaf)].isLeaf {
        leaf = nodes[Int(leaf)].slots[nodes[Int(leaf)].count - 1]
      }
      slot = nodes[Int(leaf)].count
    }
    if nodes[Int(leaf)].count == Self.slotsMax {
      let second = split(leaf, items: &items)
      let kept = nodes[Int(leaf)].count
      if slot > kept {
        leaf = second
        slot -= kept
      }
    }
    put(item, in: leaf, at: slot)
    items[Int(item)].leaf = leaf
    add(items[Int(item)].weight, to: leaf)
  }

  /// Finds the element of a lane with a number below the lane's total.
  /// - Returns: Its item, and its number among the lane's elements there.
  func select(_ number: Int, lane: Int, items: [ListItem]) -> (item: Int32, offset: Int)? {
    guard number >= 0, number < total(lane) else { return nil }
    var rest = Int32(number)
    var node = root
    while true {
      let here = nodes[Int(node)]
      var next: Int32 = -1
      for slot in 0..<here.count {
        let child = here.slots[slot]
        let sum =
          here.isLeaf ? items[Int(child)].weight[lane] : nodes[Int(child)].sums[lane]
        if rest < sum {
          next = child
          break
        }
        rest -= sum
      }
      precondition(next >= 0, "a count of the list's tree is wrong")
      if here.isLeaf { return (next, Int(rest)) }
      node = next
    }
  }

  /// The number of elements of a lane before an item.
  func rank(of item: Int32, lane: Int, items: [ListItem]) -> Int {
    var node = items[Int(item)].leaf
    var child = item
    var sum: Int32 = 0
    while node >= 0 {
      let here = nodes[Int(node)]
      for slot in 0..<here.count {
        let other = here.slots[slot]
        if other == child { break }
        sum &+= here.isLeaf ? items[Int(other)].weight[lane] : nodes[Int(other)].sums[lane]
      }
      child = node
      node = here.parent
    }
    return Int(sum)
  }

  /// All items in order.
  func sequence() -> [Int32] {
    var found: [Int32] = []
    var waiting = [root]
    while let node = waiting.popLast() {
      let here = nodes[Int(node)]
      if here.isLeaf {
        for slot in 0..<here.count { found.append(here.slots[slot]) }
      } else {
        for slot in (0..<here.count).reversed() { waiting.append(here.slots[slot]) }
      }
    }
    return found
  }

  /// Recomputes all counts.
  /// - Complexity: O(items).
  mutating func recount(_ items: [ListItem]) {
    // Children of a root that was split are older than it; so sums are updated leaf by leaf.
    for node in nodes.indices { nodes[node].sums = SIMD16() }
    for item in items where item.leaf >= 0 { nodes[Int(item.leaf)].sums &+= item.weight }
    for leaf in nodes.indices where nodes[leaf].isLeaf {
      var node = nodes[leaf].parent
      while node >= 0 {
        nodes[Int(node)].sums &+= nodes[leaf].sums
        node = nodes[Int(node)].parent
      }
    }
  }

  private func position(of child: Int32, in node: Int32) -> Int {
    let here = nodes[Int(node)]
    for slot in 0..<here.count where here.slots[slot] == child { return slot }
    preconditionFailure("a node of the list's tree does not hold its child")
  }

  private mutating func put(_ child: Int32, in node: Int32, at slot: Int) {
    var here = nodes[Int(node)]
    var index = here.count
    while index > slot {
      here.slots[index] = here.slots[index - 1]
      index -= 1
    }
    here.slots[slot] = child
    here.count += 1
    nodes[Int(node)] = here
  }

  /// Moves the second half of a full node to a new one after it.
  private mutating func split(_ node: Int32, items: inout [ListItem]) -> Int32 {
    // Room in the parent is made first, so that every sum is right before and after each step.
    if nodes[Int(node)].parent < 0 {
      raiseRoot()
    } else if nodes[Int(nodes[Int(node)].parent)].count == Self.slotsMax {
      _ = split(nodes[Int(node)].parent, items: &items)
    }
    let second = Int32(nodes.count)
    let kept = Self.slotsMax / 2
    var (low, high) = (nodes[Int(node)], Node(isLeaf: nodes[Int(node)].isLeaf))
    for slot in kept..<Self.slotsMax {
      let child = low.slots[slot]
      high.slots[slot - kept] = child
      if low.isLeaf {
        items[Int(child)].leaf = second
        high.sums &+= items[Int(child)].weight
      } else {
        nodes[Int(child)].parent = second
        high.sums &+= nodes[Int(child)].sums
      }
    }
    high.count = Self.slotsMax - kept
    low.count = kept
    low.sums &-= high.sums
    high.parent = low.parent
    nodes.append(high)
    nodes[Int(node)] = low
    put(second, in: low.parent, at: position(of: node, in: low.parent) + 1)
    return second
  }

  private mutating func raiseRoot() {
    var top = Node(isLeaf: false)
    top.count = 1
    top.slots[0] = root
    top.sums = nodes[Int(root)].sums
    nodes[Int(root)].parent = Int32(nodes.count)
    root = Int32(nodes.count)
    nodes.append(top)
  }
}
