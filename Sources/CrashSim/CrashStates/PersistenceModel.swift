// PersistenceModel.swift: what a file system may keep of changes that no sync has covered yet.
// A model is a set of parameters of one mechanism (UnitTable), so that users can define their own;
// docs/explanation/crash-model.md gives each parameter's meaning and the source of each stock
// model's choice.
// Invariant: a stock model's parameters never change under the same version.

/// Rules for which of the changes since the last sync may survive a crash.
public struct PersistenceModel: Hashable, Sendable, CustomStringConvertible {
  /// The order in which changes of names, sizes and attributes reach the medium.
  public enum MetadataOrder: String, Hashable, Sendable, CaseIterable {
    /// Only changes of the same object keep their order.
    case perObject
    /// Changes of one inode keep their order; a directory's changes are those of its entries.
    case perInode
    /// One journal: names, explicit sizes and attributes in program order; data and delayed growth
    /// are separate.
    case journal
    /// Every operation, including data, persists as a whole and after all earlier ones.
    case total
  }

  /// What written data depends on, besides earlier changes of the same block.
  public enum DataOrder: String, Hashable, Sendable, CaseIterable {
    /// Nothing.
    case unordered
    /// All earlier changes of the same file.
    case perFile
    /// The journal as of the time of the write: the result of copy-on-write.
    case afterMetadata
    /// Data is in the journal, each page with the size that it gives the file.
    case journal
  }

  /// What a size increased by a write depends on.
  public enum GrowthOrder: String, Hashable, Sendable, CaseIterable {
    /// No data.
    case none
    /// The write's data in newly allocated pages.
    case newPages
    /// All of the write's data up to that size.
    case wholeWrite
  }

  /// Where a torn write may leave bytes that were never written to the file.
  public enum StaleBytes: String, Hashable, Sendable, CaseIterable {
    /// Nowhere; a page that is new to the file becomes visible only once all of it has arrived.
    case none
    /// In pages that are new to the file; the rest of an older one was zeroed when it was written.
    case newPages
    /// Wherever the file had no bytes before.
    case anywhere
  }

  /// What a sync of a file or a directory makes durable.
  public enum SyncCoverage: String, Hashable, Sendable, CaseIterable {
    /// A file's data, size and attributes, but no name; a directory's entries and attributes.
    case object
    /// The same, and the names of the synced inode, with the directories they need to be reached.
    case objectAndNames
    /// What `object` says, and the journal up to the last change that touched the synced inode.
    case journalOfInode
    /// Everything issued before.
    case everything
  }

  /// Name, as accepted by `--model`: lower case letters, digits and `-`.
  public var name: String
  /// Increases when the meaning of the name changes; saved states include it.
  public var version: Int
  /// Data is split at multiples of this many bytes of the file; each part persists separately.
  public var dataUnitBytes: Int
  /// Order among metadata.
  public var metadataOrder: MetadataOrder
  /// Order of data.
  public var dataOrder: DataOrder
  /// What fsync and fdatasync of a file or a directory guarantee.
  public var syncCoverage: SyncCoverage
  /// A size increased by a write is not part of the journal, since blocks are allocated later.
  public var delayedAllocation: Bool
  /// Both halves of a rename or an exchange persist together.
  public var renameIsAtomic: Bool
  /// The size that a write gives a file persists at once; otherwise page by page.
  public var appendIsAtomic: Bool
  /// The part of a write's data that persists before the size that it gives the file.
  public var dataBeforeGrowth: GrowthOrder
  /// A truncate into a page persists at once; otherwise the zeros that it leaves in the rest of the
  /// page are data, which may persist before the new size.
  public var shrinkIsAtomic: Bool
  /// A rename over an existing file persists after the renamed file's delayed data and size.
  public var safeReplaceByRename: Bool
  /// Data and size of a file that was truncated to 0, rewritten and closed persist before later
  /// metadata.
  public var safeCloseAfterTruncate: Bool
  /// After a failed sync, pages count as clean: no later sync writes them.
  public var failedSyncDropsData: Bool
  /// A data unit in flight may be cut at multiples of this; nil: a unit is never torn.
  public var sectorBytes: Int?
  /// Damage of a torn write stays within the written bytes; otherwise it affects whole sectors,
  /// including bytes of earlier, durable writes (SQLite calls this promise "powersafe overwrite").
  public var powersafeOverwrite: Bool
  /// A sector that is overwritten in place is old or new; only space that is new to the file may
  /// hold zeros or garbage after a torn write.
  public var sectorOverwriteIsAtomic: Bool
  /// Where a torn write may leave bytes that were never written to the file.
  public var staleBytes: StaleBytes

  /// Makes a model; the defaults are those of `posix`.
  public init(
    name: String, version: Int = 1, dataUnitBytes: Int = 512,
    metadataOrder: MetadataOrder = .perObject, dataOrder: DataOrder = .unordered,
    syncCoverage: SyncCoverage = .object, delayedAllocation: Bool = true,
    renameIsAtomic: Bool = false, appendIsAtomic: Bool = false,
    dataBeforeGrowth: GrowthOrder = .none, shrinkIsAtomic: Bool = false,
    safeReplaceByRename: Bool = false, safeCloseAfterTruncate: Bool = false,
    failedSyncDropsData: Bool = true,
    sectorBytes: Int? = 512, powersafeOverwrite: Bool = true,
    sectorOverwriteIsAtomic: Bool = true, staleBytes: StaleBytes = .anywhere
  ) {
    self.name = name
    self.version = version
    self.dataUnitBytes = dataUnitBytes
    self.metadataOrder = metadataOrder
    self.dataOrder = dataOrder
    self.syncCoverage = syncCoverage
    self.delayedAllocation = delayedAllocation
    self.renameIsAtomic = renameIsAtomic
    self.appendIsAtomic = appendIsAtomic
    self.dataBeforeGrowth = dataBeforeGrowth
    self.shrinkIsAtomic = shrinkIsAtomic
    self.safeReplaceByRename = safeReplaceByRename
    self.safeCloseAfterTruncate = safeCloseAfterTruncate
    self.failedSyncDropsData = failedSyncDropsData
    self.sectorBytes = sectorBytes
    self.powersafeOverwrite = powersafeOverwrite
    self.sectorOverwriteIsAtomic = sectorOverwriteIsAtomic
    self.staleBytes = staleBytes
  }

  /// Name and version, for example `posix@1`.
  public var description: String { "\(name)@\(version)" }
}
