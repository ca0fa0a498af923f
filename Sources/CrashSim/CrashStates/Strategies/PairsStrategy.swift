// PairsStrategy.swift: two units next to a sync are lost together, or survive alone together.
// Bugs are frequent at syncs: the order of the first units after one and of the last before the
// next is what the program cares about.

import LabCore

struct PairsStrategy: CandidateStrategy {
  let name = Strategy.pairs

  func propose(_ context: StrategyContext, _ emit: Proposal) throws(LabError) {
    let window = context.window
    guard window.isFull || window.isBeforeSync else { return }
    let half = context.options.pairedUnits / 2
    let afterSync = Array((window.firstAfterSync..<window.count).prefix(half))
    let beforeNext = (0..<window.count).suffix(half).filter { !afterSync.contains($0) }
    let near = (afterSync + beforeNext).sorted()
    for (at, first) in near.enumerated() {
      for second in near[(at + 1)...] {
        var kept = KeptSet.all(window.count)
        window.lose(first, in: &kept)
        window.lose(second, in: &kept)
        try emit(kept, nil)
        var alone = KeptSet(count: window.count)
        window.keep(first, in: &alone)
        window.keep(second, in: &alone)
        try emit(alone, nil)
      }
    }
  }
}
