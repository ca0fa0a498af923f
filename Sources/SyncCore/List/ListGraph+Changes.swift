// ListGraph+Changes.swift: the operations on a list, each given by its author's indexes, and the
// effect of each on the merged list.

/// The effect of an operation.
struct ListOutcome {
  /// Its changes to the merged list.
  var changes: [SyncChange] = []
  /// Why it has only part of its effect.
  var loss: (cause: SyncOverruling.Cause, by: UInt64)?

  static func lost(_ cause: SyncOverruling.Cause, by version: UInt64 = 0) -> ListOutcome {
    ListOutcome(loss: (cause, version))
  }

  /// Adds an erasure, to the one before where both are one.
  mutating func appendErase(at index: Int, count: Int) {
    if case .listErase(index, let before) = changes.last {
      changes[changes.count - 1] = .listErase(at: index, count: before + count)
    } else {
      changes.append(.listErase(at: index, count: count))
    }
  }
}

extension ListGraph {
  /// Inserts values; `isAlive` is for each whether its author sees its target.
  mutating func insert(
    _ mark: EventMark, at index: Int, _ values: [SyncValue], isAlive: [Bool]?, deaths: Deaths
  ) -> ListOutcome {
    let lane = lane(for: mark, deaths: deaths)
    guard (0...count(lane)).contains(index) else { return .lost(.missing) }
    guard hasRoom(for: values) else { return .lost(.limit) }
    guard !values.isEmpty else { return ListOutcome() }
    let item = place(
      newItem(values), mark, behind: index == 0 ? nil : index - 1, lane: lane)
    return grow(.insert, mark, item: item, values, isAlive: isAlive, lane: lane, deaths: deaths)
  }

  /// Inserts values as an assignment does, after its erasures.
  mutating func fill(
    _ mark: EventMark, _ values: [SyncValue], isAlive: [Bool]?, deaths: Deaths
  ) -> ListOutcome {
    let lane = lane(for: mark, deaths: deaths)
    guard hasRoom(for: values) else { return .lost(.limit) }
    let last = lanes[0].fill
    var outcome = ListOutcome()
    if last >= 0, mark.isLater(than: self.mark(ofEvent: last)) {
      for item in itemsOf(events[Int(last)]) { eraseNow(item, into: &outcome) }
    }
    let item =
      values.isEmpty ? -1 : place(newItem(values), mark, behind: nil, lane: lane)
    let grown = grow(.fill, mark, item: item, values, isAlive: isAlive, lane: lane, deaths: deaths)
    outcome.changes += grown.changes
    outcome.loss = grown.loss
    return outcome
  }

  private func hasRoom(for values: [SyncValue]) -> Bool {
    values.count <= SyncLimits.elementsMax - elementCount
  }

  private func newItem(_ values: [SyncValue]) -> ListItem {
    ListItem(
      element: Int32(elementCount), count: Int32(values.count), event: Int32(events.count), known: 0
    )
  }

  /// Erases an item's elements in lane 0, before the event that does so is recorded.
  private mutating func eraseNow(_ item: Int32, into outcome: inout ListOutcome) {
    let trail = items[Int(item)].trail
    let place = trail < 0 ? item : trails[Int(trail)].current[0]
    guard items[Int(place)].visible & 1 != 0 else { return }
    outcome.appendErase(
      at: tree.rank(of: place, lane: 0, items: items), count: Int(items[Int(place)].count))
    let event = Int32(events.count)
    change(place) {
      $0.erased |= 1
      $0.eraser = event
    }
  }

  private mutating func grow(
    _ kind: ListEvent.Kind, _ mark: EventMark, item: Int32, _ values: [SyncValue],
    isAlive: [Bool]?, lane: Int, deaths: Deaths
  ) -> ListOutcome {
    let first = Int32(elementCount)
    added += values
    for (number, value) in values.enumerated() { link(first + Int32(number), to: value) }
    if !values.isEmpty {
      births.append(ListBirth(element: first, item: item, event: Int32(events.count)))
    }
    record(
      ListEvent(mark: mark, kind: kind, item: item, count: Int32(values.count)), lane: lane,
      deaths: deaths)
    for value in values { noteDeaths(of: value, deaths: deaths) }
    for (number, isAlive) in (isAlive ?? []).enumerated() where !isAlive {
      let single = isolate(element: first + Int32(number))
      record(ListEvent(mark: mark, kind: .erase, item: single), lane: lane, deaths: deaths)
    }
    return outcome(ofGrowth: first, values, isAlive: isAlive)
  }

