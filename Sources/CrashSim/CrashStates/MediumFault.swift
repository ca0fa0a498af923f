// MediumFault.swift: one fault of a medium in a file at rest, long after every sync: a value, so
// that a state is a list of faults and a token can name it.
// Invariant: a fault and the recording suffice to reproduce it.

/// A fault of the medium in a file that was not being written.
public struct MediumFault: Sendable, Hashable, Codable {
  /// The kind of damage.
  public enum Kind: String, Sendable, Hashable, Codable, CaseIterable {
    /// One bit is flipped.
    case bitFlip
    /// A sector reads as zeros.
    case zeroSector
    /// A sector holds its content before its last writes: they were lost, or the read is stale.
    case staleSector
    /// A sector holds the content of another sector of the file.
    case misdirectedSector
    /// The file is shorter.
    case truncatedTail

    /// The fault without its place: `a turned bit`.
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

  /// The kind of damage.
  public var kind: Kind
  /// Path of the file, from the root of the tree.
  public var file: String
  /// The byte, the first byte of the sector, or the new end of the file.
  public var offsetBytes: UInt64
  /// Bytes of the sector; 1 for a bit, 0 for a truncation.
  public var countBytes: Int
  /// Number of the bit; event before which the sector had this content; start of the other sector.
  public var source: UInt64

  package init(kind: Kind, file: String, offsetBytes: UInt64, countBytes: Int, source: UInt64) {
    self.kind = kind
    self.file = file
    self.offsetBytes = offsetBytes
    self.countBytes = countBytes
    self.source = source
  }

  /// The fault without its place: `a turned bit`.
  package var phrase: String { kind.phrase }

  /// The fault and its place, in one sentence without a full stop.
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

  /// Applies the fault to the file's bytes; no effect where the file no longer has such bytes.
  /// - Parameters:
  ///   - bytes: The file.
  ///   - stale: The content of a fault's sector before the event `source`.
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

/// A file tree at rest with faults of the medium.
public struct MediaState: Sendable, Hashable, Codable {
  /// The tree is that after this many events, all of it durable.
  public var eventCount: Int
  /// The faults, in the order in which they are applied.
  public var faults: [MediumFault]

  package init(eventCount: Int, faults: [MediumFault]) {
    self.eventCount = eventCount
    self.faults = faults
  }
}
