// RecoveredState.swift: what a check saw when it opened a crash image: facts only, no judgement.

/// The facts that the oracles judge.
package struct RecoveredState: Sendable, Hashable {
  /// The error of open, or of reading or verifying afterwards, in words.
  package var openError: String?
  /// True when there was no file at all.
  package var isMissing = false
  /// True when open had to create the database, because what was there was no database yet.
  package var wasCreated = false
  /// The version that recovery chose; nil when it did not open.
  package var version: UInt64?
  /// The content's hash; nil when it could not be read.
  package var contentHash: UInt64?
  /// What `verify()` found, or the error of reading the content, in words.
  package var damage: String?
  /// What went wrong with the commit after recovery, in words; nil when nothing did or none was
  /// tried.
  package var useError: String?
}
