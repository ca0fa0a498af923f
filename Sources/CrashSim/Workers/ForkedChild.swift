// ForkedChild.swift: a child of fork, whose parent has a database open. What the parent holds, a
// handle, a pin, a lock, is not the child's: each use must be refused, and an open of its own must
// work. Invariant: whatever the child does, its parent's database goes on.

import Engine
import Findings
import Workload

/// What a child of fork finds it can do.
enum ForkedChild {
  /// Forks, and judges what the child was told.
  static func judge(
    _ database: Database, _ declaration: DatabaseDeclaration
  ) throws(EngineError) -> WorkerAnswer {
    let pinned = try database.snapshot()
    defer { pinned.release() }
    let promised = "a forked child gets an error that tells it to open the database again, and can"
    let reply = ProcessControl.inChild { findings(database, pinned, declaration) }
    guard let reply else {
      return .broken(
        Violation(.liveness, promised: promised, got: "it hung, or ended without a word"))
    }
    guard reply == allRefused else {
      return .broken(Violation(.isolation, promised: promised, got: reply))
    }
    return .done()
  }

  private static let allRefused = "refused"

  private static func findings(
    _ database: Database, _ pinned: Snapshot, _ declaration: DatabaseDeclaration
  ) -> String {
    let tries: [(String, () throws(EngineError) -> Void)] = [
      ("a pin", { () throws(EngineError) in try database.snapshot().release() }),
      ("a write", { () throws(EngineError) in try database.beginWrite().cancel() }),
      ("a compaction", { () throws(EngineError) in _ = try database.compact() }),
    ]
    for (name, attempt) in tries {
      do throws(EngineError) {
        try attempt()
        return "\(name) through the parent's handle succeeded"
      } catch {
        guard error.code != .forked else { continue }
        return "\(name) through the parent's handle failed with \(error.code): \(error.message)"
      }
    }
    // An encrypted file belongs to one process.
    guard declaration.key == .none else { return allRefused }
    do throws(EngineError) {
      let own = try Database.open(
        path: database.path, options: declaration.options(createsMissing: false))
      let version = own.version
      try own.close()
      guard version >= pinned.version else {
        return "an open of its own found version \(version.rawValue), the parent pins "
          + "\(pinned.version.rawValue)"
      }
    } catch {
      return "an open of its own failed with \(error.code): \(error.message)"
    }
    return allRefused
  }
}
