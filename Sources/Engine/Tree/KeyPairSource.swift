// KeyPairSource.swift: iterating over pairs, committed or in a transaction, with no path kept. A
// walk continues from a leaf by looking up the separator on its right: that costs one descent per
// leaf of hundreds of pairs, but no memory, and a writer's tree needs no parent links. Invariant:
// separators on a walk ascend strictly and there are fewer leaves than sectors, so every walk ends,
// whatever the bytes.

/// A leaf visited by a walk.
enum KeyPairLeaf {
  case stored(KeyPairLeafView)
  case changed(MutableKeyPairLeaf)

  @inline(__always)
  var count: Int {
    switch self {
    case .stored(let leaf): leaf.count
    case .changed(let leaf): leaf.count
    }
  }

  @inline(__always)
  func firstIndex(notBelow pair: KeyPair) -> Int {
    switch self {
    case .stored(let leaf): leaf.firstIndex(notBelow: pair)
    case .changed(let leaf): leaf.firstIndex(notBelow: pair)
    }
  }

  @inline(__always)
  subscript(index: Int) -> KeyPair {
    switch self {
    case .stored(let leaf): leaf[index]
    case .changed(let leaf): leaf[index]
    }
  }

  @inline(__always)
  func multiplicity(_ index: Int) throws(EngineError) -> Int64 {
    switch self {
    case .stored(let leaf): try leaf.multiplicity(index)
    case .changed(let leaf): leaf.multiplicity(index)
    }
  }
}

/// The leaf whose range holds a pair, and where the range ends; nil for the last leaf.
struct KeyPairPlace {
  let leaf: KeyPairLeaf
  let upper: KeyPair?
}

/// A tree of pairs that can be read.
protocol KeyPairSource {
  /// The leaf whose range holds `pair`; nil in a tree without pairs.
  func place(of pair: KeyPair) throws(EngineError) -> KeyPairPlace?
  /// Upper bound of the number of leaves.
  var leafCountBound: Int { get }
}

extension KeyPairSource {
  /// Calls `body` with each leaf from the one whose range holds `first` on, the index of the first
  /// pair not below it, and the next leaf's lower bound; stops when `body` returns false.
  @inline(__always)
  func forEachLeaf(
    from first: KeyPair, _ body: (KeyPairLeaf, Int, KeyPair?) throws(EngineError) -> Bool
  ) throws(EngineError) {
    var pair = first
    var leavesLeft = leafCountBound
    while let place = try place(of: pair) {
      guard leavesLeft > 0 else { throw .corrupted("an index has more leaves than sectors") }
      leavesLeft -= 1
      let index = place.leaf.firstIndex(notBelow: pair)
      guard try body(place.leaf, index, place.upper), let upper = place.upper else { return }
      guard upper > pair else { throw .corrupted("index separators do not ascend") }
      pair = upper
    }
  }

  /// How many equal pairs the tree holds.
  /// - Complexity: O(log pairs).
  func count(of pair: KeyPair) throws(EngineError) -> Int64 {
    guard let place = try place(of: pair) else { return 0 }
    let index = place.leaf.firstIndex(notBelow: pair)
    guard index < place.leaf.count, place.leaf[index] == pair else { return 0 }
    return try place.leaf.multiplicity(index)
  }

  func contains(_ pair: KeyPair) throws(EngineError) -> Bool { try count(of: pair) > 0 }

  /// The smallest key that an image has.
  /// - Complexity: O(log pairs).
  func first(_ image: UInt64) throws(EngineError) -> Int64? {
    var found: Int64?
    try forEachLeaf(from: .first(image)) { leaf, index, upper throws(EngineError) in
      if index < leaf.count {
        let pair = leaf[index]
        if pair.image == image { found = pair.key }
        return false
      }
      return upper.map { $0.image == image } ?? false
    }
    return found
  }

  /// Calls `body` with image, key and count of each pair whose image is in a range, ascending;
  /// stops when `body` returns false.
  func forEach(
    in images: ClosedRange<UInt64>,
    _ body: (UInt64, Int64, Int64) throws(EngineError) -> Bool
  ) throws(EngineError) {
    let last = images.upperBound
    try forEachLeaf(from: .first(images.lowerBound)) { leaf, first, upper throws(EngineError) in
      // The kind of the leaf is checked once and not per pair.
      switch leaf {
      case .stored(let leaf):
        for index in first..<leaf.count {
          let image = leaf.image(index)
          guard image <= last, try body(image, leaf.key(index), try leaf.multiplicity(index)) else {
            return false
          }
        }
      case .changed(let leaf):
        for index in first..<leaf.count {
          let pair = leaf[index]
          guard pair.image <= last, try body(pair.image, pair.key, leaf.multiplicity(index)) else {
            return false
          }
        }
      }
      return upper.map { $0.image <= last } ?? false
    }
  }

  /// The number of pairs whose image is in a range.
  /// - Complexity: O(leaves of the range); pairs are not read, except at the ends.
  func pairCount(in images: ClosedRange<UInt64>) throws(EngineError) -> Int {
    let last = images.upperBound
    var sum = 0
    try forEachLeaf(from: .first(images.lowerBound)) { leaf, first, upper throws(EngineError) in
      if let upper, upper.image <= last {
        sum += leaf.count - first
        return true
      }
      let end = last == .max ? leaf.count : leaf.firstIndex(notBelow: .first(last + 1))
      sum += end - first
      return false
    }
    return sum
  }
}