  private mutating func link(_ element: Int32, to value: SyncValue) {
    guard case .link(let target) = value else { return }
    if linked[target]?.last != element { linked[target, default: []].append(element) }
  }

  /// Notes the deletes of a link's target that there were before the link came.
  private mutating func noteDeaths(of value: SyncValue, deaths: Deaths) {
    guard !deaths.isEmpty, case .link(let target) = value else { return }
    for death in deaths[target] ?? [] {
      addCut(ListCut(mark: death, target: target), deaths: deaths)
    }
  }

  private func outcome(
    ofGrowth first: Int32, _ values: [SyncValue], isAlive: [Bool]?
  ) -> ListOutcome {
    var outcome = ListOutcome()
    var shown: [SyncValue] = []
    var start: Int?
    guard !values.isEmpty else { return outcome }
    if items[Int(firstItem(of: first))].count == values.count {
      // The run was never split, so all of it is visible, or nothing.
      start = index(of: first, lane: 0)
      if start != nil { shown = values }
    } else {
      for (number, value) in values.enumerated() {
        guard let index = index(of: first + Int32(number), lane: 0) else { continue }
        start = start ?? index
        shown.append(value)
      }
    }
    if let start { outcome.changes = [.listInsert(at: start, shown)] }
    if shown.count < values.count {
      let item = items[Int(firstItem(of: first))]
      let isOwn = isAlive?.contains(false) ?? false
      if item.erased & 1 != 0, !isOwn {
        outcome.loss = (.erased, self.mark(ofEvent: item.eraser).version)
      } else {
        outcome.loss = isOwn ? (.missing, 0) : (.unlinked, 0)
      }
    }
    return outcome
  }

  private mutating func isolate(element: Int32) -> Int32 {
    let holder = firstItem(of: element)
    return isolate(holder, from: Int(element - items[Int(holder)].element), count: 1)
  }

  /// Erases elements of the author's view.
  mutating func erase(
    _ mark: EventMark, at index: Int, count: Int, deaths: Deaths
  ) -> ListOutcome {
    let lane = lane(for: mark, deaths: deaths)
    let total = self.count(lane)
    guard index >= 0, count >= 0, index <= total, count <= total - index else {
      return .lost(.missing)
    }
    return erase(mark, at: index, count: count, lane: lane, deaths: deaths)
  }

  /// Erases all elements of the author's view.
  mutating func clear(_ mark: EventMark, deaths: Deaths) -> ListOutcome {
    let lane = lane(for: mark, deaths: deaths)
    var outcome = erase(mark, at: 0, count: count(lane), lane: lane, deaths: deaths)
    if count(0) == 0, !outcome.changes.isEmpty { outcome.changes = [.listClear] }
    return outcome
  }

  private mutating func erase(
    _ mark: EventMark, at index: Int, count: Int, lane: Int, deaths: Deaths
  ) -> ListOutcome {
    var outcome = ListOutcome()
    var rest = count
    while rest > 0, let (found, offset) = tree.select(index, lane: lane, items: items) {
      let item = isolate(
        found, from: offset, count: min(rest, Int(items[Int(found)].count) - offset))
      rest -= Int(items[Int(item)].count)
      // The places of the elements in the merged list; a moved one may be elsewhere than in the
      // lane.
      let trail = items[Int(item)].trail
      let place = trail < 0 ? item : trails[Int(trail)].current[0]
      if items[Int(place)].visible & 1 != 0 {
        outcome.appendErase(
          at: tree.rank(of: place, lane: 0, items: items), count: Int(items[Int(place)].count))
      }
      record(
        ListEvent(mark: mark, kind: .erase, item: item, count: items[Int(item)].count),
        lane: lane, deaths: deaths)
    }
    return outcome
  }

