// ModelTranslation.swift: decides whether a crash state found under one model is allowed under
// another.
// States are compared by their parts: bytes of each write, and the other effects of each event. A
// coarser unit must be wholly there or wholly lost; a torn write may be torn there, too.

import LabCore
import Recording

/// The part of one event in a state.
private struct EventShare {
  /// Parts of the payload that are present or damaged; the rest is lost.
  var present: [Range<Int>] = []
  var damaged: [Range<Int>] = []
  /// The largest size that is present; a write may set several sizes, one after another.
  var size: UInt64?
  /// Other effects that are present.
  var effects: Set<EffectKey> = []
}

/// Identifies an effect of an event, other than data.
private enum EffectKey: Hashable {
  case zero, attribute
  case entry(InodeNumber, FileName)
}

/// The part of a unit in a state.
private enum UnitShare {
  case kept, lost, torn, impossible
}

extension UnitTable {
  /// True when another model allows a state of this table.
  /// - Throws: `LabError` when the model is invalid.
  /// - Complexity: O(events + units).
  public func allows(
    _ state: CrashState, under other: PersistenceModel
  ) throws(LabError) -> Bool {
    if other == model { return true }
    return try UnitTable(trace: trace, model: other).allows(state, of: self)
  }

  /// True when this table's model allows a state found with another table of the same trace.
  /// - Complexity: O(units issued before the crash point).
  public func allows(_ state: CrashState, of sourceTable: UnitTable) -> Bool {
    let shares = sourceTable.incompleteShares(of: state)
    var kept = Set<Int>()
    var torn: [Int] = []
    for unit in 0..<issuedCount(at: state.crashPoint) {
      switch share(of: units[unit], in: shares) {
      case .kept: kept.insert(unit)
      case .torn: torn.append(unit)
      case .lost:
        let isHidden = superseded.contains(unit)
        if isDurable(unit, at: state.crashPoint) && !isHidden { return false }
      case .impossible: return false
      }
    }
    if !torn.isEmpty {
      guard model.sectorBytes != nil, let source = sourceTable.event(ofTornIn: state) else {
        return false
      }
      let isInFlight = torn.allSatisfy {
        units[$0].event == source && !isDurable($0, at: state.crashPoint)
          && model.canTear(units[$0])
      }
      guard isInFlight else { return false }
    }
    if model.powersafeOverwrite && sourceTable.damagesNeighbours(state) { return false }
    if model.sectorOverwriteIsAtomic && sourceTable.damagesInPlace(state) { return false }
    if sourceTable.exposes(state, against: model) { return false }
    let issued = issuedCount(at: state.crashPoint)
    for unit in kept.union(torn) where !isDurable(unit, at: state.crashPoint) {
      // Zeros that a smaller size hides may just as well be lost.
      if units[unit].kind == .zero && isCutOff(unit, before: issued, kept) { continue }
      guard waitsForKeptOnly(unit, kept, at: state.crashPoint) else { return false }
    }
    return true
  }

  /// True when all dependencies of a unit are present, or could be without any visible effect.
  private func waitsForKeptOnly(_ unit: Int, _ kept: Set<Int>, at crashPoint: Int) -> Bool {
    var open = pendingDependencies(of: unit, at: crashPoint).filter { !kept.contains($0) }
    var seen = Set(open)
    while let missing = open.popLast() {
      guard isCutOff(missing, before: unit, kept) else { return false }
      for next in pendingDependencies(of: missing, at: crashPoint)
      where !kept.contains(next) && seen.insert(next).inserted {
        open.append(next)
      }
    }
    return true
  }

  /// True when a smaller size discards what a unit wrote before another unit writes there again.
  private func isCutOff(_ unit: Int, before later: Int, _ kept: Set<Int>) -> Bool {
    guard [.data, .zero].contains(units[unit].kind), let (inode, offset) = units[unit].content
    else { return false }
    return (unit + 1..<later).contains { cut in
      guard units[cut].kind == .explicitSize, kept.contains(cut) else { return false }
      return units[cut].effects.contains { effect in
        if case .size(inode, let size) = effect { size <= offset } else { false }
      }
    }
  }

