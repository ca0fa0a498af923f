// FileHeader.swift: the one place where header bytes become types: UnverifiedFileHeader →
// FileHeader. Invariant: bytes 0 ..< 64 are written once, at creation, and keep their meaning in
// every future format version, so that an old engine can say why it refuses a new file.
//   offset_bytes  size  field
//              0     8  magic
//              8     8  checksum of bytes 16 ..< 64
//             16     4  format version
//             20     4  sector size
//             24     4  checksum version
//             28     4  first sector that can hold a node
//             32     4  flags: bit 0, the file is encrypted
//             36     4  0
//             40    16  salt of the file, 0 when it is not encrypted
//             56     8  key check, 0 when it is not encrypted

/// The first three sectors of a file, not checked yet.
package struct UnverifiedFileHeader {
  private let bytes: RawBytes

  /// Takes the file's bytes; a file shorter than its header is an error.
  package init(_ bytes: RawBytes) throws(EngineError) {
    guard bytes.count >= Layout.headerSizeBytes else {
      throw EngineError(
        code: .notADatabase,
        message: "file_bytes=\(bytes.count) < header_bytes=\(Layout.headerSizeBytes)")
    }
    self.bytes = bytes.part(at: 0, count: Layout.headerSizeBytes)
  }

  /// Whether the sector of the fixed record is all 0, as before creation ended.
  package var isRecordEmpty: Bool {
    bytes.part(at: 0, count: Layout.sectorSizeBytes).isAllZero
  }

  /// Reads both slots without checking seals; a valid record is not required.
  package var slots: [SlotReading] { slots(.unchecked) }

  /// Reads both slots of a file with this cipher; nil for a file that is not encrypted.
  func slots(_ cipher: FileCipher?) -> [SlotReading] {
    slots(cipher.map { .keyed($0.keys) } ?? .absent)
  }

  private func slots(_ seal: SlotReading.Seal) -> [SlotReading] {
    [0, 1].map { index in
      SlotReading(
        index: index,
        sector: bytes.part(
          at: Layout.slotOffsetsBytes[index], count: Layout.sectorSizeBytes), seal: seal)
    }
  }

  /// Checks the fixed record and returns the header.
  package func verified() throws(EngineError) -> FileHeader {
    let magic = bytes.uint64(HeaderField.magic)
    guard magic == Layout.magic else {
      throw EngineError(
        code: .notADatabase,
        message: "magic=\(String(magic, radix: 16)) != \(String(Layout.magic, radix: 16)); "
          + "the file is something else or its first sector is damaged")
    }
    let stored = bytes.uint64(HeaderField.checksum)
    let record = bytes.part(at: 16, count: Layout.fileHeaderRecordBytes - 16)
    let computed = Checksum.of(record)
    guard stored == computed else {
      throw .corrupted("file header: stored_checksum=\(stored) != computed_checksum=\(computed)")
    }
    let format = FormatVersion(rawValue: bytes.uint32(HeaderField.formatVersion))
    guard format >= .oldestRead, format <= .current else {
      throw EngineError(
        code: .unsupportedFormat,
        message: "format_version=\(format.rawValue), this engine reads "
          + "\(FormatVersion.oldestRead.rawValue) to \(FormatVersion.current.rawValue); use the "
          + "engine that wrote the file")
    }
    let flags = bytes.uint32(HeaderField.flags)
    let isEncrypted = flags & FileHeader.encryptedFlag != 0
    guard bytes.uint32(HeaderField.sectorSizeBytes) == UInt32(Layout.sectorSizeBytes),
      bytes.uint32(HeaderField.checksumVersion) == Checksum.version,
      bytes.uint32(HeaderField.firstNodeSector) == UInt32(Layout.firstNodeSector),
      flags & ~FileHeader.encryptedFlag == 0, bytes.uint32(HeaderField.reserved) == 0,
      isEncrypted || bytes.part(at: HeaderField.salt, count: 24).isAllZero
    else {
      throw .corrupted(
        "file header: a field of format version \(format.rawValue) has another value")
    }
    return FileHeader(
      formatVersion: format, slots: slots, isEncrypted: isEncrypted,
      salt: Salt(
        low: bytes.uint64(HeaderField.salt), high: bytes.uint64(HeaderField.salt + 8)),
      keyCheck: bytes.uint64(HeaderField.keyCheck))
  }
}

/// A file header whose fixed record is right.
package struct FileHeader: Sendable {
  static let encryptedFlag: UInt32 = 1

  package let formatVersion: FormatVersion
  /// The slots, with unchecked seals.
  package let slots: [SlotReading]
  /// Whether nodes are sealed.
  package let isEncrypted: Bool
  let salt: Salt
  let keyCheck: UInt64

  /// Whether a file is an encrypted database, as far as its file header can be read.
  static func isEncrypted(path: String) -> Bool {
    guard let mapping = try? MappedFile.reading(path) else { return false }
    return mapping.withBytes { bytes in
      (try? UnverifiedFileHeader(bytes).verified().isEncrypted) ?? false
    }
  }

  /// The cipher of the file; nil when it is not encrypted.
  /// - Throws: `EngineError` with code `.keyNeeded`, `.notEncrypted` or `.wrongKey`.
  func cipher(_ key: EncryptionKey?, entropy: EntropySource) throws(EngineError) -> FileCipher? {
    guard isEncrypted else {
      guard key == nil else {
        throw EngineError(
          code: .notEncrypted,
          message: "the file is not encrypted; open it without a key, or copy it with one")
      }
      return nil
    }
    guard let key else {
      throw EngineError(
        code: .keyNeeded, message: "the file is encrypted; open it with its 64-byte key")
    }
    let keys = FileKeys(key, salt: salt)
    guard keys.check == keyCheck else {
      throw EngineError(
        code: .wrongKey,
        message: "the key is not the file's: key_check=\(keys.check) != \(keyCheck)")
    }
    return FileCipher(keys, entropy: entropy)
  }

  /// The sector at offset 0 as creation writes it.
  static func encodedSector(_ cipher: FileCipher?) -> [UInt8] {
    var record = [UInt8]()
    record.appendLittleEndian(FormatVersion.current.rawValue)
    record.appendLittleEndian(UInt32(Layout.sectorSizeBytes))
    record.appendLittleEndian(Checksum.version)
    record.appendLittleEndian(UInt32(Layout.firstNodeSector))
    record.appendLittleEndian(cipher == nil ? 0 : encryptedFlag)
    record.appendLittleEndian(UInt32(0))
    record += (cipher?.keys.salt ?? .none).bytes
    record.appendLittleEndian(cipher?.keys.check ?? 0)
    var sector = [UInt8]()
    sector.appendLittleEndian(Layout.magic)
    sector.appendLittleEndian(RawBytes.over(record) { Checksum.of($0) })
    sector += record
    sector += [UInt8](repeating: 0, count: Layout.sectorSizeBytes - sector.count)
    return sector
  }
}
