// StoredClient.swift: a client's file in the form of the machines, built from tables and rows, and
// written back as a difference. Invariant: it contains only the objects named by the kept entries,
// the pending changesets and the input, with the targets of links and the objects that link to
// deleted ones; the rows of all other objects are as before those entries.

import Engine
import ObjectDatabase
import SyncCore

/// A client's file, as far as it matters.
struct StoredClient {
  let identity: SyncIdentity
  let file: ClientFile
  let reader: RowReader<WriteTransaction>
  /// The objects that matter.
  let named: Set<SyncObject>
  private let bases: [SyncObject: BaseRows.Base]
  private let pending: PendingRows.Contents

  /// Reads it.
  /// - Parameters:
  ///   - write: The transaction in which the differences will be written.
  ///   - message: The incoming message.
  /// - Throws: `EngineError` with code `.corrupted` for tables that do not fit each other.
  init(_ write: WriteTransaction, for message: SyncMessage?) throws(EngineError) {
    identity = try SyncIdentity(write)
    reader = RowReader(source: write, classes: try FileClasses(write))
    bases = try BaseRows.all(write)
    let entries = try PartRows.entries(write)
    pending = try PendingRows.all(write, after: identity.lastSequence)
    var named = NamedObjects()
    for entry in entries { named.add(entry) }
    for changeset in pending.changesets { named.add(changeset.operations) }
    let touched = named.touched
    if case .entries(let new)? = message {
      for entry in new { named.add(entry) }
      try named.addLinkers(reader)
    }
    self.named = named.all
    var state = SyncState()
    if case .welcome(let welcome)? = message, welcome.log != nil {
      state = try SyncState(reading: write)
    } else {
      for object in named.all where !touched.contains(object) {
        guard let (key, described) = try reader.row(of: object) else { continue }
        state.replace(object, by: try reader.node(of: object, key, described))
      }
    }
    for object in touched {
      state.replace(object, by: try pending.olds.node(of: object, bases[object], reader))
    }
    var start = identity.start
    start.authors = try AuthorRows.all(write)
    let log: SyncMerger
    do throws(SyncError) {
      log = try SyncMerger(start, objects: state, entries: entries)
    } catch { throw SyncTable.damaged("the entries that are kept do not fit: \(error)") }
    file = ClientFile(
      client: identity.client, secret: identity.secret, nonce: identity.nonce,
      epoch: identity.epoch, log: log, pending: pending.changesets,
      stamp: max(identity.clock, pending.changesets.last?.stamp ?? .zero), mark: identity.mark,
      needsLog: identity.needsLog)
  }

  // MARK: writing

  /// Writes the differences: rows, and the data kept beside them.
  func store(_ new: ClientFile) throws(EngineError) {
    try storeRows(new)
    var kept = new
    kept.trim()
    try storeTables(kept)
  }

