// RegionLayout.swift: the byte map of the memory that coordinates handles: the lock file, or
// anonymous memory of the same shape for a database without one. Invariants: integers are the
// machine's own, words of 8 bytes at multiples of 8, since only processes of one running system
// share them. Its content is not trusted: each reader of a field bounds it or checks it, and the
// first opener rewrites all of it.
//   offset_bytes  size  field        (LockFileTests checks this map against a real file)
//              0     8  magic, written last by the first opener and cleared first by the next
//              8     4  layout version
//             12     4  bytes of a reader slot
//             16    16  device and inode of the data file
//             32     8  inode of the pid namespace that owners' numbers belong to
//             64     8  published version
//             72     8  version that the medium may fall back to until a sync, or 0
//             80     8  not 0: a sync failed while these handles were open; see `Publication`
//             88     8  owner that is writing, or 0
//             96     8  predecessors that died while they were writing
//            104     8  not 0: a process waits for the writer byte; see `WriterLock`
//            128   128  root slot record of the published versions with even number
//            256   128  root slot record of those with odd number
//            384     4  change count; waiters sleep on it where there is no FIFO
//            388     4  waiters on the change count
//            392     4  waiters on the FIFO
//            448     4  number of reader slots
//           4096  64×n  reader slots: owner 8, version 8, thread 8, pinned since (ms) 8, 0

/// Offsets and sizes of the shared memory.
enum RegionLayout {
  static let magic: UInt64 = 0x4b43_4f4c_544c_4146
  static let version: UInt32 = 1

  static let magicOffset = 0
  static let layoutOffset = 8
  static let deviceOffset = 16
  static let inodeOffset = 24
  static let namespaceOffset = 32
  static let publishedOffset = 64
  static let fallbackOffset = 72
  static let poisonOffset = 80
  static let writerOffset = 88
  static let takeoverCountOffset = 96
  static let writerWaitsOffset = 104
  static let recordOffsets = [128, 256]
  static let recordSizeBytes = 128
  static let changeCountOffset = 384
  static let sleeperCountOffset = 388
  static let listenerCountOffset = 392
  static let slotCountOffset = 448

  static let slotsOffset = 4096
  static let slotSizeBytes = 64
  static let slotOwnerOffset = 0
  static let slotVersionOffset = 8
  static let slotThreadOffset = 16
  static let slotSinceOffset = 24

  /// Slots of a new file: one page of them.
  static let slotCountMin = 64
  /// Slots at most.
  static let slotCountMax = 65_536
  /// The file has this size from the start, with disk space only for the slots in use.
  static let sizeBytes = slotsOffset + slotCountMax * slotSizeBytes

  /// The layout version and the slot size as one word.
  static let layoutWord = UInt64(version) | UInt64(slotSizeBytes) << 32

  /// Offset of a slot.
  @inline(__always)
  static func slot(_ index: Int) -> Int { slotsOffset + index * slotSizeBytes }

  /// Bytes that need disk space for this many slots.
  static func sizeBytes(slotCount: Int) -> Int { slotsOffset + slotCount * slotSizeBytes }
}
