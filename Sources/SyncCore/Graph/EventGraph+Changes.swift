// EventGraph+Changes.swift: resolves changes of fields against the merged state.

extension EventGraph {
  /// Changes a field; `place` is its place in the merged state.
  mutating func change(
    _ place: SyncField, of node: Int32, by change: SyncChange, _ mark: EventMark,
    _ played: inout PlayedChangeset
  ) {
    let field = field(place.property, of: node)
    switch change {
    case .set(let value): write(value, isSet: true, place, field, mark, &played)
    case .setDefault(let value):
      let slot = fields[field].slot
      if slot >= 0, slots[Int(slot)].isSeen(by: mark) {
        return played.lose(mark.operation, .missing)
      }
      write(value, isSet: false, place, field, mark, &played)
    case .increment(let amount): increment(amount, place, field, mark, &played)
    case .setInsert(let value): member(value, true, place, field, mark, &played)
    case .setErase(let value): member(value, false, place, field, mark, &played)
    case .dictionarySet(let key, let value): entry(key, value, place, field, mark, &played)
    case .dictionaryRemove(let key): entry(key, nil, place, field, mark, &played)
    default: changeList(of: field, by: change, place, mark, &played)
    }
  }

  private func emit(
    _ change: SyncChange, _ place: SyncField, _ mark: EventMark, _ played: inout PlayedChangeset
  ) {
    played.resolved.append(SourcedOperation(source: mark.operation, .change(place, change)))
  }

  /// Whether an author sees the target of a link; true for other values.
  mutating func isAlive(_ value: SyncValue, for mark: EventMark) -> Bool {
    guard case .link(let target) = value else { return true }
    let life = life(of: target)
    return lives[life].isAlive(for: mark)
  }

  /// An author's value: a link to an object that it does not see is null.
  private mutating func admitted(
    _ value: SyncValue, in place: SyncField, _ mark: EventMark, _ played: inout PlayedChangeset
  ) -> SyncValue {
    guard case .link(let target) = value else { return value }
    guard isAlive(value, for: mark) else {
      played.lose(mark.operation, .missing)
      return .null
    }
    linkers[target, default: []].insert(place.object)
    if let death = deaths[target]?.last(where: { !mark.knows($0) }) {
      played.lose(mark.operation, .unlinked, by: death.version)
    }
    return value
  }

  private mutating func write(
    _ value: SyncValue, isSet: Bool, _ place: SyncField, _ field: Int, _ mark: EventMark,
    _ played: inout PlayedChangeset
  ) {
    let value = admitted(value, in: place, mark, &played)
    let number = fields[field].slot
    let node = newNode(for: value)
    guard number >= 0 else {
      fields[field].slot = Int32(slots.count)
      slots.append(GraphSlot(mark, value, isSet: isSet, node: node))
      let shown = shown(value, writtenBy: mark)
      return emit(isSet ? .set(shown) : .setDefault(shown), place, mark, &played)
    }
    let holder = slots[Int(number)].mark
    let before = shown(number)
    slots[Int(number)].write(mark, value, isSet: isSet, node: node)
    guard slots[Int(number)].mark == mark else {
      return played.lose(mark.operation, .superseded, by: holder.version)
    }
    guard let after = shown(number) else { return }
    // A default that replaces another one has the effect of a set when applied.
    if isSet || before != after || value == .embedded {
      emit(isSet ? .set(after) : .setDefault(after), place, mark, &played)
    }
  }

  private mutating func increment(
    _ amount: Int64, _ place: SyncField, _ field: Int, _ mark: EventMark,
    _ played: inout PlayedChangeset
  ) {
    let number = fields[field].slot
    guard number >= 0, slots[Int(number)].isSeen(by: mark) else {
      return played.lose(mark.operation, .missing)
    }
    guard slots[Int(number)].takes(mark) else {
      return played.lose(
        mark.operation, .superseded, by: slots[Int(number)].mark.version)
    }
    slots[Int(number)].increment(mark, by: amount)
    guard case .int = slots[Int(number)].value else {
      return played.lose(mark.operation, .notNumber)
    }
    emit(.increment(amount), place, mark, &played)
  }

  private mutating func member(
    _ value: SyncValue, _ isMember: Bool, _ place: SyncField, _ field: Int, _ mark: EventMark,
    _ played: inout PlayedChangeset
  ) {
    if isMember {
      guard isAlive(value, for: mark) else { return played.lose(mark.operation, .missing) }
      if case .link(let target) = value { linkers[target, default: []].insert(place.object) }
    }
    let before = self.isMember(value, of: field)
    if let member = fields[field].members[value], !mark.isLater(than: member.mark) {
      if member.isMember != isMember {
        played.lose(mark.operation, .superseded, by: member.mark.version)
      }
      return
    }
    fields[field].members[value] = GraphMember(mark: mark, isMember: isMember)
    let after = self.isMember(value, of: field)
    if isMember, !after { played.lose(mark.operation, .unlinked) }
    if before != after {
      emit(after ? .setInsert(value) : .setErase(value), place, mark, &played)
    }
  }

  private mutating func entry(
    _ key: SyncText, _ value: SyncValue?, _ place: SyncField, _ field: Int, _ mark: EventMark,
    _ played: inout PlayedChangeset
  ) {
    let value = value.map { admitted($0, in: place, mark, &played) }
    let number = fields[field].entries[key]
    let before = number.flatMap { shown($0) }
    let node = value.map { newNode(for: $0) } ?? -1
    if let number {
      let holder = slots[Int(number)].mark
      slots[Int(number)].write(mark, value, isSet: true, node: node)
      guard slots[Int(number)].mark == mark else {
        if slots[Int(number)].value != value || value == .embedded {
          played.lose(mark.operation, .superseded, by: holder.version)
        }
        return
      }
    } else {
      fields[field].entries[key] = Int32(slots.count)
      slots.append(GraphSlot(mark, value, isSet: true, node: node))
    }
    if let value {
      emit(.dictionarySet(key, shown(value, writtenBy: mark)), place, mark, &played)
    } else if before != nil {
      emit(.dictionaryRemove(key), place, mark, &played)
    }
  }
}
