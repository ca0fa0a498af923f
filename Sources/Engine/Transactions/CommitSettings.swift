// CommitSettings.swift: how commits are made durable, and what a commit has to know about its base.

/// What a commit guarantees when it returns.
public enum Durability: Sendable {
  /// The version survives any crash.
  case full
  /// Nothing is synced: the version survives the end of the process, but not a crash of the
  /// machine.
  ///
  /// A power cut may leave any earlier version, or a file in which `open`, `verify` or a later read
  /// finds corruption, or, if the kernel has written nothing back yet, no database at all. For data
  /// that can be recreated. A handle with `.full` that commits to the file later makes all of it
  /// durable.
  case unsafe
}

/// The number of syncs that make a commit durable; a file may change from one commit to the next.
public enum CommitProtocol: Sendable {
  /// Nodes, sync, root slot, sync.
  case twoPhase
  /// Nodes and root slot, one sync; recovery checks the newest version's fresh nodes.
  ///
  /// The cost: damage to those nodes, long after the commit, looks like a commit torn by a crash,
  /// so recovery returns to the version before it. A commit of many nodes still uses two syncs.
  case checksummed
}

/// How a commit is to be made.
struct CommitSettings: Sendable {
  var durability = Durability.full
  var commitProtocol = CommitProtocol.twoPhase
  /// Whether a small commit may be edits in the root slot.
  var editsInSlots = true
  var failpoint: Failpoint?
  var schedule: ScheduleHook?
  /// Whether the base is the version that a slot leads to, and known to be durable: otherwise it
  /// may still be lost, so the slot before it has to stay until this commit's nodes are synced.
  var isBaseDurable = false
  /// A slot that recovery refused, to be cleared before anything else.
  var staleSlot: Int?
  /// The newest version that a snapshot holds; nil when none but the base is held.
  var newestHeld: Version?
  /// The version that a snapshot holds before that one.
  var heldBefore: Version?
  /// The file is not truncated below this; nil means not at all.
  var tailFloorBytes: UInt64?
  /// Where moving nodes out of the tail continues.
  var evacuation = Evacuation()
}
