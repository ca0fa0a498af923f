// AgentLock.swift [U]: one agent of a file at a time, in all processes: a lock on a file in the
// folder `NAME.management`, which the kernel releases when its process dies. Invariant: only the
// holder sends the file's changesets and applies the server's changes to its rows.

import Engine
import Glibc

/// The lock that a file's agent holds.
package final class AgentLock: Sendable {
  private let descriptor: Int32

  /// Takes the lock.
  /// - Parameter path: The file; its management folder is created if missing.
  /// - Throws: `EngineError` with code `.locked` when another agent holds it, or `.io`.
  package init(of path: String) throws(EngineError) {
    let folder = path + ".management"
    // Safety: the strings are valid during the calls.
    let made = unsafe mkdir(folder, 0o700)
    guard made == 0 || errno == EEXIST else { throw Self.failed("mkdir", folder) }
    descriptor = unsafe open(folder + "/sync-agent", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Self.failed("open", folder + "/sync-agent") }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      let isHeld = errno == EWOULDBLOCK
      let error = Self.failed("flock", folder + "/sync-agent")
      close(descriptor)
      guard isHeld else { throw error }
      throw EngineError(
        code: .locked, message: "\(path) is being synchronized by another agent; let it go on")
    }
  }

  deinit { close(descriptor) }

  private static func failed(_ call: String, _ path: String) -> EngineError {
    EngineError(code: .io, message: "\(call) of \(path) failed with errno \(errno)", errno: errno)
  }
}
