// StoredClient+Store.swift: writes the difference that an input makes: rows, and the data kept
// beside them. Invariant: all of it is in one transaction, so that the rows always have the state
// that the app should see.

import Engine
import ObjectDatabase
import SyncCore

/// A client's state before an input, as far as the difference from it is needed.
struct EarlierClient {
  let client: SyncClient
  let start: SyncVersion
  let head: SyncVersion
  let chain: UInt128?
  let pending: [SyncChangeset]
  /// Whether the input is a welcome, which may bring another log.
  let isWelcome: Bool
  /// All of it; nil when the input changes nothing that the app sees.
  let whole: ClientFile?

  init(_ file: ClientFile, isWelcome: Bool, isWhole: Bool) {
    self.isWelcome = isWelcome
    client = file.client
    start = file.log.start
    head = file.log.head
    chain = file.log.chain(at: file.log.head)
    pending = file.pending
    whole = isWhole ? file : nil
  }
}

extension StoredClient {
  /// Writes the differences; entries that no future changeset needs are removed.
  /// - Parameters:
  ///   - new: The new state.
  ///   - old: The state before.
  ///   - write: The transaction.
  /// - Throws: `EngineError`.
  mutating func store(
    _ new: ClientFile, over old: EarlierClient, _ write: WriteTransaction
  ) throws(EngineError) {
    let reader = RowReader(source: write, classes: classes)
    if let whole = old.whole { try storeRows(new, over: whole, reader) }
    // A log that replaces this one has other entries under the same versions.
    let isNewLog = new.log.start < old.start || new.log.chain(at: old.head) != old.chain
    var kept = new
    kept.trim()
    let isMoved = old.isWelcome || isNewLog || kept.log.start != old.start
    try storeChangesets(kept, over: old, write)
    try storeIdentity(kept, isMoved: isMoved, write)
    if isMoved { try PartRows.window.remove(write) { isNewLog || $0 <= kept.log.start.number } }
    for entry in kept.log.entries(after: isNewLog ? kept.log.start : old.head) {
      try PartRows.window.append([entry.encoded()], number: entry.version.number, write)
    }
    try storeBases(kept, reader, isNewLog: isNewLog)
  }

  /// Updates the rows to the state that the app should see.
  ///
  /// Entries about objects without pending changes are applied directly; for all others, the
  /// difference between the old and the new visible state is applied.
  private func storeRows(
    _ new: ClientFile, over old: ClientFile, _ reader: RowReader<WriteTransaction>
  ) throws(EngineError) {
    let (before, after) = (old.visible, new.visible)
    let effects = Self.addedEffects(new, over: old)
    var differing = Set(before.objects.keys).union(after.objects.keys)
    if let effects {
      differing.formUnion(effects.map(\.object))
      let (known, confirmed) = (old.log.state, new.log.state)
      var changing: Set<SyncObject> = []
      for case .create(let object) in effects { changing.insert(object) }
      for case .delete(let object) in effects { changing.insert(object) }
      // A link in passing may lead to what is not in the rows: an object that comes and goes with
      // the same entries, or one that a pending changeset deletes.
      for case .change(let field, let change) in effects {
        for case .link(let target) in change.values where after.objects[target] == nil {
          changing.insert(field.object)
        }
      }
      differing = differing.filter {
        changing.contains($0) || before.objects[$0] != known.objects[$0]
          || after.objects[$0] != confirmed.objects[$0]
      }
    }
    let operations = Self.part(after, differing).operations(
      from: Self.part(before, differing), keepsEmbedded: true)
    var applier = RowApplier(reader)
    let firstOther = operations.firstIndex {
      if case .create = $0 { false } else { true }
    }
    let (creates, others) = (
      operations[..<(firstOther ?? operations.endIndex)],
      operations[(firstOther ?? operations.endIndex)...]
    )
    for operation in creates { try applier.apply(operation) }
    for operation in effects ?? [] where !differing.contains(operation.object) {
      try applier.apply(operation)
    }
    for operation in others { try applier.apply(operation) }
    try applier.finish()
  }

  /// The effects of the new entries; nil when the log was replaced.
  private static func addedEffects(
    _ new: ClientFile, over old: ClientFile
  ) -> [SyncOperation]? {
    guard new.log.chain(at: old.log.head) == old.log.chain(at: old.log.head),
      new.log.start == old.log.start
    else { return nil }
    return new.log.entries(after: old.log.head).flatMap { $0.effect.map(\.operation) }
  }

  private static func part(_ state: SyncState, _ objects: Set<SyncObject>) -> SyncState {
    var part = SyncState()
    for object in objects {
      if let node = state.objects[object] { part.replace(object, by: node) }
    }
    return part
  }

  private mutating func storeIdentity(
    _ new: ClientFile, isMoved: Bool, _ write: WriteTransaction
  ) throws(EngineError) {
    let old = identity
    identity.client = new.client
    identity.secret = new.secret
    identity.nonce = new.nonce
    identity.epoch = new.epoch
    identity.confirmed = new.log.head
    identity.lastSequence = new.lastConfirmedSequence
    identity.clock = max(
      new.stamp, new.log.knownStamp(client: new.client, base: new.log.head))
    identity.needsLog = new.needsLog
    identity.mark = new.mark
    if isMoved {
      identity.start = new.log.startInWords
      try AuthorRows.store(identity.start.authors, over: try AuthorRows.all(write), write)
      identity.start.authors = []
    }
    if identity != old { try identity.store(in: write) }
  }

  private mutating func storeChangesets(
    _ new: ClientFile, over old: EarlierClient, _ write: WriteTransaction
  ) throws(EngineError) {
    let lastSequence = new.lastConfirmedSequence
    // The rows have what is pending now, and changesets before that.
    if new.client == old.client, lastSequence >= identity.lastSequence,
      old.pending.filter({ $0.sequence > lastSequence }) == new.pending
    {
      try places.trim(upTo: lastSequence, write)
    } else {
      places = try PendingRows.replace(by: new.pending, write)
    }
  }

  /// Stores the old states of all objects that are touched, at the log's start.
  private mutating func storeBases(
    _ new: ClientFile, _ reader: RowReader<WriteTransaction>, isNewLog: Bool
  ) throws(EngineError) {
    let write = reader.source
    var kept = NamedObjects()
    for entry in new.log.entries { kept.add(entry) }
    for changeset in new.pending { kept.add(changeset.operations) }
    var marks = ClassMarks(write)
    if isNewLog {
      for described in classes.all { try marks.moveToEnd(described) }
    } else {
      // An object that is not touched any more was there before what is kept now.
      for object in named.subtracting(kept.touched).sorted() {
        if let (key, described) = try reader.row(of: object) {
          try marks.move(behind: key, described)
        }
      }
    }
    var wanted: [SyncObject: [UInt8]] = [:]
    for object in kept.touched {
      let node = new.log.startState.objects[object]
      if node == nil {
        guard let (key, described) = try reader.row(of: object),
          key < (try marks.mark(of: described.table.name))
        else { continue }
      }
      wanted[object] = try BaseRows.bytes(object, node)
    }
    bases = try BaseRows.store(wanted, over: bases, write)
    touchedCount = kept.touched.count
    try marks.store()
    try ClassMarks.storeOldStates(from: new.nextSequence, write)
  }
}

extension ClientFile {
  /// The number of the last changeset that is not pending.
  fileprivate var lastConfirmedSequence: UInt64 { (pending.first?.sequence ?? nextSequence) - 1 }
}
