// TornWrite.swift: a data unit of which only some sectors arrived.
// Sectors are counted from the one that holds the unit's first byte. Damage (zeros, garbage)
// affects whole sectors, including their bytes outside of the written range.

import LabCore

extension PersistenceModel {
  /// True when a data unit in flight may arrive in part.
  func canTear(_ unit: PendingUnit) -> Bool {
    sectorBytes != nil && !(staleBytes == .none && unit.page == .fresh)
  }

  /// True when a torn unit may leave zeros or garbage where the file had no bytes before.
  func canExpose(_ unit: PendingUnit) -> Bool {
    switch staleBytes {
    case .none: false
    case .newPages: unit.page != .old
    case .anywhere: true
    }
  }
}

/// A data unit of which only some sectors arrived.
public struct TornWrite: Hashable, Sendable {
  /// Size of a sector.
  public static let sectorBytes = 512

  /// What the other sectors hold.
  public enum Rest: Hashable, Sendable {
    /// Their previous content.
    case old
    /// Zeros.
    case zeros
    /// Bytes that were never written, drawn from a seed.
    case garbage(Seed)
  }

  /// The unit.
  public var unit: Int
  /// Sectors that arrived, counted from the unit's first.
  public var keptSectors: Range<Int>
  /// What the other sectors of the unit hold.
  public var rest: Rest

  /// Makes a torn write.
  public init(unit: Int, keptSectors: Range<Int>, rest: Rest) {
    self.unit = unit
    self.keptSectors = keptSectors
    self.rest = rest
  }

  /// Number of sectors that a byte range touches.
  static func sectorCount(offsetBytes: UInt64, countBytes: Int) -> Int {
    let sector = UInt64(sectorBytes)
    guard countBytes > 0 else { return 0 }
    return Int((offsetBytes + UInt64(countBytes) - 1) / sector - offsetBytes / sector) + 1
  }
}