  /// Moves an element of the author's view.
  mutating func move(
    _ mark: EventMark, from: Int, to: Int, deaths: Deaths
  ) -> ListOutcome {
    let lane = lane(for: mark, deaths: deaths)
    guard from >= 0, to >= 0, from < count(lane), to < count(lane),
      elementCount < SyncLimits.elementsMax, items.count < SyncLimits.elementsMax,
      let (found, offset) = tree.select(from, lane: lane, items: items)
    else { return .lost(.missing) }
    let item = isolate(found, from: offset, count: 1)
    var trail = items[Int(item)].trail
    if trail < 0 {
      trail = Int32(trails.count)
      trails.append(ListTrail(items: [item], current: SIMD8(repeating: item)))
      items[Int(item)].trail = trail
    }
    let before = trails[Int(trail)].current[0]
    let isShown = items[Int(before)].visible & 1 != 0
    let start = isShown ? tree.rank(of: before, lane: 0, items: items) : 0
    var goal = items[Int(item)]
    (goal.rest, goal.left, goal.right) = (-1, -1, -1)
    (goal.known, goal.here) = (0, 0)
    goal.event = Int32(events.count)
    let place = place(
      goal, mark, behind: to == 0 ? nil : to - 1 < from ? to - 1 : to, lane: lane)
    trails[Int(trail)].items.append(place)
    record(ListEvent(mark: mark, kind: .move, item: place), lane: lane, deaths: deaths)
    let current = trails[Int(trail)].current[0]
    if items[Int(current)].erased & 1 != 0 {
      return .lost(.erased, by: self.mark(ofEvent: items[Int(current)].eraser).version)
    }
    guard current == place else {
      return .lost(
        .superseded, by: self.mark(ofEvent: items[Int(current)].event).version)
    }
    guard isShown else { return ListOutcome() }
    let end = tree.rank(of: place, lane: 0, items: items)
    return ListOutcome(changes: start == end ? [] : [.listMove(from: start, to: end)])
  }

  /// Sets an element of the author's view to another value, and a node to an embedded object.
  mutating func set(
    _ mark: EventMark, at index: Int, _ value: SyncValue, node: Int32, deaths: Deaths
  ) -> ListOutcome {
    let lane = lane(for: mark, deaths: deaths)
    guard let element = element(at: index, lane: lane) else { return .lost(.missing) }
    let current = valueMark(of: element)
    let wasShown = self.index(of: element, lane: 0)
    var settings =
      self.settings[element]
      ?? ListSettings(mark: current, value: firstValue(of: element), node: -1)
    settings.history.append((mark, value))
    let isLatest = mark.isLater(than: current)
    if isLatest { (settings.mark, settings.value, settings.node) = (mark, value, node) }
    self.settings[element] = settings
    link(element, to: value)
    noteDeaths(of: value, deaths: deaths)
    record(ListEvent(mark: mark, kind: .set, item: element), lane: lane, deaths: deaths)
    let item = items[Int(currentItem(of: element, lane: 0))]
    if item.erased & 1 != 0 {
      return .lost(.erased, by: self.mark(ofEvent: item.eraser).version)
    }
    guard isLatest else { return .lost(.superseded, by: current.version) }
    switch (wasShown, self.index(of: element, lane: 0)) {
    case (_?, let index?): return ListOutcome(changes: [.listSet(at: index, value)])
    case (let index?, nil):
      return ListOutcome(changes: [.listErase(at: index, count: 1)], loss: (.unlinked, 0))
    case (nil, let index?): return ListOutcome(changes: [.listInsert(at: index, [value])])
    case (nil, nil): return .lost(.unlinked)
    }
  }

  /// Hides the links to a deleted object, and reports this as a sequence of erasures.
  mutating func cut(_ target: SyncObject, _ mark: EventMark, deaths: Deaths) -> [SyncChange] {
    guard let elements = linked[target] else { return [] }
    var outcome = ListOutcome()
    let shown = elements.compactMap { element -> Int? in
      guard value(of: element) == .link(target) else { return nil }
      return index(of: element, lane: 0)
    }
    for index in Set(shown).sorted(by: >) {
      outcome.changes.append(.listErase(at: index, count: 1))
    }
    addCut(ListCut(mark: mark, target: target), deaths: deaths)
    return outcome.changes
  }
}
