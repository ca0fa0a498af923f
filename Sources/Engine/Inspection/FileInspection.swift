// FileInspection.swift: reads a file without opening it as a database: it takes no lock, changes
// nothing, and reports every readable part even when another is broken.

/// The content found in a file.
public struct FileInspection: Sendable {
  /// A root slot.
  public enum Slot: Sendable {
    /// Whole: its version, top ref and logical size.
    case valid(version: Version, topRefBytes: UInt64, logicalSizeBytes: UInt64)
    /// Torn or damaged, and why it is taken for that.
    case invalid(String)
    /// Never written.
    case empty
  }

  /// A table of the newest version.
  public struct Table: Sendable {
    /// Name and columns.
    public var schema: TableSchema
    /// Rows, as the group counts them.
    public var rows: UInt64
    /// Levels of the tree; 0 for a table without rows.
    public var depth: Int
    /// Nodes of the tree and the indexes, long values included, as far as they could be read.
    public var nodes: Int
    /// Position of the root, 0 for a table without rows.
    public var rootRefBytes: UInt64
  }

  /// Size of the file.
  public var fileSizeBytes: UInt64 = 0
  /// The format version, when the file header is right.
  public var formatVersion: FormatVersion?
  /// Both root slots; empty when the file is too short to have them.
  public var slots: [Slot] = []
  /// Whether the file is encrypted; then the following fields are set only if the key was given.
  public var isEncrypted = false
  /// The version that an open would choose.
  public var version: Version?
  /// The tables of that version.
  public var tables: [Table] = []
  /// The use of every sector, ascending and without gaps.
  public var spaceMap: [SpaceRun] = []
  /// The first error found, or nil.
  public var corruption: EngineError?

  /// Inspects a file.
  /// - Parameters:
  ///   - path: The file.
  ///   - key: The key of an encrypted file; without it only the file header and the slots are read.
  /// - Returns: The content found; damage or a wrong key is in `corruption`.
  /// - Throws: `EngineError` with code `.io` when the file cannot be read at all, or `.invalidKey`.
  public static func inspect(
    path: String, key: [UInt8]? = nil
  ) throws(EngineError) -> FileInspection {
    let mapping = try MappedFile.reading(path)
    return try inspect(mapping, key: key)
  }

  /// Inspects an image in memory.
  /// - Parameter mapping: The bytes.
  /// - Returns: The content found; damage is in `corruption`.
  public static func inspect(_ mapping: MappedFile) -> FileInspection {
    inspect(mapping, .plain)
  }

  /// Inspects an image in memory.
  /// - Parameters:
  ///   - mapping: The bytes.
  ///   - key: The key of an encrypted file; without it only the file header and the slots are read.
  /// - Returns: The content found; damage or a wrong key is in `corruption`.
  /// - Throws: `EngineError` with code `.invalidKey`.
  public static func inspect(
    _ mapping: MappedFile, key: [UInt8]?
  ) throws(EngineError) -> FileInspection {
    var options = Database.Options()
    options.encryptionKey = key
    return inspect(mapping, try FileAccess(options))
  }

  private static func inspect(_ mapping: MappedFile, _ access: FileAccess) -> FileInspection {
    var result = FileInspection()
    result.fileSizeBytes = UInt64(mapping.count)
    do throws(EngineError) {
      try mapping.checked { () throws(EngineError) in try result.read(mapping, access) }
    } catch {
      // Whatever error the zeros in place of a page caused, report the unreadable page.
      result.corruption = mapping.readError ?? result.corruption ?? error
    }
    return result
  }

  private mutating func read(_ mapping: MappedFile, _ access: FileAccess) throws(EngineError) {
    try readHeader(mapping)
    // Without a key an encrypted file cannot be checked any further.
    if isEncrypted && access.key == nil { return }
    guard let recovered = try Recovery.recover(mapping, access) else {
      throw .corrupted("a creation that did not end: the file is an empty database to be")
    }
    version = recovered.state.version
    try recovered.state.reader.reading { section throws(EngineError) in
      readTables(recovered.state, section)
    }
  }

  private mutating func note(_ error: EngineError) {
    if corruption == nil { corruption = error }
  }

  private mutating func readHeader(_ mapping: MappedFile) throws(EngineError) {
    try mapping.withBytes { bytes throws(EngineError) in
      let unverified = try UnverifiedFileHeader(bytes)
      slots = unverified.slots.map { reading in
        switch reading {
        case .valid(let slot):
          .valid(
            version: slot.version, topRefBytes: slot.top.ref.offsetBytes,
            logicalSizeBytes: slot.logicalSizeBytes)
        case .invalid(let reason), .forged(let reason): .invalid(reason)
        case .empty: .empty
        }
      }
      let header = try unverified.verified()
      formatVersion = header.formatVersion
      isEncrypted = header.isEncrypted
    }
  }

  /// Verifies each part separately, so that damage in one table does not hide the others.
  private mutating func readTables(_ state: VersionState, _ section: ReadSection) {
    var verifier = Verifier(state)
    do throws(EngineError) { try verifier.verifyHeader() } catch { note(error) }
    do throws(EngineError) { try verifier.verifyTop() } catch { note(error) }
    for table in state.group.tables {
      let before = verifier.report.nodes
      do throws(EngineError) { try verifier.verify(table, section) } catch { note(error) }
      do throws(EngineError) { try verifier.verifyIndexes(of: table) } catch { note(error) }
      tables.append(
        Table(
          schema: table.schema, rows: table.rowCount,
          depth: table.root.isNone ? 0 : table.level + 1,
          nodes: verifier.report.nodes - before, rootRefBytes: table.root.ref.offsetBytes))
    }
    do throws(EngineError) { try verifier.verifyEdits() } catch { note(error) }
    do throws(EngineError) { try verifier.verifySpace() } catch { note(error) }
    var spans = verifier.spans
    spans.sort { $0.span.start < $1.span.start }
    fillSpaceMap(spans, endSector: state.slot.logicalSizeBytes / UInt64(Layout.sectorSizeBytes))
  }

  private mutating func fillSpaceMap(
    _ spans: [(span: Span, use: SectorUse)], endSector: UInt64
  ) {
    add(Span(start: 0, count: Layout.firstNodeSector), .header)
    var next = Layout.firstNodeSector
    for (span, use) in spans {
      if span.start > next {
        add(Span(start: next, count: span.start - next), .unaccounted)
      }
      add(span, use)
      next = max(next, span.end)
    }
    if endSector > next { add(Span(start: next, count: endSector - next), .unaccounted) }
    let end = max(endSector, next) * UInt64(Layout.sectorSizeBytes)
    if fileSizeBytes > end {
      spaceMap.append(
        SpaceRun(offsetBytes: end, sizeBytes: fileSizeBytes - end, use: .unused))
    }
  }

  private mutating func add(_ span: Span, _ use: SectorUse) {
    let sector = UInt64(Layout.sectorSizeBytes)
    spaceMap.append(
      SpaceRun(offsetBytes: span.start * sector, sizeBytes: span.count * sector, use: use))
  }
}
