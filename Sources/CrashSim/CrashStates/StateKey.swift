// StateKey.swift: the exact description of one crash state, short enough for a command line.
// Text: MODEL@VERSION:pCRASHPOINT:kept=RUNS or …:lost=RUNS, followed by an optional
// :torn=UNIT.FIRST-END.old|zeros|garbage-SEED. RUNS is a comma-separated list of unit ids and id
// ranges (`3-5`, ends included), or `none`. FIRST-END are the sectors that arrived, END excluded.
// The shorter of the two lists is written.

import LabCore

/// The exact description of one crash state.
public struct StateKey: Hashable, Sendable, CustomStringConvertible {
  /// Name of the model.
  public let model: String
  /// Version of the model.
  public let modelVersion: Int
  /// The state's crash point.
  public let crashPoint: Int
  /// True when `runs` are the kept units, false when they are the lost ones.
  public let listsKept: Bool
  /// Runs of unit ids, ascending.
  public let runs: [ClosedRange<Int>]
  /// A unit that survives in part.
  public let torn: TornWrite?

  /// Describes a state of a table.
  public init(_ state: CrashState, of table: UnitTable) {
    model = table.model.name
    modelVersion = table.model.version
    crashPoint = state.crashPoint
    let kept = Self.runs(of: state.kept)
    let lost = Self.runs(of: state.lost)
    listsKept = kept.count < lost.count
    runs = listsKept ? kept : lost
    torn = state.torn
  }

  private static func runs(of ids: [Int]) -> [ClosedRange<Int>] {
    var result: [ClosedRange<Int>] = []
    for id in ids {
      if let last = result.last, last.upperBound + 1 == id {
        result[result.count - 1] = last.lowerBound...id
      } else {
        result.append(id...id)
      }
    }
    return result
  }

  /// The key as text.
  public var description: String {
    let list = runs.map {
      $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)"
    }
    let listed = list.isEmpty ? "none" : list.joined(separator: ",")
    var text = "\(model)@\(modelVersion):p\(crashPoint):\(listsKept ? "kept" : "lost")=\(listed)"
    if let torn {
      text += ":torn=\(torn.unit).\(torn.keptSectors.lowerBound)-\(torn.keptSectors.upperBound)."
      switch torn.rest {
      case .old: text += "old"
      case .zeros: text += "zeros"
      case .garbage(let seed): text += "garbage-\(seed)"
      }
    }
    return text
  }

  /// Parses a key; nil when it is invalid.
  public init?(parsing text: String) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 3 || parts.count == 4 else { return nil }
    let name = parts[0].split(separator: "@", omittingEmptySubsequences: false)
    guard name.count == 2, !name[0].isEmpty, let version = Self.number(name[1]) else { return nil }
    guard parts[1].first == "p", let crashPoint = Self.number(parts[1].dropFirst()) else {
      return nil
    }
    let list = parts[2].split(separator: "=", omittingEmptySubsequences: false)
    guard list.count == 2, list[0] == "kept" || list[0] == "lost" else { return nil }
    guard let runs = Self.parseRuns(list[1]) else { return nil }
    var torn: TornWrite?
    if parts.count == 4 {
      guard let parsed = Self.parseTorn(parts[3]) else { return nil }
      torn = parsed
    }
    model = String(name[0])
    modelVersion = version
    self.crashPoint = crashPoint
    listsKept = list[0] == "kept"
    self.runs = runs
    self.torn = torn
  }

  private static func number(_ text: Substring) -> Int? {
    guard !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
    return Int(text)
  }

  private static func parseRuns(_ text: Substring) -> [ClosedRange<Int>]? {
    if text == "none" { return [] }
    var result: [ClosedRange<Int>] = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let ends = part.split(separator: "-", omittingEmptySubsequences: false)
      guard ends.count <= 2, let first = number(ends[0]), let last = number(ends[ends.count - 1]),
        first <= last, first > (result.last?.upperBound ?? -1)
      else { return nil }
      result.append(first...last)
    }
    return result
  }

  private static func parseTorn(_ text: Substring) -> TornWrite? {
    guard text.hasPrefix("torn=") else { return nil }
    let parts = text.dropFirst(5).split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let unit = number(parts[0]) else { return nil }
    let ends = parts[1].split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2, let first = number(ends[0]), let end = number(ends[1]), first <= end
    else { return nil }
    let rest: TornWrite.Rest
    switch parts[2] {
    case "old": rest = .old
    case "zeros": rest = .zeros
    default:
      guard parts[2].hasPrefix("garbage-"), let seed = UInt64(parts[2].dropFirst(8)) else {
        return nil
      }
      rest = .garbage(Seed(rawValue: seed))
    }
    return TornWrite(unit: unit, keptSectors: first..<end, rest: rest)
  }
}

