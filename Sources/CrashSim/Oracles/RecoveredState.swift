// RecoveredState.swift: what a check observed when it opened a crash image: facts, no judgement.

/// The facts that the oracles judge.
package struct RecoveredState: Sendable, Hashable {
  /// The error of open, or of reading or verifying afterwards, in words.
  package var openError: String?
  /// True when there was no file.
  package var isMissing = false
  /// True when open had to create the database, because the file was not a database yet.
  package var wasCreated = false
  /// The version that recovery chose; nil when it did not open.
  package var version: UInt64?
  /// The content's hash; nil when it could not be read.
  package var contentHash: UInt64?
  /// What `verify()` found, or the error of reading the content, in words.
  package var damage: String?
  /// The failure of the commit after recovery, in words; nil when it succeeded or was not tried.
  package var useError: String?
}
