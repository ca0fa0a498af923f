// Recovery.swift: from the bytes of a file to its newest version. Writes nothing: the version found
// is whole as it stands, and space that a lost commit wrote to is free in it.

/// One version, ready to be read.
struct VersionState: Sendable {
  let slot: RootSlot
  let group: Group
  let reader: NodeReader

  var version: Version { slot.version }
}

extension VersionState {
  /// Reads the top node that a slot leads to.
  init(slot: RootSlot, reader: NodeReader) throws(EngineError) {
    guard slot.logicalSizeBytes <= UInt64(reader.bytes.count) else {
      throw EngineError(
        code: .truncated,
        message: "logical_bytes=\(slot.logicalSizeBytes) > file_bytes=\(reader.bytes.count): the "
          + "file was truncated; restore it from a copy")
    }
    let section = reader.beginReading()
    defer { section.end() }
    let top = try reader.node(slot.top, kind: .group, newest: slot.version)
    guard top.header.version == slot.version else {
      throw .corrupted("top version=\(top.header.version) != \(slot.version)", at: top.ref)
    }
    self.init(slot: slot, group: try Group(top), reader: reader)
  }
}

/// What recovery found.
struct RecoveredFile {
  let state: VersionState
  let space: SpaceMap
  /// The version that the medium falls back to when the newest slot, maybe in the cache only, is
  /// lost.
  ///
  /// Its nodes must stay until a sync has succeeded.
  let fallback: Version?
}

/// How a file is unlocked and read.
struct FileAccess: Sendable {
  var key: EncryptionKey?
  var entropy = EntropySource.system
  var cacheBytesMax = Database.Options().pageCacheBytesMax

  /// A file that is not encrypted.
  static let plain = FileAccess()

  private init() {}

  /// As the options say.
  /// - Throws: `EngineError` with code `.invalidKey`.
  init(_ options: Database.Options) throws(EngineError) {
    if let bytes = options.encryptionKey { key = try EncryptionKey(bytes) }
    entropy = options.entropy
    cacheBytesMax = options.pageCacheBytesMax
  }
}

enum Recovery {
  /// Finds the newest version, or nil when the bytes are an interrupted creation.
  /// - Throws: `EngineError` with code `.notADatabase`, `.unsupportedFormat`, `.corrupted` or
  ///   `.truncated`; with a key or an encrypted file also `.keyNeeded`, `.notEncrypted`,
  ///   `.wrongKey`, `.forgedSlot`, `.swappedNode` or `.rolledBackNode`.
  static func recover(
    _ mapping: MappedFile, _ access: FileAccess = .plain
  ) throws(EngineError) -> RecoveredFile? {
    let bytes = mapping.bytes
    let unverified: UnverifiedFileHeader
    let header: FileHeader
    do throws(EngineError) {
      unverified = try UnverifiedFileHeader(bytes)
      header = try unverified.verified()
    } catch {
      if CreationImage.isUnfinished(bytes) { return nil }
      throw error
    }
    let cipher = try header.cipher(access.key, entropy: access.entropy)
    let slots = unverified.slots(cipher)
    guard let slot = try newest(slots) else {
      if CreationImage.isUnfinished(bytes) { return nil }
      throw .corrupted("both root slots are unusable; restore the file from a copy")
    }
    let reader = try NodeReader.make(
      mapping, cipher: cipher, cacheBytesMax: access.cacheBytesMax)
    let section = reader.beginReading()
    defer { section.end() }
    let state = try VersionState(slot: slot, reader: reader)
    let fallback = Self.valid(slots).first { $0.version != slot.version }?.version
    return RecoveredFile(
      state: state, space: try space(of: state), fallback: fallback)
  }

  /// The slot to use, by the table.
  ///
  /// A forged slot is no row of it: a crash leaves none, so it says that somebody was at the file,
  /// whatever the other slot holds.
  static func newest(_ readings: [SlotReading]) throws(EngineError) -> RootSlot? {
    for (index, reading) in readings.enumerated() {
      guard case .forged(let reason) = reading else { continue }
      throw EngineError(
        code: .forgedSlot,
        message: "root slot \(index) was not written with the key of this file (\(reason)); "
          + "restore the file from a copy")
    }
    let states = readings.map { SlotState($0) }
    let slots = readings.map { reading -> RootSlot? in
      if case .valid(let slot) = reading { slot } else { nil }
    }
    switch RecoveryTable.action(states[0], states[1]) {
    case .useSlot0: return slots[0]
    case .useSlot1: return slots[1]
    case .useNewer: return slots.compactMap { $0 }.max { $0.version < $1.version }
    case .recogniseCreation: return nil
    case .reportCorruption:
      throw .corrupted("root slots are \(states[0]) and \(states[1]): \(readings)")
    }
  }

  private static func valid(_ readings: [SlotReading]) -> [RootSlot] {
    readings.compactMap { if case .valid(let slot) = $0 { slot } else { nil } }
  }

  /// The free and pending spans of a version.
  static func space(of state: VersionState) throws(EngineError) -> SpaceMap {
    let end = state.slot.logicalSizeBytes / UInt64(Layout.sectorSizeBytes)
    guard end > Layout.firstNodeSector else { throw .corrupted("end_sector=\(end)") }
    let link = state.group.freeList
    guard !link.isNone else { return SpaceMap(free: [], pending: [], endSector: end) }
    let node = try state.reader.node(link, kind: .freeList, newest: state.version)
    return try FreeList.decode(
      node.bytes, header: node.header, endSector: end, current: state.version, at: link.ref)
  }
}
