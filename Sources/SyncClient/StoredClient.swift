// StoredClient.swift: what an agent knows of its file between two steps: a step reads only what has
// come since. The machine has the log and the pending changesets. Invariants: the machine's log has
// only the objects named by the kept entries, the pending changesets and the inputs, with the
// targets of links and the objects that link to deleted ones; the rows of all other objects are as
// before those entries.

import Engine
import ObjectDatabase
import SyncCore

/// A client's file, as far as it matters.
struct StoredClient {
  var identity: SyncIdentity
  let classes: FileClasses
  /// The objects whose content is in the log.
  private(set) var named: Set<SyncObject>
  /// How many of them kept entries or pending changesets change, at the last store.
  var touchedCount: Int
  var bases: [SyncObject: BaseRows.Base]
  var places: PendingRows.Places

  /// Reads all of it.
  /// - Parameters:
  ///   - write: The transaction in which the differences will be written.
  ///   - message: The incoming message.
  /// - Returns: It, and the state for the machine.
  /// - Throws: `EngineError` with code `.corrupted` for tables that do not fit each other.
  /// - Complexity: O(bytes kept beside the rows).
  static func read(
    _ write: WriteTransaction, for message: SyncMessage?
  ) throws(EngineError) -> (stored: StoredClient, file: ClientFile) {
    let identity = try SyncIdentity(write)
    let reader = RowReader(source: write, classes: try FileClasses(write))
    let bases = try BaseRows.all(write)
    let entries = try PartRows.entries(write)
    let pending = try PendingRows.all(write, after: identity.lastSequence)
    var named = NamedObjects()
    for entry in entries { named.add(entry) }
    for changeset in pending.changesets { named.add(changeset.operations) }
    let touched = named.touched
    var state = SyncState()
    if case .welcome(let welcome)? = message, welcome.log != nil {
      state = try SyncState(reading: write)
    } else {
      for object in named.all where !touched.contains(object) {
        state.replace(object, by: try reader.node(of: object))
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
    let stored = StoredClient(
      identity: identity, classes: reader.classes, named: named.all,
      touchedCount: touched.count, bases: bases, places: pending.places)
    let file = ClientFile(
      client: identity.client, secret: identity.secret, nonce: identity.nonce,
      epoch: identity.epoch, log: log, pending: pending.changesets,
      stamp: max(identity.clock, pending.changesets.last?.stamp ?? .zero), mark: identity.mark,
      needsLog: identity.needsLog)
    return (stored, file)
  }

  /// Reads the changesets that writers have added since.
  /// - Returns: False when the file is another one than the agent left, so that all of it must be
  ///   read.
  /// - Throws: `EngineError` with code `.corrupted`.
  /// - Complexity: O(rows of `__sync`), and O(bytes of the changesets).
  mutating func readNew(
    _ write: WriteTransaction, for machine: inout ClientMachine
  ) throws(EngineError) -> Bool {
    guard classes.fit(write), try SyncIdentity(write) == identity else { return false }
    let reader = RowReader(source: write, classes: classes)
    let last = machine.file.pending.last?.sequence ?? identity.lastSequence
    let new = try PendingRows.all(write, after: last, from: places.lastFirst)
    places.replaceLast(by: new.places)
    var found = NamedObjects()
    for changeset in new.changesets { found.add(changeset.operations) }
    var nodes: [SyncObject: SyncNode] = [:]
    for object in found.touched {
      // Recorders add rows for what is too large for a page, after changes with old states in one.
      if bases[object] == nil { bases[object] = try BaseRows.base(of: object, write) }
      guard named.insert(object).inserted else { continue }
      nodes[object] = try new.olds.node(of: object, bases[object], reader)
    }
    for object in found.all where named.insert(object).inserted {
      nodes[object] = try reader.node(of: object)
    }
    machine.include(nodes)
    machine.adopt(new.changesets)
    return true
  }

  /// Reads the objects that entries are about.
  /// - Throws: `EngineError` with code `.corrupted`.
  mutating func readObjects(
    of entries: [SyncEntry], _ write: WriteTransaction, for machine: inout ClientMachine
  ) throws(EngineError) {
    let reader = RowReader(source: write, classes: classes)
    var found = NamedObjects()
    for entry in entries { found.add(entry) }
    try found.addLinkers(reader)
    var nodes: [SyncObject: SyncNode] = [:]
    for object in found.all where named.insert(object).inserted {
      nodes[object] = try reader.node(of: object)
    }
    machine.include(nodes)
  }

  /// Whether so much of what it has is not needed any more that it should be read again.
  var isOvergrown: Bool { named.count > 2 * touchedCount + 1_000 }
}
