// PersistenceModel.swift: what a file system may keep of changes that no sync covered yet.
// A model is a value made of parameters over one mechanism (UnitTable), so that a user can define
// one; docs/crash-model.md gives each parameter's meaning and the source of each stock model's
// choice.
// Invariant: a stock model's parameters never change under the same version.

/// Rules for what of the changes since the last sync may survive a crash.
public struct PersistenceModel: Hashable, Sendable, CustomStringConvertible {
  /// In which order changes of names, sizes and attributes reach the medium.
  public enum MetadataOrder: String, Hashable, Sendable {
    /// Only changes of one and the same object keep their order.
    case perObject
    /// One journal: names, explicit sizes and attributes in program order; data and delayed growth
    /// apart.
    case journal
    /// Every operation, data included, persists wholly and after all earlier ones.
    case total
  }

  /// What a sync of a file or a directory makes durable.
  public enum SyncCoverage: String, Hashable, Sendable {
    /// A file's data, size and attributes, but no name; a directory's entries and attributes.
    case object
    /// The same, and the journal up to the last change that touched the synced inode.
    case journalOfInode
    /// All that was issued before.
    case everything
  }

  /// Name, as `--model` takes it: lower case letters, digits and `-`.
  public var name: String
  /// Rises when the meaning of the name changes; saved states name it.
  public var version: Int
  /// Data is split at multiples of this many bytes of the file, each part persisting alone.
  public var dataUnitBytes: Int
  /// Order among metadata.
  public var metadataOrder: MetadataOrder
  /// What fsync and fdatasync of a file or a directory guarantee.
  public var syncCoverage: SyncCoverage
  /// Both halves of a rename or an exchange persist together.
  public var renameIsAtomic: Bool
  /// A size that grew by a write persists after that write's data in newly allocated pages.
  public var dataBeforeGrowth: Bool
  /// A rename over an existing file persists after the renamed file's delayed data and size.
  public var safeReplaceByRename: Bool
  /// Data and size of a file that was truncated to nothing, rewritten and closed persist before
  /// later metadata.
  public var safeCloseAfterTruncate: Bool
  /// After a failed sync, pages count as clean: no later sync writes them.
  public var failedSyncDropsData: Bool
  /// A data unit in flight may be cut at multiples of this; nil: a unit is never torn.
  public var sectorBytes: Int?
  /// Damage of a torn write stays within the bytes that the write named; else it hits whole
  /// sectors, bytes of earlier, durable writes included (SQLite calls the promise "powersafe
  /// overwrite").
  public var powersafeOverwrite: Bool

  /// Makes a model; the defaults are those of `posix`.
  public init(
    name: String, version: Int = 1, dataUnitBytes: Int = 512,
    metadataOrder: MetadataOrder = .perObject, syncCoverage: SyncCoverage = .object,
    renameIsAtomic: Bool = false, dataBeforeGrowth: Bool = false,
    safeReplaceByRename: Bool = false, safeCloseAfterTruncate: Bool = false,
    failedSyncDropsData: Bool = true, sectorBytes: Int? = 512,
    powersafeOverwrite: Bool = true
  ) {
    self.name = name
    self.version = version
    self.dataUnitBytes = dataUnitBytes
    self.metadataOrder = metadataOrder
    self.syncCoverage = syncCoverage
    self.renameIsAtomic = renameIsAtomic
    self.dataBeforeGrowth = dataBeforeGrowth
    self.safeReplaceByRename = safeReplaceByRename
    self.safeCloseAfterTruncate = safeCloseAfterTruncate
    self.failedSyncDropsData = failedSyncDropsData
    self.sectorBytes = sectorBytes
    self.powersafeOverwrite = powersafeOverwrite
  }

  /// Every operation persists wholly and in program order: crash states are prefixes.
  public static let strict = PersistenceModel(
    name: "strict", dataUnitBytes: 4096, metadataOrder: .total, syncCoverage: .everything,
    renameIsAtomic: true, dataBeforeGrowth: true, safeReplaceByRename: true,
    safeCloseAfterTruncate: true, failedSyncDropsData: false, sectorBytes: nil)

  /// ext4 with data=ordered, delayed allocation and auto_da_alloc, the way most Linux systems run
  /// it.
  public static let ext4Ordered = PersistenceModel(
    name: "ext4-ordered", dataUnitBytes: 4096, metadataOrder: .journal,
    syncCoverage: .journalOfInode, renameIsAtomic: true, dataBeforeGrowth: true,
    safeReplaceByRename: true, safeCloseAfterTruncate: true)

  /// The weakest that POSIX allows, on a disk that leaves alone what a write does not name.
  public static let posix = PersistenceModel(name: "posix")

  /// `posix` on a disk that may destroy a whole sector while it writes a part of it.
  public static let posixDamage = PersistenceModel(name: "posix-damage", powersafeOverwrite: false)

  /// The stock models, the strongest first.
  public static let stock: [PersistenceModel] = [.strict, .ext4Ordered, .posix, .posixDamage]

  /// The stock model of a name, or nil.
  public static func named(_ name: String) -> PersistenceModel? {
    stock.first { $0.name == name }
  }

  /// Name and version, for example `posix@1`.
  public var description: String { "\(name)@\(version)" }

  /// Refuses parameters that the mechanism cannot follow.
  /// - Throws: `LabError` with code `.usage`.
  public func validate() throws(LabError) {
    let isPlainName =
      !name.isEmpty
      && name.utf8.allSatisfy { byte in
        (97...122).contains(byte) || (48...57).contains(byte) || byte == 45
      }
    guard isPlainName else {
      throw .usage("model name '\(name)': use lower case letters, digits and '-' only")
    }
    guard dataUnitBytes >= 512, 4096.isMultiple(of: dataUnitBytes) else {
      throw .usage("model \(name): dataUnitBytes=\(dataUnitBytes), must be 512, 1024, 2048 or 4096")
    }
    if let sectorBytes {
      guard sectorBytes >= 512, dataUnitBytes.isMultiple(of: sectorBytes) else {
        throw .usage(
          "model \(name): sectorBytes=\(sectorBytes), must be 512 or more and divide dataUnitBytes")
      }
    }
  }
}
