// Publication.swift: the newest durable version, in shared memory for all processes. Invariants:
// the record of version v is stored at the place of v's parity and is whole before the version word
// says v; the word rises by one per commit. A record is a root slot record and carries its
// checksum, so a reader notices a mixture. Whichever store a writer dies after, the word leads to a
// whole record: before the last store to the old one, which was not touched, and after it to the
// new one.
//
// A failed sync poisons all handles, not only the one that called: the kernel may keep pages as
// clean that never reached the medium, and every handle sees those pages. Once all are closed, the
// next opener is a first opener and reads from the medium.

/// The published version of a region.
struct Publication: Sendable {
  let region: SharedRegion
  var beforeStore: (@Sendable (Int) -> Void)?
  var schedule: ScheduleHook?

  /// The same for a caller that holds a lock, which is not allowed at a schedule point.
  var withoutPoints: Publication {
    Publication(region: region, beforeStore: beforeStore, schedule: nil)
  }

  @inline(__always)
  private func load(_ offset: Int, _ word: SharedWord) -> UInt64 {
    schedule?.meet(.load, word)
    return region.load(offset)
  }

  private func store(_ value: UInt64, at offset: Int, _ word: SharedWord) {
    schedule?.meet(.store, word)
    region.store(value, at: offset)
  }

  /// One store of a publication.
  struct Store: Equatable {
    let offset: Int
    let value: UInt64
  }

  /// The version word, unchecked.
  @inline(__always)
  var version: Version {
    Version(rawValue: load(RegionLayout.publishedOffset, .publishedVersion))
  }

  /// The stores that publish a version, in their order.
  static func stores(_ slot: RootSlot) -> [Store] {
    let record = slot.record
    precondition(record.count <= RegionLayout.recordSizeBytes && record.count % 8 == 0)
    let start = RegionLayout.recordOffsets[slot.index]
    var stores = RawBytes.over(record) { bytes in
      stride(from: 0, to: bytes.count, by: 8).map {
        Store(offset: start + $0, value: bytes.uint64($0))
      }
    }
    stores.append(Store(offset: RegionLayout.publishedOffset, value: slot.version.rawValue))
    return stores
  }

  /// Publishes a version; the caller holds the writer lock, or is alone.
  ///
  /// Durability: none is needed. The version is durable already, and the region is not kept.
  func publish(_ slot: RootSlot) {
    let stores = Self.stores(slot)
    for (index, store) in stores.enumerated() {
      beforeStore?(index)
      switch index {
      case 0: schedule?.reach(.publishRecord)
      case stores.count - 1: schedule?.reach(.publishVersion)
      default: schedule?.meet(.store, .record)
      }
      region.store(store.value, at: store.offset)
    }
  }

  /// The record of a version, or nil when another one has taken its place or it is garbage.
  func record(of version: Version) -> RootSlot? {
    let start = RegionLayout.recordOffsets[Int(version.rawValue % 2)]
    var record: [UInt8] = []
    record.reserveCapacity(Layout.slotRecordBytes)
    for offset in stride(from: 0, to: Layout.slotRecordBytes, by: 8) {
      schedule?.meet(.load, .record)
      record.appendLittleEndian(region.loadAcquiring(start + offset))
    }
    guard let slot = RootSlot(record: record, index: Int(version.rawValue % 2)),
      slot.version == version
    else { return nil }
    return slot
  }

  /// The version that the medium may fall back to as long as no sync succeeded.
  var fallback: Version? {
    get {
      let version = load(RegionLayout.fallbackOffset, .fallback)
      return version == 0 ? nil : Version(rawValue: version)
    }
    nonmutating set {
      store(newValue?.rawValue ?? 0, at: RegionLayout.fallbackOffset, .fallback)
    }
  }

  /// The error number of a failed sync or slot write, or nil.
  var poison: Int32? {
    get {
      let word = load(RegionLayout.poisonOffset, .poison)
      return word == 0 ? nil : Int32(truncatingIfNeeded: word)
    }
    nonmutating set {
      let word = newValue.map { UInt64(UInt32(bitPattern: $0)) | 1 << 63 } ?? 0
      store(word, at: RegionLayout.poisonOffset, .poison)
    }
  }

  /// The process that is writing to the data file; one found while holding the writer lock has
  /// died.
  var writer: ProcessOwner? {
    get {
      let word = load(RegionLayout.writerOffset, .writer)
      return word == 0 ? nil : ProcessOwner(rawValue: word)
    }
    nonmutating set { store(newValue?.rawValue ?? 0, at: RegionLayout.writerOffset, .writer) }
  }

  /// Writers that died while they wrote, since the first opener.
  var takeoverCount: UInt64 { load(RegionLayout.takeoverCountOffset, .takeovers) }

  func countTakeover() {
    store(takeoverCount &+ 1, at: RegionLayout.takeoverCountOffset, .takeovers)
  }
}
