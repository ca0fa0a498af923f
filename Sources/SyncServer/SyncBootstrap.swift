// SyncBootstrap.swift: a whole log in parts: for a new client, and for one whose log is not a part
// of the server's. Invariants: it is the state of one version, which a snapshot holds while writers
// go on, until its bytes are made; its digest is that of the log; logs of one name have the same
// bytes, so a client continues with the parts that it has stored, even at another server process.

import Engine
import SyncClient
import SyncCore
import Synchronization

/// A log that is offered to clients, with all objects, as bytes in parts.
package final class SyncBootstrap: Sendable {
  /// Parts that are sent when a client asks once.
  package static let window = SyncAgent.partsAsked

  private enum Content {
    /// A log with the objects that entries name; the others come from the snapshot.
    case unread(SyncMerger, loaded: Set<SyncObject>, Snapshot)
    case bytes([UInt8])
  }

  /// Its name: a client that has parts of this name continues with them.
  package let name: UInt128
  /// The newest version in it.
  package let head: SyncVersion
  /// The entries in it.
  package let entries: [SyncEntry]
  private let partBytesMax: Int
  private let content: Mutex<Content>

  /// - Parameters:
  ///   - partial: The log, with the objects in `loaded`.
  ///   - loaded: The objects that it has, there or not.
  ///   - snapshot: The rows of its newest version.
  ///   - epoch: The server's epoch.
  ///   - partBytesMax: Bytes of a part.
  init(
    _ partial: SyncMerger, _ loaded: Set<SyncObject>, _ snapshot: Snapshot, epoch: UInt64,
    partBytesMax: Int
  ) {
    name = partial.name(epoch: epoch)
    head = partial.head
    entries = partial.entries
    self.partBytesMax = partBytesMax
    content = Mutex(.unread(partial, loaded: loaded, snapshot))
  }

  /// Some parts as messages; on any thread.
  /// - Parameter index: The first one.
  /// - Returns: That part and those after it, `window` at most.
  /// - Throws: `EngineError` with code `.corrupted` when rows and log differ.
  /// - Complexity: O(bytes of all objects) the first time.
  package func messages(from index: UInt64) throws(EngineError) -> [SyncMessage] {
    let bytes = try content.withLock { content throws(EngineError) in
      switch content {
      case .bytes(let bytes): return bytes
      case .unread(let partial, let loaded, let snapshot):
        let bytes = try Self.whole(partial, loaded, snapshot).encodedLog()
        content = .bytes(bytes)
        return bytes
      }
    }
    let count = UInt64((bytes.count + partBytesMax - 1) / partBytesMax)
    guard index < count else { return [] }
    return (index..<min(count, index + Self.window)).map { number in
      let start = Int(number) * partBytesMax
      return .part(
        SyncLogPart(
          log: name, index: number, isLast: number == count - 1,
          bytes: Array(bytes[start..<min(bytes.count, start + partBytesMax)])))
    }
  }

  private static func whole(
    _ partial: SyncMerger, _ loaded: Set<SyncObject>, _ snapshot: Snapshot
  ) throws(EngineError) -> SyncMerger {
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
    do throws(SyncError) {
      return try SyncMerger(start, objects: state, entries: partial.entries)
    } catch { throw SyncTable.damaged("the entries that are kept do not fit: \(error)") }
  }
}
