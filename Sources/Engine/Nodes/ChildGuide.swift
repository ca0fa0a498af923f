// ChildGuide.swift: what an inner node in memory stores about its children besides their links: the
// keys that separate them, or the number of elements of each. Invariant: a guide and the children
// of its node change together.

/// The target of a descent, relative to one node on its path.
protocol TreePosition {
  /// How many elements are below the node, when its parent counts them.
  var elementCount: UInt64? { get }
}

/// Leads from an inner node to its children.
protocol ChildGuide {
  associatedtype Position: TreePosition
  /// What a parent records about a new right neighbour.
  associatedtype Mark
  /// Whether nodes know how many elements their children have, so that `grow` is to be called.
  static var countsElements: Bool { get }

  /// Makes the guide of a new root over the old one and its new right neighbours.
  /// - Parameters:
  ///   - position: Where the descent started.
  ///   - difference: How many elements it added.
  ///   - marks: One for each neighbour.
  init(over position: Position, grownBy difference: Int, _ marks: [Mark])
  /// The child that contains a position, and the position relative to that child.
  func step(from position: Position) -> (child: Int, position: Position)
  /// How many elements a child has, when the guide counts them.
  func elementCount(of child: Int) -> UInt64?
  /// A child has more elements now, or fewer.
  mutating func grow(_ child: Int, by difference: Int)
  /// Elements of a child have moved to new right neighbours.
  mutating func insert(_ marks: [Mark], behind child: Int)
  mutating func remove(_ child: Int)
  /// Called when a child has taken over the content of its right neighbour.
  mutating func join(_ left: Int)
  /// Adds the children of the right neighbour; in `parent`, this node is the child at `left`.
  mutating func append(_ right: Self, _ parent: Self, at left: Int)
  /// Cuts off the children from `cut` on.
  mutating func split(at cut: Int) -> (mark: Mark, right: Self)
}

/// A key, and the bounds of the node that a descent to it has reached.
struct KeyPosition<Key: Comparable>: TreePosition {
  let key: Key
  /// The first key that belongs to the node; nil when there is no bound.
  let lower: Key?
  /// The first key after the node's; nil when there is no bound.
  let upper: Key?

  @inline(__always)
  init(_ key: Key, lower: Key? = nil, upper: Key? = nil) {
    (self.key, self.lower, self.upper) = (key, lower, upper)
  }

  var elementCount: UInt64? { nil }
}

/// Keys between children: child i has the keys in keys[i-1] ..< keys[i].
struct Separators<Key: Comparable>: ChildGuide {
  static var countsElements: Bool { false }

  var keys: [Key]

  init(_ keys: [Key]) { self.keys = keys }

  init(over position: KeyPosition<Key>, grownBy difference: Int, _ marks: [Key]) { keys = marks }

  @inline(__always)
  func step(from position: KeyPosition<Key>) -> (child: Int, position: KeyPosition<Key>) {
    let child: Int
    if let last = keys.last, last <= position.key {
      child = keys.count
    } else {
      child = keys.partitioningIndex { $0 > position.key }
    }
    let lower = child > 0 ? keys[child - 1] : position.lower
    let upper = child < keys.count ? keys[child] : position.upper
    return (child, KeyPosition(position.key, lower: lower, upper: upper))
  }

  func elementCount(of child: Int) -> UInt64? { nil }

  mutating func grow(_ child: Int, by difference: Int) {}

  mutating func insert(_ marks: [Key], behind child: Int) {
    keys.insert(contentsOf: marks, at: child)
  }

  mutating func remove(_ child: Int) {
    if !keys.isEmpty { keys.remove(at: max(0, child - 1)) }
  }

  mutating func join(_ left: Int) { keys.remove(at: left) }

  mutating func append(_ right: Separators, _ parent: Separators, at left: Int) {
    keys.append(parent.keys[left])
    keys += right.keys
  }

  mutating func split(at cut: Int) -> (mark: Key, right: Separators) {
    let right = Separators(Array(keys[cut...]))
    let mark = keys[cut - 1]
    keys.removeSubrange((cut - 1)...)
    return (mark, right)
  }
}

/// The position of an element below a node, and how many elements the node has.
struct ElementPosition: TreePosition {
  let index: UInt64
  let count: UInt64

  var elementCount: UInt64? { count }
}

/// How many elements each child has.
struct ElementCounts: ChildGuide {
  static var countsElements: Bool { true }

  var counts: [UInt64]

  init(_ counts: [UInt64]) { self.counts = counts }

  init(over position: ElementPosition, grownBy difference: Int, _ marks: [UInt64]) {
    let count = position.count &+ UInt64(bitPattern: Int64(difference))
    counts = [count - marks.reduce(0, +)] + marks
  }

  /// The position after the last element belongs to the last child, so that appending works.
  func step(from position: ElementPosition) -> (child: Int, position: ElementPosition) {
    var child = 0
    var index = position.index
    while child < counts.count - 1, index >= counts[child] {
      index -= counts[child]
      child += 1
    }
    return (child, ElementPosition(index: index, count: counts[child]))
  }

  func elementCount(of child: Int) -> UInt64? { counts[child] }

  mutating func grow(_ child: Int, by difference: Int) {
    counts[child] &+= UInt64(bitPattern: Int64(difference))
  }

  mutating func insert(_ marks: [UInt64], behind child: Int) {
    counts[child] -= marks.reduce(0, +)
    counts.insert(contentsOf: marks, at: child + 1)
  }

  mutating func remove(_ child: Int) { counts.remove(at: child) }

  mutating func join(_ left: Int) { counts[left] += counts.remove(at: left + 1) }

  mutating func append(_ right: ElementCounts, _ parent: ElementCounts, at left: Int) {
    counts += right.counts
  }

  mutating func split(at cut: Int) -> (mark: UInt64, right: ElementCounts) {
    let right = ElementCounts(Array(counts[cut...]))
    counts.removeSubrange(cut...)
    return (right.counts.reduce(0, +), right)
  }
}
