// ForkedChild.swift: a child of fork, whose parent has a database open. The parent's handle, pin
// and lock do not belong to the child: each use must fail, and an open of its own must work.
// Invariant: whatever the child does, its parent's database continues to work.

import Engine
import Findings
import Workload

/// Tests what a child of fork may do.
enum ForkedChild {
  /// Forks, and judges the results of the child's operations.
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
    // An encrypted file can be used by one process only.
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
