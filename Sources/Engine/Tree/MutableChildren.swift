// MutableChildren.swift: the children of an inner node in memory. A writer brings few of them into
// memory, and copies, compares and drops nodes with all others at each commit. So the links to
// committed children stand one after the other, with nothing to retain or release, and those in
// memory stand apart. Invariant: each child in memory has one place in `nodes`.

/// The children of an inner node, in their order.
struct MutableChildren<Leaf: MutableTreeLeaf> {
  /// A link for each child; that of one in memory has `placeMark`, and its place in `nodes` as
  /// checksum.
  private var links: [NodeLink]
  /// The children in memory, in no order, and what is left of those that are gone.
  private var nodes: [MutableNode<Leaf>] = []

  private static var placeMark: UInt64 { 1 << 63 }

  init() { links = [] }

  /// Committed children.
  /// - Complexity: O(count).
  init(storedCount count: Int, link: (Int) -> NodeLink) {
    links = []
    links.reserveCapacity(count)
    for index in 0..<count { links.append(added(.stored(link(index)))) }
  }

  /// The place of a child in memory, by its link; nil for a committed one.
  @inline(__always)
  private static func place(_ link: NodeLink) -> Int? {
    link.ref.offsetBytes & placeMark == 0 ? nil : Int(truncatingIfNeeded: link.checksum)
  }

  /// Takes a new child, and returns its link.
  @inline(__always)
  private mutating func added(_ child: MutableNode<Leaf>) -> NodeLink {
    // A damaged file may have any link.
    if case .stored(let link) = child, Self.place(link) == nil { return link }
    nodes.append(child)
    return NodeLink(
      ref: Ref(offsetBytes: Self.placeMark), checksum: UInt64(nodes.count - 1))
  }

  /// Gives the places of children that are gone to others.
  private mutating func tidy() {
    guard nodes.count > 2 * links.count + 8 else { return }
    let old = nodes
    nodes = []
    for index in links.indices {
      if let place = Self.place(links[index]) { links[index] = added(old[place]) }
    }
  }
}

extension MutableChildren: RandomAccessCollection, Swift.MutableCollection {
  var startIndex: Int { 0 }
  var endIndex: Int { links.count }

  /// - Complexity: O(1).
  subscript(index: Int) -> MutableNode<Leaf> {
    @inline(__always)
    get {
      let link = links[index]
      guard let place = Self.place(link) else { return .stored(link) }
      return nodes[place]
    }
    set {
      if let place = Self.place(links[index]) {
        nodes[place] = newValue
      } else {
        links[index] = added(newValue)
      }
    }
  }
}

extension MutableChildren: RangeReplaceableCollection {
  /// - Complexity: O(children behind the range, and new ones).
  mutating func replaceSubrange(
    _ range: Range<Int>, with children: some Collection<MutableNode<Leaf>>
  ) {
    for index in range {
      guard let place = Self.place(links[index]) else { continue }
      nodes[place] = .stored(.none)
    }
    links.replaceSubrange(range, with: children.map { added($0) })
    tidy()
  }
}
