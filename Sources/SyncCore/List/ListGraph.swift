// ListGraph.swift: the history of one list while it is replayed: its places in order, and which of
// them each author sees (docs/reference/sync-merge.md, section 4). Invariants: lane 0 has every
// event, any other lane those that its author knows; the counts in `tree` match `items`; elements
// are numbered in order of insertion.

/// Deletes of objects: whether a link is dead depends on which of them its author knew.
typealias Deaths = [SyncObject: [EventMark]]

/// A list and all that happened to it since the replay's start.
struct ListGraph {
  var items: [ListItem] = []
  var tree = CountedTree()
  /// The first right child of the root; -1 for none.
  var rootChild: Int32 = -1
  var events: [ListEvent] = []
  var births: [ListBirth] = []
  var trails: [ListTrail] = []
  var lanes = [ListLane](repeating: ListLane(), count: 8)
  var newest = NewestEvents()
  var clock = 0

  /// The initial list; elements beyond it are in `added`.
  let base: [SyncSlot]
  var added: [SyncValue] = []
  var settings: [Int32: ListSettings] = [:]
  /// Elements that ever had a link to an object, for each.
  var linked: [SyncObject: [Int32]] = [:]
  /// Deletes of objects that elements link to, in the order of their versions.
  var cuts: [ListCut] = []

  init(base: [SyncSlot]) {
    self.base = base
    guard !base.isEmpty else { return }
    items.append(ListItem(element: 0, count: Int32(base.count), event: -1, known: 0xff))
    tree.insert(0, beside: nil, isBehind: true, items: &items)
    rootChild = 0
    births.append(ListBirth(element: 0, item: 0, event: -1))
    for (element, slot) in base.enumerated() {
      if case .link(let target) = slot.value { linked[target, default: []].append(Int32(element)) }
    }
  }

  /// Elements that there have ever been.
  var elementCount: Int { base.count + added.count }

  /// How many elements a lane shows.
  func count(_ lane: Int) -> Int { tree.total(lane) }

  func mark(ofEvent event: Int32) -> EventMark {
    event < 0 ? .origin : events[Int(event)].mark
  }

  /// The value with which an element was inserted.
  func firstValue(of element: Int32) -> SyncValue {
    Int(element) < base.count ? base[Int(element)].value : added[Int(element) - base.count]
  }

  func value(of element: Int32) -> SyncValue {
    settings[element]?.value ?? firstValue(of: element)
  }

  /// The operation that set the current value of an element.
  func valueMark(of element: Int32) -> EventMark {
    settings[element]?.mark ?? mark(ofEvent: birth(of: element).event)
  }

  func birth(of element: Int32) -> ListBirth {
    var (low, high) = (0, births.count)
    while high - low > 1 {
      let middle = (low + high) / 2
      if births[middle].element <= element { low = middle } else { high = middle }
    }
    return births[low]
  }

  /// The item of the place where an element was inserted.
  func firstItem(of element: Int32) -> Int32 {
    var item = birth(of: element).item
    while element >= items[Int(item)].element + items[Int(item)].count {
      item = items[Int(item)].rest
    }
    return item
  }

  /// The item of an element in a lane.
  func currentItem(of element: Int32, lane: Int) -> Int32 {
    let item = firstItem(of: element)
    let trail = items[Int(item)].trail
    return trail < 0 ? item : trails[Int(trail)].current[lane]
  }

  /// The index of an element in a lane; nil while it does not show there.
  func index(of element: Int32, lane: Int) -> Int? {
    let item = currentItem(of: element, lane: lane)
    guard items[Int(item)].visible & (1 << UInt8(lane)) != 0 else { return nil }
    return tree.rank(of: item, lane: lane, items: items)
      + Int(element - items[Int(item)].element)
  }

  /// The element with an index in a lane.
  func element(at index: Int, lane: Int) -> Int32? {
    tree.select(index, lane: lane, items: items).map {
      items[Int($0.item)].element + Int32($0.offset)
    }
  }

  /// The elements that show in a lane, in order.
  func elements(_ lane: Int) -> [Int32] {
    var found: [Int32] = []
    found.reserveCapacity(count(lane))
    for item in tree.sequence() where items[Int(item)].visible & (1 << UInt8(lane)) != 0 {
      found += items[Int(item)].element..<items[Int(item)].element + items[Int(item)].count
    }
    return found
  }
}
