// ListGraph+Places.swift: where new places go in the tree of places, and how runs are taken apart.

extension ListGraph {
  /// Changes an item, and the counts with it.
  mutating func change(_ item: Int32, _ body: (inout ListItem) -> Void) {
    let before = items[Int(item)].weight
    body(&items[Int(item)])
    let after = items[Int(item)].weight
    if before != after { tree.add(after &- before, to: items[Int(item)].leaf) }
  }

  /// Splits an item before one of its elements.
  /// - Returns: The item that begins with the element; the same one for the first.
  mutating func split(_ item: Int32, at offset: Int) -> Int32 {
    guard offset > 0 else { return item }
    let whole = items[Int(item)]
    precondition(offset < Int(whole.count), "an item is split beyond its end")
    var second = whole
    let number = Int32(items.count)
    second.element += Int32(offset)
    second.count -= Int32(offset)
    second.left = -1
    second.sibling = -1
    items.append(second)
    change(item) {
      $0.count = Int32(offset)
      $0.rest = number
      $0.right = number
    }
    tree.insert(number, beside: item, isBehind: true, items: &items)
    return number
  }

  /// Splits some elements of an item into a separate item.
  mutating func isolate(_ item: Int32, from offset: Int, count: Int) -> Int32 {
    let first = split(item, at: offset)
    if count < Int(items[Int(first)].count) { _ = split(first, at: count) }
    return first
  }

  /// Inserts new places after the element at an index in a lane; nil means at the beginning.
  mutating func place(
    _ item: ListItem, _ mark: EventMark, behind left: Int?, lane: Int
  ) -> Int32 {
    guard let left, let (found, offset) = tree.select(left, lane: lane, items: items) else {
      return place(item, mark, behindItem: -1, lane: lane)
    }
    if offset + 1 < Int(items[Int(found)].count) { _ = split(found, at: offset + 1) }
    return place(item, mark, behindItem: found, lane: lane)
  }

  /// The same after the last place of an item, or at the beginning for -1.
  private mutating func place(
    _ item: ListItem, _ mark: EventMark, behindItem left: Int32, lane: Int
  ) -> Int32 {
    let number = Int32(items.count)
    items.append(item)
    // The next place in this lane is below `left` if any right child of it is known.
    var child = left < 0 ? rootChild : items[Int(left)].right
    let bit: UInt8 = 1 << UInt8(lane)
    while child >= 0, items[Int(child)].known & bit == 0 { child = items[Int(child)].sibling }
    guard child >= 0 else {
      attach(number, mark, to: left, onLeft: false)
      return number
    }
    let known = lane + 8
    let rank =
      left < 0
      ? 0 : tree.rank(of: left, lane: known, items: items) + Int(items[Int(left)].count)
    guard let right = tree.select(rank, lane: known, items: items)?.item else {
      preconditionFailure("a known place of a list is not counted")
    }
    attach(number, mark, to: right, onLeft: true)
    return number
  }

  /// Inserts an item among the children of another one (-1: the root), earlier ones first.
  private mutating func attach(
    _ item: Int32, _ mark: EventMark, to parent: Int32, onLeft: Bool
  ) {
    var before: Int32 = -1
    var next =
      parent < 0 ? rootChild : onLeft ? items[Int(parent)].left : items[Int(parent)].right
    while next >= 0, mark.isLater(than: self.mark(ofEvent: items[Int(next)].event)) {
      before = next
      next = items[Int(next)].sibling
    }
    items[Int(item)].sibling = next
    if before >= 0 {
      items[Int(before)].sibling = item
      insert(item, beside: lastPlace(below: before), isBehind: true)
    } else if onLeft {
      items[Int(parent)].left = item
      insert(item, beside: next >= 0 ? firstPlace(below: next) : parent, isBehind: false)
    } else if parent >= 0 {
      items[Int(parent)].right = item
      insert(item, beside: parent, isBehind: true)
    } else {
      rootChild = item
      insert(item, beside: next >= 0 ? firstPlace(below: next) : nil, isBehind: false)
    }
  }

  private mutating func insert(_ item: Int32, beside other: Int32?, isBehind: Bool) {
    tree.insert(item, beside: other, isBehind: isBehind, items: &items)
  }

  /// The first place of an item and all below it.
  private func firstPlace(below item: Int32) -> Int32 {
    var first = item
    while items[Int(first)].left >= 0 { first = items[Int(first)].left }
    return first
  }

  /// The last place of an item and all below it.
  private func lastPlace(below item: Int32) -> Int32 {
    var last = item
    while true {
      var child = items[Int(last)].right
      guard child >= 0 else { return last }
      while items[Int(child)].sibling >= 0 { child = items[Int(child)].sibling }
      last = child
    }
  }
}
