// MediaDeclaration.swift: the possible faults of a medium in a database at rest, and what the
// database promises then: the fault budget.

import CrashStates

/// Faults of the medium at rest.
public struct MediaDeclaration: Sendable, Hashable, Codable {
  /// The kinds of faults, each once, in the order of `MediumFault.Kind`.
  public var kinds = MediumFault.Kind.allCases
  /// Glob over the files.
  public var fileGlob = "*"
  /// The affected places; everywhere when nil.
  public var place: MediaPlace?
  /// Bytes of a sector.
  public var sectorBytes = 4096
  /// When the file is at rest.
  public var moment = MediaMoment.end
  /// Faults of one state: 1; or 2, and then half of the states have two.
  public var each = 1
  /// With at most this many damaged sectors in these parts, and no others, the database is usable.
  public var survives: [FileStructure: Int] = [:]
  /// The number of versions by which it may go back when a sector of the part is damaged.
  public var mayGoBack: [FileStructure: Int] = [:]
  /// Most states.
  public var budgetStates = MediaDeclaration.defaultBudget

  /// Number of states judged unless the scenario sets it.
  public static let defaultBudget = 2_000
  /// Most states of any scenario, because the selection is held in memory.
  public static let budgetMax = 10_000_000

  /// Every kind of fault anywhere, without any promise.
  public init() {}

  /// Whether the database must survive a damage.
  package func promisesUse(despite damage: MediaDamage) -> Bool {
    !damage.isCutShort && damage.sectors.allSatisfy { $0.value <= survives[$0.key] ?? 0 }
  }

  /// The number of versions by which the database may go back after a damage.
  package func versionsBack(over damage: MediaDamage) -> Int {
    damage.sectors.keys.reduce(0) { max($0, mayGoBack[$1] ?? 0) }
  }
}

/// The possible places of a medium's faults.
public enum MediaPlace: Sendable, Hashable, Codable {
  /// In these bytes.
  case bytes(offset: UInt64, length: UInt64)
  /// In these parts of the file.
  case parts([FileStructure])

  /// Whether a sector may be damaged.
  func contains(_ sector: Range<UInt64>, _ map: StructureMap) -> Bool {
    switch self {
    case .bytes(let offset, let length):
      let (end, isOver) = offset.addingReportingOverflow(length)
      return sector.upperBound > offset && sector.lowerBound < (isOver ? UInt64.max : end)
    case .parts(let parts): return parts.contains(map.part(at: sector.lowerBound))
    }
  }
}

/// When a database is at rest.
public enum MediaMoment: String, Sendable, Hashable, Codable, CaseIterable {
  /// After the last step.
  case end
  /// After each acknowledged commit, and after the last step.
  case everyCommit = "every commit"
}
