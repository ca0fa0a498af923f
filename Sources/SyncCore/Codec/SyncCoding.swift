// SyncCoding.swift: changesets and entries as bytes (docs/reference/sync-format.md, section 4).
// Invariants: decoded values encode to the same bytes; no bytes cause a trap, and memory is at most
// a fixed multiple of their size.

extension SyncChangeset {
  /// Its bytes.
  /// - Complexity: O(bytes).
  public func encoded() -> [UInt8] {
    var writer = OperationWriter()
    writer.append(SyncEntry.sourced(operations), isSourced: false)
    var bytes = ByteWriter()
    bytes.append(SyncCoding.changesetFormat)
    SyncCoding.append(self, to: &bytes)
    SyncCoding.append(writer, to: &bytes)
    return bytes.bytes
  }

  /// The header of a changeset's bytes, or of their beginning; without operations.
  /// - Throws: `malformed`.
  package init(headerOf bytes: [UInt8]) throws(SyncError) {
    var reader = try SyncCoding.reader(
      bytes, format: SyncCoding.changesetFormat, max: SyncLimits.changesetBytesMax)
    self = try SyncCoding.header(&reader)
  }

  /// The changeset of some bytes.
  /// - Throws: `malformed` or `limit`.
  /// - Complexity: O(bytes).
  public init(decoding bytes: [UInt8]) throws(SyncError) {
    var reader = try SyncCoding.reader(
      bytes, format: SyncCoding.changesetFormat, max: SyncLimits.changesetBytesMax)
    self = try SyncCoding.header(&reader)
    try SyncCoding.readNames(&reader)
    operations = try reader.operations(sources: nil).map(\.operation)
    try SyncCoding.finish(reader)
  }
}

extension SyncEntry {
  /// Its bytes.
  /// - Complexity: O(bytes).
  public func encoded() -> [UInt8] {
    var writer = OperationWriter()
    writer.append(Self.sourced(changeset.operations), isSourced: false)
    if let resolved { writer.append(resolved, isSourced: true) }
    if let restated { writer.append(restated, isSourced: true) }
    var bytes = ByteWriter()
    bytes.append(SyncCoding.entryFormat)
    bytes.append(number: version.number)
    bytes.append(number: user)
    SyncCoding.append(changeset, to: &bytes)
    bytes.append(number: barrier.number)
    bytes.append(fixed: digest)
    bytes.append(
      (resolved == nil ? 0 : 1) | (restated == nil ? 0 : 2) | (refusal == nil ? 0 : 4) as UInt8)
    if let refusal { bytes.append(number: UInt64(refusal)) }
    bytes.append(count: overruled.count)
    for overruling in overruled {
      bytes.append(count: overruling.operation)
      bytes.append(overruling.cause.rawValue)
      bytes.append(number: overruling.by.number)
    }
    SyncCoding.append(writer, to: &bytes)
    return bytes.bytes
  }

  /// The entry of some bytes.
  /// - Throws: `malformed` or `limit`.
  /// - Complexity: O(bytes).
  public init(decoding bytes: [UInt8]) throws(SyncError) {
    var reader = try SyncCoding.reader(
      bytes, format: SyncCoding.entryFormat, max: SyncLimits.entryBytesMax)
    let version = SyncVersion(try reader.number())
    let user = try reader.number()
    var changeset = try SyncCoding.header(&reader)
    self.init(version: version, user: user, changeset: changeset)
    barrier = SyncVersion(try reader.number())
    digest = try reader.fixed(UInt128.self)
    let flags = try reader.byte()
    guard flags < 8 else { throw reader.malformed("flags \(flags)") }
    if flags & 4 != 0 { refusal = UInt32(try reader.index(max: Int(UInt32.max))) }
    for _ in 0..<(try reader.count(max: SyncLimits.operationsMax)) {
      overruled.append(try SyncCoding.overruling(&reader))
    }
    try SyncCoding.readNames(&reader)
    changeset.operations = try reader.operations(sources: nil).map(\.operation)
    self.changeset = changeset
    let count = changeset.operations.count
    guard overruled.allSatisfy({ $0.operation < count }) else {
      throw reader.malformed("an overruled operation beyond the last")
    }
    if flags & 1 != 0 { resolved = try reader.operations(sources: count) }
    if flags & 2 != 0 { restated = try reader.operations(sources: count) }
    try SyncCoding.finish(reader)
  }
}

enum SyncCoding {
  static let changesetFormat: UInt8 = 1
  static let entryFormat: UInt8 = 2

  static func append(_ changeset: SyncChangeset, to bytes: inout ByteWriter) {
    bytes.append(number: changeset.client.number)
    bytes.append(number: changeset.sequence)
    bytes.append(number: changeset.base.number)
    bytes.append(fixed: changeset.stamp.bits)
  }

  static func append(_ writer: OperationWriter, to bytes: inout ByteWriter) {
    bytes.append(count: writer.nameTable.count)
    for name in writer.nameTable { bytes.append(text: name) }
    bytes.append(writer.body.bytes)
  }

  static func reader(
    _ bytes: [UInt8], format: UInt8, max: Int
  ) throws(SyncError) -> ByteReader {
    guard bytes.count <= max else { throw SyncError(.limit, "\(bytes.count) bytes > \(max)") }
    var reader = ByteReader(bytes)
    let found = try reader.byte()
    guard found == format else { throw reader.malformed("format \(found), not \(format),") }
    return reader
  }

  static func header(_ reader: inout ByteReader) throws(SyncError) -> SyncChangeset {
    SyncChangeset(
      client: SyncClient(try reader.number()), sequence: try reader.number(),
      base: SyncVersion(try reader.number()), stamp: SyncStamp(bits: try reader.fixed(UInt64.self)),
      operations: [])
  }

  static func readNames(_ reader: inout ByteReader) throws(SyncError) {
    var seen: Set<SyncText> = []
    for _ in 0..<(try reader.count(max: SyncLimits.operationsMax)) {
      let name = try reader.text(max: SyncLimits.nameBytesMax)
      guard seen.insert(name).inserted else { throw reader.malformed("a name twice") }
      reader.names.append(name)
    }
  }

  static func overruling(_ reader: inout ByteReader) throws(SyncError) -> SyncOverruling {
    let operation = try reader.index(max: SyncLimits.operationsMax)
    guard let cause = SyncOverruling.Cause(rawValue: try reader.byte()) else {
      throw reader.malformed("an unknown cause")
    }
    return SyncOverruling(
      operation: operation, cause: cause, by: SyncVersion(try reader.number()))
  }

  static func finish(_ reader: ByteReader) throws(SyncError) {
    guard reader.rest == 0 else { throw reader.malformed("\(reader.rest) bytes too many") }
    guard reader.usedCount == reader.names.count else {
      throw reader.malformed("a name that is not used")
    }
  }
}
