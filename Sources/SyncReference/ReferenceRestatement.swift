// ReferenceRestatement.swift: docs/reference/sync-merge.md, section 10, in the simplest way: the
// author's view and the head are replayed from the beginning for each stale entry. Slow.

import SyncCore

/// A stale changeset's operations as those of somebody who knows the head.
struct ReferenceRestatement {
  private let changeset: SyncChangeset
  private let version: UInt64
  /// What the author saw, then also what the operations did there.
  private var view: ReferenceMerge
  /// The version before, then also with the restated operations.
  private var head: ReferenceMerge
  private(set) var restated: [SourcedOperation] = []
  private(set) var causes: [SyncOverruling.Cause?] = []
  /// The index of the operation that is being restated.
  private var source = 0

  /// - Parameters:
  ///   - changeset: The stale changeset.
  ///   - version: The version that it makes.
  ///   - view: What its author saw.
  ///   - head: The version before.
  init(_ changeset: SyncChangeset, version: UInt64, view: ReferenceMerge, head: ReferenceMerge) {
    self.changeset = changeset
    self.version = version
    self.view = view
    self.head = head
    for (number, operation) in changeset.operations.enumerated() {
      source = number
      causes.append(restate(operation))
      self.view.take(original(operation))
    }
  }

  /// The operation with what its author knew.
  private func original(_ operation: SyncOperation) -> ReferenceOperation {
    ReferenceOperation(
      version: version, client: changeset.client.number, sequence: changeset.sequence,
      base: changeset.base.number, stamp: changeset.stamp.bits, source: source, position: source,
      operation: operation)
  }

  private mutating func emit(_ operation: SyncOperation) {
    head.take(
      ReferenceOperation(
        version: version, client: changeset.client.number, sequence: changeset.sequence,
        base: version - 1, stamp: changeset.stamp.bits, source: source,
        position: restated.count, operation: operation))
    restated.append(SourcedOperation(source: source, operation))
  }

  /// - Returns: Why it has no effect; nil for one that has.
  private mutating func restate(_ operation: SyncOperation) -> SyncOverruling.Cause? {
    let object = operation.object
    let isSeen = view.isAlive(object, for: nil)
    switch operation {
    case .delete:
      guard isSeen else { return .missing }
      if head.isAlive(object, for: nil) { emit(operation) }
      return nil
    case .create:
      guard !hasUnknownDelete(object) else { return .deleted }
      emit(operation)
      return nil
    case .change(var field, let change):
      guard !hasUnknownDelete(object) else { return .deleted }
      guard isSeen, head.isAlive(object, for: nil) else { return .missing }
      switch walk(&field) {
      case .failure(let loss): return loss.cause
      case .success(let places): return restate(change, field, seen: places.seen, places.there)
      }
    }
  }

  /// Whether there is a delete that the original does not know.
  private func hasUnknownDelete(_ object: SyncObject) -> Bool {
    (head.deletes[object] ?? []).contains { !isKnown($0) }
  }

  /// Whether the original knows an operation at the head: there one can have become several.
  private func isKnown(_ other: Int) -> Bool {
    let other = head.operations[other]
    if other.client == changeset.client.number, other.sequence == changeset.sequence {
      return other.source < source
    }
    return original(changeset.operations[source]).knows(other)
  }

  /// A link as it is written at the head.
  private func linked(_ value: SyncValue) -> SyncValue {
    guard case .link(let target) = value else { return value }
    let isMeant = view.isAlive(target, for: nil) && !hasUnknownDelete(target)
    return isMeant ? value : .link(SyncObject("", .null))
  }

  /// Whether the original is later than an operation at the head.
  private func isLater(than other: Int) -> Bool {
    original(changeset.operations[source]).isLater(than: head.operations[other])
  }

  // MARK: paths

  private struct Loss: Error { let cause: SyncOverruling.Cause }

  /// An identity that means the same in both replays.
  private struct Name: Hashable {
    let client: UInt64
    let sequence: UInt64
    let source: Int
    let number: Int

    init(_ identity: ReferenceIdentity, in merge: ReferenceMerge) {
      let operation = merge.operations[identity.operation]
      (client, sequence, source) = (operation.client, operation.sequence, operation.source)
      number = identity.number
    }
  }

