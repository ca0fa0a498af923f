// DataFileOptions.swift: how a data file is opened.

extension DataFile {
  /// When commits become durable.
  public enum Sync: String, Sendable, CaseIterable {
    /// At the next checkpoint or close: a power cut may take the last commits, in order.
    case normal
    /// Each before it returns.
    case full
  }

  /// How the revisions of new data files are identified.
  public enum Versioning: Int, Sendable, CaseIterable {
    /// Trees of revisions as in 2.x: a tree whose bodies are in it.
    case oldTrees = 0
    /// Trees of revisions as in 3.x.
    case trees = 1
    /// Version vectors.
    case vectors = 2
  }

  /// How a data file is opened.
  public struct Options: Sendable {
    /// Whether nothing is written: an older file is read without an upgrade.
    public var isReadOnly = false
    /// Whether a missing data file is created.
    public var creates = true
    /// Whether an older file may be upgraded.
    public var allowsUpgrade = true
    /// When commits become durable.
    public var sync = Sync.normal
    /// The versioning of a new file.
    public var versioning = Versioning.trees
    /// The number of idle connections kept for readers.
    public var idleReadersMax = 4
    /// How long a lock of others is waited for.
    public var busyTimeoutMilliseconds = 10_000
    /// Whether expired documents are purged when the file is opened for writing.
    public var purgesExpiredOnOpen = true
    /// The source of UUIDs: returns the requested number of random bytes.
    ///
    /// A lab passes a seeded one.
    public var entropy: @Sendable (Int) -> [UInt8] = { FileCalls.entropy($0) }
    /// The time in nanoseconds since 1970, for version vectors and expirations.
    ///
    /// A lab gives one that follows a seed.
    public var nanoseconds: @Sendable () -> UInt64 = { FileCalls.nanoseconds() }

    /// The usual way: for writing, made or upgraded as needed, `synchronous` NORMAL.
    public init() {}
  }
}
