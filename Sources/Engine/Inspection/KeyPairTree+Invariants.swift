// KeyPairTree+Invariants.swift: reads every node of a committed index again and checks it against
// the invariants of an index: checksums, kinds and levels; pairs that ascend strictly, within a
// leaf and against the separators above it; counts of at least 1; arrays that do not overlap; no
// node larger than a sector.

extension KeyPairTree {
  /// The pairs that a subtree may hold.
  private struct Bounds {
    var lower: KeyPair?
    var upper: KeyPair?
  }

  /// Checks the whole tree, and calls `visit` with each of its nodes once.
  /// - Returns: The number of pairs.
  /// - Throws: `EngineError` with code `.corrupted`, or an error of `visit`; a `visit` that bounds
  ///   the number of nodes bounds the walk.
  func verify(_ visit: (Node) throws(EngineError) -> Void) throws(EngineError) -> UInt64 {
    guard !root.isNone else { return 0 }
    var pairs: UInt64 = 0
    var stack = [(link: root, level: level, bounds: Bounds())]
    while let (link, level, bounds) = stack.popLast() {
      if level == 0 {
        let kind = ofWords ? NodeKind.wordLeaf : .indexLeaf
        let node = try reader.verifiedAgain(link, kind: kind, newest: newest)
        try visit(node)
        guard !ofWords else {
          // Reading it checks order, numbers and bytes.
          let leaf = try MutableKeyPairLeaf(node, ofWords: true)
          guard leaf.sizeBytes == node.bytes.count else {
            throw .corrupted(
              "a leaf of words has \(node.bytes.count) bytes, its words need \(leaf.sizeBytes)",
              at: node.ref)
          }
          try Self.check(leaf[0], leaf[leaf.count - 1], bounds, at: node.ref)
          pairs += UInt64(leaf.count)
          continue
        }
        try Verifier.verifyDescriptors(NodeArrays(node))
        pairs += try Self.verify(KeyPairLeafView(node), bounds)
        continue
      }
      let node = try reader.verifiedAgain(link, kind: .indexInner, level: level, newest: newest)
      try visit(node)
      let view = try KeyPairInnerView(node)
      var lower = bounds.lower
      for index in 0..<view.childCount {
        let upper = index == view.childCount - 1 ? bounds.upper : view.separator(index)
        if let lower, let upper, lower >= upper {
          throw .corrupted("index separator \(upper) is not above \(lower)", at: node.ref)
        }
        stack.append((view.link(index), level - 1, Bounds(lower: lower, upper: upper)))
        lower = upper
      }
    }
    return pairs
  }

  private static func verify(
    _ leaf: KeyPairLeafView, _ bounds: Bounds
  ) throws(EngineError) -> UInt64 {
    for index in 0..<leaf.count {
      _ = try leaf.multiplicity(index)
      guard index == 0 || leaf[index - 1] < leaf[index] else {
        throw .corrupted("\(leaf[index]) follows \(leaf[index - 1])", at: leaf.node.ref)
      }
    }
    try check(leaf[0], leaf[leaf.count - 1], bounds, at: leaf.node.ref)
    return UInt64(leaf.count)
  }

  private static func check(
    _ first: KeyPair, _ last: KeyPair, _ bounds: Bounds, at ref: Ref
  ) throws(EngineError) {
    guard bounds.lower.map({ $0 <= first }) ?? true, bounds.upper.map({ last < $0 }) ?? true else {
      throw .corrupted("\(first) ... \(last) outside their separators", at: ref)
    }
  }
}
