// RootSlot.swift [U]: one of the two places that can hold the newest version's root. Invariant: a
// commit writes only the slot that does not hold the current root. Version v is stored in slot v
// % 2. The record is stored twice in the slot's sector, so that one bad byte does not lose it; a
// slot is valid when either copy is, and holds the newer of them: a torn write can leave one copy
// of the overwritten version and one of the new version. If the older one counted, the new version
// would be ignored without being cleared, and could reappear when a later write of the slot is torn
// as well.
//   offset_bytes  size  field        (of each copy; the copies start at 0 and 2048 of the sector)
//              0     8  checksum of bytes 8 ..< 96
//              8     4  index of the slot
//             12     4  number of the copy
//             16     8  version, which is the sequence number of the slots
//             24     8  top ref
//             32     8  checksum of the top node
//             40     8  logical size of the file
//             48     8  flags: bit 0 committed with one sync
//             56     8  checksum of the edits that follow the record (SlotEdits.swift), 0 for none
//             64    32  seal: HMAC-SHA256 of bytes 8 ..< 64 and the file's salt, 0 when the file is
//                       not encrypted
// A copy with a right checksum and a wrong seal is not an accident: a torn write makes neither
// right.

/// The content of a valid root slot.
package struct RootSlot: Equatable, Sendable {
  package var version: Version
  var top: NodeLink
  var logicalSizeBytes: UInt64
  var flags: Flags = []
  /// What the nodes differ by from those that the top leads to (SlotEdits.swift); empty for a
  /// version that wrote a group.
  var edits: [UInt8] = []
  /// Their checksum, or 0; only a record that was read without its edits has this alone.
  private(set) var editsChecksum: UInt64 = 0

  init(version: Version, top: NodeLink, logicalSizeBytes: UInt64, flags: Flags = []) {
    self.version = version
    self.top = top
    self.logicalSizeBytes = logicalSizeBytes
    self.flags = flags
  }

  /// The same group with edits.
  init(version: Version, editing base: RootSlot, _ edits: [UInt8]) {
    self.init(version: version, top: base.top, logicalSizeBytes: base.logicalSizeBytes)
    self.edits = edits
    editsChecksum = RawBytes.over(edits) { SlotEdits.checksum(of: $0) }
  }

  /// The fields of a record, unchecked; the edits are not part of it.
  fileprivate init(_ record: RawBytes) {
    self.init(
      version: Version(rawValue: record.uint64(SlotField.version)),
      top: NodeLink(
        ref: Ref(offsetBytes: record.uint64(SlotField.topRef)),
        checksum: record.uint64(SlotField.topChecksum)),
      logicalSizeBytes: record.uint64(SlotField.logicalSizeBytes),
      flags: RootSlot.Flags(rawValue: record.uint64(SlotField.flags)))
    editsChecksum = record.uint64(SlotField.editsChecksum)
  }

  /// Whether the nodes of the version are those of an earlier one with edits.
  var hasEdits: Bool { editsChecksum != 0 }

  /// How the version was committed.
  struct Flags: OptionSet, Equatable, Sendable {
    let rawValue: UInt64

    /// Nodes and slot were made durable by one sync: a crash may have kept the slot and lost nodes.
    static let checksummed = Flags(rawValue: 1)
    static let known: Flags = [.checksummed]
  }

  /// The slot that a version goes to.
  var index: Int { Int(version.rawValue % 2) }

  /// The sector of a slot with both copies; sealed when the file is encrypted.
  func encoded(sealing cipher: FileCipher? = nil) -> [UInt8] {
    [UInt8](zeros: Layout.sectorSizeBytes) { sector in
      for copy in 0...1 {
        let start = copy * Layout.slotCopyDistanceBytes
        let record = record(copy: copy, sealing: cipher)
        sector.copy(record, to: start)
        sector.copy(edits, to: start + record.count)
      }
    }
  }

  private func record(copy: Int, sealing cipher: FileCipher?) -> [UInt8] {
    [UInt8](zeros: Layout.slotRecordBytes) { record in
      record.set(UInt32(index), at: SlotField.index)
      record.set(UInt32(copy), at: SlotField.copy)
      record.set(version.rawValue, at: SlotField.version)
      record.set(top.ref.offsetBytes, at: SlotField.topRef)
      record.set(top.checksum, at: SlotField.topChecksum)
      record.set(logicalSizeBytes, at: SlotField.logicalSizeBytes)
      record.set(flags.rawValue, at: SlotField.flags)
      record.set(editsChecksum, at: SlotField.editsChecksum)
      if let cipher {
        let fields = record.readable.part(at: SlotField.index, count: Layout.slotSealedBytes)
        record.copy(cipher.keys.slotSeal(of: fields.array), to: SlotField.seal)
      }
      let fields = record.readable.part(
        at: SlotField.index, count: record.count - SlotField.index)
      record.set(Checksum.of(fields), at: SlotField.checksum)
    }
  }
}

extension RootSlot {
  /// The first of the two records, as the lock file keeps it.
  var record: [UInt8] { record(copy: 0, sealing: nil) }

  /// Reads such a record, without the edits, which are in the file; nil when it is not whole.
  init?(record: [UInt8], index: Int) {
    let reading = RawBytes.over(record) { SlotReading.parse($0, index: index, copy: 0) }
    guard case .success(let slot) = reading else { return nil }
    self = slot
  }

