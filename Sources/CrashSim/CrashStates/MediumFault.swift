// MediumFault.swift: one thing that a medium did to a file at rest, long after every sync: a value,
// so that a state is a list of them and a token can name it.
// Invariant: a fault and the recording say all that is needed to do it again.

/// What a medium did to one file that nobody was writing.
public struct MediumFault: Sendable, Hashable, Codable {
  /// What became of the bytes.
  public enum Kind: String, Sendable, Hashable, Codable, CaseIterable {
    /// One bit is another one.
    case bitFlip
    /// A sector reads as zeros.
    case zeroSector
    /// A sector holds what it held before its last writes: they were lost, or are read stale.
    case staleSector
    /// A sector holds what belongs to another sector of the file.
    case misdirectedSector
    /// The file ends earlier.
    case truncatedTail

    /// What happened, without where: `a turned bit`.
    package var phrase: String {
      switch self {
      case .bitFlip: "a turned bit"
      case .zeroSector: "a sector of zeros"
      case .staleSector: "a stale sector"
      case .misdirectedSector: "a misdirected sector"
      case .truncatedTail: "a cut tail"
      }
    }
  }

  /// What became of the bytes.
  public var kind: Kind
  /// Path of the file, from the root of the tree.
  public var file: String
  /// The byte, the first byte of the sector, or where the file ends now.
  public var offsetBytes: UInt64
  /// Bytes of the sector; 1 for a bit, 0 for a cut.
  public var countBytes: Int
  /// Number of the bit; event before which the sector held this; where the other sector begins.
  public var source: UInt64

  package init(kind: Kind, file: String, offsetBytes: UInt64, countBytes: Int, source: UInt64) {
    self.kind = kind
    self.file = file
    self.offsetBytes = offsetBytes
    self.countBytes = countBytes
    self.source = source
  }

  /// What happened, without where: `a turned bit`.
  package var phrase: String { kind.phrase }

  /// What happened and where, in one sentence without a full stop.
  package var sentence: String {
    let last = offsetBytes + UInt64(max(1, countBytes)) - 1
    return switch kind {
    case .bitFlip: "bit \(source) of byte \(offsetBytes) of '\(file)' turned"
    case .zeroSector: "bytes \(offsetBytes)..\(last) of '\(file)' read as zeros"
    case .staleSector:
      "bytes \(offsetBytes)..\(last) of '\(file)' hold what they held before event #\(source)"
    case .misdirectedSector:
      "bytes \(offsetBytes)..\(last) of '\(file)' hold those from \(source) on"
    case .truncatedTail: "'\(file)' ends at byte \(offsetBytes)"
    }
  }

  /// Does it to the file's bytes; nothing where the file has no such bytes any more.
  /// - Parameters:
  ///   - bytes: The file.
  ///   - stale: What its sector held before the event `source`.
  package func apply(to bytes: inout [UInt8], stale: (MediumFault) -> [UInt8]?) {
    guard let start = Int(exactly: offsetBytes), start < bytes.count else { return }
    let end = min(start + countBytes, bytes.count)
    switch kind {
    case .bitFlip: bytes[start] ^= 1 << UInt8(source & 7)
    case .zeroSector:
      for place in start..<end { bytes[place] = 0 }
    case .staleSector:
      guard let old = stale(self), old.count >= end - start else { return }
      bytes.replaceSubrange(start..<end, with: old[..<(end - start)])
    case .misdirectedSector:
      guard let from = Int(exactly: source), from < bytes.count, bytes.count - from >= end - start
      else { return }
      bytes.replaceSubrange(start..<end, with: Array(bytes[from..<from + (end - start)]))
    case .truncatedTail: bytes.removeSubrange(start...)
    }
  }
}

/// A file tree at rest with faults of the medium in it.
public struct MediaState: Sendable, Hashable, Codable {
  /// The tree is that after so many events, all of it durable.
  public var eventCount: Int
  /// What then happened to it, in this order.
  public var faults: [MediumFault]

  package init(eventCount: Int, faults: [MediumFault]) {
    self.eventCount = eventCount
    self.faults = faults
  }
}