  /// True when a torn write of the state destroys bytes outside of the written range.
  private func damagesNeighbours(_ state: CrashState) -> Bool {
    guard !model.powersafeOverwrite, let torn = state.torn, torn.rest != .old,
      case .data(_, let offset, _, let slice)? = units[torn.unit].effects.first
    else { return false }
    let sector = UInt64(TornWrite.sectorBytes)
    let end = offset + UInt64(slice.count)
    let count = TornWrite.sectorCount(offsetBytes: offset, countBytes: slice.count)
    let hitsFirst = !offset.isMultiple(of: sector) && !torn.keptSectors.contains(0)
    let hitsLast = !end.isMultiple(of: sector) && !torn.keptSectors.contains(count - 1)
    return hitsFirst || hitsLast
  }

  /// True when a torn write of the state leaves zeros or garbage where the file had bytes before.
  private func damagesInPlace(_ state: CrashState) -> Bool {
    guard !model.sectorOverwriteIsAtomic, let torn = state.torn, torn.rest != .old,
      case .data(_, let offset, _, let slice)? = units[torn.unit].effects.first
    else { return false }
    let sector = UInt64(TornWrite.sectorBytes)
    let count = TornWrite.sectorCount(offsetBytes: offset, countBytes: slice.count)
    return (0..<count).contains { index in
      !torn.keptSectors.contains(index)
        && (offset / sector + UInt64(index)) * sector < units[torn.unit].sizeBeforeBytes
    }
  }

  /// True when a torn write of the state leaves garbage where the file had no bytes before, and
  /// another model does not allow it there.
  private func exposes(_ state: CrashState, against other: PersistenceModel) -> Bool {
    guard let torn = state.torn, case .garbage = torn.rest,
      case .data(_, let offset, _, let slice)? = units[torn.unit].effects.first,
      !other.canExpose(units[torn.unit])
    else { return false }
    let sector = UInt64(TornWrite.sectorBytes)
    let count = TornWrite.sectorCount(offsetBytes: offset, countBytes: slice.count)
    return (0..<count).contains { index in
      !torn.keptSectors.contains(index)
        && (offset / sector + UInt64(index)) * sector >= units[torn.unit].sizeBeforeBytes
    }
  }

  private func event(ofTornIn state: CrashState) -> Int? { state.torn.map { units[$0.unit].event } }

  /// The parts, in the state, of each event that is incomplete.
  private func incompleteShares(of state: CrashState) -> [Int: EventShare] {
    var lost = Set(state.lost)
    if let torn = state.torn { lost.insert(torn.unit) }
    var shares: [Int: EventShare] = [:]
    for event in Set(lost.map { units[$0].event }) {
      var share = EventShare()
      for unit in units(ofEvent: event) {
        if let torn = state.torn, torn.unit == unit {
          add(torn, to: &share)
        } else if !lost.contains(unit) {
          for effect in units[unit].effects { Self.add(effect, to: &share) }
        }
      }
      shares[event] = share
    }
    return shares
  }

  private static func key(of effect: Effect) -> EffectKey {
    switch effect {
    case .zero, .data, .size: .zero
    case .ownership, .extendedAttribute, .modificationTime: .attribute
    case .setEntry(let parent, let name, _), .removeEntry(let parent, let name):
      .entry(parent, name)
    }
  }

  private static func add(_ effect: Effect, to share: inout EventShare) {
    if case .data(_, _, _, let slice) = effect {
      share.present.append(slice)
    } else if case .size(_, let size) = effect {
      share.size = max(share.size ?? 0, size)
    } else {
      share.effects.insert(key(of: effect))
    }
  }

