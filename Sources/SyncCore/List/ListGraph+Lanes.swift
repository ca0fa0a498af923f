// ListGraph+Lanes.swift: the views of authors. An author that knows every event of a list uses
// lane 0. Any other gets its own lane, whose known history only grows; so each event is applied
// once to each lane, however many operations there are. With more authors than lanes, the least
// recently used lane is rebuilt for the next author.

extension ListGraph {
  /// The lane in which an author sees the list.
  /// - Complexity: O(events that it has not yet seen), or O(items + events) for a new lane.
  mutating func lane(for mark: EventMark, deaths: Deaths) -> Int {
    clock += 1
    if let lane = lanes.indices.dropFirst().first(where: { lanes[$0].client == mark.client }) {
      lanes[lane].used = clock
      advance(lane, to: mark.base, deaths: deaths)
      return lane
    }
    guard newest.unknown(to: mark) != nil else { return 0 }
    var lane = 1
    for other in 2..<lanes.count {
      let (left, right) = (lanes[other], lanes[lane])
      if (left.client == 0 ? 0 : left.used) < (right.client == 0 ? 0 : right.used) { lane = other }
    }
    start(lane, for: mark, deaths: deaths)
    return lane
  }

  /// Builds a lane with an author's known history.
  private mutating func start(_ lane: Int, for mark: EventMark, deaths: Deaths) {
    let bit: UInt8 = 1 << UInt8(lane)
    for item in items.indices {
      let isFirst = items[item].trail < 0 || trails[Int(items[item].trail)].items[0] == item
      items[item].known = items[item].event < 0 ? items[item].known | bit : items[item].known & ~bit
      items[item].here = isFirst ? items[item].here | bit : items[item].here & ~bit
      items[item].erased &= ~bit
      items[item].hidden &= ~bit
    }
    for trail in trails.indices { trails[trail].current[lane] = trails[trail].items[0] }
    tree.recount(items)
    lanes[lane] = ListLane(client: mark.client, base: mark.base, used: clock)
    for event in events.indices {
      events[event].applied &= ~bit
      if events[event].mark.version <= mark.base { lanes[lane].next = event + 1 }
      if mark.knows(events[event].mark) { apply(event, in: lane, deaths: deaths) }
    }
    for cut in cuts where lanes[lane].knows(cut.mark) {
      hide(cut.target, in: lane, deaths: deaths)
    }
  }

  private mutating func advance(_ lane: Int, to base: UInt64, deaths: Deaths) {
    let known = lanes[lane].base
    guard base > known else { return }
    lanes[lane].base = base
    let bit: UInt8 = 1 << UInt8(lane)
    while lanes[lane].next < events.count,
      events[lanes[lane].next].mark.version <= lanes[lane].base
    {
      let event = lanes[lane].next
      lanes[lane].next += 1
      if events[event].applied & bit == 0 { apply(event, in: lane, deaths: deaths) }
    }
    for cut in cuts[firstCut(above: known)..<firstCut(above: base)] {
      hide(cut.target, in: lane, deaths: deaths)
    }
  }

  private func firstCut(above version: UInt64) -> Int {
    var (low, high) = (0, cuts.count)
    while low < high {
      let middle = (low + high) / 2
      if cuts[middle].mark.version > version { high = middle } else { low = middle + 1 }
    }
    return low
  }

  /// Adds the delete of an object that elements link to, for all lanes that know it.
  mutating func addCut(_ cut: ListCut, deaths: Deaths) {
    let place = firstCut(above: cut.mark.version)
    for other in cuts[..<place].reversed() {
      guard other.mark.version == cut.mark.version else { break }
      if other.mark.isSame(as: cut.mark), other.target == cut.target { return }
    }
    cuts.insert(cut, at: place)
    newest.note(cut.mark)
    hide(cut.target, in: 0, deaths: deaths)
    for lane in 1..<lanes.count where lanes[lane].client != 0 && lanes[lane].knows(cut.mark) {
      hide(cut.target, in: lane, deaths: deaths)
    }
  }

  private mutating func hide(_ target: SyncObject, in lane: Int, deaths: Deaths) {
    for element in linked[target] ?? [] { hide(element, in: lane, deaths: deaths) }
  }

  /// Adds an event, for everything and for the author's lane.
  mutating func record(_ event: ListEvent, lane: Int, deaths: Deaths) {
    let number = events.count
    events.append(event)
    newest.note(event.mark)
    apply(number, in: 0, deaths: deaths)
    if lane > 0 { apply(number, in: lane, deaths: deaths) }
  }

