// PrefixStrategy.swift: everything up to some unit survives, and nothing after it.

import LabCore

struct PrefixStrategy: CandidateStrategy {
  let name = Strategy.prefix

  func propose(_ context: StrategyContext, _ emit: Proposal) throws(LabError) {
    let window = context.window
    let range = window.isFull ? 0..<window.count : window.newest
    for last in window.places(atMost: context.unitLimit, in: range) {
      try emit(KeptSet(count: window.count, prefix: last + 1), nil)
    }
  }
}
