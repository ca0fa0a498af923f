// MissingSync.swift: the sync that would have prevented a failing state, and the proof that it
// would: the trace with the sync added, split into units again.

import LabCore
import Recording

/// A sync that a program does not call.
public struct MissingSync: Sendable, Hashable {
  /// Index of the last lost event, after which the sync must be called.
  public let after: Int
  /// Index of the later event that survived or was acknowledged, before which it must be called.
  public let before: Int
  /// The inode to sync.
  public let inode: InodeNumber
  /// Its path.
  public let path: String
  /// True when it is a directory that lost names.
  public let isDirectory: Bool
  /// True when fdatasync does not cover what was lost.
  public let needsFullSync: Bool

  /// The sync in words.
  ///
  /// For example `Missing: fsync or fdatasync of 'log' between event #3 and event #5.`
  public var sentence: String {
    let call =
      isDirectory ? "fsync of the directory" : needsFullSync ? "fsync of" : "fsync or fdatasync of"
    return "Missing: \(call) '\(path)' between event #\(after) and event #\(before)."
  }

  /// Whether the sync, at its place, prevents a state.
  /// - Parameters:
  ///   - state: A state of `table`.
  ///   - table: The units of the trace without the sync.
  /// - Returns: True when each call that the sentence names makes something durable that the state
  ///   has lost.
  /// - Throws: `LabError` when the trace cannot be split.
  package func prevents(_ state: CrashState, of table: UnitTable) throws(LabError) -> Bool {
    let lost = state.lost + (state.torn.map { [$0.unit] } ?? [])
    for operation in calls {
      let trace = table.trace.inserting(operation, at: before)
      let synced = try UnitTable(trace: trace, model: table.model)
      // A sync has no units, so units keep their numbers; later events move by one.
      guard synced.units.count == table.units.count,
        lost.contains(where: { synced.isDurable($0, at: state.crashPoint + 1) })
      else { return false }
    }
    return true
  }

  private var calls: [Operation] {
    if isDirectory { return [.syncDirectory(inode: inode)] }
    let full = Operation.sync(inode: inode, dataOnly: false)
    return needsFullSync ? [full] : [full, .sync(inode: inode, dataOnly: true)]
  }
}
