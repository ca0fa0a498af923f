// InnerPacker.swift: builds the inner nodes over the leaves that a copy packs, for both rows and
// index pairs. Invariant: the leaves are added in the order of their keys.

/// Takes packed leaves in order and adds the inner nodes above them to the copy.
struct InnerPacker<View: InnerNodeView, Key: Comparable> where View.Guide == Separators<Key> {
  private var builder: InnerBuilder<Key>

  /// - Parameter childCountMax: Most children of a node, so that it fills its sector.
  init(childCountMax: Int) { builder = InnerBuilder(childCountMax: childCountMax) }

  /// Adds the next leaf.
  mutating func add(
    _ leaf: NodeLink, firstKey: Key, _ target: inout CopyTarget
  ) throws(EngineError) {
    try builder.add(leaf, firstKey: firstKey) { level, separators, links throws(EngineError) in
      try Self.add(level, separators, links, &target)
    }
  }

  /// Makes the rest.
  /// - Returns: The root of the new tree and its level.
  mutating func finish(
    _ target: inout CopyTarget
  ) throws(EngineError) -> (root: NodeLink, level: Int) {
    try builder.finish { level, separators, links throws(EngineError) in
      try Self.add(level, separators, links, &target)
    }
  }

  private static func add(
    _ level: Int, _ separators: [Key], _ links: [NodeLink], _ target: inout CopyTarget
  ) throws(EngineError) -> NodeLink {
    try target.add(
      kind: View.kind, level: level, sizeBytes: View.sizeBytes(childCount: links.count),
      count: links.count
    ) { View.encode(Separators(separators), links: links, into: $0) }
  }
}
