// XRayReader+Index.swift: reads search indexes and backlinks, and compares them with the rows.

extension XRayReader {
  private typealias Pair = XRayGathered.Pair
  private static let indexChildCountMax = 125
  private static let indexNodeBytesMax = 4032

  /// Reads a column's index; it must have exactly the pairs derived from the rows.
  mutating func readIndex(
    _ index: XRayTree, _ position: Int, _ table: XRayTable, compares: Bool
  ) {
    let faultsBefore = found.faults.count
    let column = table.columns[position]
    let expected = gathered.pairs[position].sorted()
    gathered.pairs[position] = []
    var walk = IndexWalk(
      expected: expected, compares: compares, ofWords: column.isFullText,
      owner: .index(table: table.id, column: column.id))
    if index.root.refBytes != 0 { read(index.root, level: index.level, &walk, nil, nil) }
    found.pairCount += walk.count
    guard found.faults.count == faultsBefore else { return }
    let wanted = compares ? UInt64(expected.count) : walk.count
    guard walk.count == index.count, walk.count == wanted else {
      note(
        XRayFault(
          "\(table.name).\(column.name): pairs=\(walk.count), the group says \(index.count), "
            + "the rows give \(wanted)"))
      return
    }
  }

  /// The progress of reading the pairs.
  private struct IndexWalk {
    let expected: [Pair]
    let compares: Bool
    let ofWords: Bool
    let owner: XRay.Owner
    var count: UInt64 = 0
    var last: Pair?
  }

  private mutating func read(
    _ link: XRayLink, level: Int, _ walk: inout IndexWalk, _ low: Pair?, _ high: Pair?
  ) {
    do throws(XRayFault) {
      if level == 0 {
        try readIndexLeaf(link, &walk, low, high)
        return
      }
      let node = try node(link, .indexInner, level: level, walk.owner)
      let (separators, children) = try Self.children(
        node, separatorBytes: 16, countMax: Self.indexChildCountMax
      ) { (offset) throws(XRayFault) in
        Pair(
          image: try node.bytes.number(offset), key: try node.bytes.number(offset + 8), count: 1)
      }
      for (place, child) in children.enumerated() {
        read(
          child, level: level - 1, &walk, place > 0 ? separators[place - 1] : low,
          place < separators.count ? separators[place] : high)
      }
    } catch {
      note(error)
    }
  }

  private mutating func readIndexLeaf(
    _ link: XRayLink, _ walk: inout IndexWalk, _ low: Pair?, _ high: Pair?
  ) throws(XRayFault) {
    let node = try node(link, walk.ofWords ? .wordLeaf : .indexLeaf, level: 0, walk.owner)
    do throws(XRayFault) {
      guard node.count > 0, node.bytes.count <= Self.indexNodeBytesMax,
        node.count <= node.bytes.count * 8
      else { throw XRayFault("pairs=\(node.count) in \(node.bytes.count) bytes") }
      let pairs = try walk.ofWords ? Self.words(node) : Self.pairs(node)
      for (place, pair) in pairs.enumerated() {
        guard pair.count > 0, walk.last.map({ $0 < pair }) ?? true,
          low.map({ !(pair < $0) }) ?? true, high.map({ pair < $0 }) ?? true
        else { throw XRayFault("pair \(place): \(pair) is out of order") }
        walk.last = pair
        if walk.compares {
          guard walk.count < UInt64(walk.expected.count), walk.expected[Int(walk.count)] == pair
          else { throw XRayFault("pair \(place): no row gives \(pair)") }
        }
        walk.count += 1
      }
    } catch {
      throw XRayFault(error.message, at: error.refBytes ?? node.refBytes)
    }
  }

  /// The pairs of a leaf of a search index, in its order.
  private static func pairs(_ node: XRayNode) throws(XRayFault) -> [Pair] {
    let (images, keys, counts) = try XRayArrays(node).pairs()
    var pairs: [Pair] = []
    for place in 0..<node.count {
      pairs.append(
        Pair(
          image: try images[place], key: Int64(bitPattern: try keys[place]),
          count: try counts[place]))
    }
    return pairs
  }
}
