// MediaDeclaration.swift: what a medium may do to a database at rest, and what the database
// promises then: the fault budget.

import CrashStates

/// Faults of the medium at rest.
public struct MediaDeclaration: Sendable, Hashable, Codable {
  /// What may happen, each once, in the order of `MediumFault.Kind`.
  public var kinds = MediumFault.Kind.allCases
  /// Glob over the files.
  public var fileGlob = "*"
  /// Where it may happen; everywhere when nil.
  public var place: MediaPlace?
  /// Bytes of a sector.
  public var sectorBytes = 4096
  /// When the file rests.
  public var moment = MediaMoment.end
  /// Faults of one state: 1; or 2, and then half of the states have two.
  public var each = 1
  /// With at most so many damaged sectors of these parts, and no other, the database is usable.
  public var survives: [FileStructure: Int] = [:]
  /// By how many versions it may go back when a sector of the part is damaged.
  public var mayGoBack: [FileStructure: Int] = [:]
  /// Most states.
  public var budgetStates = MediaDeclaration.defaultBudget

  /// States that are judged unless the scenario says otherwise.
  public static let defaultBudget = 2_000
  /// Most states of any scenario: the choice of all is held in memory.
  public static let budgetMax = 10_000_000

  /// Every kind of fault anywhere, and nothing survives it.
  public init() {}

  /// Whether a damage is one that the database has to survive.
  package func promisesUse(despite damage: MediaDamage) -> Bool {
    !damage.isCutShort && damage.sectors.allSatisfy { $0.value <= survives[$0.key] ?? 0 }
  }

  /// By how many versions the database may go back over a damage.
  package func versionsBack(over damage: MediaDamage) -> Int {
    damage.sectors.keys.reduce(0) { max($0, mayGoBack[$1] ?? 0) }
  }
}

/// Where a medium's faults may lie.
public enum MediaPlace: Sendable, Hashable, Codable {
  /// In these bytes.
  case bytes(offset: UInt64, length: UInt64)
  /// In these parts of the file.
  case parts([FileStructure])

  /// Whether a sector may be hit.
  func contains(_ sector: Range<UInt64>, _ map: StructureMap) -> Bool {
    switch self {
    case .bytes(let offset, let length):
      let (end, isOver) = offset.addingReportingOverflow(length)
      return sector.upperBound > offset && sector.lowerBound < (isOver ? UInt64.max : end)
    case .parts(let parts): return parts.contains(map.part(at: sector.lowerBound))
    }
  }
}

/// When a database rests.
public enum MediaMoment: String, Sendable, Hashable, Codable, CaseIterable {
  /// After the last step.
  case end
  /// After each acknowledged commit, and after the last step.
  case everyCommit = "every commit"
}
