// CommitSettings.swift: how commits are made durable, and what a commit has to know of its base.

/// What a commit promises when it returns.
public enum Durability: Sendable {
  /// The version survives any crash.
  case full
  /// Nothing is synced: the version survives the end of the process, and no crash of the machine.
  ///
  /// A power cut may leave any earlier version, or a file in which `open`, `verify` or a later read
  /// finds corruption, or, where nothing was written back yet, no database at all. For data that
  /// can be made again. A handle with `.full` that commits to the file later makes all of it
  /// durable.
  case unsafe
}

/// By how many syncs a commit is made durable; a file may change from one commit to the next.
public enum CommitProtocol: Sendable {
  /// Nodes, sync, root slot, sync.
  case twoPhase
  /// Nodes and root slot, one sync; recovery checks the newest version's fresh nodes.
  ///
  /// What it gives up: damage to those nodes, long after the commit, reads as a commit that a crash
  /// tore, and the version before it comes back. A commit of many nodes uses two syncs all the
  /// same.
  case checksummed
}

/// How a commit is to be made.
struct CommitSettings: Sendable {
  var durability = Durability.full
  var commitProtocol = CommitProtocol.twoPhase
  var failpoint: Failpoint?
  var schedule: ScheduleHook?
  /// Whether the base is the version that a slot leads to, and known to be durable: else it may be
  /// lost yet, so the slot before it has to stay until a sync of this commit's nodes.
  var isBaseDurable = false
  /// A slot that recovery refused, to be cleared before anything else.
  var staleSlot: Int?
  /// The newest version that a snapshot holds; nil when none but the base is held.
  var newestHeld: Version?
  /// The file is not cut below this; nil: not at all.
  var tailFloorBytes: UInt64?
  /// Where moving nodes out of the tail goes on.
  var evacuation = Evacuation()
}