  /// Follows the path of a field on both sides; its indexes become those of the head.
  private func walk(
    _ field: inout SyncField
  ) -> Result<(seen: ReferenceAddress, there: ReferenceAddress), Loss> {
    var seen = ReferenceAddress(object: field.object)
    var there = seen
    guard field.steps.count <= SyncLimits.stepsMax else { return .failure(Loss(cause: .limit)) }
    for (number, step) in field.steps.enumerated() {
      (seen.property, there.property) = (step.property, step.property)
      let mine: ReferenceIdentity
      let other: ReferenceIdentity
      switch step.place {
      case .element(let index):
        let elements = view.elements(of: seen, for: nil)
        guard elements.indices.contains(index) else { return .failure(Loss(cause: .missing)) }
        guard let shown = self.index(of: elements[index], at: there) else {
          return .failure(Loss(cause: .erased))
        }
        let element = head.elements(of: there, for: nil)[shown]
        (mine, other) = (elements[index].writer, element.writer)
        guard Name(mine, in: view) == Name(other, in: head) else {
          return .failure(Loss(cause: .replaced))
        }
        guard elements[index].value == .embedded, element.value == .embedded else {
          return .failure(Loss(cause: .missing))
        }
        field.steps[number].place = .element(shown)
      case .value, .entry:
        guard let write = write(step, seen, view), write.value == .embedded else {
          return .failure(Loss(cause: .missing))
        }
        mine = ReferenceIdentity(operation: write.operation, number: 0)
        guard let write = self.write(step, there, head), write.value == .embedded else {
          return .failure(Loss(cause: .replaced))
        }
        other = ReferenceIdentity(operation: write.operation, number: 0)
        guard Name(mine, in: view) == Name(other, in: head) else {
          return .failure(Loss(cause: .replaced))
        }
      }
      seen.way.append(.init(property: step.property, identity: mine))
      there.way.append(.init(property: step.property, identity: other))
    }
    (seen.property, there.property) = (field.property, field.property)
    return .success((seen, there))
  }

  private func write(
    _ step: SyncStep, _ address: ReferenceAddress, _ merge: ReferenceMerge
  ) -> ReferenceMerge.Write? {
    guard case .entry(let key) = step.place else {
      return merge.latest(merge.values[address], for: nil)
    }
    return merge.latest(merge.entries[address]?[key], for: nil)
  }

  /// The index at the head of an element of the view; nil when it is not in the list there.
  private func index(
    of element: ReferenceMerge.Element, at there: ReferenceAddress
  ) -> Int? {
    let name = Name(element.identity, in: view)
    return head.elements(of: there, for: nil).firstIndex { Name($0.identity, in: head) == name }
  }

  /// The index at the head of the last of some elements that is there.
  private func nearest(
    _ elements: ArraySlice<ReferenceMerge.Element>, _ there: ReferenceAddress
  ) -> Int? {
    for element in elements.reversed() {
      if let shown = index(of: element, at: there) { return shown }
    }
    return nil
  }

  // MARK: changes

  private mutating func restate(
    _ change: SyncChange, _ field: SyncField, seen: ReferenceAddress, _ there: ReferenceAddress
  ) -> SyncOverruling.Cause? {
    let value = head.latest(head.values[there], for: nil)
    switch change {
    case .set(let new):
      if let value, value.isSet, !isLater(than: value.operation) { return .superseded }
      emit(.change(field, .set(counted(linked(new), there))))
    case .setDefault(let new):
      guard view.latest(view.values[seen], for: nil) == nil else { return .missing }
      guard value == nil else { return .superseded }
      emit(.change(field, .setDefault(linked(new))))
    case .increment:
      guard view.latest(view.values[seen], for: nil) != nil, let value else { return .missing }
      if value.isSet, !isLater(than: value.operation) { return .superseded }
      emit(.change(field, change))
    case .setInsert(let member), .setErase(let member):
      var isInsert = false
      if case .setInsert = change { isInsert = true }
      if let last = head.latest(head.members[there]?[member], for: nil),
        !isLater(than: last.operation)
      {
        return (last.value != nil) == isInsert ? nil : .superseded
      }
      guard !isInsert || linked(member) == member else {
        guard case .link(let target) = member else { return nil }
        return view.isAlive(target, for: nil) ? .unlinked : .missing
      }
      emit(.change(field, change))
    case .dictionarySet(let key, _), .dictionaryRemove(let key):
      if let last = head.latest(head.entries[there]?[key], for: nil),
        !isLater(than: last.operation)
      {
        return .superseded
      }
      guard case .dictionarySet(_, let new) = change else {
        emit(.change(field, change))
        return nil
      }
      emit(.change(field, .dictionarySet(key, linked(new))))
    default: return restateList(change, field, seen, there)
    }
    return nil
  }

  /// An integer with the increments of the head that are later and unknown.
  private func counted(_ value: SyncValue, _ there: ReferenceAddress) -> SyncValue {
    guard case .int(var number) = value else { return value }
    for (operation, amount) in head.increments[there] ?? []
    where head.counts(operation, for: nil) && !isKnown(operation) && !isLater(than: operation) {
      number &+= amount
    }
    return .int(number)
  }

