// TornStrategy.swift: of one data unit in flight only some sectors arrive.
// In flight are the units of the newest operation; after a mark, the last few.

import LabCore

struct TornStrategy: CandidateStrategy {
  let name = Strategy.torn

  func propose(_ context: StrategyContext, _ emit: Proposal) throws(LabError) {
    let window = context.window
    guard window.table.model.sectorBytes != nil else { return }
    for place in unitsInFlight(context) {
      let unit = window.ids[place]
      guard case .data(_, let offset, _, let slice)? = window.table.units[unit].effects.first
      else { continue }
      let rests = Self.rests(
        of: window.table.units[unit], endBytes: offset + UInt64(slice.count),
        in: window.table.model, context.seed)
      let sectors = TornWrite.sectorCount(offsetBytes: offset, countBytes: slice.count)
      var others = KeptSet.all(window.count)
      window.lose(place, in: &others)
      var none = KeptSet(count: window.count)
      for dependency in window.dependencies[place] { window.keep(dependency, in: &none) }
      for kept in [others, none] {
        for cut in Self.cuts(sectors: sectors) {
          for rest in rests where !(cut.isEmpty && rest == .old) {
            try emit(kept, TornWrite(unit: unit, keptSectors: cut, rest: rest))
          }
        }
      }
    }
  }

  /// What the sectors of a unit that did not arrive may hold; empty if it cannot be torn.
  private static func rests(
    of unit: PendingUnit, endBytes: UInt64, in model: PersistenceModel, _ seed: Seed
  ) -> [TornWrite.Rest] {
    if !model.canTear(unit) { return [] }
    let isInPlace = model.sectorOverwriteIsAtomic && endBytes <= unit.sizeBeforeBytes
    if isInPlace || !model.canExpose(unit) { return [.old] }
    return [.old, .zeros, .garbage(seed.derived("garbage"))]
  }

  /// Only the first sector, all but the last, only a middle one.
  private static func cuts(sectors: Int) -> [Range<Int>] {
    switch sectors {
    case 0: []
    case 1: [0..<0]
    case 2: [0..<1, 1..<2]
    default: [0..<1, 0..<sectors - 1, sectors / 2..<sectors / 2 + 1]
    }
  }

  private func unitsInFlight(_ context: StrategyContext) -> [Int] {
    let window = context.window
    let limit = context.options.tornUnits
    let range = window.isFull ? max(0, window.count - 4 * limit)..<window.count : window.newest
    let data = range.filter { window.table.units[window.ids[$0]].kind == .data }
    if window.isFull { return Array(data.suffix(limit)) }
    return window.places(atMost: limit, in: 0..<data.count).map { data[$0] }
  }
}
