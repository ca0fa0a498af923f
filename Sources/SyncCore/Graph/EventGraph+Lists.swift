// EventGraph+Lists.swift: resolves changes of lists, and the links that deletes cut in them.

extension EventGraph {
  mutating func changeList(
    of field: Int, by change: SyncChange, _ place: SyncField, _ mark: EventMark,
    _ played: inout PlayedChangeset
  ) {
    let list = list(of: field)
    var outcome: ListOutcome
    switch change {
    case .listInsert(let index, let values):
      let isAlive = admitted(values, in: place, mark)
      outcome = lists[list].insert(
        mark, at: index, values, isAlive: isAlive, deaths: deaths)
    case .listErase(let index, let count):
      outcome = lists[list].erase(mark, at: index, count: count, deaths: deaths)
    case .listMove(let from, let to):
      outcome = lists[list].move(mark, from: from, to: to, deaths: deaths)
    case .listSet(let index, let value):
      guard admitted([value], in: place, mark) == nil else {
        return played.lose(mark.operation, .missing)
      }
      let node = newNode(for: value)
      outcome = lists[list].set(mark, at: index, value, node: node, deaths: deaths)
    case .listClear: outcome = lists[list].clear(mark, deaths: deaths)
    case .listAssign(let values):
      outcome = assign(values, list, place, mark)
    case .listFill(let values):
      let isAlive = admitted(values, in: place, mark)
      outcome = lists[list].fill(mark, values, isAlive: isAlive, deaths: deaths)
    default: return
    }
    for change in outcome.changes {
      played.resolved.append(SourcedOperation(source: mark.operation, .change(place, change)))
    }
    if let loss = outcome.loss { played.lose(mark.operation, loss.cause, by: loss.by) }
  }

  private mutating func assign(
    _ values: [SyncValue], _ list: Int, _ place: SyncField, _ mark: EventMark
  ) -> ListOutcome {
    let isAlive = admitted(values, in: place, mark)
    let before = lists[list].count(0)
    var outcome = lists[list].clear(mark, deaths: deaths)
    let filled = lists[list].fill(mark, values, isAlive: isAlive, deaths: deaths)
    outcome.changes += filled.changes
    outcome.loss = filled.loss
    // One assignment has the same effect if no other elements are left.
    if filled.loss == nil, before + values.count > 0, lists[list].count(0) == values.count {
      outcome.changes = [.listAssign(values)]
    }
    return outcome
  }

  /// For each value whether the author sees its target; nil if it sees all.
  private mutating func admitted(
    _ values: [SyncValue], in place: SyncField, _ mark: EventMark
  ) -> [Bool]? {
    var isAlive: [Bool]?
    for (number, value) in values.enumerated() {
      guard case .link(let target) = value else { continue }
      linkers[target, default: []].insert(place.object)
      guard !self.isAlive(value, for: mark) else { continue }
      isAlive = isAlive ?? [Bool](repeating: true, count: values.count)
      isAlive?[number] = false
    }
    return isAlive
  }

  /// Cuts the links to an object that is about to be deleted, as separate operations.
  mutating func cut(
    _ target: SyncObject, _ mark: EventMark, _ played: inout PlayedChangeset
  ) {
    var holders = linkers[target] ?? []
    holders.formUnion((origin.linkers[target] ?? [:]).keys)
    // Lists learn of the delete through the elements it hides, so it has to be recorded first.
    var after = deaths
    after[target, default: []].append(mark)
    for holder in holders.sorted() {
      let life = life(of: holder)
      guard lives[life].isAlive, lives[life].node >= 0 else { continue }
      if holder == target { continue }
      cut(target, mark, in: lives[life].node, SyncField(holder, [], ""), after, &played)
    }
  }

  /// The same for an object that is dead already: no visible link leads to it, but authors may see
  /// one, and its list has to learn of this delete.
  mutating func cutHidden(_ target: SyncObject, _ mark: EventMark) {
    for list in lists.indices where lists[list].linked[target] != nil {
      _ = lists[list].cut(target, mark, deaths: deaths)
    }
  }

  /// Cuts the links in an object or an embedded object; the nesting depth is bounded.
  private mutating func cut(
    _ target: SyncObject, _ mark: EventMark, in node: Int32, _ place: SyncField,
    _ after: Deaths, _ played: inout PlayedChangeset
  ) {
    var names = Set(nodes[Int(node)].fields.keys)
    names.formUnion((nodes[Int(node)].base?.fields ?? [:]).keys)
    for name in names.sorted() {
      let field = field(name, of: node)
      var here = place
      here.property = name
      cutSlot(fields[field].slot, target, mark, here, .value, after, &played) { .set($0) }
      for (key, slot) in fields[field].entries.sorted(by: { $0.key < $1.key }) {
        cutSlot(slot, target, mark, here, .entry(key), after, &played) { .dictionarySet(key, $0) }
      }
      if isMember(.link(target), of: field) {
        played.resolved.append(
          SourcedOperation(
            source: mark.operation, .change(here, .setErase(.link(target)))))
      }
      guard fields[field].list >= 0 else { continue }
      let list = Int(fields[field].list)
      for change in lists[list].cut(target, mark, deaths: after) {
        played.resolved.append(SourcedOperation(source: mark.operation, .change(here, change)))
      }
      for (index, element) in embeddedElements(of: list) {
        let inner = self.node(of: element, in: list)
        guard inner >= 0 else { continue }
        let step = SyncStep(name, .element(index))
        cut(
          target, mark, in: inner, SyncField(place.object, place.steps + [step], ""), after,
          &played)
      }
    }
  }

  private func embeddedElements(of list: Int) -> [(index: Int, element: Int32)] {
    lists[list].elements(0).enumerated().compactMap { index, element in
      lists[list].value(of: element) == .embedded ? (index, element) : nil
    }
  }

  private mutating func cutSlot(
    _ slot: Int32, _ target: SyncObject, _ mark: EventMark, _ place: SyncField,
    _ way: SyncStep.Place, _ after: Deaths, _ played: inout PlayedChangeset,
    _ change: (SyncValue) -> SyncChange
  ) {
    guard slot >= 0 else { return }
    if shown(slot) == .link(target) {
      played.resolved.append(
        SourcedOperation(source: mark.operation, .change(place, change(.null))))
    }
    let inner = slots[Int(slot)].node
    guard inner >= 0 else { return }
    let step = SyncStep(place.property, way)
    cut(
      target, mark, in: inner, SyncField(place.object, place.steps + [step], ""), after, &played)
  }
}
