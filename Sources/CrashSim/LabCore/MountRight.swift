// MountRight.swift: how this process may mount, and the user namespace of its own in which it may
// where nothing else allows it (user_namespaces(7)).
// Invariants: programs under test and checkers have no capability that the user did not have; a
// process enters at most one namespace, before it has a second thread.

import CPrivileges
import Foundation
import Glibc
import Synchronization

/// The ways to a mount, from the plainest.
package enum MountWay: String, Sendable {
  /// By mount(2): root, or root of a user namespace with mounts of its own.
  case direct
  /// By the set-uid program fusermount3.
  case fusermount
  /// By mount(2), in a user and a mount namespace that the command makes for itself.
  case namespace
}

/// What this process may do about mounts.
package enum MountRight {
  /// What a message of a lack ends with.
  package static let pointer = "'faultline doctor' says what this machine lacks"

  /// Variable that names a way; `namespace` is the only one that has to be asked for.
  package static let variable = "FAULTLINE_MOUNT"

  /// True where mount(2) is allowed.
  package static var mayMount: Bool { cprivileges_may_mount() == 1 }

  /// The way that this process would take; nil when there is none.
  package static func way() -> MountWay? {
    if isInOwnNamespace { return .namespace }
    if mayMount { return .direct }
    if !wantsNamespace, Fusermount.lack == nil { return .fusermount }
    return namespaceError == 0 ? .namespace : nil
  }

  /// Why there can be no namespace, as an errno; 0 when there can.
  package static var namespaceError: Int32 { cprivileges_try_namespace() }

  private static var wantsNamespace: Bool {
    ProcessInfo.processInfo.environment[variable] == MountWay.namespace.rawValue
  }

  /// Enters a namespace when there is no other way to mount; for the beginning of `main`, before
  /// any thread is made.
  ///
  /// Where that fails all stays as it was, and the mount says what is lacking.
  package static func enterNamespaceIfNeeded() {
    guard way() == .namespace else { return }
    // What another namespace's processes are cannot be seen from ours, so this goes first.
    RunDirectory.sweep()
    guard cprivileges_enter_namespace() == 0 else { return }
    hasEntered.store(true, ordering: .relaxed)
  }

  /// True once `enterNamespaceIfNeeded` has made a namespace.
  package static var isInOwnNamespace: Bool { hasEntered.load(ordering: .relaxed) }
  private static let hasEntered = Atomic(false)

  /// Keeps a right that was handed on to this process from the programs that it starts.
  package static func keepToOneself() { _ = cprivileges_hand_on_mount(0) }

  /// Runs what starts a process, which keeps the right to mount that this thread has; root's do so
  /// anyway.
  package static func handingOn<Result>(
    _ isMeant: Bool = true, _ start: () -> Result
  ) -> Result {
    guard isMeant, geteuid() != 0, cprivileges_hand_on_mount(1) == 0 else { return start() }
    defer { keepToOneself() }
    return start()
  }
}