  private func add(_ torn: TornWrite, to share: inout EventShare) {
    guard case .data(_, let offset, _, let slice)? = units[torn.unit].effects.first else { return }
    let sector = UInt64(TornWrite.sectorBytes)
    var at = slice.lowerBound
    while at < slice.upperBound {
      let position = offset + UInt64(at - slice.lowerBound)
      let end = min(slice.upperBound, at + Int(sector - position % sector))
      let index = Int(position / sector - offset / sector)
      if torn.keptSectors.contains(index) {
        share.present.append(at..<end)
      } else if torn.rest != .old {
        share.damaged.append(at..<end)
      }
      at = end
    }
  }

  private func share(of unit: PendingUnit, in shares: [Int: EventShare]) -> UnitShare {
    guard let share = shares[unit.event] else { return .kept }
    // Zeros without the size that came with them, where a truncate is one unit.
    if share.effects.contains(.zero), !zeroes(inEvent: unit.event) { return .impossible }
    var present = 0
    var absent = 0
    var tornEffects = 0
    for effect in unit.effects {
      if case .data(_, _, _, let slice) = effect {
        let covered = Self.overlap(of: slice, with: share.present)
        let damaged = Self.overlap(of: slice, with: share.damaged)
        if covered == slice.count {
          present += 1
        } else if covered == 0 && damaged == 0 {
          absent += 1
        } else {
          tornEffects += 1
        }
      } else if case .size(_, let size) = effect {
        if let reached = share.size, reached >= size {
          present += 1
        } else if share.size == nil || hasSizes(ofEvent: unit.event, upTo: share.size) {
          absent += 1
        } else {
          return .impossible
        }
      } else if share.effects.contains(Self.key(of: effect)) {
        present += 1
      } else {
        absent += 1
      }
    }
    if tornEffects > 0 { return unit.kind == .data ? .torn : .impossible }
    if present > 0 && absent > 0 { return .impossible }
    return present > 0 ? .kept : .lost
  }

  private func zeroes(inEvent event: Int) -> Bool {
    units(ofEvent: event).contains { unit in
      units[unit].effects.contains { if case .zero = $0 { true } else { false } }
    }
  }

  /// True when one of an event's units sets exactly this size.
  private func hasSizes(ofEvent event: Int, upTo size: UInt64?) -> Bool {
    units(ofEvent: event).contains { unit in
      units[unit].effects.contains { effect in
        if case .size(_, let step) = effect { step == size } else { false }
      }
    }
  }

  private static func overlap(of slice: Range<Int>, with parts: [Range<Int>]) -> Int {
    parts.reduce(0) { $0 + $1.clamped(to: slice).count }
  }
}

/// The models over one trace, to name those that allow a finding.
public struct ModelLadder: Sendable {
  /// Traces with more events are split again for each query: the tables of all models would use
  /// more memory than the trace.
  private static let keptEventsMax = 20_000

  private let trace: Trace
  private let models: [PersistenceModel]
  private let tables: [UnitTable]

  /// Splits the trace under each model if it is short.
  /// - Throws: `LabError` when the trace or a model is invalid.
  public init(
    trace: Trace, models: [PersistenceModel] = PersistenceModel.stock
  ) throws(LabError) {
    self.trace = trace
    self.models = models
    var tables: [UnitTable] = []
    if trace.events.count <= Self.keptEventsMax {
      for model in models { tables.append(try UnitTable(trace: trace, model: model)) }
    }
    self.tables = tables
  }

  /// The models that allow a state, none before one that allows less; the state's own model is
  /// always among them.
  /// - Throws: `LabError` when a model is invalid.
  public func allowing(
    _ state: CrashState, of table: UnitTable
  ) throws(LabError) -> [PersistenceModel] {
    var found: [PersistenceModel] = []
    for (index, model) in models.enumerated() {
      if model == table.model {
        found.append(model)
      } else if tables.isEmpty {
        if try table.allows(state, under: model) { found.append(model) }
      } else if tables[index].allows(state, of: table) {
        found.append(model)
      }
    }
    return found.contains(table.model) ? found : found + [table.model]
  }

  /// The first model, starting from the strongest, that allows a state.
  public func strongestAllowing(
    _ state: CrashState, of table: UnitTable
  ) throws(LabError) -> PersistenceModel? {
    try allowing(state, of: table).first
  }
}
