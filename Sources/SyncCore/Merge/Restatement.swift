// Restatement.swift: restates a stale changeset's operations on the head by the identities of their
// targets (docs/reference/sync-merge.md, section 10).

/// Restates one changeset.
struct Restatement {
  /// The author's view: everything in it is known to the author.
  var view: EventGraph
  /// The head, where its operations are going to be played.
  var head: EventGraph
  /// The author at the head, knowing everything.
  let author: EventMark
  /// The original mark of the author.
  let original: EventMark
  var result = PlayedChangeset()
  /// The operation's index.
  var source = 0

  /// Restates a changeset as if made on the previous version, and reports the omitted operations.
  ///
  /// Its operations are played in its author's view, and their results at the head.
  static func restate(
    _ changeset: SyncChangeset, view: inout EventGraph, head: inout EventGraph, version: UInt64
  ) -> PlayedChangeset {
    let original = SyncMerger.mark(changeset, version: version)
    var author = original
    author.base = version - 1
    var restatement = Restatement(view: view, head: head, author: author, original: original)
    // Not held twice, so that both are changed in place.
    (view, head) = (EventGraph(origin: SyncState()), EventGraph(origin: SyncState()))
    for (number, operation) in changeset.operations.enumerated() {
      restatement.source = number
      restatement.restate(operation)
      _ = restatement.view.play(
        [SourcedOperation(source: number, operation)], as: original)
    }
    (view, head) = (restatement.view, restatement.head)
    return restatement.result
  }

  /// An operation's mark at the head.
  var mark: EventMark { marked(author) }

  /// The same with the original's known history.
  var originalMark: EventMark { marked(original) }

  private func marked(_ mark: EventMark) -> EventMark {
    var mark = mark
    mark.operation = source
    return mark
  }

  mutating func lose(_ cause: SyncOverruling.Cause, by version: UInt64 = 0) {
    let loss = SyncOverruling(operation: source, cause: cause, by: SyncVersion(version))
    // Several values of one operation can be lost for one reason.
    if result.overruled.last != loss { result.overruled.append(loss) }
  }

  /// Takes an operation over, and plays it at the head.
  mutating func emit(_ operation: SyncOperation) {
    let operation = SourcedOperation(source: source, operation)
    result.resolved.append(operation)
    _ = head.play([operation], as: author)
  }

  private mutating func restate(_ operation: SyncOperation) {
    let object = operation.object
    let (seen, there) = (view.life(of: object), head.life(of: object))
    let unknown = head.lives[there].unknownDelete(to: originalMark)
    switch operation {
    case .create:
      if let unknown { return lose(.deleted, by: unknown.version) }
      emit(operation)
    case .delete:
      guard view.lives[seen].isAlive else { return lose(.missing) }
      if head.lives[there].isAlive { emit(operation) }
    case .change(let field, let change):
      if let unknown { return lose(.deleted, by: unknown.version) }
      guard view.lives[seen].isAlive, head.lives[there].isAlive else { return lose(.missing) }
      var place = field
      guard
        let nodes = walk(&place, view.lives[seen].node, head.lives[there].node)
      else { return }
      let fields = (
        view.field(field.property, of: nodes.view), head.field(field.property, of: nodes.head)
      )
      restate(change, place, view: fields.0, head: fields.1)
    }
  }

  /// Follows the path to a field on both sides; `place` becomes that of the head.
  private mutating func walk(
    _ place: inout SyncField, _ view: Int32, _ head: Int32
  ) -> (view: Int32, head: Int32)? {
    var nodes = (view: view, head: head)
    guard place.steps.count <= SyncLimits.stepsMax else {
      lose(.limit)
      return nil
    }
    for (number, step) in place.steps.enumerated() {
      let seen = self.view.field(step.property, of: nodes.view)
      let there = self.head.field(step.property, of: nodes.head)
      var (one, other) = (self.view.fields[seen].slot, self.head.fields[there].slot)
      switch step.place {
      case .element(let index):
        guard let inner = enter(index, view: seen, head: there) else { return nil }
        place.steps[number].place = .element(inner.index)
        nodes = (inner.view, inner.head)
        continue
      case .entry(let key):
        one = self.view.fields[seen].entries[key] ?? -1
        other = self.head.fields[there].entries[key] ?? -1
      case .value: break
      }
      guard one >= 0, self.view.slots[Int(one)].node >= 0 else {
        lose(.missing)
        return nil
      }
      guard other >= 0, self.head.slots[Int(other)].node >= 0,
        self.head.slots[Int(other)].mark.isSame(as: self.view.slots[Int(one)].mark)
      else {
        lose(.replaced, by: self.head.version(ofSlot: other))
        return nil
      }
      nodes = (self.view.slots[Int(one)].node, self.head.slots[Int(other)].node)
    }
    return nodes
  }

  private mutating func enter(
    _ index: Int, view field: Int, head headField: Int
  ) -> (index: Int, view: Int32, head: Int32)? {
    let (seen, there) = (view.list(of: field), head.list(of: headField))
    guard let element = view.lists[seen].element(at: index, lane: 0) else {
      lose(.missing)
      return nil
    }
    guard let other = counterpart(of: element, seen, there),
      let shown = head.lists[there].index(of: other, lane: 0)
    else {
      lose(.erased, by: eraser(of: element, seen, there))
      return nil
    }
    let holder = head.lists[there].valueMark(of: other)
    guard view.lists[seen].valueMark(of: element).isSame(as: holder) else {
      lose(.replaced, by: holder.version)
      return nil
    }
    let nodes = (view.node(of: element, in: seen), head.node(of: other, in: there))
    guard nodes.0 >= 0, nodes.1 >= 0 else {
      lose(.missing)
      return nil
    }
    return (shown, nodes.0, nodes.1)
  }

  /// The same element at the head; nil when it never existed there.
  func counterpart(of element: Int32, _ seen: Int, _ there: Int) -> Int32? {
    let birth = view.lists[seen].birth(of: element)
    let mark = view.lists[seen].mark(ofEvent: birth.event)
    for other in head.lists[there].births
    where (birth.event < 0) == (other.event < 0)
      && head.lists[there].mark(ofEvent: other.event).isSame(as: mark)
    {
      return other.element + element - birth.element
    }
    return nil
  }

  /// The version that erased an element at the head; 0 for none.
  func eraser(of element: Int32, _ seen: Int, _ there: Int) -> UInt64 {
    guard let other = counterpart(of: element, seen, there) else { return 0 }
    let list = head.lists[there]
    let item = list.items[Int(list.currentItem(of: other, lane: 0))]
    return list.mark(ofEvent: item.eraser).version
  }

  /// A link as the original meant it: to no object if its author did not see the target, or if that
  /// was deleted since.
  mutating func linked(_ value: SyncValue) -> SyncValue {
    guard case .link(let target) = value else { return value }
    let (seen, there) = (view.life(of: target), head.life(of: target))
    if !view.lives[seen].isAlive {
      lose(.missing)
    } else if let unknown = head.lives[there].unknownDelete(to: originalMark) {
      lose(.unlinked, by: unknown.version)
    } else {
      return value
    }
    return .link(SyncObject("", .null))
  }
}