  private mutating func restateList(
    _ change: SyncChange, _ field: SyncField, _ seen: ReferenceAddress, _ there: ReferenceAddress
  ) -> SyncOverruling.Cause? {
    let elements = view.elements(of: seen, for: nil)
    switch change {
    case .listInsert(let index, let values):
      guard (0...elements.count).contains(index) else { return .missing }
      let goal = nearest(elements[..<index], there).map { $0 + 1 } ?? 0
      emit(.change(field, .listInsert(at: goal, values.map { linked($0) })))
    case .listErase(let index, let count):
      guard index >= 0, count >= 0, index <= elements.count, count <= elements.count - index else {
        return .missing
      }
      erase(elements[index..<index + count], field, there)
    case .listClear: erase(elements[...], field, there)
    case .listMove(let from, let to):
      guard elements.indices.contains(from), elements.indices.contains(to) else {
        return .missing
      }
      return move(elements, from, to, field, there)
    case .listSet(let index, let value):
      guard elements.indices.contains(index) else { return .missing }
      guard let shown = self.index(of: elements[index], at: there) else { return .erased }
      let writer = head.elements(of: there, for: nil)[shown].writer
      guard isLater(than: writer.operation) else { return .superseded }
      emit(.change(field, .listSet(at: shown, linked(value))))
    case .listAssign(let values):
      erase(elements[...], field, there)
      return fill(values, field, there)
    default: return .missing
    }
    return nil
  }

  private mutating func erase(
    _ elements: ArraySlice<ReferenceMerge.Element>, _ field: SyncField, _ there: ReferenceAddress
  ) {
    for element in elements {
      guard let shown = index(of: element, at: there) else { continue }
      emit(.change(field, .listErase(at: shown, count: 1)))
    }
  }

  private mutating func move(
    _ elements: [ReferenceMerge.Element], _ from: Int, _ to: Int, _ field: SyncField,
    _ there: ReferenceAddress
  ) -> SyncOverruling.Cause? {
    guard let shown = index(of: elements[from], at: there) else { return .erased }
    let place = head.elements(of: there, for: nil)[shown].place
    guard let list = head.lists[there], isLater(than: list.places[place].operation) else {
      return .superseded
    }
    var rest = elements
    rest.remove(at: from)
    // Indexes after the move are those of the list without the element.
    let goal = nearest(rest[..<to], there).map { $0 > shown ? $0 : $0 + 1 } ?? 0
    emit(.change(field, .listMove(from: shown, to: goal)))
    return nil
  }

  private mutating func fill(
    _ values: [SyncValue], _ field: SyncField, _ there: ReferenceAddress
  ) -> SyncOverruling.Cause? {
    let fills = (head.lists[there]?.fills ?? []).filter { head.counts($0, for: nil) }
    guard fills.allSatisfy({ isLater(than: $0) }) else { return .erased }
    let assigned = head.elements(of: there, for: nil).filter {
      fills.contains($0.identity.operation)
    }
    .map(\.identity).sorted { ($0.operation, $0.number) < ($1.operation, $1.number) }
    for identity in assigned {
      let elements = head.elements(of: there, for: nil)
      guard let shown = elements.firstIndex(where: { $0.identity == identity }) else { continue }
      emit(.change(field, .listErase(at: shown, count: 1)))
    }
    emit(.change(field, .listFill(values.map { linked($0) })))
    return nil
  }
}

/// Restates the stale entries of a log.
public enum ReferenceStale {
  /// The restated operations of a stale entry, and for each of its own why it has none; the log is
  /// from its beginning, and the entry may be its last one.
  public static func restated(
    _ version: UInt64, of log: [SyncEntry]
  ) -> (operations: [SourcedOperation], causes: [SyncOverruling.Cause?]) {
    let changeset = log[Int(version) - 1].changeset
    let restatement = ReferenceRestatement(
      changeset, version: version, view: view(of: changeset, log),
      head: replay(log.prefix(Int(version) - 1)))
    return (restatement.restated, restatement.causes)
  }

  private static func replay(_ entries: ArraySlice<SyncEntry>) -> ReferenceMerge {
    var merge = ReferenceMerge()
    for entry in entries { merge.take(entry) }
    return merge
  }

  /// What the author of a changeset saw: the log up to its base, then what was pending.
  private static func view(of changeset: SyncChangeset, _ log: [SyncEntry]) -> ReferenceMerge {
    let base = changeset.base.number
    var merge = replay(log.prefix(Int(base)))
    let own = log.filter { $0.changeset.client == changeset.client }
    let pending = own.filter {
      $0.version > changeset.base && $0.changeset.sequence < changeset.sequence
    }
    var isRestating = false
    for (number, entry) in pending.enumerated() {
      let (inner, version) = (entry.changeset, base + UInt64(number) + 1)
      isRestating =
        isRestating
        || own.contains {
          $0.isStale && $0.version > inner.base && $0.version <= changeset.base
        }
      var restated: [SourcedOperation]?
      if isRestating {
        restated =
          ReferenceRestatement(inner, version: version, view: view(of: inner, log), head: merge)
          .restated
      }
      merge.take(
        SyncEntry(version: SyncVersion(version), user: 0, changeset: inner, restated: restated))
    }
    return merge
  }
}
