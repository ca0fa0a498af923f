// DataFileOptions.swift: how a data file is opened.

extension DataFile {
  /// When commits become durable.
  public enum Sync: String, Sendable, CaseIterable {
    /// At the next checkpoint or close: a power cut may take the last commits, in order.
    case normal
    /// Each before it returns.
    case full
  }

  /// How the revisions of new data files are told apart.
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
    /// Whether nothing is written: an older file is read as it is.
    public var isReadOnly = false
    /// Whether a data file is made where none is.
    public var creates = true
    /// Whether an older file may be upgraded.
    public var allowsUpgrade = true
    /// When commits become durable.
    public var sync = Sync.normal
    /// What a new file gets.
    public var versioning = Versioning.trees
    /// How many idle connections are kept for readers.
    public var idleReadersMax = 4
    /// How long a lock of others is waited for.
    public var busyTimeoutMilliseconds = 10_000
    /// Whether documents that expired meanwhile are purged when the file is opened for writing.
    public var purgesExpiredOnOpen = true
    /// Where UUIDs come from: that many random bytes.
    ///
    /// A lab gives a seeded one.
    public var entropy: @Sendable (Int) -> [UInt8] = { FileCalls.entropy($0) }
    /// The time in nanoseconds since 1970, for version vectors and expirations.
    ///
    /// A lab gives one that follows a seed.
    public var nanoseconds: @Sendable () -> UInt64 = { FileCalls.nanoseconds() }

    /// The usual way: for writing, made or upgraded as needed, `synchronous` NORMAL.
    public init() {}
  }
}
