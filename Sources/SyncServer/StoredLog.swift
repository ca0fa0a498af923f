// StoredLog.swift: what a server keeps in memory of its file: the kept entries, and the objects
// that they name. Invariants: the content of every other object is in its row, and is the same in
// all kept versions; the touch index says for each object the last kept entry that touches it.

import Engine
import SyncClient
import SyncCore

/// A server's log, as far as it is in memory.
struct StoredLog {
  let identity: ServerIdentity
  let file: ServerFile
  /// When each client was seen last.
  let seen: [UInt64]
  /// The objects whose content is in memory.
  let loaded: Set<SyncObject>
  /// The last kept entry that touches an object.
  let touches: [SyncObject: UInt64]
  /// Bytes of each kept entry.
  let sizes: [Int]

  /// Reads it.
  /// - Throws: `EngineError` with code `.corrupted` for rows that do not fit each other.
  /// - Complexity: O(kept entries, and the content of the objects that they name).
  init(_ source: some ReadableVersion) throws(EngineError) {
    identity = try ServerIdentity(source)
    let entries = try PartRows.entries(source)
    let bases = try BaseRows.all(source)
    var named = NamedObjects()
    var touches: [SyncObject: UInt64] = [:]
    for entry in entries {
      for object in Self.touched(by: entry) { touches[object] = entry.version.number }
      named.add(entry)
    }
    var state = SyncState()
    let reader = RowReader(source: source, classes: try FileClasses(source))
    for object in named.all where touches[object] == nil {
      state.replace(object, by: try reader.node(of: object))
    }
    for object in touches.keys { state.replace(object, by: try bases[object]?.node()) }
    var start = identity.start
    start.authors = try AuthorRows.all(source)
    let log: SyncMerger
    do throws(SyncError) {
      log = try SyncMerger(start, objects: state, entries: entries)
    } catch { throw SyncTable.damaged("the entries that are kept do not fit: \(error)") }
    let (records, seen) = try RecordRows.all(source)
    file = ServerFile(epoch: identity.epoch, log: log, clients: records)
    self.seen = seen
    self.touches = touches
    loaded = named.all
    sizes = entries.map { $0.encoded().count }
  }

  /// The objects that an entry touches.
  static func touched(by entry: SyncEntry) -> Set<SyncObject> {
    var named = NamedObjects()
    named.add(entry)
    return named.touched
  }
}
