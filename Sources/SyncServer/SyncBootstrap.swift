// SyncBootstrap.swift: a welcome with the whole state: for a new client, and for one whose log is
// not a part of the server's. Invariants: it is the state of one version, which a snapshot holds
// while writers go on; its digest is that of the log.

import Engine
import SyncClient
import SyncCore

/// A welcome whose log has only the objects that entries name; the others come from a snapshot.
package struct SyncBootstrap: Sendable {
  private let welcome: SyncWelcome
  private let partial: SyncMerger
  /// The objects in `partial`, there or not.
  private let loaded: Set<SyncObject>
  private let snapshot: Snapshot

  init(
    _ welcome: SyncWelcome, _ partial: SyncMerger, _ loaded: Set<SyncObject>, _ snapshot: Snapshot
  ) {
    self.welcome = welcome
    self.partial = partial
    self.loaded = loaded
    self.snapshot = snapshot
  }

  /// The message; on any thread.
  /// - Throws: `EngineError` with code `.corrupted` when rows and log differ.
  /// - Complexity: O(bytes of all objects).
  package func message() throws(EngineError) -> SyncMessage {
    var state = try SyncState(reading: snapshot)
    for object in loaded {
      state.replace(object, by: partial.startState.objects[object])
    }
    let start = partial.startInWords
    guard state.digest == start.digest else {
      throw SyncTable.damaged(
        "the objects of version \(start.version.number) have digest \(state.digest), in the log "
          + "\(start.digest)")
    }
    var whole = welcome
    do throws(SyncError) {
      whole.log = try SyncMerger(start, objects: state, entries: partial.entries)
    } catch { throw SyncTable.damaged("the entries that are kept do not fit: \(error)") }
    return .welcome(whole)
  }
}
