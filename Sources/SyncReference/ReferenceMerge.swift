// ReferenceMerge.swift: the merge of docs/reference/sync-merge.md in the simplest way: operations
// are stored unchanged, and each view is computed from its set of known operations. Slow. Replays
// start from the beginning, and restated operations are taken from their entries;
// ReferenceRestatement.swift has what they should be.

import SyncCore

/// A log, and the state that it defines.
public struct ReferenceMerge {
  /// A place in a list's tree; the root is -1.
  struct Place {
    let element: ReferenceIdentity
    let operation: Int
    var left: [Int] = []
    var right: [Int] = []
  }

  /// The events of a list.
  struct List {
    var places: [Place] = []
    var root: [Int] = []
    var erasures: [(element: ReferenceIdentity, operation: Int)] = []
    var values: [(element: ReferenceIdentity, operation: Int, value: SyncValue)] = []
    /// Fills and assignments.
    var fills: [Int] = []
  }

  /// The events of a value, a member or an entry.
  struct Write {
    let operation: Int
    /// Nil removes.
    let value: SyncValue?
    var isSet = true
  }

  var operations: [ReferenceOperation] = []
  /// Whether an operation's author sees its object alive.
  var seesAlive: [Bool] = []
  var creates: [SyncObject: [Int]] = [:]
  var deletes: [SyncObject: [Int]] = [:]
  var values: [ReferenceAddress: [Write]] = [:]
  var increments: [ReferenceAddress: [(operation: Int, amount: Int64)]] = [:]
  var members: [ReferenceAddress: [SyncValue: [Write]]] = [:]
  var entries: [ReferenceAddress: [SyncText: [Write]]] = [:]
  var lists: [ReferenceAddress: List] = [:]
  /// Links whose target their author does not see.
  var blindLinks: Set<ReferenceIdentity> = []

  /// An empty log.
  public init() {}

  /// Takes the next entry.
  public mutating func take(_ entry: SyncEntry) {
    guard entry.refusal == nil else { return }
    let changeset = entry.changeset
    let original = changeset.operations.enumerated().map {
      SourcedOperation(source: $0.offset, $0.element)
    }
    for (position, operation) in (entry.restated ?? original).enumerated() {
      take(
        ReferenceOperation(
          version: entry.version.number, client: changeset.client.number,
          sequence: changeset.sequence,
          base: entry.restated == nil ? changeset.base.number : entry.version.number - 1,
          stamp: changeset.stamp.bits, source: operation.source, position: position,
          operation: operation.operation))
    }
  }

  /// Takes the next operation.
  mutating func take(_ operation: ReferenceOperation) {
    operations.append(operation)
    take(operations.count - 1)
  }

  /// Whether a viewer, an operation or nil for the merged state, knows an operation.
  func knows(_ viewer: Int?, _ other: Int) -> Bool {
    viewer.map { operations[$0].knows(operations[other]) } ?? true
  }

  /// Section 2.
  func isAlive(_ object: SyncObject, for viewer: Int?) -> Bool {
    (creates[object] ?? []).contains { knows(viewer, $0) && counts($0, for: viewer) }
  }

  /// Whether an operation knows every delete of its object that the viewer knows.
  func counts(_ operation: Int, for viewer: Int?) -> Bool {
    (deletes[operations[operation].operation.object] ?? []).allSatisfy {
      !knows(viewer, $0) || operations[operation].knows(operations[$0])
    }
  }

  /// Section 7: whether a link that an operation wrote is dead for a viewer.
  func isDead(_ target: SyncObject, _ identity: ReferenceIdentity, for viewer: Int?) -> Bool {
    if blindLinks.contains(identity) { return true }
    return (deletes[target] ?? []).contains {
      knows(viewer, $0) && !operations[identity.operation].knows(operations[$0])
    }
  }

  private mutating func take(_ number: Int) {
    let operation = operations[number].operation
    let object = operation.object
    let isSeen = isAlive(object, for: number)
    seesAlive.append(isSeen)
    switch operation {
    case .create: creates[object, default: []].append(number)
    case .delete: if isSeen { deletes[object, default: []].append(number) }
    case .change(let field, let change):
      guard isSeen, counts(number, for: nil), let address = address(of: field, for: number) else {
        return
      }
      take(number, change, at: address)
    }
  }

  /// Section 6: where a field is in its author's view.
  private func address(of field: SyncField, for viewer: Int) -> ReferenceAddress? {
    var address = ReferenceAddress(object: field.object)
    for step in field.steps {
      address.property = step.property
      var identity: ReferenceIdentity?
      switch step.place {
      case .value:
        guard let write = latest(values[address], for: viewer), write.value == .embedded else {
          return nil
        }
        identity = ReferenceIdentity(operation: write.operation, number: 0)
      case .entry(let key):
        guard let write = latest(entries[address]?[key], for: viewer), write.value == .embedded
        else { return nil }
        identity = ReferenceIdentity(operation: write.operation, number: 0)
      case .element(let index):
        let elements = elements(of: address, for: viewer)
        guard elements.indices.contains(index), elements[index].value == .embedded else {
          return nil
        }
        identity = elements[index].writer
      }
      guard let identity else { return nil }
      address.way.append(.init(property: step.property, identity: identity))
    }
    address.property = field.property
    return address
  }

  /// The latest of the writes that a viewer knows and that count: a set before any default.
  func latest(_ writes: [Write]?, for viewer: Int?) -> Write? {
    let known = (writes ?? []).filter {
      knows(viewer, $0.operation) && counts($0.operation, for: viewer)
    }
    let sets = known.filter(\.isSet)
    return (sets.isEmpty ? known : sets).max {
      operations[$1.operation].isLater(than: operations[$0.operation])
    }
  }

  private mutating func take(_ number: Int, _ change: SyncChange, at address: ReferenceAddress) {
    switch change {
    case .set(let value):
      values[address, default: []].append(Write(operation: number, value: seen(value, number)))
    case .setDefault(let value):
      guard latest(values[address], for: number) == nil else { return }
      values[address, default: []].append(
        Write(operation: number, value: seen(value, number), isSet: false))
    case .increment(let amount):
      guard latest(values[address], for: number) != nil else { return }
      increments[address, default: []].append((number, amount))
    case .setInsert(let value):
      guard isSeen(value, number) else { return }
      members[address, default: [:]][value, default: []].append(
        Write(operation: number, value: value))
    case .setErase(let value):
      members[address, default: [:]][value, default: []].append(
        Write(operation: number, value: nil))
    case .dictionarySet(let key, let value):
      entries[address, default: [:]][key, default: []].append(
        Write(operation: number, value: seen(value, number)))
    case .dictionaryRemove(let key):
      entries[address, default: [:]][key, default: []].append(
        Write(operation: number, value: nil))
    default: takeList(number, change, at: address)
    }
  }

  /// Whether an operation's author sees the target of a link.
  func isSeen(_ value: SyncValue, _ number: Int) -> Bool {
    guard case .link(let target) = value else { return true }
    return isAlive(target, for: number)
  }

  private func seen(_ value: SyncValue, _ number: Int) -> SyncValue {
    isSeen(value, number) ? value : .null
  }
}
