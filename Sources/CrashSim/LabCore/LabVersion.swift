// LabVersion.swift: Faultline's version, as shown by the command and its reports.

import Synchronization

/// Faultline's version.
public enum LabVersion {
  /// For example `0.2.0`.
  public static let text = "0.2.0"

  private static let built = Mutex("")

  /// The commit that the command was built from.
  ///
  /// Set by the command; empty if unknown.
  package static var commit: String {
    get { built.withLock { $0 } }
    set { built.withLock { $0 = newValue } }
  }

  /// The version with its commit, if known.
  package static var full: String {
    let commit = commit
    return commit.isEmpty ? text : "\(text) (commit \(commit))"
  }
}
