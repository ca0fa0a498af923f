// LabVersion.swift: the version of the lab, as the command and its reports name it.

import Synchronization

/// The version of the lab.
public enum LabVersion {
  /// For example `0.2.0`.
  public static let text = "0.2.0"

  private static let built = Mutex("")

  /// The commit that the command was built from.
  ///
  /// The command sets it. It is empty where that is unknown.
  package static var commit: String {
    get { built.withLock { $0 } }
    set { built.withLock { $0 = newValue } }
  }

  /// The version with its commit, as far as that is known.
  package static var full: String {
    let commit = commit
    return commit.isEmpty ? text : "\(text) (commit \(commit))"
  }
}
