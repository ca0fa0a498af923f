// Restatement+Changes.swift: restates changes of fields on the head.

extension Restatement {
  mutating func restate(_ change: SyncChange, _ place: SyncField, view field: Int, head: Int) {
    switch change {
    case .set(let value):
      let slot = self.head.fields[head].slot
      if slot >= 0, !self.head.slots[Int(slot)].loses(to: mark, isSet: true) {
        return lose(.superseded, by: self.head.slots[Int(slot)].mark.version)
      }
      emit(.change(place, .set(withIncrements(linked(value), of: slot))))
    case .setDefault(let value):
      guard view.fields[field].slot < 0 else { return lose(.missing) }
      let slot = self.head.fields[head].slot
      guard slot < 0 else {
        return lose(.superseded, by: self.head.slots[Int(slot)].mark.version)
      }
      emit(.change(place, .setDefault(linked(value))))
    case .increment:
      let slot = self.head.fields[head].slot
      guard view.fields[field].slot >= 0, slot >= 0 else { return lose(.missing) }
      guard self.head.slots[Int(slot)].takes(mark) else {
        return lose(.superseded, by: self.head.slots[Int(slot)].mark.version)
      }
      emit(.change(place, change))
    case .setInsert(let value): restateMember(value, change, true, place, head)
    case .setErase(let value): restateMember(value, change, false, place, head)
    case .dictionarySet(let key, let value):
      guard isLatest(ofEntry: key, head) else { return }
      emit(.change(place, .dictionarySet(key, linked(value))))
    case .dictionaryRemove(let key):
      guard isLatest(ofEntry: key, head) else { return }
      emit(.change(place, change))
    default:
      let lists = (view.list(of: field), self.head.list(of: head))
      restateList(change, place, lists.0, lists.1)
    }
  }

  /// An integer with the later increments at the head, also those that another restated set has
  /// already counted.
  private func withIncrements(_ value: SyncValue, of slot: Int32) -> SyncValue {
    guard slot >= 0, case .int(var number) = value else { return value }
    let slot = head.slots[Int(slot)]
    for increment in slot.increments + slot.countedIncrements
    where increment.mark.isLater(than: mark) && !originalMark.knows(increment.mark) {
      number &+= increment.amount
    }
    return .int(number)
  }

  private mutating func restateMember(
    _ value: SyncValue, _ change: SyncChange, _ isMember: Bool, _ place: SyncField, _ field: Int
  ) {
    if let member = head.fields[field].members[value], !mark.isLater(than: member.mark) {
      if member.isMember != isMember { lose(.superseded, by: member.mark.version) }
      return
    }
    guard !isMember || linked(value) == value else { return }
    emit(.change(place, change))
  }

  private mutating func isLatest(ofEntry key: SyncText, _ field: Int) -> Bool {
    guard let slot = head.fields[field].entries[key],
      !head.slots[Int(slot)].loses(to: mark, isSet: true)
    else { return true }
    lose(.superseded, by: head.slots[Int(slot)].mark.version)
    return false
  }

  private mutating func restateList(
    _ change: SyncChange, _ place: SyncField, _ seen: Int, _ there: Int
  ) {
    let count = view.lists[seen].count(0)
    let lists = (seen, there)
    switch change {
    case .listInsert(let index, let values):
      guard (0...count).contains(index) else { return lose(.missing) }
      let goal = behind(index, without: nil, lists)
      emit(.change(place, .listInsert(at: goal, values.map { linked($0) })))
    case .listErase(let index, let erased):
      guard index >= 0, erased >= 0, index <= count, erased <= count - index else {
        return lose(.missing)
      }
      erase(view.lists[seen].elements(0)[index..<index + erased], place, seen, there)
    case .listClear: erase(view.lists[seen].elements(0), place, seen, there)
    case .listMove(let from, let to): move(from, to: to, place, lists)
    case .listSet(let index, let value):
      guard let element = view.lists[seen].element(at: index, lane: 0) else {
        return lose(.missing)
      }
      guard let other = counterpart(of: element, seen, there),
        let shown = head.lists[there].index(of: other, lane: 0)
      else { return lose(.erased, by: eraser(of: element, seen, there)) }
      let holder = head.lists[there].valueMark(of: other)
      guard mark.isLater(than: holder) else { return lose(.superseded, by: holder.version) }
      emit(.change(place, .listSet(at: shown, linked(value))))
    case .listAssign(let values):
      erase(view.lists[seen].elements(0), place, seen, there)
      fill(values, place, there)
    default: lose(.missing)
    }
  }

  /// The index at the head after the nearest element before one of the view.
  private func behind(
    _ index: Int, without moved: Int32?, _ lists: (seen: Int, there: Int)
  ) -> Int {
    let (seen, there) = lists
    let elements = view.lists[seen].elements(0).filter { $0 != moved }
    for element in elements[..<min(index, elements.count)].reversed() {
      if let other = counterpart(of: element, seen, there),
        let shown = head.lists[there].index(of: other, lane: 0)
      {
        guard let moved, let movedThere = counterpart(of: moved, seen, there),
          let from = head.lists[there].index(of: movedThere, lane: 0), from < shown
        else { return shown + 1 }
        // The moved element leaves its place first.
        return shown
      }
    }
    return 0
  }

  private mutating func erase(
    _ elements: some Sequence<Int32>, _ place: SyncField, _ seen: Int, _ there: Int
  ) {
    for element in elements {
      if let other = counterpart(of: element, seen, there),
        let shown = head.lists[there].index(of: other, lane: 0)
      {
        emit(.change(place, .listErase(at: shown, count: 1)))
      }
    }
  }

  private mutating func move(
    _ from: Int, to: Int, _ place: SyncField, _ lists: (seen: Int, there: Int)
  ) {
    let (seen, there) = lists
    let count = view.lists[seen].count(0)
    guard (0..<count).contains(from), (0..<count).contains(to),
      let element = view.lists[seen].element(at: from, lane: 0)
    else { return lose(.missing) }
    guard let other = counterpart(of: element, seen, there),
      let shown = head.lists[there].index(of: other, lane: 0)
    else { return lose(.erased, by: eraser(of: element, seen, there)) }
    let list = head.lists[there]
    let last = list.mark(
      ofEvent: list.items[Int(list.currentItem(of: other, lane: 0))].event)
    guard mark.isLater(than: last) else { return lose(.superseded, by: last.version) }
    let goal = behind(to, without: element, lists)
    emit(.change(place, .listMove(from: shown, to: goal)))
  }

  private mutating func fill(_ values: [SyncValue], _ place: SyncField, _ there: Int) {
    let last = head.lists[there].lanes[0].fill
    if last >= 0, !mark.isLater(than: head.lists[there].mark(ofEvent: last)) {
      return lose(.erased, by: head.lists[there].mark(ofEvent: last).version)
    }
    // A replay that starts later does not know which elements were assigned.
    for birth in head.lists[there].births where birth.event >= 0 {
      let event = head.lists[there].events[Int(birth.event)]
      guard event.kind == .fill else { continue }
      for element in birth.element..<birth.element + event.count {
        if let shown = head.lists[there].index(of: element, lane: 0) {
          emit(.change(place, .listErase(at: shown, count: 1)))
        }
      }
    }
    emit(.change(place, .listFill(values.map { linked($0) })))
  }
}
