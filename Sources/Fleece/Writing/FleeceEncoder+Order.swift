// FleeceEncoder+Order.swift: the order of a dict's pairs: numbers of shared keys first, by size,
// then texts byte by byte, the shorter one first. Pairs of equal keys keep their order. Keys are
// compared in place: in the output, or in the item itself.

extension FleeceEncoder {
  /// Sorts the pairs whose first key is the item at `first`.
  mutating func sortPairs(from first: Int) {
    let count = (items.count - first) / 2
    var sorted = 1
    while sorted < count, !isBefore(first + 2 * sorted, first + 2 * (sorted - 1)) { sorted += 1 }
    guard sorted < count else { return }
    if count <= 16 { insertPairs(from: first, count: count) } else { mergePairs(first, count) }
  }

  private mutating func insertPairs(from first: Int, count: Int) {
    for index in 1..<count {
      var place = first + 2 * index
      while place > first, isBefore(place, place - 2) {
        let (key, value) = (items[place], items[place + 1])
        items[place] = items[place - 2]
        items[place + 1] = items[place - 1]
        items[place - 2] = key
        items[place - 1] = value
        place -= 2
      }
    }
  }

  private mutating func mergePairs(_ first: Int, _ count: Int) {
    var order = Array(0..<count)
    order.sort { left, right in
      if isBefore(first + 2 * left, first + 2 * right) { return true }
      return left < right && !isBefore(first + 2 * right, first + 2 * left)
    }
    let old = (0..<2 * count).map { items[first + $0] }
    for (place, from) in order.enumerated() {
      items[first + 2 * place] = old[2 * from]
      items[first + 2 * place + 1] = old[2 * from + 1]
    }
  }

  /// Whether the key at one index sorts before the key at another.
  private func isBefore(_ left: Int, _ right: Int) -> Bool {
    let (first, second) = (items[left], items[right])
    let (isFirstNumber, isSecondNumber) = (first.bits >> 28 == 0, second.bits >> 28 == 0)
    guard !isFirstNumber, !isSecondNumber else {
      return isFirstNumber && (!isSecondNumber || first.bits < second.bits)
    }
    if first.bits == second.bits { return false }
    return output.view { view in
      let (one, other) = (Self.content(of: first, view), Self.content(of: second, view))
      guard let one, let other else { return Self.isBefore(first, second, view) }
      return one.order(other) < 0
    }
  }

  /// The bytes of a text in the output; nil when it is in the item.
  private static func content(of item: PendingItem, _ view: FleeceBytes) -> FleeceBytes? {
    item.place.map { FleeceValue(view, start: $0, lowest: 0).content }
  }

  /// The same for texts of which one at least is in the item: of no byte, or of one.
  private static func isBefore(
    _ first: PendingItem, _ second: PendingItem, _ view: FleeceBytes
  ) -> Bool {
    let (one, other) = (start(of: first, view), start(of: second, view))
    return one.byte < other.byte || one.byte == other.byte && one.count < other.count
  }

  /// The first byte of a text, -1 if it has none, and its number of bytes.
  private static func start(of item: PendingItem, _ view: FleeceBytes) -> (byte: Int, count: Int) {
    if let content = content(of: item, view) { return (Int(content.uint8(0)), content.count) }
    let count = Int(item.bits >> 24 & 15)
    return (count == 0 ? -1 : Int(item.bits >> 16 & 255), count)
  }
}
