// CreationImage.swift: how an empty file becomes version 1, and how an interrupted creation is
// distinguished from a damaged database. Order of creation:
//   1. allocate 64 KiB, sync               every byte is 0
//   2. write top node and slot 1, sync     the record at offset 0 is still 0
//   3. write the record at offset 0, sync  the database exists
// A file that has a temporary name until all of it is durable needs only the last sync, since its
// content after a crash is never read. A crash leaves: (1) a file of zeros of at most 64 KiB; (2)
// garbage in two known sectors and zeros elsewhere; (3) garbage in the first sector, with slot 1
// and its top node whole. Any database that ever committed has bytes in slot 0, so none of the
// three can be a database with rows in it.

enum CreationImage {
  /// Sectors that step 2 writes.
  private static let topSector = Int(Layout.firstNodeSector)
  private static let slotSector = Layout.slotOffsetsBytes[1] / Layout.sectorSizeBytes

  private static var endBytes: UInt64 {
    (Layout.firstNodeSector + 1) * UInt64(Layout.sectorSizeBytes)
  }

  /// The top node of version 1, and the slot that leads to it.
  private static func make(_ cipher: FileCipher? = nil) -> (slab: Slab, slot: RootSlot) {
    let slab = Slab(cipher: cipher)
    let ref = Ref(sector: Layout.firstNodeSector)
    let content = Group(freeList: .none, nextTableID: 1, tables: []).encoded()
    let node = slab.makeNode(at: ref, sizeBytes: Layout.nodeHeaderBytes + content.count)
    node.copy(content, to: Layout.nodeHeaderBytes)
    let link = NodeHeader.seal(node, ref: ref, version: .first, kind: .group, count: 0)
    let top = slab.encrypt(link, version: .first)
    return (slab, RootSlot(version: .first, top: top, logicalSizeBytes: endBytes))
  }

  /// Makes an empty file, or the rest of an interrupted creation, the empty database; encrypted
  /// when there is a key.
  /// - Parameters:
  ///   - backend: The file.
  ///   - key: The key of an encrypted database.
  ///   - entropy: Draws its salts.
  ///   - isTemporary: Whether a file left by a crash before the end is discarded.
  /// - Throws: `EngineError` with code `.io` or `.noSpace`.
  static func create(
    on backend: any StorageBackend, key: EncryptionKey? = nil, entropy: EntropySource = .system,
    isTemporary: Bool = false
  ) throws(EngineError) {
    var cipher: FileCipher?
    if let key {
      cipher = FileCipher(FileKeys(key, salt: try Salt(from: entropy)), entropy: entropy)
    }
    try cipher?.beginSession()
    let (slab, slot) = make(cipher)
    try backend.allocate(upTo: Layout.initialFileSizeBytes)
    // A leftover of step 3 must not look finished while step 2 is repeated.
    let isFresh = try backend.map().withBytes { part($0, 0).isAllZero }
    if !isFresh {
      try backend.write([UInt8](repeating: 0, count: Layout.sectorSizeBytes), at: 0)
    }
    // Before: nothing. After: the size, and zeros where step 2 does not write.
    if !isTemporary { try backend.sync() }
    try slab.write(to: backend)
    try backend.write(
      slot.encoded(sealing: cipher), at: Layout.slotOffsetsBytes[slot.index])
    // Before: zeros, or garbage in these two sectors. After: version 1, but no file header.
    if !isTemporary { try backend.sync() }
    try backend.write(FileHeader.encodedSector(cipher), at: 0)
    // Before: version 1 and any first sector. After: the database.
    try backend.sync()
  }

  /// Whether these bytes are what an interrupted creation leaves.
  static func isUnfinished(_ bytes: RawBytes) -> Bool {
    let size = UInt64(bytes.count)
    guard size <= Layout.initialFileSizeBytes else { return false }
    if size < Layout.initialFileSizeBytes { return bytes.isAllZero }
    let written = [0, slotSector, topSector]
    for sector in 0..<bytes.count / Layout.sectorSizeBytes where !written.contains(sector) {
      guard part(bytes, sector).isAllZero else { return false }
    }
    if part(bytes, 0).isAllZero { return true }
    // Step 3 was in progress, so step 2 is durable: both sectors must be what it wrote.
    return isWritten(slot: part(bytes, slotSector), top: part(bytes, topSector))
  }

  /// Whether step 2 wrote these sectors.
  private static func isWritten(slot: RawBytes, top: RawBytes) -> Bool {
    guard slot.part(at: SlotField.seal, count: Layout.slotRecordBytes - SlotField.seal).isAllZero
    else {
      // An encrypted one: its salts are lost with the file header, so its bytes cannot be
      // reproduced. A slot of version 1 whose top is where creation puts it is enough: slot 0 is
      // empty, so there was no commit, and there are no rows to lose.
      guard case .valid(let found) = SlotReading(index: 1, sector: slot) else { return false }
      return found.version == .first && found.top.ref.sector == Layout.firstNodeSector
        && found.logicalSizeBytes == endBytes
    }
    let made = make().slot
    return slot.array == made.encoded() && top.uint64(0) == made.top.checksum
      && Checksum.of(top.part(at: 8, count: Layout.nodeHeaderBytes + Layout.groupFixedBytes - 8))
        == made.top.checksum
  }

  private static func part(_ bytes: RawBytes, _ sector: Int) -> RawBytes {
    bytes.part(at: sector * Layout.sectorSizeBytes, count: Layout.sectorSizeBytes)
  }
}
