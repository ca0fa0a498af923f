// PersistenceModel+Stock.swift: the models included in Faultline, and which of them allow less than
// which others. docs/explanation/crash-model.md gives the source of each choice.
// Invariant: a model allows every state of the models that `strongerPairs` puts before it.

extension PersistenceModel {
  /// Every operation persists as a whole and in program order: crash states are prefixes.
  public static let strict = PersistenceModel(
    name: "strict", dataUnitBytes: 4096, metadataOrder: .total, syncCoverage: .everything,
    renameIsAtomic: true, appendIsAtomic: true, dataBeforeGrowth: .newPages, shrinkIsAtomic: true,
    safeReplaceByRename: true, safeCloseAfterTruncate: true, failedSyncDropsData: false,
    sectorBytes: nil, staleBytes: .none)

  /// ext4 with data=journal: data goes through the journal, page by page, in program order.
  public static let ext4Journal = PersistenceModel(
    name: "ext4-journal", dataUnitBytes: 4096, metadataOrder: .journal, dataOrder: .journal,
    syncCoverage: .journalOfInode, delayedAllocation: false, renameIsAtomic: true,
    dataBeforeGrowth: .wholeWrite, shrinkIsAtomic: true, safeReplaceByRename: true,
    safeCloseAfterTruncate: true, failedSyncDropsData: false, sectorBytes: nil, staleBytes: .none)

  /// ext3 with data=ordered: no delayed allocation, so a size is part of the journal, and new data
  /// is on the medium before the effects of later operations.
  public static let ext3Ordered = PersistenceModel(
    name: "ext3-ordered", version: 4, dataUnitBytes: 4096, metadataOrder: .journal,
    syncCoverage: .journalOfInode, delayedAllocation: false, renameIsAtomic: true,
    dataBeforeGrowth: .wholeWrite, safeReplaceByRename: true, safeCloseAfterTruncate: true,
    staleBytes: .none)

  /// ext4 with data=ordered, delayed allocation, auto_da_alloc and dioread_nolock, the
  /// configuration of most Linux systems.
  ///
  /// New pages are unwritten extents, so commits do not wait for their data, and the pages stay
  /// invisible until they have arrived.
  public static let ext4Ordered = PersistenceModel(
    name: "ext4-ordered", version: 5, dataUnitBytes: 4096, metadataOrder: .journal,
    syncCoverage: .journalOfInode, renameIsAtomic: true, safeReplaceByRename: true,
    safeCloseAfterTruncate: true, staleBytes: .none)

  /// XFS: a size follows the data that it makes visible, but no rename or close waits for data.
  public static let xfs = PersistenceModel(
    name: "xfs", version: 4, dataUnitBytes: 4096, metadataOrder: .journal,
    syncCoverage: .journalOfInode, renameIsAtomic: true, dataBeforeGrowth: .wholeWrite,
    staleBytes: .none)

  /// ext4 with data=writeback: names and sizes are journaled, data follows at any time.
  public static let ext4Writeback = PersistenceModel(
    name: "ext4-writeback", version: 4, dataUnitBytes: 4096, metadataOrder: .journal,
    syncCoverage: .journalOfInode, renameIsAtomic: true, staleBytes: .newPages)

  /// Btrfs: copy-on-write in transactions; a sync logs one inode and its names outside of them.
  public static let btrfs = PersistenceModel(
    name: "btrfs", dataUnitBytes: 4096, metadataOrder: .journal, dataOrder: .afterMetadata,
    syncCoverage: .objectAndNames, renameIsAtomic: true, dataBeforeGrowth: .wholeWrite,
    shrinkIsAtomic: true, sectorBytes: nil, staleBytes: .none)

  /// What programs often assume: each file, and each directory, is a prefix of its own history.
  public static let prefixPerFile = PersistenceModel(
    name: "prefix-per-file", version: 3, dataUnitBytes: 4096, metadataOrder: .perInode,
    dataOrder: .perFile, renameIsAtomic: true, dataBeforeGrowth: .wholeWrite, shrinkIsAtomic: true,
    failedSyncDropsData: false, staleBytes: .none)

  /// The weakest model that POSIX allows, on a disk that writes a sector completely or not at all.
  public static let posix = PersistenceModel(name: "posix", version: 4)

  /// `posix` on a disk that may destroy a whole sector while writing a part of it.
  public static let posixDamage = PersistenceModel(
    name: "posix-damage", version: 3, powersafeOverwrite: false, sectorOverwriteIsAtomic: false)

  /// A disk with a volatile cache and sectors of 4,096 bytes; for traces of a device.
  ///
  /// What was written since the last flush survives in any part, each block completely or not at
  /// all.
  package static let blockDevice = PersistenceModel(
    name: "block-device", dataUnitBytes: 4096, failedSyncDropsData: false, sectorBytes: nil)

  /// The same disk with sectors of 512 bytes, each written completely or not at all.
  package static let sectorDevice = PersistenceModel(
    name: "sector-device", dataUnitBytes: 512, failedSyncDropsData: false, sectorBytes: nil)

  /// The stock models: none comes before one that allows less.
  public static let stock: [PersistenceModel] = [
    .strict, .ext4Journal, .ext3Ordered, .ext4Ordered, .xfs, .ext4Writeback, .btrfs,
    .prefixPerFile, .posix, .posixDamage,
  ]

  /// Pairs of stock models of which the second allows all that the first allows; with the pairs
  /// that follow by transitivity, these are all such pairs.
  public static let strongerPairs: [(stronger: PersistenceModel, weaker: PersistenceModel)] = [
    (.strict, .ext4Journal), (.ext4Journal, .ext3Ordered), (.ext3Ordered, .ext4Ordered),
    (.ext4Ordered, .ext4Writeback), (.ext3Ordered, .xfs), (.xfs, .ext4Writeback),
    (.ext4Writeback, .posix), (.ext4Journal, .btrfs), (.btrfs, .posix),
    (.strict, .prefixPerFile), (.prefixPerFile, .posix), (.posix, .posixDamage),
  ]

  /// The stock model with a name, or nil.
  public static func named(_ name: String) -> PersistenceModel? {
    stock.first { $0.name == name }
  }
}