extension UnitTable {
  /// The state that a key describes, checked against the table.
  /// - Throws: `LabError` with code `.usage` when the key belongs to another model or trace.
  public func state(for key: StateKey) throws(LabError) -> CrashState {
    guard key.model == model.name, key.modelVersion == model.version else {
      throw .usage(
        "state key is of model \(key.model)@\(key.modelVersion), not \(model.name)@\(model.version)"
      )
    }
    guard key.crashPoint < crashPointCount else {
      throw .usage("state key: crash point \(key.crashPoint) > \(crashPointCount - 1)")
    }
    let issued = issuedCount(at: key.crashPoint)
    var listed: Set<Int> = []
    for run in key.runs {
      guard run.upperBound < issued else {
        throw .usage("state key: unit \(run.upperBound), only \(issued) were issued by then")
      }
      for unit in run where !isDurable(unit, at: key.crashPoint) { listed.insert(unit) }
      guard run.allSatisfy({ listed.contains($0) }) else {
        throw .usage("state key: a unit of \(run.lowerBound)-\(run.upperBound) is durable")
      }
    }
    if let torn = key.torn, listed.contains(torn.unit) {
      throw .usage("state key: unit \(torn.unit) is listed as well as torn")
    }
    let kept = pendingUnits(at: key.crashPoint).filter {
      listed.contains($0) == key.listsKept && $0 != key.torn?.unit
    }
    return try state(at: key.crashPoint, keeping: kept, torn: key.torn)
  }

  /// The state that keeps some pending units, checked.
  /// - Parameters:
  ///   - crashPoint: Number of events before the crash.
  ///   - kept: Pending units that survive completely, ascending.
  ///   - torn: One more pending unit, which survives in part.
  /// - Returns: The state.
  /// - Throws: `LabError` with code `.usage` when the model does not allow the state.
  public func state(
    at crashPoint: Int, keeping kept: [Int], torn: TornWrite? = nil
  ) throws(LabError) -> CrashState {
    guard (0..<crashPointCount).contains(crashPoint) else {
      throw .usage("crash point \(crashPoint) is not in 0...\(crashPointCount - 1)")
    }
    let pending = pendingUnits(at: crashPoint)
    let keptSet = Set(kept)
    guard keptSet.count == kept.count, keptSet.isSubset(of: pending), kept == kept.sorted() else {
      throw .usage("kept units must be pending at crash point \(crashPoint), ascending, once each")
    }
    if let torn { try check(torn, at: crashPoint, kept: keptSet) }
    for unit in kept + (torn.map { [$0.unit] } ?? []) {
      for dependency in pendingDependencies(of: unit, at: crashPoint)
      where !keptSet.contains(dependency) {
        throw .usage("unit \(unit) cannot persist without unit \(dependency)")
      }
    }
    return CrashState(
      crashPoint: crashPoint, acknowledgedMarks: acknowledgedMarks(at: crashPoint), kept: kept,
      lost: pending.filter { !keptSet.contains($0) && $0 != torn?.unit }, torn: torn)
  }

  private func check(
    _ torn: TornWrite, at crashPoint: Int, kept: Set<Int>
  ) throws(LabError) {
    guard model.sectorBytes != nil else { throw .usage("model \(model.name) tears no writes") }
    guard torn.unit < issuedCount(at: crashPoint), !isDurable(torn.unit, at: crashPoint),
      !kept.contains(torn.unit),
      case .data(_, let offset, _, let slice)? =
        units[torn.unit].effects.first
    else { throw .usage("unit \(torn.unit) is not pending data, or is kept as well as torn") }
    guard model.canTear(units[torn.unit]) else {
      throw .usage("torn unit \(torn.unit) is a page that is new to its file: it comes whole")
    }
    let sectors = TornWrite.sectorCount(offsetBytes: offset, countBytes: slice.count)
    guard torn.keptSectors.upperBound <= sectors else {
      throw .usage("torn unit \(torn.unit) has \(sectors) sectors < \(torn.keptSectors.upperBound)")
    }
  }
}