  /// The same with its edits, from the slot in the file.
  /// - Parameter file: The file, at least up to the slots.
  /// - Returns: Nil when a later version is in the slot.
  /// - Throws: `EngineError` with code `.io` when the slot cannot be read.
  func withEdits(in file: MappedFile) throws(EngineError) -> RootSlot? {
    guard hasEdits, edits.isEmpty else { return self }
    return try file.checked { () throws(EngineError) -> RootSlot? in
      for copy in 0...1 {
        let offset = Layout.slotOffsetsBytes[index] + copy * Layout.slotCopyDistanceBytes
        let stored = file.bytes.part(
          at: offset + Layout.slotRecordBytes, count: Layout.slotEditsBytesMax)
        guard let edits = SlotEdits.stored(in: stored, checksum: editsChecksum) else { continue }
        var slot = self
        slot.edits = edits
        return slot
      }
      return nil
    }
  }
}

extension RootSlot: CustomStringConvertible {
  package var description: String {
    "version=\(version) top_ref=\(top.ref.offsetBytes) logical_bytes=\(logicalSizeBytes) "
      + "flags=\(flags.rawValue) edit_bytes=\(edits.count)"
  }
}

/// Result of reading the sector of a root slot.
package enum SlotReading: Equatable, Sendable {
  /// At least one copy is whole.
  case valid(RootSlot)
  /// Something, but no whole copy: torn by a crash, or damaged.
  case invalid(String)
  /// A copy with a right checksum and a wrong seal, and no valid one: the slot was forged.
  case forged(String)
  /// All bytes are 0: never written.
  case empty

  /// How seals are checked.
  enum Seal {
    /// Not at all: the key is not known.
    case unchecked
    /// To be 0: the file is not encrypted.
    case absent
    /// To be right under these keys.
    case keyed(FileKeys)
  }

  /// Reads the slot's sector.
  init(index: Int, sector: RawBytes, seal: Seal = .unchecked) {
    var reasons: [String] = []
    var isForged = false
    var newest: RootSlot?
    for copy in 0...1 {
      let whole = sector.part(
        at: copy * Layout.slotCopyDistanceBytes, count: Layout.slotCopyDistanceBytes)
      let record = whole.part(at: 0, count: Layout.slotRecordBytes)
      switch Self.parseWhole(whole, index: index, copy: copy) {
      case .success(let slot):
        if let fault = Self.fault(record, seal) {
          reasons.append("copy \(copy): \(fault)")
          if case .keyed = seal { isForged = true }
          continue
        }
        if newest.map({ $0.version < slot.version }) ?? true { newest = slot }
      case .failure(let reason): reasons.append(reason.text)
      }
    }
    if let newest {
      self = .valid(newest)
      return
    }
    let text = reasons.joined(separator: "; ")
    self = isForged ? .forged(text) : sector.isAllZero ? .empty : .invalid(text)
  }

  /// The error in the seal of a record whose checksum is right.
  private static func fault(_ record: RawBytes, _ seal: Seal) -> String? {
    let found = record.part(
      at: SlotField.seal, count: Layout.slotRecordBytes - SlotField.seal)
    switch seal {
    case .unchecked: return nil
    case .absent:
      return found.isAllZero ? nil : "sealed, in a file that is not encrypted"
    case .keyed(let keys):
      let fields = record.part(at: SlotField.index, count: Layout.slotSealedBytes)
      return keys.isSlotSeal(found.array, of: fields.array)
        ? nil : "the checksum is right, the seal is not this file's"
    }
  }

  struct Reason: Error { let text: String }

  /// Reads a copy with its edits.
  private static func parseWhole(
    _ whole: RawBytes, index: Int, copy: Int
  ) -> Result<RootSlot, Reason> {
    let record = whole.part(at: 0, count: Layout.slotRecordBytes)
    let reading = parse(record, index: index, copy: copy)
    guard case .success(var slot) = reading, slot.hasEdits else { return reading }
    let rest = whole.part(at: Layout.slotRecordBytes, count: Layout.slotEditsBytesMax)
    guard let edits = SlotEdits.stored(in: rest, checksum: slot.editsChecksum) else {
      return .failure(Reason(text: "copy \(copy): the edits have another checksum"))
    }
    slot.edits = edits
    return .success(slot)
  }

  /// Reads a record, which may have edits behind it.
  static func parse(
    _ record: RawBytes, index: Int, copy: Int
  ) -> Result<RootSlot, Reason> {
    let stored = record.uint64(SlotField.checksum)
    let computed = Checksum.of(record.part(at: 8, count: record.count - 8))
    guard stored == computed else {
      return .failure(
        Reason(text: "copy \(copy): stored_checksum=\(stored) != computed_checksum=\(computed)"))
    }
    let slot = RootSlot(record)
    guard Int(record.uint32(SlotField.index)) == index, slot.index == index,
      Int(record.uint32(SlotField.copy)) == copy, slot.version >= .first
    else {
      return .failure(Reason(text: "copy \(copy): version \(slot.version) in slot \(index)"))
    }
    let sector = UInt64(Layout.sectorSizeBytes)
    guard slot.logicalSizeBytes % sector == 0, slot.logicalSizeBytes <= Layout.fileSizeBytesMax,
      slot.version.rawValue < 1 << 62,
      slot.flags.isSubset(of: .known), !slot.hasEdits || slot.flags.isEmpty
    else {
      return .failure(
        Reason(
          text: "copy \(copy): logical_bytes=\(slot.logicalSizeBytes) flags=\(slot.flags.rawValue)")
      )
    }
    return .success(slot)
  }
}

extension [UInt8] {
  /// Appends the bytes of an integer, lowest first.
  mutating func appendLittleEndian<Number: FixedWidthInteger>(_ number: Number) {
    // Safety: the view is of the number on the stack, and does not outlive the call.
    unsafe Swift.withUnsafeBytes(of: number.littleEndian) { unsafe append(contentsOf: $0) }
  }
}
