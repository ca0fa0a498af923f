// SQLitePoints.swift: what SQLite is about to do, told to a scheduler, for all connections of this
// process that are opened after `install`. Without a hook a call costs one look at a lock.

import CSQLitePoints
import LabCore
import Synchronization

/// What SQLite is about to do to a file, a lock or the shared memory.
package enum SQLiteCall: Int32, Sendable, CaseIterable {
  case read
  case write
  case truncate
  case sync
  case lock
  case unlock
  case sharedLock
  case sharedUnlock
  case barrier
  case unfetch

  /// Its name as a place of a schedule.
  package var name: String {
    switch self {
    case .read, .write, .truncate, .sync: "sqlite \(self)"
    case .lock: "sqlite lock"
    case .unlock: "sqlite unlock"
    case .sharedLock: "sqlite lock shared"
    case .sharedUnlock: "sqlite unlock shared"
    case .barrier: "sqlite barrier"
    case .unfetch: "sqlite unfetch"
    }
  }

  /// Whether it is a point without `points: shared`, too.
  ///
  /// A checkpoint calls `unfetch` alone, after
  /// it has read a header that was changed by others, and before it reads how much is copied.
  package var isStep: Bool { self != .read && self != .barrier }
}

/// Who is told.
package struct SQLiteHook: Sendable {
  /// Called before a call, on its thread.
  let reach: @Sendable (SQLiteCall) -> Void
  /// Called after a lock was given back.
  let freed: @Sendable () -> Void
  /// Called in the place of a sleep of a connection that waits for a lock; false for a thread that
  /// must sleep.
  let sleep: @Sendable () -> Bool

  package init(
    reach: @escaping @Sendable (SQLiteCall) -> Void, freed: @escaping @Sendable () -> Void,
    sleep: @escaping @Sendable () -> Bool
  ) {
    self.reach = reach
    self.freed = freed
    self.sleep = sleep
  }
}

/// The VFS of this process.
package enum SQLitePoints {
  fileprivate static let hook = Mutex<SQLiteHook?>(nil)

  /// Makes the VFS the default one of this process.
  /// - Parameter checkpointPages: After how many pages in the log connections checkpoint; nil for
  ///   SQLite's own number.
  /// - Throws: `LabError` when SQLite refuses it.
  package static func install(checkpointPages: Int?) throws(LabError) {
    let code = csqlitepoints_install(
      { call in
        guard let hook = SQLitePoints.hook.withLock({ $0 }) else { return }
        if let known = SQLiteCall(rawValue: call) { hook.reach(known) } else { hook.freed() }
      },
      { SQLitePoints.hook.withLock({ $0 })?.sleep() == true ? 1 : 0 })
    guard code == 0, csqlitepoints_checkpoint_after(Int32(checkpointPages ?? 0)) == 0 else {
      throw .lab("SQLite takes no VFS: code \(code)")
    }
  }

  /// Tells a hook from now on; nil tells nobody.
  package static func tell(_ hook: SQLiteHook?) { self.hook.withLock { $0 = hook } }
}
