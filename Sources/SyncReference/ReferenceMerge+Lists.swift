// ReferenceMerge+Lists.swift: docs/reference/sync-merge.md, section 4: the tree of places, walked
// whole for each operation.

import SyncCore

extension ReferenceMerge {
  /// An element in a viewer's list.
  struct Element {
    let identity: ReferenceIdentity
    let place: Int
    let value: SyncValue
    /// The operation that wrote the value.
    let writer: ReferenceIdentity
  }

  /// The places that a viewer knows, in order.
  private func places(of list: List, for viewer: Int?) -> [Int] {
    var found: [Int] = []
    // Left children, the place itself, right children; pending places are on a separate stack.
    var waiting: [(place: Int, isOpen: Bool)] = list.root.reversed().map { ($0, false) }
    while let (place, isOpen) = waiting.popLast() {
      let operation = list.places[place].operation
      guard knows(viewer, operation) || viewer == operation, counts(operation, for: viewer) else {
        continue
      }
      if isOpen {
        found.append(place)
        continue
      }
      waiting += list.places[place].right.reversed().map { ($0, false) }
      waiting.append((place, true))
      waiting += list.places[place].left.reversed().map { ($0, false) }
    }
    return found
  }

  /// The elements that a viewer sees, in order.
  func elements(of address: ReferenceAddress, for viewer: Int?) -> [Element] {
    guard let list = lists[address] else { return [] }
    func isThere(_ operation: Int) -> Bool {
      (knows(viewer, operation) || viewer == operation) && counts(operation, for: viewer)
    }
    let erased = Set(list.erasures.filter { isThere($0.operation) }.map(\.element))
    let fills = list.fills.filter(isThere)
    var holding: [ReferenceIdentity: Int] = [:]
    for (number, place) in list.places.enumerated() where isThere(place.operation) {
      guard let other = holding[place.element] else {
        holding[place.element] = number
        continue
      }
      if operations[place.operation].isLater(than: operations[list.places[other].operation]) {
        holding[place.element] = number
      }
    }
    var written: [ReferenceIdentity: (operation: Int, value: SyncValue)] = [:]
    for (element, operation, value) in list.values where isThere(operation) {
      if let other = written[element]?.operation,
        !operations[operation].isLater(than: operations[other])
      {
        continue
      }
      written[element] = (operation, value)
    }
    return places(of: list, for: viewer).compactMap { number in
      let element = list.places[number].element
      guard holding[element] == number, !erased.contains(element),
        let (writer, value) = written[element]
      else { return nil }
      if list.fills.contains(element.operation),
        fills.contains(where: { operations[$0].isLater(than: operations[element.operation]) })
      {
        return nil
      }
      let identity = ReferenceIdentity(
        operation: writer, number: writer == element.operation ? element.number : 0)
      if case .link(let target) = value, isDead(target, identity, for: viewer) { return nil }
      return Element(identity: element, place: number, value: value, writer: identity)
    }
  }

  /// Creates a place after another one (-1: the root) in the view of an operation.
  private mutating func place(
    _ element: ReferenceIdentity, behind left: Int, _ operation: Int, in address: ReferenceAddress
  ) -> Int {
    var list = lists[address, default: List()]
    let seen = places(of: list, for: operation)
    let next = left < 0 ? seen.first : seen.drop { $0 != left }.dropFirst().first
    let number = list.places.count
    list.places.append(Place(element: element, operation: operation))
    if let next, left < 0 || isBelow(next, left, in: list) {
      list.places[next].left = sorted(list.places[next].left + [number], in: list)
    } else if left < 0 {
      list.root = sorted(list.root + [number], in: list)
    } else {
      list.places[left].right = sorted(list.places[left].right + [number], in: list)
    }
    lists[address] = list
    return number
  }

  private func isBelow(_ place: Int, _ top: Int, in list: List) -> Bool {
    var waiting = list.places[top].left + list.places[top].right
    while let next = waiting.popLast() {
      if next == place { return true }
      waiting += list.places[next].left + list.places[next].right
    }
    return false
  }

  private func sorted(_ places: [Int], in list: List) -> [Int] {
    places.sorted { left, right in
      let (one, other) = (list.places[left].operation, list.places[right].operation)
      if one == other {
        return list.places[left].element.number < list.places[right].element.number
      }
      return operations[other].isLater(than: operations[one])
    }
  }

  mutating func takeList(_ number: Int, _ change: SyncChange, at address: ReferenceAddress) {
    let seen = elements(of: address, for: number)
    switch change {
    case .listInsert(let index, let values):
      guard (0...seen.count).contains(index) else { return }
      insert(values, behind: index == 0 ? -1 : seen[index - 1].place, number, at: address)
    case .listErase(let index, let count):
      guard index >= 0, count >= 0, index <= seen.count, count <= seen.count - index else { return }
      erase(seen[index..<index + count], number, at: address)
    case .listMove(let from, let to):
      guard seen.indices.contains(from), seen.indices.contains(to) else { return }
      var rest = seen
      rest.remove(at: from)
      _ = place(
        seen[from].identity, behind: to == 0 ? -1 : rest[to - 1].place, number, in: address)
    case .listSet(let index, let value):
      guard seen.indices.contains(index), isSeen(value, number) else { return }
      lists[address]?.values.append((seen[index].identity, number, value))
    case .listClear: erase(seen[...], number, at: address)
    case .listAssign(let values):
      erase(seen[...], number, at: address)
      fill(values, number, at: address)
    case .listFill(let values): fill(values, number, at: address)
    default: return
    }
  }

  private mutating func fill(
    _ values: [SyncValue], _ number: Int, at address: ReferenceAddress
  ) {
    lists[address, default: List()].fills.append(number)
    insert(values, behind: -1, number, at: address)
  }

  private mutating func insert(
    _ values: [SyncValue], behind left: Int, _ number: Int, at address: ReferenceAddress
  ) {
    var left = left
    for (index, value) in values.enumerated() {
      let element = ReferenceIdentity(operation: number, number: index)
      if !isSeen(value, number) { blindLinks.insert(element) }
      left = place(element, behind: left, number, in: address)
      lists[address]?.values.append((element, number, value))
      if blindLinks.contains(element) { lists[address]?.erasures.append((element, number)) }
    }
  }

  private mutating func erase(
    _ elements: ArraySlice<Element>, _ number: Int, at address: ReferenceAddress
  ) {
    for element in elements {
      lists[address, default: List()].erasures.append((element.identity, number))
    }
  }
}
