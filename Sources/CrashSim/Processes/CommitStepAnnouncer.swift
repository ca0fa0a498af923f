// CommitStepAnnouncer.swift: [U] a worker tells the faulty file system which step of a commit it is
// in, so that what happens there is known to have hit that step (FaultFS/CommitStepLog.swift).
// Safety: the value is on the stack while the one call has it.

import CSystem
import Engine
import Synchronization

/// Tells somebody of the steps of commits.
final class CommitStepAnnouncer: Sendable {
  private let tell: @Sendable (_ value: UInt8) -> Void
  private let isInCommit = Atomic<Bool>(false)

  /// Tells whoever is given.
  init(_ tell: @escaping @Sendable (_ value: UInt8) -> Void) { self.tell = tell }

  /// Tells the faulty file system that a directory lies on; any other one does not mind.
  convenience init(directory: String) {
    self.init { value in
      var value = value
      unsafe _ = csystem_set_attribute(directory, CommitStepLog.attribute, &value, 1)
    }
  }

  /// Before a step runs.
  func announce(_ step: CommitStep) {
    isInCommit.store(true, ordering: .relaxed)
    tell(UInt8(step.rawValue))
  }

  /// After a command: no commit is under way any more.
  func endCommand() {
    guard isInCommit.exchange(false, ordering: .relaxed) else { return }
    tell(CommitStepLog.noStep)
  }
}