  /// Updates the rows to the state that the app should see.
  ///
  /// Entries about objects without pending changes are applied directly; for all others, the
  /// difference between the old and the new visible state is applied.
  private func storeRows(_ new: ClientFile) throws(EngineError) {
    let (before, after) = (file.visible, new.visible)
    let effects = addedEffects(new)
    var differing = Set(before.objects.keys).union(after.objects.keys)
    if let effects {
      differing.formUnion(effects.map(\.object))
      let (old, confirmed) = (file.log.state, new.log.state)
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
        changing.contains($0) || before.objects[$0] != old.objects[$0]
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
  private func addedEffects(_ new: ClientFile) -> [SyncOperation]? {
    guard new.log.chain(at: file.log.head) == file.log.chain(at: file.log.head),
      new.log.start == file.log.start
    else { return nil }
    let added = new.log.entries.filter { $0.version > file.log.head }
    return added.flatMap { $0.effect.map(\.operation) }
  }

  private static func part(_ state: SyncState, _ objects: Set<SyncObject>) -> SyncState {
    var part = SyncState()
    for object in objects {
      if let node = state.objects[object] { part.replace(object, by: node) }
    }
    return part
  }

  private func storeTables(_ new: ClientFile) throws(EngineError) {
    let write = reader.source
    var identity = identity
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
    identity.start = new.log.startInWords
    let old = try AuthorRows.all(write)
    try AuthorRows.store(identity.start.authors, over: old, write)
    identity.start.authors = []
    if identity != self.identity { try identity.store(in: write) }
    // A log that replaces this one has other entries under the same versions.
    let isNewLog =
      new.log.start < file.log.start
      || new.log.chain(at: file.log.head) != file.log.chain(at: file.log.head)
    try storeChangesets(new, isNewLog: isNewLog)
    try storeBases(new, isNewLog: isNewLog)
  }

  private func storeChangesets(_ new: ClientFile, isNewLog: Bool) throws(EngineError) {
    let write = reader.source
    let lastSequence = new.lastConfirmedSequence
    // The rows have what is pending now, and changesets before that.
    if new.client == file.client, lastSequence >= identity.lastSequence,
      file.pending.filter({ $0.sequence > lastSequence }) == new.pending
    {
      try PendingRows.trim(upTo: lastSequence, pending, write)
    } else {
      try PendingRows.replace(by: new.pending, write)
    }
    let (start, head) = (new.log.start.number, isNewLog ? 0 : file.log.head.number)
    try PartRows.window.remove(write) { isNewLog || $0 <= start }
    for entry in new.log.entries where entry.version.number > head {
      try PartRows.window.append(
        entry.encoded(), number: entry.version.number, write)
    }
  }

  private func storeBases(_ new: ClientFile, isNewLog: Bool) throws(EngineError) {
    let write = reader.source
    var kept = NamedObjects()
    for entry in new.log.entries { kept.add(entry) }
    for changeset in new.pending { kept.add(changeset.operations) }
    var marks = ClassMarks(write)
    if isNewLog {
      for described in reader.classes.all { try marks.moveToEnd(described) }
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
    try BaseRows.store(wanted, over: bases, write)
    try marks.store()
  }
}

/// The objects that operations name.
package struct NamedObjects {
  /// The objects of operations.
  package private(set) var touched: Set<SyncObject> = []
  /// These objects, and those that they link to.
  package private(set) var all: Set<SyncObject> = []
  private var deleted: Set<SyncObject> = []

  package init() {}

  /// Adds those of an entry; a refused one has no effect, and may name anything.
  package mutating func add(_ entry: SyncEntry) {
    guard entry.refusal == nil else { return }
    add(entry.changeset.operations)
    for operation in (entry.resolved ?? []) + (entry.restated ?? []) { add(operation.operation) }
  }

  package mutating func add(_ operations: [SyncOperation]) {
    for operation in operations { add(operation) }
  }

  private mutating func add(_ operation: SyncOperation) {
    touched.insert(operation.object)
    all.insert(operation.object)
    switch operation {
    case .create: break
    case .delete(let object): deleted.insert(object)
    case .change(_, let change):
      for case .link(let target) in change.values { all.insert(target) }
    }
  }

  /// Adds the objects that link to deleted ones.
  package mutating func addLinkers(_ reader: RowReader<WriteTransaction>) throws(EngineError) {
    for object in deleted.sorted() {
      guard let (key, described) = try reader.row(of: object) else { continue }
      for link in described.linkers {
        let rows = try reader.source.backlinks(
          to: key, in: described.table.name, from: link.table, column: link.column)
        let linker = try reader.classes.named(link.table)
        for row in rows {
          guard let way = try reader.way(to: row.key, linker, passes: { _ in true }) else {
            continue
          }
          all.insert(way.object)
        }
      }
    }
  }
}

extension ClientFile {
  /// The number of the last changeset that is not pending.
  fileprivate var lastConfirmedSequence: UInt64 { (pending.first?.sequence ?? nextSequence) - 1 }
}