  private mutating func apply(_ number: Int, in lane: Int, deaths: Deaths) {
    let bit: UInt8 = 1 << UInt8(lane)
    events[number].applied |= bit
    let event = events[number]
    switch event.kind {
    case .insert:
      learn(event, lane: lane, deaths: deaths)
    case .fill:
      learn(event, lane: lane, deaths: deaths)
      let last = lanes[lane].fill
      if last >= 0, !event.mark.isLater(than: mark(ofEvent: last)) {
        erase(event, in: lane, by: last)
      } else {
        if last >= 0 { erase(events[Int(last)], in: lane, by: Int32(number)) }
        lanes[lane].fill = Int32(number)
      }
    case .erase:
      erase(event, in: lane, by: Int32(number))
    case .move:
      change(event.item) { $0.known |= bit }
      arrive(at: event.item, in: lane)
    case .set:
      if !linked.isEmpty { hide(event.item, in: lane, deaths: deaths) }
    }
  }

  /// Visits the items that hold an event's elements.
  private func visit(_ event: ListEvent, _ body: (Int32) -> Void) {
    var item = event.item
    var rest = event.count
    while rest > 0, item >= 0 {
      body(item)
      rest -= items[Int(item)].count
      item = items[Int(item)].rest
    }
  }

  func itemsOf(_ event: ListEvent) -> [Int32] {
    var found: [Int32] = []
    visit(event) { found.append($0) }
    return found
  }

  private mutating func learn(_ event: ListEvent, lane: Int, deaths: Deaths) {
    // An assignment of no elements inserts nothing.
    guard event.item >= 0 else { return }
    let first = items[Int(event.item)].element
    for item in itemsOf(event) { change(item) { $0.known |= 1 << UInt8(lane) } }
    guard !linked.isEmpty, !deaths.isEmpty else { return }
    for element in first..<first + event.count {
      if case .link(let target) = firstValue(of: element), deaths[target] != nil {
        hide(element, in: lane, deaths: deaths)
      }
    }
  }

  private mutating func erase(_ event: ListEvent, in lane: Int, by eraser: Int32) {
    for item in itemsOf(event) {
      let trail = items[Int(item)].trail
      for place in trail < 0 ? [item] : trails[Int(trail)].items {
        change(place) {
          $0.erased |= 1 << UInt8(lane)
          if lane == 0, $0.eraser < 0 { $0.eraser = eraser }
        }
      }
    }
  }

  /// Places an element at an item, if that is the latest place that the lane knows.
  private mutating func arrive(at item: Int32, in lane: Int) {
    let bit: UInt8 = 1 << UInt8(lane)
    let trail = Int(items[Int(item)].trail)
    let current = trails[trail].current[lane]
    guard current != item,
      mark(ofEvent: items[Int(item)].event).isLater(
        than: mark(ofEvent: items[Int(current)].event))
    else { return }
    change(current) { $0.here &= ~bit }
    change(item) { $0.here |= bit }
    trails[trail].current[lane] = item
  }

  /// Hides an element whose latest value in a lane is a dead link, or shows it again.
  private mutating func hide(_ element: Int32, in lane: Int, deaths: Deaths) {
    let isHidden = isDeadLink(element, lane: lane, deaths: deaths)
    let bit: UInt8 = 1 << UInt8(lane)
    let holder = firstItem(of: element)
    if (items[Int(holder)].hidden & bit != 0) == isHidden { return }
    let item = isolate(
      holder, from: Int(element - items[Int(holder)].element), count: 1)
    let trail = items[Int(item)].trail
    for place in trail < 0 ? [item] : trails[Int(trail)].items {
      change(place) { $0.hidden = isHidden ? $0.hidden | bit : $0.hidden & ~bit }
    }
  }

  private func isDeadLink(_ element: Int32, lane: Int, deaths: Deaths) -> Bool {
    let knowing = lanes[lane]
    var (mark, value) = (mark(ofEvent: birth(of: element).event), firstValue(of: element))
    for setting in settings[element]?.history ?? []
    where (lane == 0 || knowing.knows(setting.mark)) && setting.mark.isLater(than: mark) {
      (mark, value) = setting
    }
    guard case .link(let target) = value, let deaths = deaths[target] else { return false }
    return deaths.contains { (lane == 0 || knowing.knows($0)) && !mark.knows($0) }
  }
}
