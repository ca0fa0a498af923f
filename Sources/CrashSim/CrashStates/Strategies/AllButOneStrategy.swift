// AllButOneStrategy.swift: one unit is lost, with the units that depend on it.

import LabCore

struct AllButOneStrategy: CandidateStrategy {
  let name = Strategy.allButOne

  func propose(_ context: StrategyContext, _ emit: Proposal) throws(LabError) {
    let window = context.window
    // From the newest backwards: consecutive states then share the long start of what they keep.
    for place in window.places(atMost: context.unitLimit).reversed() {
      var kept = KeptSet.all(window.count)
      window.lose(place, in: &kept)
      try emit(kept, nil)
    }
  }
}
