// UnseenSyncs.swift: messages for a program whose calls of sync(2) and syncfs(2) could not be
// intercepted. A crash state may then be possible only because such a call is missing, so none is a
// finding; acceptance of all states is still valid, since an additional sync leaves fewer states.

import Findings
import Foundation
import Glibc
import LabCore

/// Recordings that may lack syncs of everything.
package enum UnseenSyncs {
  /// Variable by which a user states that the program calls neither; its value does not matter.
  package static let variable = "FAULTLINE_WITHOUT_SYNC"

  /// Why the syncs of a child are not seen; 0 if the user states that there are none.
  static func error(of child: ChildProcess) -> Int32 {
    if ProcessInfo.processInfo.environment[variable] != nil { return 0 }
    return child.syncCalls < 0 ? -child.syncCalls : EIO
  }

  /// What the recording lacks, for display.
  static func text(_ error: Int32) -> String {
    "sync(2) and syncfs(2) of the workload: they cannot be seen here, because seccomp(2) is "
      + "refused (\(describe(errno: error))); states that they make impossible were judged as well"
  }

  /// Throws instead of reporting a failing state as a finding.
  /// - Throws: `LabError` with the remedies, if syncs were not intercepted.
  package static func refuse(_ error: Int32, _ headline: String) throws(LabError) {
    if error == 0 { return }
    throw .lab(
      "a crash state fails ('\(headline)'), but this does not count as a finding: sync(2) and "
        + "syncfs(2) of the workload cannot be seen here, because seccomp(2) is refused "
        + "(\(describe(errno: error))), and one of them may make the state impossible; allow "
        + "seccomp (docker and podman: --security-opt seccomp=unconfined), or set "
        + "\(variable)=1 when the program calls neither; \(MountRight.pointer)")
  }
}
