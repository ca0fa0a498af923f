// EventGraph+Play.swift: plays changesets one after another. Each operation is interpreted in its
// author's view, and resolved to its effect on the merged state.

/// The effect of a changeset.
struct PlayedChangeset {
  var resolved: [SourcedOperation] = []
  var overruled: [SyncOverruling] = []

  mutating func lose(
    _ source: Int, _ cause: SyncOverruling.Cause, by version: UInt64 = 0
  ) {
    overruled.append(
      SyncOverruling(operation: source, cause: cause, by: SyncVersion(version)))
  }

  /// What lost when these operations were restated, and what of the rest did when it was played.
  func told(then played: PlayedChangeset) -> [SyncOverruling] {
    guard !overruled.isEmpty else { return played.overruled }
    let known = Set(overruled.map(\.operation))
    let all = overruled + played.overruled.filter { !known.contains($0.operation) }
    return all.enumerated()
      .sorted { ($0.element.operation, $0.offset) < ($1.element.operation, $1.offset) }
      .map(\.element)
  }
}

extension EventGraph {
  /// Plays a changeset's operations, restated if it is stale, as those of its author.
  mutating func play(
    _ operations: [SourcedOperation], as author: EventMark
  ) -> PlayedChangeset {
    var played = PlayedChangeset()
    for operation in operations { play(operation, as: author, into: &played) }
    return played
  }

  /// Takes an operation.
  mutating func play(
    _ operation: SourcedOperation, as author: EventMark, into played: inout PlayedChangeset
  ) {
    var mark = author
    mark.operation = operation.source
    let life = life(of: operation.operation.object)
    switch operation.operation {
    case .create(let object): create(object, life, mark, &played)
    case .delete(let object): delete(object, life, mark, &played)
    case .change(let field, let change):
      if let unknown = lives[life].unknownDelete(to: mark) {
        return played.lose(operation.source, .deleted, by: unknown.version)
      }
      guard lives[life].isAlive(for: mark) else { return played.lose(operation.source, .missing) }
      switch walk(field, from: lives[life].node, mark) {
      case .lost(let cause, let version): played.lose(operation.source, cause, by: version)
      case .found(let node, let steps):
        let place = SyncField(field.object, steps, field.property)
        self.change(place, of: node, by: change, mark, &played)
      }
    }
  }

  private mutating func create(
    _ object: SyncObject, _ life: Int, _ mark: EventMark, _ played: inout PlayedChangeset
  ) {
    let unknown = lives[life].unknownDelete(to: mark)
    if let unknown { played.lose(mark.operation, .deleted, by: unknown.version) }
    // Who sees it alive adds nothing to that.
    guard !lives[life].isAlive(for: mark) else { return }
    let wasAlive = lives[life].isAlive
    lives[life].create(mark)
    guard unknown == nil, !wasAlive else { return }
    lives[life].node = newNode()
    played.resolved.append(SourcedOperation(source: mark.operation, .create(object)))
  }

  private mutating func delete(
    _ object: SyncObject, _ life: Int, _ mark: EventMark, _ played: inout PlayedChangeset
  ) {
    guard lives[life].isAlive(for: mark) else { return played.lose(mark.operation, .missing) }
    let wasAlive = lives[life].isAlive
    if wasAlive { cut(object, mark, &played) }
    deaths[object, default: []].append(mark)
    if !wasAlive { cutHidden(object, mark) }
    lives[life].delete(mark)
    if wasAlive {
      played.resolved.append(SourcedOperation(source: mark.operation, .delete(object)))
    }
  }

  /// The place of a field in the merged state, or why it has none.
  enum Walk {
    case found(node: Int32, steps: [SyncStep])
    case lost(SyncOverruling.Cause, by: UInt64)
  }

  /// Follows the path to a field, in the author's view and in the merged state.
  mutating func walk(_ place: SyncField, from start: Int32, _ mark: EventMark) -> Walk {
    guard place.steps.count <= SyncLimits.stepsMax else { return .lost(.limit, by: 0) }
    var node = start
    var steps = place.steps
    for (number, step) in place.steps.enumerated() {
      let field = field(step.property, of: node)
      switch step.place {
      case .value, .entry:
        var slot = fields[field].slot
        if case .entry(let key) = step.place { slot = fields[field].entries[key] ?? -1 }
        guard slot >= 0 else { return .lost(.missing, by: 0) }
        let holder = slots[Int(slot)]
        guard mark.knows(holder.mark) else { return .lost(.replaced, by: holder.mark.version) }
        guard holder.node >= 0 else { return .lost(.missing, by: 0) }
        node = holder.node
      case .element(let index):
        switch enter(index, of: list(of: field), mark) {
        case .lost(let cause, let version): return .lost(cause, by: version)
        case .found(let inner, let shown):
          node = inner
          steps[number].place = shown[0].place
        }
      }
    }
    return .found(node: node, steps: steps)
  }

  /// Steps into an element of its author's view.
  private mutating func enter(_ index: Int, of list: Int, _ mark: EventMark) -> Walk {
    let lane = lists[list].lane(for: mark, deaths: deaths)
    guard let element = lists[list].element(at: index, lane: lane) else {
      return .lost(.missing, by: 0)
    }
    guard let shown = lists[list].index(of: element, lane: 0) else {
      let item = lists[list].items[Int(lists[list].currentItem(of: element, lane: 0))]
      let isErased = item.erased & 1 != 0
      return .lost(
        isErased ? .erased : .replaced,
        by: isErased
          ? lists[list].mark(ofEvent: item.eraser).version
          : lists[list].valueMark(of: element).version)
    }
    let holder = lists[list].valueMark(of: element)
    guard mark.knows(holder) else { return .lost(.replaced, by: holder.version) }
    let node = node(of: element, in: list)
    guard node >= 0 else { return .lost(.missing, by: 0) }
    return .found(node: node, steps: [SyncStep("", .element(shown))])
  }

  /// The node of an element's embedded object; -1 for other values.
  mutating func node(of element: Int32, in list: Int) -> Int32 {
    if let settings = lists[list].settings[element] { return settings.node }
    guard lists[list].firstValue(of: element) == .embedded else { return -1 }
    let base = lists[list].base
    let node = newNode(Int(element) < base.count ? base[Int(element)].embedded : nil)
    lists[list].settings[element] = ListSettings(
      mark: lists[list].valueMark(of: element), value: .embedded, node: node)
    return node
  }
}
