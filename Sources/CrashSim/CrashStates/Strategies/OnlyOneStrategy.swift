// OnlyOneStrategy.swift: one unit survives alone; only its dependencies survive with it.

import LabCore

struct OnlyOneStrategy: CandidateStrategy {
  let name = Strategy.onlyOne

  func propose(_ context: StrategyContext, _ emit: Proposal) throws(LabError) {
    let window = context.window
    let range = window.isFull ? 0..<window.count : window.newest
    for place in window.places(atMost: context.unitLimit, in: range) {
      var kept = KeptSet(count: window.count)
      window.keep(place, in: &kept)
      try emit(kept, nil)
    }
  }
}
